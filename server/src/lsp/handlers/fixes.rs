//! Fixes of a document's findings: each alone, and all of a kind together.

use std::sync::Arc;

use base::{Cancel, Cancelled};
use engine::fix_all::{ManyFixed, Wanted, fix_all};
use engine::instances::{Elaborator, PythonFile};
use engine::{Analysis, Source};
use findings::{Fix, Kind, Severity};
use ttgir::Document;

use crate::lsp::snapshot::Snapshot;

/// Findings in one Python file for which a fix is looked for.
const PYTHON_FIXES: usize = 16;

/// The change that mends all findings of a kind, or of all kinds, as far as they pass together.
pub(crate) fn many(
    snapshot: &Snapshot,
    kind: Option<Kind>,
    cancel: &Cancel<'_>,
) -> Result<Option<ManyFixed>, Cancelled> {
    let Some(known) = &snapshot.analysis else { return Ok(None) };
    snapshot.cache.fixes.many(snapshot.cache.generation, kind, || {
        let wanted = wanted(snapshot, &known.analysis, kind, cancel)?;
        fix_all(snapshot.source.text(), &known.analysis, &wanted, &mut |text| analysed(snapshot, text, cancel))
    })
}

/// The findings of a kind that have a fix, each judged alone.
fn wanted(
    snapshot: &Snapshot,
    analysis: &Analysis,
    kind: Option<Kind>,
    cancel: &Cancel<'_>,
) -> Result<Vec<Wanted>, Cancelled> {
    let (mut wanted, mut left) = (Vec::new(), PYTHON_FIXES);
    for (kernel, report) in analysis.kernels.iter().enumerate() {
        for (number, finding) in report.findings.iter().enumerate() {
            if kind.is_some_and(|kind| kind != finding.kind) || (kind.is_none() && finding.severity > Severity::Warning)
            {
                continue;
            }
            if snapshot.source.python().is_some() {
                if left == 0 {
                    return Ok(wanted);
                }
                left -= 1;
            }
            if let Some(fix) = fix_of(snapshot, (kernel, number), cancel)? {
                wanted.push(Wanted { kernel, finding: number, fix });
            }
        }
    }
    Ok(wanted)
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
