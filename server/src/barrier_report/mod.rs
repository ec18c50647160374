//! Barrier reports of the sections of a file, for the command line and for editors; in a Python file an
//! instance of a kernel is a section.

mod content;
pub(crate) mod sections;

use base::{Cancel, Cancelled, IrNames, Limits, TextRange};
use engine::Engine;
use engine::instances::Elaboration;
use kernel::Lowered;
use report::Report;
use report::timeline::{Timeline, of_finding, of_kernel};

pub(crate) use content::Content;
use content::instances;
use render::SourceText;
use render::report::{ReportView, SectionName};

/// A file that is read.
pub(crate) struct ReportInput<'a> {
    /// As it was named.
    pub(crate) path: &'a str,
    /// What is in it.
    pub(crate) content: Content<'a>,
    /// Its lines.
    pub(crate) places: &'a SourceText<'a>,
}

/// The reports of a section's kernels, or of one of them; with `limits` each with a run to draw.
pub(crate) fn report_views<'a>(
    file: &ReportInput<'a>,
    section: usize,
    kernel: Option<&str>,
    engine: &mut Engine,
    limits: Option<&Limits>,
    cancel: &Cancel<'_>,
) -> Result<Vec<ReportView<'a>>, Cancelled> {
    let document = match file.content {
        Content::Ir(document) => document,
        Content::Python(elaboration) => return instance(file, elaboration, section, engine, limits, cancel),
    };
    let Some(from) = document.sections().get(section) else { return Ok(Vec::new()) };
    let reports = engine.section_reports(from, kernel, cancel)?;
    let view = |(report, lowered): (Report, Lowered)| {
        let drawn = limits.map(|limits| run(&report, &lowered, limits));
        let (finding, timeline) = drawn.map_or((None, None), |(finding, mut timeline)| {
            timeline.shift(from.offset());
            (finding, Some(timeline))
        });
        let name = sections::name(document, section);
        let text = TextRange::new(from.offset(), from.offset() + from.text().len() as u32);
        ReportView { path: file.path, section: name, text, places: file.places, report, timeline, finding }
    };
    Ok(reports.into_iter().map(view).collect())
}

/// The report of an instance of a kernel, by its number among those of the file.
fn instance<'a>(
    file: &ReportInput<'a>,
    elaboration: &Elaboration,
    section: usize,
    engine: &mut Engine,
    limits: Option<&Limits>,
    cancel: &Cancel<'_>,
) -> Result<Vec<ReportView<'a>>, Cancelled> {
    let all = instances(elaboration);
    let Some(&(kernel, number)) = all.get(section) else { return Ok(Vec::new()) };
    let Some(report) = engine.report_python(elaboration, (kernel, number), cancel)? else { return Ok(Vec::new()) };
    let of = elaboration.kernels.get(kernel);
    let elaborated = of.and_then(|kernel| kernel.instances.get(number));
    let findings = report.findings.iter().enumerate();
    let found = findings.filter_map(|(at, finding)| Some((at, elaborated?.run_of(finding)?))).next();
    let (finding, timeline) = match (limits, found) {
        (None, _) => (None, None),
        (Some(_), Some((at, timeline))) => (Some(at), Some(timeline)),
        (Some(limits), None) => (None, elaborated.and_then(|elaborated| elaborated.run(limits))),
    };
    let count = of.map_or(0, |kernel| kernel.instances.len());
    let pass = elaborated.map_or_else(String::new, |elaborated| elaborated.instance.label.clone());
    let name = (count > 1).then(|| SectionName { number: section + 1, count: all.len(), pass });
    let text = TextRange::new(0, file.places.text().len() as u32);
    Ok(vec![ReportView { path: file.path, section: name, text, places: file.places, report, timeline, finding }])
}

/// The run of the first finding that has one, or else one that shows what the kernel does.
fn run(report: &Report, lowered: &Lowered, limits: &Limits) -> (Option<usize>, Timeline) {
    let findings = report.findings.iter().enumerate();
    let found = findings.filter_map(|(at, finding)| Some((at, of_finding(lowered, finding, &IrNames)?))).next();
    match found {
        Some((at, timeline)) => (Some(at), timeline),
        None => (None, of_kernel(lowered, limits, &IrNames)),
    }
}
