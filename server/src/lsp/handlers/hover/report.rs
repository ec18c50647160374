//! The barrier report of the kernel that a hover is in.

use std::sync::Arc;

use base::{Cancel, TextRange};
use engine::Source;
use report::Report;

use super::super::kernels::kernels;
use crate::lsp::snapshot::Snapshot;

/// The report of the kernel that is named at a place, if this very text is analysed and the report is at hand.
pub(super) fn at_hand(snapshot: &Snapshot, kernel: Option<TextRange>) -> Option<Arc<Report>> {
    let kernel = kernel.filter(|_| snapshot.analysis.is_some())?;
    let own = snapshot.clone();
    snapshot.cache.reports.report(snapshot.cache.generation, kernel, move || make(&own, kernel))
}

fn make(snapshot: &Snapshot, kernel: TextRange) -> Option<Report> {
    let stop = || snapshot.cache.is_outdated();
    let cancel = Cancel::when(&stop);
    // What the analysis has found out is shared with this engine.
    let mut engine = snapshot.cache.engine();
    match &*snapshot.source {
        Source::Ir(document) => {
            let place = kernels(snapshot).into_iter().find(|place| place.range == kernel)?;
            let section = document.sections().get(place.section)?;
            let reports = engine.section_reports(section, Some(&place.name), &cancel).ok()?;
            reports.into_iter().map(|(report, _)| report).find(|report| report.range == kernel)
        }
        Source::Other(_) => None,
        Source::Python(_) => {
            let elaboration = snapshot.elaboration(&cancel).ok().flatten()?;
            let is = |range: TextRange| elaboration.module.place(range).0 == kernel;
            let at = elaboration.kernels.iter().position(|known| is(known.entry.name_range))?;
            let instance = elaboration.kernels.get(at)?.instances.iter().position(|known| known.lowered().is_some())?;
            engine.report_python(&elaboration, (at, instance), &cancel).ok().flatten()
        }
    }
}
