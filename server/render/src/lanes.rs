//! The run of a finding as swim lanes in text: one column a partition, time downwards.

use std::fmt::Write;

use findings::{Finding, RunStep};

use crate::SourceText;
use crate::wrap::{end_line, wrap};

/// Narrower lanes cannot be read.
const NARROWEST: usize = 22;
/// Between two lanes.
const GAP: &str = " | ";

/// The inputs of a finding: `with %K = 192, %M = 1`; empty where it needs none.
pub fn inputs(inputs: &[(String, i64)]) -> String {
    if inputs.is_empty() {
        return String::new();
    }
    let values: Vec<String> = inputs.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    format!("with {}", values.join(", "))
}

/// The text of a step, with the number of its site in front where there are several.
pub fn numbered(finding: &Finding, step: &RunStep) -> String {
    match step.site.filter(|_| finding.sites.len() > 1) {
        Some(site) => format!("({}) {}", site + 1, step.text),
        None => step.text.clone(),
    }
}

/// The run of a finding, at most `width` columns wide if its lanes allow.
pub fn draw(finding: &Finding, places: &SourceText<'_>, width: usize) -> String {
    let lanes = partitions(&finding.run);
    let counter = finding.run.len().to_string().len().max(4);
    let last_line = finding.run.iter().map(|step| places.line(step.range.start)).max().unwrap_or(0);
    let digits = last_line.to_string().len().max(4);
    let gaps = GAP.len() * lanes.len();
    let lane = width.saturating_sub(counter + 2 + digits + gaps) / lanes.len().max(1);
    let lane = lane.max(NARROWEST);

    let mut out = String::new();
    let _ = write!(out, "{:>counter$}  {:>digits$}", "step", "line");
    for name in &lanes {
        let _ = write!(out, "{GAP}{name:lane$}");
    }
    end_line(&mut out);
    let _ = write!(out, "{:->counter$}--{:->digits$}", "", "");
    for _ in &lanes {
        let _ = write!(out, "-+-{:-<lane$}", "");
    }
    end_line(&mut out);
    for (at, step) in finding.run.iter().enumerate() {
        let column = lanes.iter().position(|name| *name == step.partition).unwrap_or(0);
        for (row, words) in wrap(&numbered(finding, step), lane).into_iter().enumerate() {
            if row == 0 {
                let _ = write!(out, "{:>counter$}  {:>digits$}", at + 1, places.line(step.range.start));
            } else {
                let _ = write!(out, "{:counter$}  {:digits$}", "", "");
            }
            for other in 0..lanes.len() {
                let cell = if other == column { words.as_str() } else { "" };
                let _ = write!(out, "{GAP}{cell:lane$}");
            }
            end_line(&mut out);
        }
    }
    out
}

/// The partitions that act, the default one first, then by number.
fn partitions(run: &[RunStep]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for step in run {
        if !names.contains(&step.partition.as_str()) {
            names.push(&step.partition);
        }
    }
    names.sort_by_key(|name| {
        let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
        (*name != "default", digits.parse::<u32>().unwrap_or(u32::MAX), *name)
    });
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::TextRange;

    fn step(partition: &str, at: u32, text: &str) -> RunStep {
        RunStep { partition: partition.to_owned(), range: TextRange::empty(at), text: text.to_owned(), site: None }
    }

    #[test]
    fn a_run_is_one_column_a_partition() {
        let finding = Finding {
            kind: findings::Kind::Deadlock,
            severity: findings::Severity::Error,
            message: String::new(),
            range: TextRange::empty(0),
            sites: Vec::new(),
            run: vec![step("partition1", 2, "waits"), step("default", 4, "arrives on %bar, which flips to phase 1")],
            witness: None,
            context: Vec::new(),
            instance: 0,
            phases: Vec::new(),
            order: None,
            inputs: Vec::new(),
            kernel: String::new(),
            fix: None,
        };
        let drawn = draw(&finding, &SourceText::new("a\nb\nc\nd"), 60);
        let expected = "\
step  line | default                | partition1
-----------+------------------------+-----------------------
   1     2 |                        | waits
   2     3 | arrives on %bar, which |
           | flips to phase 1       |
";
        assert_eq!(drawn, expected);
    }
}
