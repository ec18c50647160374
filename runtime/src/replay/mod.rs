//! A saved log: what a sanitizer said somewhere else, brought home to the text that is open here.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use asserts::{AssertLog, CompiledIr, PathMap, TargetText, attribute};
use base::Cancel;

use crate::run::{KernelChecker, RunBackend, RunEnd, RunError, RunEvent, RunReport, RunRequest};

/// A log, and how its paths are to be read.
pub struct Replay {
    /// Where the log lies.
    pub log: PathBuf,
    /// Paths of the machine that it comes from.
    pub paths: PathMap,
    /// The analysis of the kernels that the log is about.
    pub check: KernelChecker,
}

impl RunBackend for Replay {
    fn name(&self) -> &'static str {
        "replay"
    }

    fn run(
        &mut self,
        request: &RunRequest,
        progress: &mut dyn FnMut(RunEvent),
        cancel: &Cancel<'_>,
    ) -> Result<RunReport, RunError> {
        let start = Instant::now();
        progress(RunEvent::Stage("reading the log".to_owned()));
        let Some(log) = read(&self.log, progress, cancel)? else {
            return Ok(report(request, RunEnd::Cancelled, start));
        };
        let path = request.path.to_string_lossy();
        let python = request.is_python();
        let target = TargetText { path: &path, text: &request.text, python };
        let irs: Vec<CompiledIr> = if python {
            let compiled = request.compiled.clone();
            compiled.into_iter().map(|text| CompiledIr { text, files: Vec::new(), own: false }).collect()
        } else {
            vec![CompiledIr { text: Arc::clone(&request.text), files: own_files(&log, &request.path), own: true }]
        };
        let Ok(home) = attribute(target, &irs, &log.asserts, &self.paths, &mut *self.check, cancel) else {
            return Ok(report(request, RunEnd::Cancelled, start));
        };
        let end = match (&log.failure, log.asserts.is_empty()) {
            (_, false) => RunEnd::Asserted,
            (Some(words), true) => RunEnd::Failed(format!("the log says `{words}`, and holds no assert")),
            (None, true) => RunEnd::Passed,
        };
        let mut report = report(request, end, start);
        report.on = vec![
            ("log".to_owned(), self.log.display().to_string()),
            ("lines that assert".to_owned(), log.total().to_string()),
        ];
        if python && irs.is_empty() && !log.asserts.is_empty() {
            report.notes.push("without the kernel's TTGIR an assert is known by its line alone".to_owned());
        }
        if log.dropped > 0 {
            report.notes.push(format!("{} further asserts are only counted", log.dropped));
        }
        report.kernels = home.kernels;
        report.elsewhere = home.elsewhere;
        Ok(report)
    }
}

/// Files of the log whose lines are those of a TTGIR file that is open: they have its name.
fn own_files(log: &AssertLog, path: &Path) -> Vec<String> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let files = log.asserts.iter().map(|counted| counted.first.file.clone());
    files.filter(|file| !name.is_empty() && file.rsplit(['/', '\\']).next() == Some(name)).collect()
}

/// Reads a log of any size; `None` where it was cancelled.
fn read(path: &Path, progress: &mut dyn FnMut(RunEvent), cancel: &Cancel<'_>) -> Result<Option<AssertLog>, RunError> {
    let failed = |why: std::io::Error| RunError(format!("{} cannot be read: {why}", path.display()));
    let mut file = File::open(path).map_err(failed)?;
    let size = file.metadata().map(|data| data.len()).unwrap_or(0);
    let mut log = AssertLog::default();
    let mut buffer = vec![0; 1 << 20];
    loop {
        if cancel.is_cancelled() {
            return Ok(None);
        }
        let read = file.read(&mut buffer).map_err(failed)?;
        if read == 0 {
            log.end();
            return Ok(Some(log));
        }
        log.feed(buffer.get(..read).unwrap_or_default());
        if size > 0 {
            progress(RunEvent::Progress((log.bytes as f32 / size as f32).min(1.0)));
        }
    }
}

fn report(request: &RunRequest, end: RunEnd, start: Instant) -> RunReport {
    let mut report = RunReport::new("replay", request.instrument, end);
    report.cost.seconds = start.elapsed().as_secs_f64();
    report
}

#[cfg(test)]
mod tests;
