//! What people read: an excerpt with numbered places, then the run, then what to do.

use std::collections::BTreeSet;
use std::fmt::Write;
use ttgir::SyntaxError;

use annotate_snippets::{Group, Level, Patch, Renderer, Snippet};
use base::TextRange;
use findings::{Finding, Fix, KernelReport, Kind, Proof, Severity, TextProblem, Verdict};

use super::ReadError;
use super::excerpt::{self, Label};
use crate::SourceText;
use crate::check::{CheckedFile, FileOutput, Printer, Tally};
use crate::lanes;
use crate::style::{Painter, Style};

/// Places of one kernel that could not be followed and are shown.
const CAUSES: usize = 3;

/// Steps of a run that `check` prints; `trace` prints all.
const RUN_STEPS: usize = 24;

/// Prints for people.
pub struct Human {
    paint: Painter,
    verbose: bool,
    quiet: bool,
}

impl Human {
    /// `verbose` also prints the verdicts of kernels in directories.
    pub fn new(paint: Painter, verbose: bool) -> Human {
        Human { paint, verbose, quiet: false }
    }

    /// The same, of what is wrong or not decided alone: no good verdicts, hints, notes or summary.
    pub fn quietly(self) -> Human {
        Human { quiet: true, ..self }
    }

    fn renderer(&self) -> Renderer {
        if self.paint.is_on() { Renderer::styled() } else { Renderer::plain() }
    }
}

impl Printer for Human {
    fn file(&self, file: &CheckedFile) -> FileOutput {
        let mut out = String::new();
        let note = || self.paint.text(Style::Bold, "note");
        if file.is_unchanged() && self.verbose {
            let _ = writeln!(out, "{}: {} is unchanged and was not looked at", note(), file.path);
        }
        match &file.result {
            Err(trouble) => self.trouble(&mut out, &file.path, trouble),
            Ok(analysis) => {
                let places = SourceText::new(&file.text);
                for error in &analysis.syntax {
                    self.syntax(&mut out, &file.path, &places, error);
                }
                // What is no kernel in a directory is no news.
                let news = |problem: &&TextProblem| problem.code != TextProblem::UNREAD || file.named || self.verbose;
                for problem in analysis.problems.iter().filter(news) {
                    self.problem(&mut out, &file.path, &places, problem);
                }
                let mut told: Vec<&Finding> = Vec::new();
                for (at, kernel) in analysis.kernels.iter().enumerate() {
                    let mut causes = 0;
                    let quiet = |finding: &&Finding| self.quiet && finding.severity > Severity::Warning;
                    for finding in kernel.findings.iter().filter(|finding| !quiet(finding)) {
                        causes += usize::from(finding.kind == Kind::Unmodelled);
                        if finding.kind == Kind::Unmodelled && causes > CAUSES && !self.verbose {
                            continue;
                        }
                        match told.iter().find(|earlier| same(earlier, finding)) {
                            Some(earlier) => self.again(&mut out, &file.path, &places, finding, earlier),
                            None => self.finding(&mut out, &file.path, &places, finding),
                        }
                        told.push(finding);
                    }
                    if causes > CAUSES && !self.verbose {
                        let note = self.paint.text(Style::Bold, "note");
                        let more = plural((causes - CAUSES) as u64, "place", "places");
                        let _ = writeln!(
                            out,
                            "{note}: {more} more of @{} could not be followed; --verbose shows them\n",
                            kernel.name
                        );
                    }
                    if (file.named && !self.quiet)
                        || self.verbose
                        || matches!(kernel.verdict, Verdict::Undecided(_))
                        || !file.proofs.is_empty()
                    {
                        self.verdict(&mut out, &file.path, &places, kernel);
                    }
                    if let Some(proof) = file.proofs.get(at) {
                        self.proof(&mut out, &file.path, &places, kernel, proof);
                    }
                }
                for skipped in analysis.skipped.iter().filter(|_| !self.quiet) {
                    let _ = writeln!(out, "{}: {} {skipped}", note(), file.path);
                }
                for name in analysis.left_out.iter().filter(|_| (file.named && !self.quiet) || self.verbose) {
                    let _ = writeln!(out, "{}: {} @{name} is unchanged and was not looked at", note(), file.path);
                }
            }
        }
        FileOutput { body: out, notifications: String::new() }
    }

