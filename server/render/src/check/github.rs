//! Annotations for GitHub Actions: one workflow command a finding, on its lines.

use std::fmt::Write;

use base::TextRange;
use findings::{Severity, SuppressedBy};

use crate::SourceText;
use crate::check::{CheckedFile, FileOutput, Printer, SUPPRESSED, Tally, UNDECIDED, undecided};
use crate::lanes;

/// Prints workflow commands.
pub struct Github;

impl Printer for Github {
    fn file(&self, file: &CheckedFile) -> FileOutput {
        if file.is_unchanged() {
            return FileOutput::default();
        }
        let mut out = String::new();
        let places = SourceText::new(&file.text);
        match &file.result {
            Err(trouble) => {
                let place =
                    trouble.position.map_or_else(String::new, |at| format!(",line={},col={}", at.line, at.column));
                let (path, message) = (property(&file.path), data(&trouble.message));
                let _ = writeln!(out, "::error file={path}{place},title=fencepost::{message}");
            }
            Ok(analysis) => {
                for error in &analysis.syntax {
                    command(&mut out, "error", &file.path, &places, error.range, "syntax", &error.message);
                }
                for problem in &analysis.problems {
                    let level = level(problem.severity);
                    command(&mut out, level, &file.path, &places, problem.range, problem.code, &problem.message);
                }
                for kernel in &analysis.kernels {
                    if let Some(text) = undecided(kernel) {
                        command(&mut out, "warning", &file.path, &places, kernel.range, UNDECIDED, &text);
                    }
                    if kernel.suppressed.iter().any(|it| it.by != SuppressedBy::Baseline) {
                        let text = format!("@{}: {}{}", kernel.name, kernel.verdict.name(), kernel.suppressed_words());
                        command(&mut out, "notice", &file.path, &places, kernel.range, SUPPRESSED, &text);
                    }
                }
            }
        }
        for finding in file.findings() {
            let level = level(finding.severity);
            let mut text = finding.message.clone();
            for (number, site) in finding.sites.iter().enumerate() {
                let _ = write!(text, "\n({}) line {}: {}", number + 1, places.line(site.range.start), site.text);
            }
            let with = lanes::inputs(&finding.inputs);
            if !with.is_empty() {
                let _ = write!(text, "\n{with}");
            }
            command(&mut out, level, &file.path, &places, finding.range, finding.kind.name(), &text);
        }
        FileOutput { body: out, notifications: String::new() }
    }

    fn end(&self, tally: &Tally, _: &[String]) -> String {
        let mut out = String::new();
        for stale in &tally.stale {
            let (path, message) = (property(&stale.path), data(&stale.words()));
            let _ = writeln!(out, "::notice file={path},title=fencepost::{message}");
        }
        let known = (tally.known > 0).then(|| format!("findings in the baseline: {}", tally.known));
        for words in known.into_iter().chain(tally.left_out_words()) {
            let _ = writeln!(out, "::notice title=fencepost::{}", data(&words));
        }
        out
    }
}

/// An error of a file that has no place in it.
pub fn plain(path: &str, text: &str) -> String {
    format!("::error file={},title=fencepost::{}\n", property(path), data(text))
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Information | Severity::Hint => "notice",
    }
}

fn command(
    out: &mut String,
    level: &str,
    path: &str,
    places: &SourceText<'_>,
    range: TextRange,
    title: &str,
    message: &str,
) {
    let (line, col) = places.line_column(range.start);
    let (end_line, end_col) = match places.line_column(range.end) {
        // It ends with the end of a line.
        (end, 1) if end > line => (end - 1, u32::MAX),
        end => end,
    };
    let _ = write!(out, "::{level} file={},line={line},endLine={end_line}", property(path));
    // GitHub refuses columns on an annotation of several lines.
    if line == end_line && end_col < u32::MAX {
        let _ = write!(out, ",col={col},endColumn={end_col}");
    }
    let _ = writeln!(out, ",title={}::{}", property(title), data(message));
}

/// Escapes the text of a command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property of a command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_stays_on_one_line() {
        let mut out = String::new();
        let places = SourceText::new("module {\n  %a\n}");
        command(&mut out, "error", "a,b.ttgir", &places, TextRange::new(11, 13), "deadlock", "100 %\nof it");
        assert_eq!(
            out,
            "::error file=a%2Cb.ttgir,line=2,endLine=2,col=3,endColumn=5,title=deadlock::100 %25%0Aof it\n"
        );
        // A range that ends at the start of a line does not reach into it.
        let mut out = String::new();
        command(&mut out, "notice", "k:1.py", &places, TextRange::new(0, 9), "a:b", "x\r\ny");
        assert_eq!(out, "::notice file=k%3A1.py,line=1,endLine=1,title=a%3Ab::x%0D%0Ay\n");
        let mut out = String::new();
        command(&mut out, "warning", "k", &places, TextRange::new(0, 15), "t", "m");
        assert_eq!(out, "::warning file=k,line=1,endLine=3,title=t::m\n");
    }
}
