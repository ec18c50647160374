//! What can be run from the editor, and what the client asks to run.
//!
//! What works is found out without running anything: an environment has Triton if its folder of packages does, and
//! there is a GPU if its driver has made its device files.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};
use tower_lsp::ls_types::Uri;

use execution::BackendChoice;
use execution::compiled_comparison::interpreter;

/// The command that runs a kernel; its argument is an [`RunKernelParams`].
pub(crate) const COMMAND: &str = "fencepost.runKernel";

/// The command that shows what a saved log says; its argument is a [`RunKernelParams`] with a log.
pub(crate) const REPLAY_COMMAND: &str = "fencepost.replayLog";

/// What is to be run.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunKernelParams {
    /// The document.
    pub(crate) uri: Uri,
    /// Only this kernel.
    #[serde(default)]
    pub(crate) kernel: Option<String>,
    /// A log that is read instead.
    #[serde(default)]
    pub(crate) log: Option<PathBuf>,
    /// Whether the answer is what came of it, and not that it was begun.
    #[serde(default)]
    pub(crate) wait: bool,
    /// On what it is run.
    #[serde(default)]
    pub(crate) backend: RunTarget,
    /// What watches it.
    #[serde(default)]
    pub(crate) instrument: Sanitizer,
}

/// On what a kernel is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RunTarget {
    /// Fencepost's own executor.
    #[default]
    Cpu,
    /// The user's Triton and GPU.
    Gpu,
}

/// What watches a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Sanitizer {
    /// Triton's concurrency sanitizer.
    #[default]
    Consan,
    /// Triton's sanitizer of global memory.
    Gsan,
}

impl RunKernelParams {
    /// `ConSan (GPU)`.
    pub(crate) fn describe(&self) -> &'static str {
        match (self.backend, self.instrument) {
            _ if self.log.is_some() => "a saved log",
            (RunTarget::Cpu, Sanitizer::Consan) => "ConSan and GSan (CPU)",
            (RunTarget::Cpu, Sanitizer::Gsan) => "GSan (CPU)",
            (RunTarget::Gpu, Sanitizer::Consan) => "ConSan (GPU)",
            (RunTarget::Gpu, Sanitizer::Gsan) => "GSan (GPU)",
        }
    }
}

/// Device files of drivers whose GPUs Triton's sanitizers know.
const DEVICES: &[&str] = &["/dev/nvidiactl", "/dev/kfd", "/dev/dxg"];

/// What can be run.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunCapabilities {
    /// Whether anything may be run at all: the client says that the workspace is trusted.
    pub(crate) trusted: bool,
    python: PathBuf,
    /// That Python has Triton.
    triton: bool,
    /// There is a GPU beside.
    gpu: bool,
    /// That Triton has the sanitizer of global memory.
    gsan: bool,
}

impl RunCapabilities {
    /// Reads `trusted` and `python` of the client's options.
    pub(crate) fn new(options: Option<&Value>) -> RunCapabilities {
        let option = |name: &str| options.and_then(|options| options.get(name));
        let trusted = option("trusted").and_then(Value::as_bool).unwrap_or(false);
        let named = option("python").and_then(Value::as_str).filter(|path| !path.is_empty());
        let python = named.map_or_else(interpreter, PathBuf::from);
        if !trusted {
            return RunCapabilities::default();
        }
        let package = package(&python);
        let gpu = package.is_some() && DEVICES.iter().any(|path| Path::new(path).exists());
        let gsan = gpu && package.as_ref().is_some_and(|package| package.join("experimental/gsan").is_dir());
        RunCapabilities { trusted, python, triton: package.is_some(), gpu, gsan }
    }

    /// The same with another Python; that of the environment where none is named.
    pub(crate) fn with_python(&self, python: Option<&str>) -> RunCapabilities {
        RunCapabilities::new(Some(&json!({ "trusted": self.trusted, "python": python })))
    }