    fn end(&self, tally: &Tally, _: &[String]) -> String {
        if self.quiet {
            return String::new();
        }
        let mut out = self.more(&tally.kinds) + &summary(tally) + "\n";
        for stale in &tally.stale {
            let _ = writeln!(out, "{}: {}", self.paint.text(Style::Bold, "note"), stale.words());
        }
        for triton in tally.triton.iter().filter(|triton| triton.installed) {
            let note = self.paint.text(Style::Bold, "note");
            let _ = writeln!(out, "{note}: analysed for Triton {}, {}", triton.version, triton.source);
        }
        out
    }
}

impl Human {
    /// Where more is said of kinds of findings: once, however many there are of each.
    pub fn more(&self, kinds: &BTreeSet<&'static str>) -> String {
        let help = self.paint.text(Style::Bold, "help");
        let names: Vec<&str> = kinds.iter().copied().collect();
        match names.as_slice() {
            [] => String::new(),
            [one] => format!("{help}: `fencepost explain {one}` says more\n"),
            all => format!("{help}: `fencepost explain KIND` says more of {}\n", all.join(", ")),
        }
    }

    fn trouble(&self, out: &mut String, path: &str, trouble: &ReadError) {
        let place = trouble.position.map_or_else(String::new, |at| format!(":{}:{}", at.line, at.column));
        let error = self.paint.text(Style::Bad, "error");
        let _ = writeln!(out, "{error}: {path}{place}: {}\n", trouble.message);
    }

    fn syntax(&self, out: &mut String, path: &str, places: &SourceText<'_>, error: &SyntaxError) {
        let mut marks = vec![Label { range: error.range, primary: true, text: String::new() }];
        let related = error.related.iter();
        marks.extend(related.map(|(range, text)| Label { range: *range, primary: false, text: text.clone() }));
        let id = format!("syntax: {}", error.code);
        let title = Level::ERROR.primary_title(error.message.as_str()).id(id.as_str());
        let _ = writeln!(out, "{}\n", excerpt::render(title, path, places, &marks, self.paint));
    }

    fn problem(&self, out: &mut String, path: &str, places: &SourceText<'_>, problem: &TextProblem) {
        // What is remarked of a file that is in a directory is no news.
        if (problem.severity == Severity::Hint && !self.verbose) || (problem.severity > Severity::Warning && self.quiet)
        {
            return;
        }
        let title = level(problem.severity).primary_title(problem.message.as_str()).id(problem.code);
        let marks = [Label { range: problem.range, primary: true, text: String::new() }];
        let _ = writeln!(out, "{}", excerpt::render(title, path, places, &marks, self.paint));
        if let Some(fix) = &problem.fix {
            let _ = writeln!(out, "{}", self.renderer().render(&[fix_group(path, places, fix)]));
        }
        out.push('\n');
    }

    fn finding(&self, out: &mut String, path: &str, places: &SourceText<'_>, finding: &Finding) {
        let title = level(finding.severity).primary_title(finding.message.as_str()).id(finding.kind.name());
        // What nobody has to act upon takes few lines.
        let briefly = finding.severity == Severity::Hint && !self.verbose;
        let marks = match briefly {
            true => vec![Label { range: finding.range, primary: true, text: String::new() }],
            false => site_marks(finding),
        };
        let _ = writeln!(out, "{}", excerpt::render(title, path, places, &marks, self.paint));
        if briefly {
            let with = lanes::inputs(&finding.inputs);
            if !with.is_empty() {
                let more = if finding.run.is_empty() { "" } else { "; --verbose shows it" };
                let name = if finding.run.is_empty() { "found" } else { "run" };
                let _ = writeln!(out, "   = {}: {with}{more}", self.paint.text(Style::Bold, name));
            }
        } else {
            self.told_in_full(out, path, places, finding);
        }
        if let Some(fix) = &finding.fix {
            let _ = writeln!(out, "{}", self.renderer().render(&[fix_group(path, places, fix)]));
        }
        out.push('\n');
    }

