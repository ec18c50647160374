//! A line a finding: `kernels.py:21:9: error[deadlock] …`, as compilers print it, for lists of places in editors and `grep`.

use std::fmt::Write;

use findings::Severity;

use super::human::summary;
use super::{CheckedFile, FileOutput, Printer, Tally, UNDECIDED, undecided};
use crate::SourceText;
use crate::lanes;

/// Prints a line for each finding, problem and kernel that is not decided.
pub struct Concise {
    /// Whether hints, and what else is neither wrong nor undecided, are left out.
    pub quiet: bool,
}

impl Printer for Concise {
    fn file(&self, file: &CheckedFile) -> FileOutput {
        let mut out = String::new();
        let path = &file.path;
        let places = SourceText::new(&file.text);
        let analysis = match &file.result {
            Ok(analysis) => analysis,
            Err(trouble) => {
                let place = trouble.position.map_or_else(String::new, |at| format!("{}:{}:", at.line, at.column));
                let _ = writeln!(out, "{path}:{place} error {}", trouble.message);
                return FileOutput { body: out, notifications: String::new() };
            }
        };
        let mut lines: Vec<(u32, String)> = Vec::new();
        let mut line = |start: u32, severity: &str, code: &str, text: &str| {
            let (line, column) = places.line_column(start);
            lines.push((start, format!("{path}:{line}:{column}: {severity}[{code}] {text}")));
        };
        let error = Severity::Error.name();
        for syntax in &analysis.syntax {
            line(syntax.range.start, error, "syntax", &syntax.message);
        }
        let shown = |severity: Severity| !self.quiet || severity <= Severity::Warning;
        for problem in analysis.problems.iter().filter(|problem| shown(problem.severity)) {
            line(problem.range.start, problem.severity.name(), problem.code, &problem.message);
        }
        for finding in file.findings().filter(|finding| shown(finding.severity)) {
            let with = lanes::inputs(&finding.inputs);
            let with = if with.is_empty() { with } else { format!(" ({with})") };
            let text = format!("{}{with}", finding.message);
            line(finding.range.start, finding.severity.name(), finding.kind.name(), &text);
        }
        for kernel in &analysis.kernels {
            if let Some(text) = undecided(kernel) {
                line(kernel.range.start, Severity::Warning.name(), UNDECIDED, &text);
            }
        }
        lines.sort_by_key(|(start, _)| *start);
        for (_, text) in &lines {
            let _ = writeln!(out, "{text}");
        }
        FileOutput { body: out, notifications: String::new() }
    }

    fn end(&self, tally: &Tally, _: &[String]) -> String {
        if self.quiet { String::new() } else { summary(tally) + "\n" }
    }
}
