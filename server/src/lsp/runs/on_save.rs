//! The kernels of a Python file beside what the user's own Triton compiles of them, when it is saved.
//!
//! Compiling runs the file, in a process of its own that ends with it; so it happens where the editor's settings ask
//! for it, in a trusted workspace alone. The file is compiled as it lies on the disk, and what is said holds for that
//! text. What Triton compiled is judged by the same machine; what both say alike is not said twice.

use std::path::Path;
use std::sync::atomic::Ordering;

use base::{Cancel, Cancelled, LineIndex, TextRange};
use engine::instances::Opinion;
use findings::Severity;
use runtime::sidecar::{Sidecar, SidecarError};
use tokio::sync::oneshot;
use transport::progress::{self, Job};

use super::diagnostics::RunDiagnostic;
use super::{ActiveRun, RunContext, RunGuard};
use crate::lsp::panics::catch_panic;
use crate::lsp::snapshot::Snapshot;
use execution::compiled_comparison::{KernelComparison, SIDECAR_TIMEOUT, compare};

/// What Triton compiles of a text, as far as there is anything to say of it.
pub(crate) struct Compiled {
    /// The client's version of the text.
    pub(crate) version: i32,
    /// What there is to say.
    pub(crate) marks: Vec<RunDiagnostic>,
}

/// Compiles a document that was just saved; `None` where it is stopped, or is not what lies on the disk.
pub(crate) async fn compile(context: &RunContext, active: &ActiveRun, snapshot: Snapshot) -> Option<Compiled> {
    let (done, ended) = oneshot::channel();
    if snapshot.client.progress {
        let title = "Compiling with your Triton".to_owned();
        tokio::spawn(progress::show(context.client.clone(), Job::Run(active.id), title, ended));
    }
    let (sender, stop, all) = (context.sender.clone(), active.clone(), context.active_runs.clone());
    let guard = RunGuard::new(&all);
    let work = tokio::task::spawn_blocking(move || {
        let stopped = || stop.is_cancelled() || all.closed.load(Ordering::Relaxed);
        let compiled = catch_panic("compiling", &sender, || compile_now(&snapshot, &Cancel::when(&stopped)));
        drop((guard, done));
        compiled
    });
    work.await.ok()?.ok()?.ok().flatten()
}

fn compile_now(snapshot: &Snapshot, cancel: &Cancel<'_>) -> Result<Option<Compiled>, Cancelled> {
    let path = snapshot.path();
    let text = snapshot.source.text();
    if workspace::read_text(&path).ok().as_deref() != Some(text) {
        return Ok(None);
    }
    let Some(elaboration) = snapshot.elaboration(cancel)? else { return Ok(None) };
    let version = snapshot.version;
    let Some(first) = elaboration.kernels.first() else { return Ok(Some(Compiled { version, marks: Vec::new() })) };
    let limits = snapshot.sources(cancel, &|_| {}).settings_of(&path).settings.limits();
    let mut engine = snapshot.cache.engine();
    engine.set_limits(limits);
    let python = snapshot.client.runs.python();
    let compared = match Sidecar::start(python, SIDECAR_TIMEOUT, cancel) {
        Ok(mut sidecar) => {
            let triton = sidecar.hello().triton.clone().unwrap_or_default();
            compare(&mut engine, &mut sidecar, &path, &elaboration, cancel)?.map(|compared| (triton, compared))
        }
        Err(error) => Err(error),
    };
    let marks = match compared {
        Ok((triton, compared)) => compared.iter().flat_map(|one| marks(one, &triton, text)).collect(),
        Err(SidecarError::Cancelled) => return Err(Cancelled),
        Err(error) => vec![failed(python, &error, elaboration.module.place(first.entry.name_range).0)],
    };
    Ok(Some(Compiled { version, marks }))
}

/// That nothing could be compiled.
fn failed(python: &Path, error: &SidecarError, range: TextRange) -> RunDiagnostic {
    let message = format!("not compiled: {}: {error}", python.display());
    RunDiagnostic { range, severity: Severity::Information, code: "compiled", message, related: Vec::new() }
}

/// What there is to say of an instance: what Triton's kernel has that the Python was read without, that one of them
/// decides what the other leaves open, that it was not compiled.
fn marks(compared: &KernelComparison, version: &str, text: &str) -> Vec<RunDiagnostic> {
    let label = if compared.label.is_empty() { String::new() } else { format!(" ({})", compared.label) };
    let said = |severity, code| {
        let message = format!("Triton {version}, `{}`{label}: {}", compared.kernel, compared.describe());
        RunDiagnostic { range: compared.range, severity, code, message, related: Vec::new() }
    };
    match &compared.opinion {
        Ok(Opinion::Same | Opinion::Agrees) => Vec::new(),
        Ok(Opinion::Decides { compiled: true, says }) if says == "proved" || says == "clean" => {
            vec![said(Severity::Information, "compiled")]
        }
        Ok(Opinion::Decides { compiled: true, .. }) => vec![said(Severity::Warning, "compiled")],
        Ok(Opinion::Decides { compiled: false, .. }) => vec![said(Severity::Hint, "compiled")],
        Ok(Opinion::Differs { compiled, .. }) => {
            let found = compiled.iter().map(|(kind, line)| RunDiagnostic {
                range: line_of(text, *line).unwrap_or(compared.range),
                severity: kind.severity(),
                code: kind.name(),
                message: format!("found in what Triton {version} compiles of `{}`{label} alone", compared.kernel),
                related: Vec::new(),
            });
            [said(Severity::Warning, "disagreement")].into_iter().chain(found).collect()
        }
        Err(_) => vec![said(Severity::Information, "compiled")],
    }
}

/// The text of a line, counted from 1; `None` where the line is in another file.
fn line_of(text: &str, line: u32) -> Option<TextRange> {
    let (lines, line) = (LineIndex::new(text), line.checked_sub(1)?);
    let whole = TextRange::new(lines.line_start(line), lines.line_start(line + 1));
    let said = whole.of(text);
    let start = whole.start + (said.len() - said.trim_start().len()) as u32;
    (line < lines.lines()).then(|| TextRange::new(start, start + said.trim().len() as u32))
}