    /// Where its sites come from, through which calls, and the run.
    fn told_in_full(&self, out: &mut String, path: &str, places: &SourceText<'_>, finding: &Finding) {
        self.sources(out, finding);
        for call in &finding.context {
            let (line, column) = places.line_column(call.range.start);
            let _ =
                writeln!(out, "   = {}: {} ({path}:{line}:{column})", self.paint.text(Style::Bold, "note"), call.text);
        }
        self.run(out, places, finding);
    }

    /// A finding that an earlier section of a dump has too: the kernel is the same, a pass later.
    fn again(&self, out: &mut String, path: &str, places: &SourceText<'_>, finding: &Finding, earlier: &Finding) {
        let (line, column) = places.line_column(finding.range.start);
        let severity = self.paint.text(Style::Bold, finding.severity.name());
        let kind = finding.kind.name();
        let first = places.line(earlier.range.start);
        let _ = writeln!(out, "{severity}[{kind}]: {path}:{line}:{column}: the same as at line {first}\n");
    }

    /// Where the sites stand in the program that the text was compiled from.
    fn sources(&self, out: &mut String, finding: &Finding) {
        let many = finding.sites.len() > 1;
        let numbered = finding.sites.iter().enumerate().filter_map(|(at, site)| Some((at + 1, site.source.as_ref()?)));
        let sources: Vec<String> = numbered
            .map(|(number, source)| if many { format!("({number}) {source}") } else { source.clone() })
            .collect();
        if !sources.is_empty() {
            let _ = writeln!(out, "   = {}: {}", self.paint.text(Style::Bold, "source"), sources.join(", "));
        }
    }

    /// The run as steps, each under its partition.
    fn run(&self, out: &mut String, places: &SourceText<'_>, finding: &Finding) {
        let with = lanes::inputs(&finding.inputs);
        if finding.run.is_empty() {
            if !with.is_empty() {
                let _ = writeln!(out, "   = {}: {with}", self.paint.text(Style::Bold, "found"));
            }
            return;
        }
        let comma = if with.is_empty() { "" } else { ", " };
        let _ = writeln!(out, "   = {}{comma}{with}:", self.paint.text(Style::Bold, "run"));
        let hidden = finding.run.len().saturating_sub(RUN_STEPS);
        if hidden > 0 {
            let _ = writeln!(out, "       … {hidden} earlier steps, see `fencepost trace`");
        }
        let shown = &finding.run[hidden..];
        let width = shown.iter().map(|step| step.partition.chars().count()).max().unwrap_or(0);
        let digits = shown.iter().map(|step| places.line(step.range.start)).max().unwrap_or(0).to_string().len();
        let mut before = "";
        for step in shown {
            // The partition is named where it changes, so that a stretch of one reads as a group.
            let name = if step.partition == before { "" } else { &step.partition };
            before = &step.partition;
            let name = self.paint.text(Style::Bold, &format!("{name:width$}"));
            let line = self.paint.text(Style::Dim, &format!("{:digits$}", places.line(step.range.start)));
            let _ = writeln!(out, "       {name}  {line}  {}", lanes::numbered(finding, step));
        }
    }

    fn verdict(&self, out: &mut String, path: &str, places: &SourceText<'_>, kernel: &KernelReport) {
        let (style, text) = match &kernel.verdict {
            Verdict::Found if kernel.suppressed.is_empty() => return,
            Verdict::Found => {
                let said = kernel.suppressed_words();
                (Style::Bad, format!("found:{}", said.trim_start_matches(';')))
            }
            Verdict::Proved(how) => (Style::Good, format!("proved: {how}")),
            Verdict::Clean(how) => (Style::Good, format!("clean: {how}")),
            Verdict::Undecided(why) => (Style::Doubt, format!("undecided: {}", why.join("; "))),
        };
        let (word, rest) = text.split_once(':').unwrap_or((&text, ""));
        let suppressed = if kernel.verdict == Verdict::Found { String::new() } else { kernel.suppressed_words() };
        let rest = format!("{}{}{suppressed}", rest.trim(), super::global_words(kernel));
        let dash = if rest.is_empty() { "" } else { ": " };
        let line = places.line(kernel.range.start);
        let _ = writeln!(out, "{} {path}:{line} @{}{dash}{rest}", self.paint.text(style, word), kernel.name);
        if let Some(pin) = &kernel.pin {
            let help = self.paint.text(Style::Bold, "help");
            let _ = writeln!(out, "   = {help}: {} would decide it: `{}`", super::pin_words(pin), pin.line);
        }
    }
}

