//! Lenses and code actions that run a kernel.

use ide::KernelPlace;
use serde_json::json;
use tower_lsp::ls_types::{CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, CodeLens, Command, Uri};

use super::kernels;
use crate::lsp::capabilities::wants_action;
use crate::lsp::client_config::SHOW_PYTHON;
use crate::lsp::runs::params::{COMMAND, RunKernelParams, RunTarget, Sanitizer};
use crate::lsp::snapshot::Snapshot;

/// The commands for a kernel, those that work.
fn commands(snapshot: &Snapshot, kernel: &str) -> Vec<Command> {
    let all = [
        ("Run on CPU", "cpu", "consan", RunTarget::Cpu, Sanitizer::Consan),
        ("Run under ConSan (GPU)", "gpu", "consan", RunTarget::Gpu, Sanitizer::Consan),
        ("Run under GSan (GPU)", "gpu", "gsan", RunTarget::Gpu, Sanitizer::Gsan),
    ];
    let works = |backend, instrument| {
        let uri: Uri = snapshot.uri.clone();
        let request = RunKernelParams { uri, kernel: None, log: None, wait: false, backend, instrument };
        snapshot.client.runs.check(&request).is_ok()
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
fn runnable_kernels(snapshot: &Snapshot) -> Vec<KernelPlace> {
    if !snapshot.client.runs.trusted || snapshot.source.ir().is_some_and(|document| document.sections().len() > 1) {
        return Vec::new();
    }
    kernels::kernels(snapshot)
}

/// Lenses above each kernel.
pub(crate) fn lenses(snapshot: &Snapshot) -> Vec<CodeLens> {
    let of = |kernel: KernelPlace| {
        let range = snapshot.mapper().range(kernel.range);
        commands(snapshot, &kernel.name).into_iter().map(move |command| CodeLens {
            range,
            command: Some(command),
            data: None,
        })
    };
    let kernels = runnable_kernels(snapshot);
    let missing = kernels.first().and_then(|kernel| missing_triton(snapshot, kernel));
    kernels.into_iter().flat_map(of).chain(missing).collect()
}

/// Once a Python file: that there is no Triton for what needs one.
fn missing_triton(snapshot: &Snapshot, kernel: &KernelPlace) -> Option<CodeLens> {
    snapshot.source.python()?;
    snapshot.client.runs.missing_triton()?;
    let python = snapshot.client.runs.python().display();
    let title = format!("No Triton in {python}: no runs on a GPU, nothing compiled on save");
    let command = Command { title, command: SHOW_PYTHON.to_owned(), arguments: None };
    Some(CodeLens { range: snapshot.mapper().range(kernel.range), command: Some(command), data: None })
}

/// The same as code actions on the line of a kernel's name; of a file with one kernel, anywhere.
pub(crate) fn actions(snapshot: &Snapshot, params: &CodeActionParams) -> Vec<CodeActionOrCommand> {
    let kind = CodeActionKind::new("source.fencepost.run");
    if !wants_action(&kind, params) {
        return Vec::new();
    }
    let kernels = runnable_kernels(snapshot);
    let asked = snapshot.mapper().text_range(params.range);
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
