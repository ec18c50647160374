//! Runs of the kernels of a document, laid out.

use base::{IrNames, Limits, TextRange};
use engine::Source;
use findings::Finding;
use lower::{LoweringOptions, lower_with};
use report::timeline::{Timeline, of_finding, of_kernel};

use crate::lsp::snapshot::Snapshot;

/// The run of a finding in the kernel that is named at a place, or without one a run in which nothing is wrong; in
/// places of the document.
pub(super) fn timeline_of(snapshot: &Snapshot, kernel: TextRange, finding: Option<&Finding>) -> Option<Timeline> {
    match &*snapshot.source {
        Source::Ir(_) => of_ir(snapshot, kernel, finding),
        Source::Other(_) => None,
        Source::Python(_) => of_python(snapshot, kernel, finding),
    }
}

fn of_ir(snapshot: &Snapshot, kernel: TextRange, finding: Option<&Finding>) -> Option<Timeline> {
    let holds = |offset: u32, length: usize| (offset..offset + length as u32).contains(&kernel.start);
    let mut sections = snapshot.source.ir()?.sections().iter();
    let section = sections.find(|section| holds(section.offset(), section.text().len()))?;
    let offset = section.offset();
    let lowered = lower_with(section.tree(), LoweringOptions::default());
    let lowered = lowered.into_iter().find(|lowered| lowered.map.kernel_range.start + offset == kernel.start)?;
    let run = match finding {
        Some(finding) => of_finding(&lowered, finding, &IrNames),
        None => Some(of_kernel(&lowered, &Limits::default(), &IrNames)),
    };
    run.map(|mut run| {
        run.shift(offset);
        run
    })
}

fn of_python(snapshot: &Snapshot, kernel: TextRange, finding: Option<&Finding>) -> Option<Timeline> {
    let elaboration = snapshot.elaboration_now()?;
    let is = |range: TextRange| elaboration.module.place(range).0 == kernel;
    let known = elaboration.kernels.iter().find(|known| is(known.entry.name_range))?;
    match finding {
        Some(finding) => known.instances.get(finding.instance)?.run_of(finding),
        None => known.instances.first()?.run(&Limits::default()),
    }
}
