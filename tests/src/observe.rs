//! What the analysis says of one source, in the harness's terms, and whether it keeps its own
//! promises on it: the same answer twice, every run replayed, the naive explorer in agreement.

use crate::marks::{Further, Marks, Place, Primary};
use crate::page::Case;
use crate::page::Lang;
use base::{Cancel, Limits, LineIndex, TextRange};
use engine::{Analysis, Engine};
use findings::{Finding, KernelReport, Kind, Severity, Verdict};
use kernel::text::parse;
use std::fmt::Write;
use ttgir::Document;

/// What was seen.
#[derive(Clone, Debug, Default)]
pub struct Observation {
    /// Findings and syntax errors as marks.
    pub marks: Marks,
    /// The verdicts' names, a kernel each.
    pub verdicts: Vec<&'static str>,
    /// The findings with their runs.
    pub trace: String,
    /// A line a kernel: verdict, runs and steps.
    pub states: String,
    /// Broken promises of the analysis itself.
    pub defects: Vec<String>,
}

/// Analyses a TTGIR source and checks the promises.
pub fn observe(source: &str, limits: &Limits) -> Observation {
    let document = Document::new(source);
    let Some(analysis) = analyse(&document, limits) else {
        return Observation { defects: vec!["the analysis says it was cancelled".into()], ..Observation::default() };
    };
    let mut seen = summarise(source, &analysis);
    if analyse(&document, limits).is_none_or(|again| again.kernels != analysis.kernels) {
        seen.defects.push("a second analysis differs".into());
    }
    seen.defects.extend(crate::promises::broken(&document, limits));
    for finding in analysis.kernels.iter().flat_map(|kernel| &kernel.findings) {
        seen.defects.extend(broken_fix(source, finding, &analysis, limits));
    }
    seen
}

/// A fix has been checked: with it its finding is gone, and there is none that was not there.
fn broken_fix(source: &str, finding: &Finding, before: &Analysis, limits: &Limits) -> Option<String> {
    let fix = finding.fix.as_ref()?;
    let mut text = source.to_string();
    for edit in fix.edits.iter().rev() {
        let range = edit.range.start as usize..edit.range.end as usize;
        if text.get(range.clone()).is_none() {
            return Some(format!("the fix `{}` edits outside the text", fix.title));
        }
        text.replace_range(range, &edit.text);
    }
    let after = analyse(&Document::new(text), limits)?;
    let count = |analysis: &Analysis, kind: Kind| {
        // A hint may come to light where what was worse is mended.
        let counts = |other: &&Finding| {
            other.kind == kind && (finding.severity == Severity::Hint || other.severity != Severity::Hint)
        };
        analysis.kernels.iter().flat_map(|kernel| &kernel.findings).filter(counts).count()
    };
    if !after.syntax.is_empty() {
        return Some(format!("the fix `{}` makes a syntax error: {}", fix.title, after.syntax[0].message));
    }
    for &kind in Kind::ALL {
        let (old, new) = (count(before, kind), count(&after, kind));
        if new > old || (kind == finding.kind && new == old) {
            return Some(format!("the fix `{}` leaves {new} of {old} findings of kind {}", fix.title, kind.name()));
        }
    }
    None
}

/// Analyses a kernel in text form and checks the promises.
pub fn observe_sync(source: &str, limits: &Limits) -> Observation {
    let lowered = match parse(source) {
        Ok(lowered) => lowered,
        Err(error) => return Observation { defects: vec![error.to_string()], ..Observation::default() },
    };
    let report = || Engine::new(limits.clone()).check_kernel(&lowered, &Cancel::never()).ok();
    let Some(first) = report() else {
        return Observation { defects: vec!["the analysis says it was cancelled".into()], ..Observation::default() };
    };
    let differs = report().is_none_or(|second| second != first);
    let mut seen = summarise(source, &Analysis { kernels: vec![first], ..Analysis::default() });
    if differs {
        seen.defects.push("a second analysis differs".into());
    }
    seen.defects.extend(crate::promises::kernel(&lowered, limits));
    seen
}

fn analyse(document: &Document, limits: &Limits) -> Option<Analysis> {
    Engine::new(limits.clone()).analyse(document, &Cancel::never()).ok()
}

/// The limits that the settings of a case ask for, on top of the defaults.
pub fn limits(case: &Case) -> Result<Limits, String> {
    let mut limits = Limits::default();
    for block in case.blocks.iter().filter(|block| block.lang == Lang::Toml) {
        for line in block.text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (name, value) = line.split_once('=').ok_or_else(|| format!("`{line}` is not `name = number`"))?;
            let value: u64 = value.trim().parse().map_err(|_| format!("`{line}` is not `name = number`"))?;
            match name.trim() {
                "run_steps" => limits.run_steps = value,
                "total_steps" => limits.total_steps = value,
                "states" => limits.states = value as usize,
                "valuations" => limits.valuations = value as usize,
                "findings" => limits.findings = value as usize,
                other => return Err(format!("there is no limit `{other}`")),
            }
        }
    }
    Ok(limits)
}

