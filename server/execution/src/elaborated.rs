//! The IR of a launch as the kernel is elaborated here: a run of a Python file needs no Triton.

use std::fmt::Write as _;
use std::sync::Arc;

use base::{Cancel, TextRange};
use engine::instances::{
    Argument, ElaboratedInstance, Given as Has, KernelInstances, Module, Spec, Target, ValueSource,
};
use render::SourceText;
use runtime::sidecar::KernelRequest;

use super::compiled_ir::{CompiledIr, PythonKernels};

/// Why there is no IR.
pub(super) struct NotElaborated {
    /// In words.
    pub(super) why: String,
    /// Whether no Triton would compile it either.
    pub(super) refused: bool,
}

/// The IR of the kernel with what is asked of the compiler, each op with its place in `text`, the file at `path`. Where
/// no instance of the analysis is of that, the kernel is elaborated with it.
///
/// # Errors
///
/// Where Triton would refuse it, it is not followed whole, or `cancel` says so.
pub(super) fn compiled(
    kernels: PythonKernels<'_>,
    kernel: &KernelInstances,
    request: &KernelRequest,
    (path, text): (&str, &str),
    cancel: &Cancel<'_>,
) -> Result<CompiledIr, NotElaborated> {
    let other = |why: String| NotElaborated { why, refused: false };
    let known = kernel.instances.iter().find(|instance| fits(kernel, instance, request)).cloned();
    let instance = match (known, kernels.elaboration) {
        (Some(known), _) => known,
        (None, Some(elaboration)) => {
            let made = elaboration.launched(kernel, spec(kernel, request), kernels.sources, cancel);
            Arc::new(made.map_err(|_| other("the run was stopped".to_owned()))?)
        }
        (None, None) => return Err(other(format!("`{}` was not analysed", request.name))),
    };
    if let Some((_, range, why)) = instance.unmodelled().first() {
        let line = SourceText::new(text).line(range.start);
        return Err(other(format!("line {line} is not followed: {why}")));
    }
    if let Some(problem) = instance.problems().iter().find(|problem| !problem.hint) {
        let why =
            format!("Triton would refuse it at {}: {}", instance.spot(problem.file, problem.range), problem.message);
        return Err(NotElaborated { why, refused: true });
    }
    let ir = with_places(&instance, path, &SourceText::new(text));
    let off = ir.contains(ASSERT) && !is_debugged(kernel, kernels);
    let lines = ir.split_inclusive('\n');
    let ir = if off { lines.filter(|line| !line.trim_start().starts_with(ASSERT)).collect() } else { ir };
    Ok(CompiledIr { ir: ir.into(), asserts_are_off: off, shares_are_unknown: request.num_ctas > 1 })
}

/// An assert of the kernel's own, in the text of a module.
const ASSERT: &str = "tt.assert";

/// Whether a launch of the kernel compiles its asserts in, by Triton's rule: its decorator or the environment asks for it.
fn is_debugged(kernel: &KernelInstances, kernels: PythonKernels<'_>) -> bool {
    let before = |module: &Module| {
        let source = module.source();
        let head = source.get(kernel.entry.def as usize..kernel.entry.name_range.start as usize).unwrap_or("");
        head.split_whitespace().collect::<String>().contains("debug=True")
    };
    let asked = std::env::var("TRITON_DEBUG").unwrap_or_default().to_lowercase();
    ["1", "true", "yes", "on", "y"].contains(&asked.as_str())
        || kernels.elaboration.is_some_and(|it| before(&it.module))
}

/// What the kernel is elaborated with: what is asked for, and for the rest what it is analysed with.
fn spec(kernel: &KernelInstances, request: &KernelRequest) -> Spec {
    let (entry, command) = (&kernel.entry, ValueSource::Command);
    let target = Target::named(&request.target).unwrap_or(Target::Cuda(90));
    let mut spec = kernel.instances.last().map_or_else(
        || Spec {
            def: entry.def,
            language: entry.language,
            arguments: Vec::new(),
            host: None,
            target: (target, ValueSource::Chosen),
            version: Default::default(),
            num_warps: (4, ValueSource::Default),
            num_ctas: (1, ValueSource::Default),
        },
        |instance| instance.instance.spec.clone(),
    );
    let given = |name: &String| {
        let value = request.constexprs.get(name).map(|value| Has::Value(value.clone()));
        value.or_else(|| request.signature.get(name).map(|ty| Has::Type(ty.clone())))
    };
    let arguments = entry.params.iter().filter_map(|param| Some((param.name.clone(), given(&param.name)?)));
    spec.arguments = arguments.map(|(name, given)| Argument { name, given, source: command }).collect();
    (spec.target, spec.num_warps, spec.num_ctas) =
        ((target, spec.target.1), (request.num_warps, command), (request.num_ctas, command));
    spec
}

