//! Runs of kernels in Python.

use base::Limits;
use engine::instances::{Elaboration, KernelInstances};
use findings::{Finding, KernelReport, Verdict};

use super::super::args::Trace;
use super::choice::{named, numbered};
use render::SourceText;
use render::check::CheckedFile;
use render::trace::{TraceDrawing, TraceHeading};

/// What the arguments ask for: findings that have a run, or else the runs of the kernels' first instances.
pub(crate) fn choose<'a>(
    args: &Trace,
    file: &'a CheckedFile,
    elaboration: &Elaboration,
    places: &'a SourceText<'a>,
) -> Result<Vec<TraceDrawing<'a>>, String> {
    let reports = named(args, file)?;
    let all = || reports.iter().filter_map(|&(at, report)| Some((report, elaboration.kernels.get(at)?)));
    let findings: Vec<(&Finding, &KernelInstances)> =
        all().flat_map(|(report, kernel)| report.drawn().map(move |finding| (finding, kernel))).collect();
    let count = findings.len();
    numbered(args, count)?;
    let wanted = |at: usize| args.finding.is_none_or(|number| number.get() == at + 1);
    let mut drawings = Vec::new();
    for (at, (finding, kernel)) in findings.into_iter().enumerate().filter(|(at, _)| wanted(*at)) {
        let timeline = kernel.instances.get(finding.instance).and_then(|elaborated| elaborated.run_of(finding));
        let heading = TraceHeading::of_finding(&file.path, finding, at + 1, count, places);
        drawings.push(TraceDrawing::new(timeline, heading, places, !args.all_steps));
    }
    if count == 0 {
        let limits = Limits { semantics: args.semantics.into(), ..Limits::default() };
        let decided = |report: &KernelReport| !matches!(report.verdict, Verdict::Undecided(_));
        for (report, kernel) in all().filter(|(report, _)| decided(report)) {
            let timeline = kernel.instances.first().and_then(|elaborated| elaborated.run(&limits));
            drawings.push(TraceDrawing::new(
                timeline,
                TraceHeading::of_kernel(&file.path, report, places),
                places,
                !args.all_steps,
            ));
        }
    }
    Ok(drawings)
}
