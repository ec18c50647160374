//! What is to be run, as the program in Python reads it.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use asserts::CompiledIr;
use base::{Cancel, TextRange};
use serde_json::{Map, Value, json};
use ttgir::{Document, IrLevel, OpId, Tree};

use super::parameters::{DeviceTensor, bind, triton_name};
use super::strip::without_locations;
use crate::launch::{ArgumentValue, PythonEntry, fill};
use crate::run::{RunError, RunRequest};
use tensors::array::strides;

/// A job on disk.
#[derive(Debug)]
pub(crate) struct PreparedJob {
    /// The document that says what to do.
    pub(crate) job: Value,
    /// Tensors that can be read back.
    pub(crate) tensors: Vec<DeviceTensor>,
    /// The IR, where the request is one.
    pub(crate) ir: Option<CompiledIr>,
    /// What was chosen.
    pub(crate) notes: Vec<String>,
}

/// Writes what a request needs into a folder.
///
/// # Errors
///
/// Where it cannot be run as it is: no such kernel, an argument that nobody can make, a disk that is full.
pub(crate) fn prepare(
    request: &RunRequest,
    python: bool,
    folder: &Path,
    cancel: &Cancel<'_>,
) -> Result<PreparedJob, RunError> {
    let mut prepared =
        if python { from_python(request, folder, cancel)? } else { from_ttgir(request, folder, cancel)? };
    if let Some(job) = prepared.job.as_object_mut() {
        job.insert("instrument".to_owned(), request.instrument.name().into());
        job.insert("folder".to_owned(), text(folder));
        job.insert("grid".to_owned(), json!(request.launch.grid));
    }
    let path = folder.join("job.json");
    fs::write(&path, prepared.job.to_string())
        .map_err(|why| RunError(format!("nothing can be written to {}: {why}", folder.display())))?;
    Ok(prepared)
}

fn text(path: &Path) -> Value {
    path.to_string_lossy().into_owned().into()
}

fn from_ttgir(request: &RunRequest, folder: &Path, cancel: &Cancel<'_>) -> Result<PreparedJob, RunError> {
    let document = Document::new(Arc::clone(&request.text));
    let wanted = request.launch.kernel.as_deref();
    let sections = document.sections().iter().filter(|section| section.level() != IrLevel::Llvm);
    let mut found = None;
    for section in sections {
        for function in functions(section.tree()) {
            let name = section.tree().attr(function, "sym_name").and_then(|attr| section.tree().attr_str(attr));
            if wanted.is_none_or(|wanted| name == Some(wanted)) {
                // The last one of a dump is the one that the compiler went on with.
                found = Some((section, function));
            }
        }
    }
    let (section, function) = found.ok_or_else(|| match wanted {
        Some(name) => RunError(format!("the file has no kernel `{name}`")),
        None => RunError("the file has no kernel".to_owned()),
    })?;
    if let Some(error) = section.tree().errors().first() {
        return Err(RunError(format!("the file has a syntax error: {}", error.message)));
    }
    let name = request.path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("kernel");
    let file = folder.join(format!("{name}.ttgir"));
    // Its lines are to be those of the request.
    let before = TextRange::new(0, section.offset()).of(&request.text).bytes().filter(|byte| *byte == b'\n').count();
    let stripped = "\n".repeat(before) + &without_locations(section.text());
    fs::write(&file, stripped).map_err(|why| RunError(format!("{} cannot be written: {why}", file.display())))?;
    let bound = bind(section.tree(), function, &request.launch, request.inputs, (folder, cancel))?;
    let tree = section.tree();
    let target = tree.top().iter().find_map(|op| tree.attr_str(tree.attr(*op, "ttg.target")?).map(str::to_owned));
    let job = json!({ "mode": "ttgir", "file": text(&file), "parameters": bound.parameters, "target": target });
    let files = vec![file.to_string_lossy().into_owned()];
    let ir = CompiledIr { text: Arc::clone(&request.text), files, own: true };
    Ok(PreparedJob { job, tensors: bound.tensors, ir: Some(ir), notes: bound.notes })
}

/// Functions that can be launched.
fn functions(tree: &Tree) -> Vec<OpId> {
    let mut out = Vec::new();
    let mut left: Vec<OpId> = tree.top().to_vec();
    while let Some(op) = left.pop() {
        let private = tree.attr(op, "sym_visibility").is_some_and(|attr| tree.attr_text(attr).contains("private"));
        match tree.op_name(op) {
            "tt.func" if !private && !tree.regions(op).is_empty() => out.push(op),
            "builtin.module" | "module" => {
                let blocks = tree.regions(op).iter().flat_map(|region| tree.blocks(*region));
                left.extend(blocks.flat_map(|block| tree.block_ops(*block)).copied());
            }
            _ => {}
        }
    }
    out
}

fn from_python(request: &RunRequest, folder: &Path, cancel: &Cancel<'_>) -> Result<PreparedJob, RunError> {
    let file = fs::canonicalize(&request.path).unwrap_or_else(|_| request.path.clone());
    let mut job = Map::new();
    job.insert("file".to_owned(), text(&file));
    let mut notes = Vec::new();
    match &request.launch.entry {
        Some(PythonEntry::Pytest(node)) => {
            job.insert("mode".to_owned(), "pytest".into());
            job.insert("node".to_owned(), node.as_str().into());
        }
        Some(PythonEntry::Main(arguments)) => {
            job.insert("mode".to_owned(), "main".into());
            job.insert("argv".to_owned(), json!(arguments));
        }
        Some(PythonEntry::Call(expression)) => {
            job.insert("mode".to_owned(), "call".into());
            job.insert("expression".to_owned(), expression.as_str().into());
        }
        None => {
            let Some(kernel) = &request.launch.kernel else {
                return Err(RunError("the recipe names no kernel and no entry: say which, `--kernel NAME`".to_owned()));
            };
            job.insert("mode".to_owned(), "launch".into());
            job.insert("kernel".to_owned(), kernel.as_str().into());
            job.insert("arguments".to_owned(), Value::Array(arguments(request, folder, cancel)?));
            notes.push("the launch is made from the recipe; the file's own code makes none".to_owned());
        }
    }
    Ok(PreparedJob { job: Value::Object(job), tensors: Vec::new(), ir: None, notes })
}

/// The arguments of a launch that is made in Python.
fn arguments(request: &RunRequest, folder: &Path, cancel: &Cancel<'_>) -> Result<Vec<Value>, RunError> {
    let mut out = Vec::new();
    for (at, argument) in request.launch.arguments.iter().enumerate() {
        let name = argument.name.as_str();
        out.push(match &argument.given {
            ArgumentValue::Int(number) => json!({ "is": "value", "name": name, "value": number }),
            ArgumentValue::Bool(truth) => json!({ "is": "value", "name": name, "value": truth }),
            ArgumentValue::Float(number) => json!({ "is": "value", "name": name, "value": number }),
            ArgumentValue::Python(text) => json!({ "is": "python", "name": name, "value": text }),
            ArgumentValue::Array(spec) => {
                let array = fill(spec, name, request.inputs, cancel)?;
                let path = folder.join(format!("{at}.bin"));
                fs::write(&path, &array.bytes)
                    .map_err(|why| RunError(format!("`{name}` cannot be written to a file: {why}")))?;
                json!({
                    "is": "array", "name": name, "data": text(&path), "dtype": spec.type_name(),
                    "triton": if spec.unsigned { spec.type_name() } else { triton_name(spec.dtype) }, "shape": spec.shape, "strides": strides(&spec.shape),
                })
            }
        });
    }
    Ok(out)
}
