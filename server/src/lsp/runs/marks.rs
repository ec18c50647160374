//! What came of a run as diagnostics of a source of their own.
//!
//! They hold for the text that was run. When that changes they move with what they stand on, say that they are of
//! an earlier text and are no errors any more; what is on changed text goes.

use base::TextRange;
use findings::{KernelReport, Severity};
use tower_lsp::ls_types::{Diagnostic, DiagnosticRelatedInformation, Location, NumberOrString, Uri};

use crate::lsp::facts::Facts;
use crate::lsp::position::Mapper;
use crate::lsp::to_proto;
use crate::run::beside::Beside;
use crate::run::{Ending, Results};
use runtime::run::RunEnd;

const SOURCE: &str = "fencepost (run)";

/// One thing to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    range: TextRange,
    severity: Severity,
    code: &'static str,
    message: String,
    related: Vec<(TextRange, String)>,
}

/// What is to be shown of runs.
pub fn of(results: &Results, beside: &[Beside], kernels: &[KernelReport]) -> Vec<Mark> {
    let mut marks = Vec::new();
    for finding in results.kernels.iter().flat_map(|kernel| &kernel.findings) {
        let sites = finding.sites.iter().enumerate().filter(|_| finding.sites.len() > 1);
        let mut related: Vec<(TextRange, String)> =
            sites.map(|(at, site)| (site.range, format!("({}) {}", at + 1, site.text))).collect();
        related.extend(finding.context.iter().map(|call| (call.range, call.text.clone())));
        marks.push(Mark {
            range: finding.range,
            severity: finding.severity,
            code: finding.kind.name(),
            message: finding.message.clone(),
            related,
        });
    }
    for ran in &results.runs {
        let range = name_of(kernels, ran.launch.kernel.as_deref());
        let mut add = |severity, code, message: String| {
            let mark = Mark { range, severity, code, message, related: Vec::new() };
            if !marks.contains(&mark) {
                marks.push(mark);
            }
        };
        for text in &ran.report.elsewhere {
            add(Severity::Error, "elsewhere", text.clone());
        }
        match &ran.report.end {
            RunEnd::Hung(waits) => {
                let stuck = if waits.is_empty() { String::new() } else { format!(": {}", waits.join("; ")) };
                add(Severity::Error, "hung", format!("the run did not end in its time{stuck}"));
            }
            RunEnd::Failed(why) => add(Severity::Error, "failed", format!("the run failed: {why}")),
            RunEnd::Undecided(why) if Ending::of(&ran.report) == Ending::Undecided => {
                add(Severity::Information, "undecided", format!("the run decides nothing: {}", why.join("; ")));
            }
            RunEnd::Undecided(_) | RunEnd::Passed | RunEnd::Asserted | RunEnd::Cancelled => {}
        }
    }
    for text in &results.differ {
        let range = name_of(kernels, None);
        let (severity, code) = (Severity::Warning, "schedules-differ");
        marks.push(Mark { range, severity, code, message: text.clone(), related: Vec::new() });
    }
    for one in beside.iter().filter(|one| !one.agrees) {
        let range = name_of(kernels, Some(&one.kernel));
        let message = format!("the run {}, but {}", one.run, one.says);
        marks.push(Mark { range, severity: Severity::Warning, code: "disagreement", message, related: Vec::new() });
    }
    marks
}

fn name_of(kernels: &[KernelReport], name: Option<&str>) -> TextRange {
    let named = kernels.iter().find(|kernel| Some(kernel.name.as_str()) == name);
    named.or(kernels.first()).map_or_else(|| TextRange::empty(0), |kernel| kernel.range)
}

/// The marks after an edit of the text.
pub fn stale(marks: &mut Vec<Mark>, edit: TextRange, by: usize) {
    let (from, to) = (edit.start, edit.end);
    let moved = |range: TextRange| {
        if range.end <= from {
            return Some(range);
        }
        let shift = |at: u32| u32::try_from(i64::from(at) + by as i64 - i64::from(to - from)).unwrap_or(u32::MAX);
        (range.start >= to).then(|| TextRange::new(shift(range.start), shift(range.end)))
    };
    marks.retain_mut(|mark| {
        mark.related.clear();
        moved(mark.range).map(|range| mark.range = range).is_some()
    });
}

/// The marks as diagnostics.
pub fn diagnostics(marks: &[Mark], old: bool, mapper: Mapper<'_>, uri: &Uri, facts: &Facts) -> Vec<Diagnostic> {
    let one = |mark: &Mark| {
        let severity = if old { Severity::Hint } else { mark.severity };
        let mut message =
            if old { format!("of a run of an earlier text: {}", mark.message) } else { mark.message.clone() };
        let mut related = Vec::new();
        for (range, text) in &mark.related {
            let range = mapper.range(*range);
            if facts.related {
                let location = Location::new(uri.clone(), range);
                related.push(DiagnosticRelatedInformation { location, message: text.clone() });
            } else {
                message.push_str(&format!("\n  line {}: {text}", range.start.line + 1));
            }
        }
        Diagnostic {
            range: mapper.range(mark.range),
            severity: Some(to_proto::severity(severity)),
            code: Some(NumberOrString::String(mark.code.to_owned())),
            source: Some(SOURCE.to_owned()),
            message,
            related_information: (!related.is_empty()).then_some(related),
            ..Diagnostic::default()
        }
    };
    marks.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_move_with_their_text_and_go_with_it() {
        let mark = |start, end| Mark {
            range: TextRange::new(start, end),
            severity: Severity::Error,
            code: "deadlock",
            message: String::new(),
            related: vec![(TextRange::new(0, 1), String::new())],
        };
        let mut marks = vec![mark(0, 4), mark(5, 9), mark(12, 14)];
        stale(&mut marks, TextRange::new(6, 10), 1);
        let places: Vec<(u32, u32)> = marks.iter().map(|mark| (mark.range.start, mark.range.end)).collect();
        assert_eq!(places, [(0, 4), (9, 11)]);
        assert!(marks.iter().all(|mark| mark.related.is_empty()));
    }
}
