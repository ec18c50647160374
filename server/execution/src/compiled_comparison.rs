//! Compares the kernels of a Python file with what the user's own Triton compiles of them.
//!
//! The kernels are compiled to TTGIR in a process of that Python, which runs the file; whoever calls this
//! has asked for it. What comes back is judged by the same machine and compared.
//!
//! Missed: kernels inside functions, and launches whose arguments cannot be written down.

use std::path::{Path, PathBuf};
use std::time::Duration;

use base::{Cancel, Cancelled, TextRange};
use engine::Engine;
use engine::instances::{ElaboratedInstance, Elaboration, Given, Opinion};
use runtime::sidecar::{CompileRequest, KernelRequest, Sidecar, SidecarError};

/// How long importing Triton, and compiling all kernels of a file, may take.
pub const SIDECAR_TIMEOUT: Duration = crate::limits::triton::ANSWER;

/// The Python of the active environment, or the first on the path.
pub fn interpreter() -> PathBuf {
    let environment = std::env::var_os("VIRTUAL_ENV").or_else(|| std::env::var_os("CONDA_PREFIX"));
    let places = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" };
    let inside = environment.map(|folder| Path::new(&folder).join(places)).filter(|python| python.is_file());
    inside.unwrap_or_else(|| if cfg!(windows) { "python".into() } else { "python3".into() })
}

/// The comparison of one instance of a kernel.
pub struct KernelComparison {
    /// The kernel's name.
    pub kernel: String,
    /// Which of its instances; empty for the only one.
    pub label: String,
    /// The kernel's name in the text.
    pub range: TextRange,
    /// The opinion, or why there is none.
    pub opinion: Result<Opinion, String>,
    /// Milliseconds that Triton took.
    pub ms: f64,
}

/// Compiles every instance that can be compiled, and compares. `path` is the file as it lies on the disk.
///
/// # Errors
///
/// Where the process is of no more use, or the file cannot be imported; and where `cancel` says so.
pub fn compare(
    engine: &mut Engine,
    sidecar: &mut Sidecar,
    path: &Path,
    elaboration: &Elaboration,
    cancel: &Cancel<'_>,
) -> Result<Result<Vec<KernelComparison>, SidecarError>, Cancelled> {
    let mut comparisons = Vec::new();
    let mut wanted: Vec<(usize, &ElaboratedInstance)> = Vec::new();
    let mut request = CompileRequest { file: path.display().to_string(), kernels: Vec::new() };
    for kernel in &elaboration.kernels {
        let range = elaboration.module.place(kernel.entry.name_range).0;
        for elaborated in &kernel.instances {
            let label = elaborated.instance.label.clone();
            let asked = if kernel.entry.inside.is_empty() {
                kernel_request(&kernel.entry.name, elaborated)
            } else {
                Err("it is defined inside a function".to_owned())
            };
            let opinion = match asked {
                Ok(one) => {
                    request.kernels.push(one);
                    wanted.push((comparisons.len(), elaborated));
                    Err(String::new())
                }
                Err(why) => Err(why),
            };
            comparisons.push(KernelComparison { kernel: kernel.entry.name.clone(), label, range, opinion, ms: 0.0 });
        }
    }
    if request.kernels.is_empty() {
        return Ok(Ok(comparisons));
    }
    let compiled = match sidecar.compile(&request, SIDECAR_TIMEOUT, cancel) {
        Ok(compiled) => compiled,
        Err(error) => return Ok(Err(error)),
    };
    for ((at, elaborated), compiled) in wanted.into_iter().zip(compiled) {
        cancel.check()?;
        let Some(comparison) = comparisons.get_mut(at) else { continue };
        comparison.ms = compiled.ms;
        comparison.opinion = match compiled.ttgir {
            Some(ttgir) => engine.compare_with_compiled(elaborated, &ttgir, cancel)?,
            None => Err(compiled.error.unwrap_or_else(|| "Triton gave no reason".to_owned())),
        };
    }
    Ok(Ok(comparisons))
}

fn kernel_request(name: &str, elaborated: &ElaboratedInstance) -> Result<KernelRequest, String> {
    let spec = &elaborated.instance.spec;
    if spec.host.is_some() {
        return Err("its arguments cannot be written down".to_owned());
    }
    let mut request = KernelRequest {
        name: name.to_owned(),
        signature: Default::default(),
        constexprs: Default::default(),
        target: spec.target.0.name(),
        num_warps: spec.num_warps.0,
        num_ctas: spec.num_ctas.0,
    };
    for argument in &spec.arguments {
        let (map, text) = match &argument.given {
            Given::Value(text) => (&mut request.constexprs, text),
            Given::Type(text) if text.starts_with('(') => return Err("it takes tuples".to_owned()),
            Given::Type(text) => (&mut request.signature, text),
        };
        map.insert(argument.name.clone(), text.clone());
    }
    Ok(request)
}

impl KernelComparison {
    /// The opinion in one sentence.
    pub fn describe(&self) -> String {
        let list = |of: &[(findings::Kind, u32)]| -> String {
            let one = |(kind, line): &(findings::Kind, u32)| match line {
                0 => kind.name().to_owned(),
                line => format!("{} at line {line}", kind.name()),
            };
            if of.is_empty() { "nothing".to_owned() } else { of.iter().map(one).collect::<Vec<_>>().join(", ") }
        };
        match &self.opinion {
            Ok(Opinion::Same) => "agrees: Triton compiles the same kernel".to_owned(),
            Ok(Opinion::Agrees) => "agrees: what Triton compiles has the same verdict".to_owned(),
            Ok(Opinion::Decides { compiled: true, says }) => format!("decided by what Triton compiles: {says}"),
            Ok(Opinion::Decides { compiled: false, says }) => {
                format!("what Triton compiles is not decided; the Python says {says}")
            }
            Ok(Opinion::Differs { python, compiled, .. }) => format!(
                "differs, which is a defect of fencepost: only the Python has {}, only what Triton compiles has {}",
                list(python),
                list(compiled)
            ),
            Err(why) => format!("not compiled: {why}"),
        }
    }
}
