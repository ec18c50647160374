//! What is proved for all inputs holds for small ones: each proof over the corpus's clean kernels is
//! checked again with trip counts up to the warm-up and three periods of each loop.
//!
//! The quick test makes the canonical run of each choice of inputs. The slow one (`--slow`) visits
//! all schedules: by the naive explorer, or by the reduced search where the naive one meets its
//! limit, which is counted.

use base::{Cancel, Limits};
use explore::{canonical, naive, search};
use fencepost_tests::corpus::manifest;
use fencepost_tests::sources::root;
use kernel::Kernel;
use lower::lower;
use machine::{Machine, Valuation};
use ttgir::Document;
use verify::{Closure, InputPlan, Reach, decide, unbound};

/// Largest trip count that inputs are sought for.
const MOST: u64 = 40;
/// Choices of inputs a kernel of which all schedules are visited.
const CHOICES: usize = 6;
/// States that the naive explorer may visit of one choice of inputs.
const STATES: usize = 12_000;

/// A kernel that is proved, with what was said of its loops.
struct Proved {
    file: String,
    kernel: Kernel,
    closures: Vec<Closure>,
}

fn proved(limits: &Limits) -> (Vec<Proved>, Vec<String>) {
    let folder = root().join("corpus");
    let (mut all, mut rest) = (Vec::new(), Vec::new());
    for row in manifest(&folder).expect("the manifest can be read").into_iter().filter(|row| row.bug.is_none()) {
        let text = std::fs::read_to_string(folder.join(&row.file)).expect("the kernel can be read");
        let document = Document::new(text);
        for lowered in document.sections().iter().flat_map(|section| lower(section.tree())) {
            let kernel = unbound(&lowered.kernel).unwrap_or(lowered.kernel);
            let outcome = decide(&kernel, limits, &Cancel::never()).unwrap_or_else(|_| panic!("nobody cancels"));
            match outcome.reach {
                Reach::Closed(closures) => all.push(Proved { file: row.file.clone(), kernel, closures }),
                Reach::NoInputs => {}
                Reach::Runs(open) => rest.push(format!("{}: {open:?} {:?}", row.file, outcome.gaps)),
            }
        }
    }
    (all, rest)
}

/// Inputs that take each group of loops through all trip counts up to its warm-up and three periods,
/// the others at their usual counts and at one more.
fn choices(proved: &Proved, limits: &Limits) -> Vec<Valuation> {
    let plan = InputPlan::new(&proved.kernel, limits);
    let mut all = plan.valuations.clone();
    let bases: Vec<Valuation> = plan
        .groups
        .iter()
        .flat_map(|group| plan.drive(&proved.kernel, &plan.base, group, plan.depth + 2).into_iter().flatten().last())
        .chain([plan.base.clone()])
        .collect();
    for group in &plan.groups {
        let closure = proved.closures.iter().find(|closure| group.loops.contains(&closure.loop_number));
        let most = closure.map_or(MOST, |closure| (closure.warm_up + 3 * closure.period).min(MOST));
        for base in &bases {
            all.extend(plan.drive(&proved.kernel, base, group, most).into_iter().flatten());
        }
    }
    let mut unique: Vec<Valuation> = Vec::new();
    for valuation in all {
        if plan.is_ample(&proved.kernel, &valuation) && !unique.contains(&valuation) {
            unique.push(valuation);
        }
    }
    unique
}

#[test]
fn most_clean_kernels_are_proved_and_every_run_agrees() {
    let limits = Limits::default();
    let (all, rest) = proved(&limits);
    assert!(all.len() >= 9 * rest.len(), "{} proved, not: {rest:#?}", all.len());
    for proved in &all {
        for valuation in choices(proved, &limits) {
            let run = canonical(&Machine::new(&proved.kernel, &valuation, &limits));
            // What breaks where a loop does not run at all is a hint, and no part of the proof.
            let idle = InputPlan::new(&proved.kernel, &limits)
                .groups
                .iter()
                .any(|group| group.trips.eval(&valuation) == Some(0));
            let clean = run.state.violations().is_empty()
                && run.state.schedule_hazards().is_empty()
                && run.state.error().is_none();
            assert!(clean || idle, "{} with {valuation:?}: {:?}", proved.file, run.state.violations());
        }
    }
}

#[test]
#[ignore = "visits all schedules of each proved kernel; minutes"]
fn every_schedule_agrees_with_the_proofs() {
    let limits = Limits { states: STATES, total_steps: 150_000, ..Limits::default() };
    let (mut by_naive, mut by_search, mut cut) = (0, 0, 0);
    for proved in proved(&Limits::default()).0 {
        let mut choices = choices(&proved, &limits);
        let step = choices.len().div_ceil(CHOICES).max(1);
        choices = choices.into_iter().step_by(step).collect();
        for valuation in choices {
            let mut machine = Machine::new(&proved.kernel, &valuation, &limits);
            let first = canonical(&machine);
            if !first.state.violations().is_empty() {
                continue;
            }
            machine.adopt_numbering(&first.state);
            let mut broken = Vec::new();
            let explored = naive(&machine, &limits, &Cancel::never(), |state, _| {
                broken.extend(state.violations().first().cloned())
            });
            let complete = explored.is_ok_and(|explored| explored.complete);
            if complete {
                by_naive += 1;
            } else {
                let explored = search(&machine, &limits, &Cancel::never(), |state, _| {
                    broken.extend(state.violations().first().cloned())
                });
                if explored.is_ok_and(|explored| explored.complete) { by_search += 1 } else { cut += 1 }
            }
            assert!(broken.is_empty(), "{} with {valuation:?}: {:?}", proved.file, broken.first());
        }
    }
    println!("{by_naive} by the naive explorer, {by_search} by the reduced search, {cut} cut at {STATES} states");
    assert!(by_naive + by_search > cut);
}
