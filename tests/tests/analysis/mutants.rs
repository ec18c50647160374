//! Every page's kernels with one line lost or doubled: whatever the analysis then says, it keeps
//! its promises. The verdicts are not judged here, but a machine that is wrong about replay, or
//! about which schedules matter, has nowhere to hide. Each test takes one line of two; all of them are for `--slow`.

use base::Limits;
use fencepost_tests::promises::broken;
use fencepost_tests::sources::sources;
use ttgir::Document;

/// The texts with one line of a barrier or memory op changed by `change`.
fn mutants(text: &str, change: impl Fn(&str) -> String) -> impl Iterator<Item = (usize, String)> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let touched: Vec<usize> = (0..lines.len())
        .filter(|&at| {
            lines[at].trim_start().starts_with("ttng.") || lines[at].trim_start().starts_with("ttg.local_store")
        })
        .collect();
    touched.into_iter().map(move |at| {
        let mutant = lines.iter().enumerate().map(|(n, line)| if n == at { change(line) } else { (*line).to_string() });
        (at + 1, mutant.collect())
    })
}

/// Of the lines in which `change` makes a difference, those whose number leaves `part`, divided by `parts`.
fn check((part, parts): (usize, usize), least: usize, change: impl Fn(&str) -> String) {
    let mut tried = 0;
    let mut defects = Vec::new();
    for (name, text) in sources() {
        let mutants = mutants(&text, &change).filter(|(line, mutant)| line % parts == part && *mutant != text);
        for (line, mutant) in mutants {
            let document = Document::new(mutant);
            if document.sections().iter().any(|section| !section.tree().errors().is_empty()) {
                continue;
            }
            tried += 1;
            defects.extend(
                broken(&document, &Limits::default())
                    .into_iter()
                    .map(|defect| format!("{name}, its line {line}: {defect}")),
            );
        }
    }
    assert!(tried > least, "only {tried} mutants could be read");
    assert!(defects.is_empty(), "{} of {tried}:\n{}", defects.len(), defects.join("\n"));
}

fn lost(_: &str) -> String {
    String::new()
}

fn doubled(line: &str) -> String {
    line.repeat(2)
}

fn turned(line: &str) -> String {
    line.replace("%c0 :", "%c1 :").replace("%p0 :", "%p1 :").replace("%phase :", "%c0 :")
}

#[test]
fn a_line_is_lost() {
    check((0, 2), 250, lost);
}

#[test]
fn a_line_is_doubled() {
    check((1, 2), 250, doubled);
}

#[test]
fn a_phase_is_turned() {
    check((0, 1), 50, turned);
}

#[test]
#[ignore = "the other half takes as long again"]
fn all_lines_are_lost_and_doubled() {
    check((1, 2), 250, lost);
    check((0, 2), 250, doubled);
}
