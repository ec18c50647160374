//! From sections to sheets.

use analysis::Engine;
use analysis::base::{Cancel, Cancelled, Limits, TextRange};
use analysis::report::Report;
use analysis::sync::Lowered;
use analysis::syntax::ttgir::Document;
use analysis::timeline::{Timeline, of_finding, of_kernel};

use super::sheet::{SectionName, Sheet};
use crate::place::Places;

/// A file that is read.
pub struct File<'a> {
    /// As it was named.
    pub path: &'a str,
    /// Its sections.
    pub document: &'a Document,
    /// Its lines.
    pub places: &'a Places<'a>,
}

/// The reports of a section's kernels, or of one of them; with `limits` each with a run to draw.
pub fn sheets<'a>(
    file: &File<'a>,
    section: usize,
    kernel: Option<&str>,
    engine: &mut Engine,
    limits: Option<&Limits>,
    cancel: &Cancel<'_>,
) -> Result<Vec<Sheet<'a>>, Cancelled> {
    let Some(from) = file.document.sections().get(section) else { return Ok(Vec::new()) };
    let reports = engine.section_reports(from, kernel, cancel)?;
    let sheet = |(report, lowered): (Report, Lowered)| {
        let drawn = limits.map(|limits| run(&report, &lowered, limits));
        let (finding, timeline) = drawn.map_or((None, None), |(finding, mut timeline)| {
            timeline.shift(from.offset());
            (finding, Some(timeline))
        });
        let name = SectionName::of(file.document, section);
        let text = TextRange::new(from.offset(), from.offset() + from.text().len() as u32);
        Sheet { path: file.path, section: name, text, places: file.places, report, timeline, finding }
    };
    Ok(reports.into_iter().map(sheet).collect())
}

/// The run of the first finding that has one, or else one that shows what the kernel does.
fn run(report: &Report, lowered: &Lowered, limits: &Limits) -> (Option<usize>, Timeline) {
    let findings = report.findings.iter().enumerate();
    let found = findings.filter_map(|(at, finding)| Some((at, of_finding(lowered, finding)?))).next();
    match found {
        Some((at, timeline)) => (Some(at), timeline),
        None => (None, of_kernel(lowered, limits)),
    }
}