pub(crate) fn summarise(source: &str, analysis: &Analysis) -> Observation {
    let lines = Lines::new(source);
    let mut seen = Observation::default();
    for error in &analysis.syntax {
        let text = error.message.clone();
        seen.marks.primary.push(Primary {
            kind: error.code.into(),
            severity: "error",
            place: lines.place(error.range),
            text,
        });
    }
    for problem in analysis.problems.iter().filter(|problem| problem.severity != Severity::Hint) {
        seen.marks.primary.push(Primary {
            kind: problem.code.into(),
            severity: problem.severity.name(),
            place: lines.place(problem.range),
            text: problem.message.clone(),
        });
    }
    for kernel in &analysis.kernels {
        seen.verdicts.push(kernel.verdict.name());
        let _ = writeln!(seen.states, "{}", state(kernel));
        for finding in &kernel.findings {
            mark(&mut seen.marks, &lines, finding);
            trace(&mut seen.trace, &lines, finding);
        }
        seen.marks.primary.extend(kernel.suppressed.iter().map(|it| Primary {
            kind: "suppressed".into(),
            severity: it.finding.severity.name(),
            place: lines.place(it.finding.range),
            text: format!("{}, {}", it.finding.kind.name(), it.reason),
        }));
    }
    seen.marks.further.sort_by(|a, b| (&a.place, a.number).cmp(&(&b.place, b.number)));
    seen.marks.further.dedup_by(|a, b| a.place == b.place && a.number == b.number);
    seen
}

fn state(kernel: &KernelReport) -> String {
    let why = match &kernel.verdict {
        Verdict::Proved(why) | Verdict::Clean(why) => format!(": {why}"),
        Verdict::Found => format!(": {} finding(s)", kernel.findings.len()),
        Verdict::Undecided(reasons) => format!(": {}", reasons.join("; ")),
    };
    format!("@{}: {}, {} runs, {} steps{why}", kernel.name, kernel.verdict.name(), kernel.runs, kernel.steps)
}

fn mark(marks: &mut Marks, lines: &Lines<'_>, finding: &Finding) {
    let number = finding.sites.iter().position(|site| site.primary).map(|at| at + 1);
    let text = finding.sites.iter().find(|site| site.primary).map_or("", |site| &site.text);
    let text = number.map_or(String::new(), |number| format!("({number}) {text}"));
    let place = lines.place(finding.range);
    marks.primary.push(Primary { kind: finding.kind.name().into(), severity: finding.severity.name(), place, text });
    for (at, site) in finding.sites.iter().enumerate().filter(|(_, site)| !site.primary) {
        marks.further.push(Further { number: at + 1, place: lines.place(site.range), text: site.text.clone() });
    }
}

fn trace(out: &mut String, lines: &Lines<'_>, finding: &Finding) {
    let _ = writeln!(out, "{}: {}", finding.kind.name(), finding.message);
    if !finding.inputs.is_empty() {
        let inputs: Vec<String> = finding.inputs.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let _ = writeln!(out, "  with {}", inputs.join(", "));
    }
    let width = finding.run.iter().map(|step| step.partition.len()).max().unwrap_or(0);
    for step in &finding.run {
        let line = lines.place(step.range).line + 1;
        let _ = writeln!(out, "  {:width$}  line {line}: {}", step.partition, step.text);
    }
}

/// Byte ranges to lines and columns in characters.
pub(crate) struct Lines<'a> {
    source: &'a str,
    index: LineIndex,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(source: &'a str) -> Lines<'a> {
        Lines { source, index: LineIndex::new(source) }
    }

    pub(crate) fn place(&self, range: TextRange) -> Place {
        let (start, end) = (self.index.line_col(range.start), self.index.line_col(range.end));
        let first = self.index.line_start(start.line);
        let line = TextRange::new(first, self.index.line_start(start.line + 1)).of(self.source).trim_end();
        let columns = |bytes: u32| line.get(..bytes as usize).unwrap_or(line).chars().count();
        let end = if end.line == start.line { columns(end.col) } else { line.chars().count() };
        let start_column = columns(start.col);
        // An empty range is drawn as one column, as editors do.
        Place { line: start.line as usize, start: start_column, end: end.max(start_column + 1) }
    }
}