impl Human {
    /// Why a verdict is what it is.
    fn proof(&self, out: &mut String, path: &str, places: &SourceText<'_>, kernel: &KernelReport, proof: &Proof) {
        if kernel.verdict == Verdict::Found {
            let line = places.line(kernel.range.start);
            let _ = writeln!(out, "{} {path}:{line} @{}", self.paint.text(Style::Bad, "found"), kernel.name);
        }
        let mut item = |name: &str, text: &str| {
            let _ = writeln!(out, "   = {}: {text}", self.paint.text(Style::Bold, name));
        };
        let inputs = plural(proof.valuations as u64, "choice of inputs", "choices of inputs");
        let (runs, steps) = (plural(u64::from(proof.runs), "run", "runs"), plural(proof.steps, "step", "steps"));
        let schedules = match proof.states {
            0 if kernel.verdict == Verdict::Found => String::new(),
            0 => "; each run stands for all schedules".to_owned(),
            states => format!("; schedules differ, {} visited", plural(states, "state", "states")),
        };
        item("made", &format!("{inputs}, {runs}, {steps}{schedules}"));
        for closed in &proof.loops {
            let line = places.line(closed.range.start);
            let every = plural(closed.period, "iteration", "iterations");
            let from = closed.warm_up;
            item(
                "closed",
                &format!(
                    "line {line}: the {} loop is in the same state again every {every}, from iteration {from} on",
                    closed.op
                ),
            );
        }
        let global = kernel.global.iter().filter(|global| global.is_told());
        for clause in global.flat_map(|global| &global.assumed) {
            item("assumed", &format!("of global memory, {clause}"));
        }
        for (name, reasons) in [("assumed", &proof.assumed), ("open", &proof.open)] {
            for reason in reasons {
                let line =
                    reason.range.map_or_else(String::new, |range| format!("line {}: ", places.line(range.start)));
                item(name, &format!("{line}{}", reason.text));
            }
        }
        out.push('\n');
    }
}

fn level(severity: Severity) -> Level<'static> {
    match severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Information => Level::INFO,
        Severity::Hint => Level::HELP.with_name("hint"),
    }
}

/// `1 run`, `2 runs`.
fn plural(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Whether two findings say the same of the same kernel.
fn same(a: &Finding, b: &Finding) -> bool {
    (a.kind, &a.kernel, &a.message) == (b.kind, &b.kernel, &b.message)
}

fn site_marks(finding: &Finding) -> Vec<Label> {
    if finding.sites.is_empty() {
        return vec![Label { range: finding.range, primary: true, text: String::new() }];
    }
    let many = finding.sites.len() > 1;
    let numbered = finding.sites.iter().enumerate();
    numbered
        .map(|(at, site)| {
            let text = match many {
                true => format!("({}) {}", at + 1, site.text),
                // The title says it.
                false if site.text == finding.message => String::new(),
                false => site.text.clone(),
            };
            Label { range: site.range, primary: site.primary, text }
        })
        .collect()
}

fn fix_group<'a>(path: &'a str, places: &SourceText<'a>, fix: &'a Fix) -> Group<'a> {
    let cover = fix.edits.iter().map(|edit| edit.range).reduce(TextRange::cover).unwrap_or_default();
    let (lines, before) = places.lines_around(cover);
    let source = lines.of(places.text());
    let patches = fix.edits.iter().map(|edit| {
        let start = (edit.range.start.saturating_sub(lines.start) as usize).min(source.len());
        let end = (edit.range.end.saturating_sub(lines.start) as usize).clamp(start, source.len());
        match whole_lines(source, start, &edit.text) {
            Some((at, text)) if start == end => Patch::new(at..at, text),
            _ => Patch::new(start..end, edit.text.as_str()),
        }
    });
    let snippet = Snippet::source(source).path(path).line_start(before as usize + 1).patches(patches);
    Group::with_title(Level::HELP.secondary_title(fix.title.as_str())).element(snippet)
}

