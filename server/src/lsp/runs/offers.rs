//! What can be run here, and where that is offered: lenses and code actions at kernels.
//!
//! What works is found out without running anything: an environment has Triton if its folder of packages does, and
//! there is a GPU if its driver has made its device files.

use std::fs;
use std::path::{Path, PathBuf};

use engine::ide::KernelPlace;
use serde_json::{Value, json};
use tower_lsp::ls_types::{CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, CodeLens, Command, Uri};

use super::{COMMAND, On, Order, Watcher};
use crate::cli::compare::interpreter;
use crate::lsp::document::Snapshot;
use crate::lsp::{from_proto, report};
use crate::run::Which;

/// Device files of drivers whose GPUs Triton's sanitizers know.
const DEVICES: &[&str] = &["/dev/nvidiactl", "/dev/kfd", "/dev/dxg"];

/// What can be run.
#[derive(Clone, Debug, Default)]
pub struct Offers {
    /// Whether anything may be run at all: the client says that the workspace is trusted.
    pub trusted: bool,
    python: PathBuf,
    /// That Python has Triton.
    triton: bool,
    /// There is a GPU beside.
    gpu: bool,
    /// That Triton has the sanitizer of global memory.
    gsan: bool,
}

impl Offers {
    /// Reads `trusted` and `python` of the client's options.
    pub fn of(options: Option<&Value>) -> Offers {
        let option = |name: &str| options.and_then(|options| options.get(name));
        let trusted = option("trusted").and_then(Value::as_bool).unwrap_or(false);
        let named = option("python").and_then(Value::as_str).filter(|path| !path.is_empty());
        let python = named.map_or_else(interpreter, PathBuf::from);
        if !trusted {
            return Offers::default();
        }
        let package = package(&python);
        let gpu = package.is_some() && DEVICES.iter().any(|path| Path::new(path).exists());
        let gsan = gpu && package.as_ref().is_some_and(|package| package.join("experimental/gsan").is_dir());
        Offers { trusted, python, triton: package.is_some(), gpu, gsan }
    }

    /// Whether an order can be carried out for a document of this language, and else why not.
    pub fn allows(&self, order: &Order, python: bool) -> Result<(), String> {
        let interpreter = self.python.display();
        match (order.backend, order.instrument) {
            _ if !self.trusted => {
                Err("nothing is run in a workspace that is not trusted (option `trusted`)".to_owned())
            }
            (On::Cpu, Watcher::Gsan) => Err("GSan runs on a GPU only".to_owned()),
            (On::Cpu, Watcher::Consan) if python && !self.triton => Err(format!(
                "the TTGIR of a kernel in Python comes from Triton, and `{interpreter}` has none: name another Python \
                 (option `python`)"
            )),
            (On::Cpu, Watcher::Consan) => Ok(()),
            (On::Gpu, _) if !self.triton => {
                Err(format!("`{interpreter}` has no Triton: name another Python (option `python`)"))
            }
            (On::Gpu, _) if !self.gpu => Err("there is no GPU on this machine".to_owned()),
            (On::Gpu, Watcher::Gsan) if !self.gsan => Err(format!("the Triton of `{interpreter}` has no GSan")),
            (On::Gpu, _) => Ok(()),
        }
    }

