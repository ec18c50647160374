//! Fixes of a document's findings: each alone, and all of a kind together.

use std::sync::Arc;

use base::{Cancel, Cancelled};
use engine::fix_all::{Judge, ManyFixed, Wanted, fix_all};
use engine::instances::{Elaborator, PythonFile};
use engine::{Analysis, Source};
use findings::{Finding, Fix, Kind, Severity};
use ttgir::Document;

use crate::limits::fixes::FILE as PYTHON_FIXES;
use crate::lsp::snapshot::Snapshot;

/// The change that mends all findings of a kind, or of all kinds, as far as they pass together.
pub(crate) fn many(
    snapshot: &Snapshot,
    kind: Option<Kind>,
    cancel: &Cancel<'_>,
) -> Result<Option<ManyFixed>, Cancelled> {
    let Some(known) = &snapshot.analysis else { return Ok(None) };
    snapshot.cache.fixes.many(snapshot.cache.generation, kind, || {
        let mut judge = DocumentJudge { snapshot, kind, cancel, left: PYTHON_FIXES, first: true };
        fix_all(snapshot.source.text(), &known.analysis, &mut judge)
    })
}

/// Judges texts as the document is judged.
struct DocumentJudge<'a> {
    snapshot: &'a Snapshot,
    kind: Option<Kind>,
    cancel: &'a Cancel<'a>,
    /// Findings in Python for which a fix may still be looked for.
    left: usize,
    /// Whether the text is the document's own.
    first: bool,
}

impl Judge for DocumentJudge<'_> {
    fn analyse(&mut self, text: &str) -> Result<Analysis, Cancelled> {
        analysed(self.snapshot, text, self.cancel)
    }

    fn wanted(&mut self, _: &str, analysis: &Analysis) -> Result<Vec<Wanted>, Cancelled> {
        let own = std::mem::take(&mut self.first);
        let python = self.snapshot.source.python().is_some();
        let mut wanted = Vec::new();
        for (kernel, report) in analysis.kernels.iter().enumerate() {
            for (number, finding) in report.findings.iter().enumerate() {
                let meant = match self.kind {
                    Some(kind) => kind == finding.kind,
                    None => finding.severity <= Severity::Warning,
                };
                if !meant || (python && self.left == 0) {
                    continue;
                }
                self.left -= usize::from(python);
                let fix = match own {
                    true => fix_of(self.snapshot, (kernel, number), self.cancel)?,
                    false => self.fix_of_edited(analysis, kernel, finding)?,
                };
                wanted.extend(fix.map(|fix| Wanted { kernel, finding: number, fix }));
            }
        }
        Ok(wanted)
    }
}

impl DocumentJudge<'_> {
    /// The fix of a finding of an edited text.
    fn fix_of_edited(&self, analysis: &Analysis, kernel: usize, finding: &Finding) -> Result<Option<Fix>, Cancelled> {
        match &analysis.gluon {
            Some(elaboration) => {
                let sources = self.snapshot.sources(self.cancel, &|_| {});
                self.snapshot.cache.engine().fix_python(elaboration, kernel, finding, &sources, self.cancel)
            }
            None => Ok(finding.fix.clone()),
        }
    }
}

/// Another text, analysed as the document is.
fn analysed(snapshot: &Snapshot, text: &str, cancel: &Cancel<'_>) -> Result<Analysis, Cancelled> {
    let sources = snapshot.sources(cancel, &|_| {});
    let mut engine = snapshot.cache.engine();
    let path = snapshot.path();
    let (mut analysis, configuration) = match &*snapshot.source {
        Source::Other(_) => return Ok(Analysis::default()),
        Source::Ir(_) => {
            let configuration = sources.settings_of(&path);
            engine.set_limits(configuration.settings.limits());
            (engine.analyse(&Document::new(text), cancel)?, configuration)
        }
        Source::Python(file) => {
            let name = file.module().path().to_owned();
            let configuration = sources.configuration(name.as_ref());
            engine.set_limits(configuration.settings.limits());
            let mut elaborator = Elaborator::new(configuration.config.clone());
            let file = PythonFile::new(name, text.to_owned());
            let elaboration = Arc::new(elaborator.elaborate(&file, &sources, cancel)?);
            (engine.analyse_python(&elaboration, &sources, cancel)?, configuration)
        }
    };
    if sources.is_incomplete() {
        return Err(Cancelled);
    }
    configuration.settings.apply(&mut analysis);
    analysis.problems.extend(configuration.problems);
    Ok(analysis)
}

/// The fix of a finding, judged alone: of TTGIR it came with the analysis, of Python it is looked for now.
pub(crate) fn fix_of(
    snapshot: &Snapshot,
    (kernel, number): (usize, usize),
    cancel: &Cancel<'_>,
) -> Result<Option<Fix>, Cancelled> {
    let Some(known) = &snapshot.analysis else { return Ok(None) };
    let Some(finding) = known.analysis.kernels.get(kernel).and_then(|report| report.findings.get(number)) else {
        return Ok(None);
    };
    if finding.fix.is_some() || snapshot.source.python().is_none() {
        return Ok(finding.fix.clone());
    }
    snapshot.cache.fixes.single(snapshot.cache.generation, (kernel, number), || {
        let Some(elaboration) = snapshot.elaboration(cancel)? else { return Ok(None) };
        let sources = snapshot.sources(cancel, &|_| {});
        snapshot.cache.engine().fix_python(&elaboration, kernel, finding, &sources, cancel)
    })
}