/// Lines that are inserted behind an indent, as lines inserted before it: the same text, shown as
/// lines that are new instead of a line that changes.
fn whole_lines(source: &str, at: usize, text: &str) -> Option<(usize, String)> {
    let start = source.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
    let indent = source.get(start..at)?;
    let lines = text.strip_suffix(indent).filter(|lines| lines.ends_with('\n'))?;
    indent.trim().is_empty().then(|| (start, format!("{indent}{lines}")))
}

/// One line over all files.
pub fn summary(tally: &Tally) -> String {
    let mut parts = Vec::new();
    let mut count = |number: usize, one: &str, many: &str| {
        if number > 0 {
            parts.push(format!("{number} {}", if number == 1 { one } else { many }));
        }
    };
    count(tally.errors, "error", "errors");
    count(tally.warnings, "warning", "warnings");
    count(tally.syntax_errors, "syntax error", "syntax errors");
    count(tally.unreadable, "file that could not be checked", "files that could not be checked");
    count(tally.proved, "kernel proved", "kernels proved");
    count(tally.clean, "kernel clean", "kernels clean");
    count(tally.undecided, "kernel undecided", "kernels undecided");
    count(tally.suppressed, "finding suppressed", "findings suppressed");
    count(tally.known, "finding in the baseline", "findings in the baseline");
    count(tally.stale.len(), "stale entry in the baseline", "stale entries in the baseline");
    parts.extend(tally.left_out_words());
    if tally.files == 0 {
        return "nothing to check".to_owned();
    }
    if parts.is_empty() {
        parts.push("no kernel".to_owned());
    }
    let files = if tally.files == 1 { "1 file".to_owned() } else { format!("{} files", tally.files) };
    format!("{files}: {}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::TextRange;
    use findings::{Edit, Note, RunStep};

    fn range(text: &str, word: &str) -> TextRange {
        let start = text.find(word).unwrap_or(0) as u32;
        TextRange::new(start, start + word.len() as u32)
    }

    #[test]
    fn a_fix_is_shown_as_a_change() {
        let text = "module {\n  expect %bar\n  wait %bar, %c0\n}\n";
        let at =
            |word, said: &str, primary| Note { source: None, range: range(text, word), text: said.to_owned(), primary };
        let arrival = Edit { range: TextRange::empty(range(text, "wait").start), text: "arrive %bar\n  ".to_owned() };
        let phase = Edit { range: range(text, "%c0"), text: "%c1".to_owned() };
        let finding = Finding {
            kind: Kind::Deadlock,
            severity: Severity::Error,
            message: "nobody arrives".to_owned(),
            range: range(text, "wait"),
            sites: vec![at("expect", "bytes are expected", false), at("wait", "waits for ever", true)],
            run: vec![
                RunStep {
                    partition: "default".into(),
                    range: range(text, "expect"),
                    text: "expects".into(),
                    site: Some(0),
                },
                RunStep {
                    partition: "default".into(),
                    range: range(text, "wait"),
                    text: "waits".into(),
                    site: Some(1),
                },
            ],
            witness: None,
            context: Vec::new(),
            instance: 0,
            phases: Vec::new(),
            order: None,
            inputs: vec![("%K".to_owned(), 3)],
            kernel: "f".to_owned(),
            fix: Some(Fix { title: "insert the arrival".to_owned(), edits: vec![arrival, phase] }),
        };
        let mut out = String::new();
        Human::new(Painter::plain(), false).finding(&mut out, "k.ttgir", &SourceText::new(text), &finding);
        let expected = "\
error[deadlock]: nobody arrives
 --> k.ttgir:3:3
  |
2 |   expect %bar
  |   ------ (1) bytes are expected
3 |   wait %bar, %c0
  |   ^^^^ (2) waits for ever
   = run, with %K = 3:
       default  2  (1) expects
                3  (2) waits
help: insert the arrival
 --> k.ttgir:3:1
  |
3 +   arrive %bar
4 ~   wait %bar, %c1
  |

";
        assert_eq!(out, expected);
    }

    #[test]
    fn the_summary_counts_only_what_is_there() {
        let tally = Tally { files: 3, errors: 1, proved: 2, unreadable: 2, ..Tally::default() };
        assert_eq!(summary(&tally), "3 files: 1 error, 2 files that could not be checked, 2 kernels proved");
        assert_eq!(summary(&Tally { files: 1, ..Tally::default() }), "1 file: no kernel");
    }
}