    /// What carries it out.
    pub fn which(&self, order: &Order) -> Which {
        let python = self.python.clone();
        match order.backend {
            On::Cpu => Which::Cpu { python },
            On::Gpu => Which::Triton { python, maps: Vec::new() },
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

/// The commands for a kernel, those that work.
fn commands(snapshot: &Snapshot, kernel: &str) -> Vec<Command> {
    let python = snapshot.source.python().is_some();
    let all = [
        ("Run under ConSan (CPU)", "cpu", "consan", On::Cpu, Watcher::Consan),
        ("Run under ConSan (GPU)", "gpu", "consan", On::Gpu, Watcher::Consan),
        ("Run under GSan", "gpu", "gsan", On::Gpu, Watcher::Gsan),
    ];
    let works = |backend, instrument| {
        let uri: Uri = snapshot.uri.clone();
        let order = Order { uri, kernel: None, backend, instrument };
        snapshot.facts.offers.allows(&order, python).is_ok()
    };
    all.into_iter()
        .filter(|(.., backend, instrument)| works(*backend, *instrument))
        .map(|(title, backend, instrument, ..)| Command {
            title: title.to_owned(),
            command: COMMAND.to_owned(),
            arguments: Some(vec![
                json!({ "uri": snapshot.uri, "kernel": kernel, "backend": backend, "instrument": instrument }),
            ]),
        })
        .collect()
}

/// The kernels that can be run: not those of a dump, which has each of them many times.
fn kernels(snapshot: &Snapshot) -> Vec<KernelPlace> {
    if !snapshot.facts.offers.trusted || snapshot.source.ir().is_some_and(|document| document.sections().len() > 1) {
        return Vec::new();
    }
    report::kernels(snapshot)
}

/// Lenses above each kernel.
pub fn lenses(snapshot: &Snapshot) -> Vec<CodeLens> {
    let of = |kernel: KernelPlace| {
        let range = snapshot.mapper().range(kernel.range);
        commands(snapshot, &kernel.name).into_iter().map(move |command| CodeLens {
            range,
            command: Some(command),
            data: None,
        })
    };
    kernels(snapshot).into_iter().flat_map(of).collect()
}

/// The same as actions on the line of a kernel's name; of a file with one kernel, anywhere.
pub fn actions(snapshot: &Snapshot, params: &CodeActionParams) -> Vec<CodeActionOrCommand> {
    let kind = CodeActionKind::new("source.fencepost.run");
    let wanted = |only: &CodeActionKind| {
        let only = only.as_str();
        only.is_empty() || kind.as_str() == only || kind.as_str().starts_with(&format!("{only}."))
    };
    if !params.context.only.as_ref().is_none_or(|only| only.iter().any(wanted)) {
        return Vec::new();
    }
    let kernels = kernels(snapshot);
    let asked = from_proto::text_range(snapshot, params.range);
    let line = |offset: u32| snapshot.mapper().position(offset).line;
    let here = |kernel: &KernelPlace| (line(asked.start)..=line(asked.end)).contains(&line(kernel.range.start));
    let one = kernels.len() == 1;
    let near = kernels.iter().filter(|kernel| one || here(kernel));
    near.flat_map(|kernel| commands(snapshot, &kernel.name))
        .map(|command| {
            CodeActionOrCommand::CodeAction(CodeAction {
                title: command.title.clone(),
                kind: Some(kind.clone()),
                command: Some(command),
                ..CodeAction::default()
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(backend: On, instrument: Watcher) -> Option<Order> {
        Some(Order { uri: "file:///k.ttgir".parse().ok()?, kernel: None, backend, instrument })
    }

    #[test]
    fn nothing_is_offered_where_nothing_is_trusted() {
        let Some(cpu) = order(On::Cpu, Watcher::Consan) else { panic!("the test's own name is wrong") };
        for options in [None, Some(json!({})), Some(json!({ "trusted": false })), Some(json!({ "trusted": "yes" }))] {
            let offers = Offers::of(options.as_ref());
            assert!(offers.allows(&cpu, false).is_err_and(|why| why.contains("not trusted")));
        }
        assert_eq!(Offers::of(Some(&json!({ "trusted": true }))).allows(&cpu, false), Ok(()));
    }

    #[test]
    fn what_needs_triton_needs_it() {
        let offers = Offers::of(Some(&json!({ "trusted": true, "python": "/none/bin/python" })));
        for (backend, instrument, python) in
            [(On::Cpu, Watcher::Consan, true), (On::Gpu, Watcher::Consan, false), (On::Gpu, Watcher::Gsan, false)]
        {
            let allowed = order(backend, instrument).map(|order| offers.allows(&order, python));
            assert!(allowed.is_some_and(|it| it.is_err_and(|why| why.contains("/none/bin/python"))));
        }
    }
}
