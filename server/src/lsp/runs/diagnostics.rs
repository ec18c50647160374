//! What came of a run as diagnostics of a source of their own.
//!
//! They hold for the text that was run. When that changes they move with what they stand on, say that they are of
//! an earlier text and are no errors any more; what is on changed text goes.

use base::TextRange;
use findings::{KernelReport, Severity};
use tower_lsp::ls_types::{Diagnostic, DiagnosticRelatedInformation, Location, NumberOrString, Uri};

use crate::lsp::client_config::ClientConfig;
use crate::lsp::position::Mapper;
use crate::lsp::to_proto;
use execution::verdict_comparison::VerdictComparison;
use execution::{RunResults, RunStatus};
use runtime::run::RunEnd;

/// Where the marks of one kind come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum MarkSource {
    /// A kernel that was run.
    #[default]
    Run,
    /// What the user's own Triton compiled.
    Triton,
}

impl MarkSource {
    fn name(self) -> &'static str {
        match self {
            MarkSource::Run => "fencepost (run)",
            MarkSource::Triton => "fencepost (Triton)",
        }
    }

    fn of_earlier_text(self) -> &'static str {
        match self {
            MarkSource::Run => "of a run of an earlier text",
            MarkSource::Triton => "compiled from an earlier text",
        }
    }
}

/// One finding or failure of a run, at its place in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunDiagnostic {
    pub(super) range: TextRange,
    pub(super) severity: Severity,
    pub(super) code: &'static str,
    pub(super) message: String,
    pub(super) related: Vec<(TextRange, String)>,
}

/// What came of the last run of a document, or of its last compilation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    source: MarkSource,
    diagnostics: Vec<RunDiagnostic>,
    /// Whether they are of an earlier text.
    outdated: bool,
}

impl Marks {
    /// Marks of the present text.
    pub(crate) fn new(source: MarkSource, diagnostics: Vec<RunDiagnostic>) -> Marks {
        Marks { source, diagnostics, outdated: false }
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.diagnostics.is_empty()
    }

    /// Whether an edit makes them those of an earlier text.
    pub(crate) fn are_current(&self) -> bool {
        !self.is_empty() && !self.outdated
    }

    /// Moves them with an edit of the text; those on changed text go.
    pub(crate) fn edit(&mut self, edit: TextRange, by: usize) {
        shift(&mut self.diagnostics, edit, by);
        self.outdated = true;
    }
}

/// What there is to show of runs.
pub(crate) fn collect(
    results: &RunResults,
    beside: &[VerdictComparison],
    kernels: &[KernelReport],
) -> Vec<RunDiagnostic> {
    let mut diagnostics = Vec::new();
    for finding in results.kernels.iter().flat_map(|kernel| &kernel.findings) {
        let sites = finding.sites.iter().enumerate().filter(|_| finding.sites.len() > 1);
        let mut related: Vec<(TextRange, String)> =
            sites.map(|(at, site)| (site.range, format!("({}) {}", at + 1, site.text))).collect();
        related.extend(finding.context.iter().map(|call| (call.range, call.text.clone())));
        diagnostics.push(RunDiagnostic {
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
            let diagnostic = RunDiagnostic { range, severity, code, message, related: Vec::new() };
            if !diagnostics.contains(&diagnostic) {
                diagnostics.push(diagnostic);
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
            RunEnd::Undecided(why) if RunStatus::new(&ran.report) == RunStatus::Undecided => {
                add(Severity::Information, "undecided", format!("the run decides nothing: {}", why.join("; ")));
            }
            RunEnd::Undecided(_) | RunEnd::Passed | RunEnd::Asserted | RunEnd::Cancelled => {}
        }
    }
    for text in &results.differ {
        let range = name_of(kernels, None);
        let (severity, code) = (Severity::Warning, "schedules-differ");
        diagnostics.push(RunDiagnostic { range, severity, code, message: text.clone(), related: Vec::new() });
    }
    for one in beside.iter().filter(|one| !one.agrees) {
        let range = name_of(kernels, Some(&one.kernel));
        let message = format!("the run {}, but {}", one.run, one.summary);
        diagnostics.push(RunDiagnostic {
            range,
            severity: Severity::Warning,
            code: "disagreement",
            message,
            related: Vec::new(),
        });
    }
    diagnostics
}

/// The place of a kernel's name.
fn name_of(kernels: &[KernelReport], name: Option<&str>) -> TextRange {
    let named = kernels.iter().find(|kernel| Some(kernel.name.as_str()) == name);
    named.or(kernels.first()).map_or_else(|| TextRange::empty(0), |kernel| kernel.range)
}

/// Moves diagnostics with an edit of the text; those on changed text go.
fn shift(diagnostics: &mut Vec<RunDiagnostic>, edit: TextRange, by: usize) {
    let (from, to) = (edit.start, edit.end);
    let moved = |range: TextRange| {
        if range.end <= from {
            return Some(range);
        }
        let shift = |at: u32| u32::try_from(i64::from(at) + by as i64 - i64::from(to - from)).unwrap_or(u32::MAX);
        (range.start >= to).then(|| TextRange::new(shift(range.start), shift(range.end)))
    };
    diagnostics.retain_mut(|diagnostic| {
        diagnostic.related.clear();
        moved(diagnostic.range).map(|range| diagnostic.range = range).is_some()
    });
}

/// The same in the protocol's form.
pub(crate) fn to_proto(marks: &Marks, mapper: Mapper<'_>, uri: &Uri, client: &ClientConfig) -> Vec<Diagnostic> {
    let Marks { source, diagnostics, outdated: old } = marks;
    let one = |diagnostic: &RunDiagnostic| {
        let severity = if *old { Severity::Hint } else { diagnostic.severity };
        let mut message = if *old {
            format!("{}: {}", source.of_earlier_text(), diagnostic.message)
        } else {
            diagnostic.message.clone()
        };
        let mut related = Vec::new();
        for (range, text) in &diagnostic.related {
            let range = mapper.range(*range);
            if client.related_information {
                let location = Location::new(uri.clone(), range);
                related.push(DiagnosticRelatedInformation { location, message: text.clone() });
            } else {
                message.push_str(&format!("\n  line {}: {text}", range.start.line + 1));
            }
        }
        Diagnostic {
            range: mapper.range(diagnostic.range),
            severity: Some(to_proto::severity(severity)),
            code: Some(NumberOrString::String(diagnostic.code.to_owned())),
            source: Some(source.name().to_owned()),
            message,
            related_information: (!related.is_empty()).then_some(related),
            ..Diagnostic::default()
        }
    };
    diagnostics.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_move_with_their_text_and_go_with_it() {
        let diagnostic = |start, end| RunDiagnostic {
            range: TextRange::new(start, end),
            severity: Severity::Error,
            code: "deadlock",
            message: String::new(),
            related: vec![(TextRange::new(0, 1), String::new())],
        };
        let mut diagnostics = vec![diagnostic(0, 4), diagnostic(5, 9), diagnostic(12, 14)];
        shift(&mut diagnostics, TextRange::new(6, 10), 1);
        let places: Vec<(u32, u32)> =
            diagnostics.iter().map(|diagnostic| (diagnostic.range.start, diagnostic.range.end)).collect();
        assert_eq!(places, [(0, 4), (9, 11)]);
        assert!(diagnostics.iter().all(|diagnostic| diagnostic.related.is_empty()));
    }
}
