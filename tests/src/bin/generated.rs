//! Kernels that are made at random, right and with one slip: `generated COUNT [--seed N] [--runs N] [--show]` prints how
//! many of the right ones are flagged, which slips are not found, and what runs on the CPU with so many seeds say of both.

use std::collections::BTreeMap;
use std::process::ExitCode;

use base::rng::SplitMix64;
use fencepost_tests::generate::{Design, Seen, SlipKind, judge, ran};

/// What became of the slips of one kind.
#[derive(Default)]
struct Row {
    made: usize,
    found: usize,
    /// Not found, and no run shows anything.
    silent: usize,
}

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let (mut count, mut seed, mut runs, mut show) = (100u64, 1u64, 0u64, false);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--seed" => seed = words.next().and_then(|word| word.parse().ok()).unwrap_or(seed),
            "--runs" => runs = words.next().and_then(|word| word.parse().ok()).unwrap_or(runs),
            "--show" => show = true,
            other => count = other.parse().unwrap_or(count),
        }
    }
    let (mut proved, mut clean, mut hinted, mut alarms, mut wrong) = (0, 0, 0, 0, 0);
    let mut rows: BTreeMap<SlipKind, Row> = BTreeMap::new();
    let mut missed = 0;
    for number in 0..count {
        let mut rng = SplitMix64::stream(seed, number);
        let design = Design::random(&mut rng);
        let right = design.write(None);
        let answer = judge(&right);
        if show {
            println!("# {number}: {design:?}\n# {}\n{}", right.recipe, right.text);
        }
        match answer.verdict {
            "proved" if answer.found.is_empty() => proved += 1,
            "clean" if answer.found.is_empty() => clean += 1,
            _ if answer.found.is_empty() && !answer.hints.is_empty() => hinted += 1,
            verdict => {
                alarms += 1;
                println!("{number}: {verdict}, though it is right: {:?}\n  {design:?}", answer.found);
            }
        }
        if let (Some(ir), true) = (&answer.ir, runs > 0) {
            let seen = ran(&design, &right, ir, runs);
            if seen != Seen::Right {
                wrong += 1;
                println!("{number}: {seen:?}, though it is right\n  {design:?}");
            }
        }
        let slips = design.slips();
        let Some(&slip) = slips.get(rng.below(slips.len())) else { continue };
        let broken = design.write(Some(slip));
        let answer = judge(&broken);
        let row = rows.entry(slip.kind).or_default();
        row.made += 1;
        if answer.verdict == "found" && !answer.found.is_empty() {
            row.found += 1;
            continue;
        }
        missed += 1;
        let seen = match &answer.ir {
            Some(ir) => ran(&design, &broken, ir, runs.max(8)),
            None => Seen::NotRun("there is no IR".to_owned()),
        };
        row.silent += usize::from(seen == Seen::Right);
        println!(
            "{number}: {slip:?} is {}, {:?} {:?}; a run: {seen:?}\n  {design:?}",
            answer.verdict, answer.found, answer.hints
        );
    }
    println!(
        "{count} right kernels: {proved} proved, {clean} clean, {hinted} with hints alone, {alarms} flagged or undecided"
    );
    if runs > 0 {
        println!("run with {runs} seeds each: {wrong} not as they should be");
    }
    let (mut made, mut found) = (0, 0);
    for (kind, row) in &rows {
        println!("{kind:?}: {} of {} found, {} of the others show in no run", row.found, row.made, row.silent);
        made += row.made;
        found += row.found;
    }
    println!("{found} of {made} slips found");
    if alarms + wrong + missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