    /// Checks that a request can be carried out for a document of this language.
    ///
    /// # Errors
    ///
    /// Why it cannot.
    pub(crate) fn check(&self, request: &RunKernelParams) -> Result<(), String> {
        let interpreter = self.python.display();
        match (request.backend, request.instrument) {
            _ if !self.trusted => {
                Err("nothing is run in a workspace that is not trusted (option `trusted`)".to_owned())
            }
            (RunTarget::Cpu, _) => Ok(()),
            _ if request.log.is_some() => Ok(()),
            (RunTarget::Gpu, _) if !self.triton => {
                Err(format!("`{interpreter}` has no Triton: name another Python (option `python`)"))
            }
            (RunTarget::Gpu, _) if !self.gpu => Err("there is no GPU on this machine".to_owned()),
            (RunTarget::Gpu, Sanitizer::Gsan) if !self.gsan => {
                Err(format!("the Triton of `{interpreter}` has no GSan"))
            }
            (RunTarget::Gpu, _) => Ok(()),
        }
    }

    /// What can be run, by name.
    pub(crate) fn served(&self) -> [(&'static str, bool); 3] {
        [("cpu", self.trusted), ("gpu", self.gpu), ("gsan", self.gsan)]
    }

    /// That the Python that was asked has no Triton, and what can be done about it; nothing where it has one, or nothing is
    /// run at all.
    pub(crate) fn missing_triton(&self) -> Option<String> {
        let python = self.python.display();
        (self.trusted && !self.triton).then(|| {
            format!(
                "the Python that was asked, {python}, has no Triton (`pip install triton` there, or name another one in the \
                 setting `python`). Without it no kernel is run on a GPU and none is compiled on save; runs on the CPU \
                 take Python as Fencepost itself elaborates it."
            )
        })
    }

    /// The Python that has Triton, as far as there is one.
    pub(crate) fn python(&self) -> &Path {
        &self.python
    }

    /// The backend that carries it out.
    ///
    /// `maps` say what paths of other machines are here.
    pub(crate) fn backend(&self, request: &RunKernelParams, maps: Vec<(String, String)>) -> BackendChoice {
        let python = self.python.clone();
        if let Some(log) = &request.log {
            return BackendChoice::Replay { log: log.clone(), maps };
        }
        match request.backend {
            RunTarget::Cpu => BackendChoice::Cpu { python: Some(python) },
            RunTarget::Gpu => BackendChoice::Triton { python, maps },
        }
    }
}

/// The folder of Triton in a Python's packages.
fn package(python: &Path) -> Option<PathBuf> {
    let prefix = python.parent()?.parent()?;
    let inside = |folder: PathBuf| Some(folder.join("triton")).filter(|package| package.join("__init__.py").is_file());
    if let Some(package) = inside(prefix.join("Lib/site-packages")) {
        return Some(package);
    }
    let versions = ["lib", "lib64"].iter().filter_map(|lib| fs::read_dir(prefix.join(lib)).ok()).flatten().flatten();
    let mut folders: Vec<PathBuf> = versions
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("python3"))
        .flat_map(|entry| ["site-packages", "dist-packages"].map(|name| entry.path().join(name)))
        .collect();
    folders.sort();
    folders.into_iter().rev().find_map(inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(backend: RunTarget, instrument: Sanitizer) -> Option<RunKernelParams> {
        Some(RunKernelParams {
            uri: "file:///k.ttgir".parse().ok()?,
            kernel: None,
            log: None,
            wait: false,
            backend,
            instrument,
        })
    }

    #[test]
    fn nothing_is_offered_where_nothing_is_trusted() {
        let Some(cpu) = request(RunTarget::Cpu, Sanitizer::Consan) else { panic!("the test's own name is wrong") };
        for options in [None, Some(json!({})), Some(json!({ "trusted": false })), Some(json!({ "trusted": "yes" }))] {
            let capabilities = RunCapabilities::new(options.as_ref());
            assert!(capabilities.check(&cpu).is_err_and(|why| why.contains("not trusted")));
        }
        assert_eq!(RunCapabilities::new(Some(&json!({ "trusted": true }))).check(&cpu), Ok(()));
    }

    #[test]
    fn what_needs_triton_needs_it() {
        let capabilities = RunCapabilities::new(Some(&json!({ "trusted": true, "python": "/none/bin/python" })));
        for instrument in [Sanitizer::Consan, Sanitizer::Gsan] {
            let on = |backend| request(backend, instrument).map(|request| capabilities.check(&request));
            assert_eq!(on(RunTarget::Cpu), Some(Ok(())));
            let allowed = on(RunTarget::Gpu);
            assert!(allowed.is_some_and(|it| it.is_err_and(|why| why.contains("/none/bin/python"))));
        }
    }
}