/// Whether an instance has what is asked for.
fn fits(kernel: &KernelInstances, instance: &ElaboratedInstance, request: &KernelRequest) -> bool {
    let spec = &instance.instance.spec;
    let has = |name: &str| spec.arguments.iter().find(|argument| argument.name == name);
    let plain = |ty: &str| ty.split(':').next().unwrap_or(ty).to_owned();
    let default = |name: &str| kernel.entry.params.iter().find(|param| param.name == name)?.default.clone();
    let mut constexprs = request.constexprs.iter().map(|(name, value)| match has(name) {
        Some(argument) => matches!(&argument.given, Has::Value(text) if text == value),
        None => default(name).as_ref() == Some(value),
    });
    let mut types = request.signature.iter().map(|(name, ty)| {
        has(name).is_some_and(|argument| match &argument.given {
            Has::Type(own) => own.starts_with("tensordesc") && ty.starts_with("tensordesc") || plain(own) == plain(ty),
            Has::Value(_) => false,
        })
    });
    (spec.num_warps.0, spec.num_ctas.0) == (request.num_warps, request.num_ctas)
        && constexprs.all(|same| same)
        && types.all(|same| same)
}

/// The text of an instance with a location behind each op; that of an op with regions is behind the last of them.
fn with_places(instance: &ElaboratedInstance, path: &str, places: &SourceText<'_>) -> String {
    let path = path.replace('\\', "\\\\").replace('"', "\\\"");
    let (mut out, mut at) = (String::new(), 0u32);
    // The places of ops whose regions are open.
    let mut open: Vec<Option<String>> = Vec::new();
    let mut lines = instance.document().text().split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let code = line.trim_end();
        let trimmed = code.trim();
        let place = instance.place(TextRange::empty(at + (code.len() - code.trim_start().len()) as u32));
        at += line.len() as u32;
        let next = lines.peek().map_or("", |line| line.trim());
        let further = continues(next);
        let is_op = !trimmed.is_empty() && !trimmed.starts_with(['#', '^', '/', '}', '!']) && !continues(trimmed);
        let mut here = None;
        if is_op {
            let (line, column) = places.line_column(place.range.start);
            let mut of = format!("\"{path}\":{line}:{column}");
            // What stands for a call that is not followed has its name.
            let name = match trimmed.contains("tt.opaque") {
                true => callee(places, place.range).map(str::to_owned),
                // As Triton has it: the name of the variable that the op's result is assigned to.
                false => trimmed.strip_prefix('%').and_then(|rest| {
                    let end = rest.find([' ', ':'])?;
                    instance.variable(rest.get(..end)?)
                }),
            };
            if let Some(name) = name {
                of = format!("\"{name}\"({of})");
            }
            here = (!place.range.is_empty()).then(|| format!(" loc({of})"));
        } else if trimmed.starts_with('}') || continues(trimmed) {
            here = open.pop().flatten();
        }
        if trimmed.ends_with('{') || further {
            open.push(here.take());
        }
        let _ = writeln!(out, "{code}{}", here.unwrap_or_default());
    }
    out
}

/// The dotted name that a call in the text begins with.
fn callee<'t>(places: &SourceText<'t>, call: TextRange) -> Option<&'t str> {
    let name = call.of(places.text()).split('(').next()?.trim();
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    (!name.is_empty() && name.chars().all(is_name)).then_some(name)
}

/// Whether a line goes on with an op of a line before: with another region, or with its type behind the last.
fn continues(line: &str) -> bool {
    let region = line.ends_with('{') && (line.starts_with("default") || line.starts_with("partition"));
    region || line.starts_with(": ")
}
