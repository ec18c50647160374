//! What the analysis promises of every kernel, checked beside the answer:
//!
//! - each violation's schedule leads to it again;
//! - the run of each finding leads there, and does not without any one of its steps;
//! - the timelines drawn of its runs fit together;
//! - the naive explorer, which visits every schedule of the same inputs, finds each violation that
//!   was reported, and finds none where none was. It is asked below a limit on states only.

use base::{Cancel, IrNames, Limits};
use explore::{canonical, naive};
use findings::{Finding, describe, reach, replay};
use kernel::{Kernel, Lowered, SiteId};
use lower::lower;
use machine::{Machine, Rule, Valuation, Violation};
use report::timeline::{Band, Missing, Timeline, TimelineRow, of_finding, of_kernel};
use std::collections::BTreeSet;
use ttgir::Document;
use verify::{Outcome, decide};

/// Steps of a run that are left out in turn.
const MINIMAL_STEPS: usize = 400;
/// Largest exploration that the naive explorer is asked for.
const NAIVE_STATES: usize = 3_000;

/// The promises that are broken on a document.
pub fn broken(document: &Document, limits: &Limits) -> Vec<String> {
    let mut defects = Vec::new();
    for section in document.sections() {
        for lowered in lower(section.tree()) {
            defects.extend(kernel(&lowered, limits));
        }
    }
    defects
}

/// The promises that are broken on a kernel.
pub fn kernel(lowered: &Lowered, limits: &Limits) -> Vec<String> {
    let name = &lowered.map.kernel;
    let Ok(outcome) = decide(&lowered.kernel, limits, &Cancel::never()) else {
        return vec![format!("@{name}: the decision says it was cancelled")];
    };
    let mut defects = Vec::new();
    for found in outcome.found.iter().chain(&outcome.assumed).chain(&outcome.discarded) {
        let machine = Machine::new(&lowered.kernel, &found.valuation, limits);
        if replay(&machine, found).is_none() {
            defects.push(format!("@{name}: {} does not replay", rule(&found.violation)));
        }
    }
    for finding in describe(lowered, &outcome).render(&IrNames).findings {
        defects.extend(not_minimal(&lowered.kernel, &finding, limits).map(|line| format!("@{name}: {line}")));
        let timeline = of_finding(lowered, &finding, &IrNames);
        defects.extend(timeline.and_then(|timeline| crooked(&timeline)).map(|line| format!("@{name}: {line}")));
    }
    defects.extend(crooked(&of_kernel(lowered, limits, &IrNames)).map(|line| format!("@{name}: {line}")));
    for valuation in &outcome.valuations {
        if let Some(all) = every_schedule(&lowered.kernel, valuation, limits) {
            defects.extend(compare(&outcome, valuation, &all).into_iter().map(|line| format!("@{name}: {line}")));
        }
    }
    defects
}

/// Whether the run of a finding does not show it, or shows it without one of its steps.
fn not_minimal(kernel: &Kernel, finding: &Finding, limits: &Limits) -> Option<String> {
    let kind = finding.kind.name();
    let witness = finding.witness.as_ref()?;
    let machine = Machine::new(kernel, &witness.valuation, limits);
    let (schedule, goal) = (&witness.run.schedule, &witness.run.goal);
    if reach(&machine, schedule, goal).as_ref() != Some(&witness.run) {
        return Some(format!("the run of {kind} does not lead there"));
    }
    let without = |at: usize| {
        let mut rest = schedule.clone();
        rest.remove(at);
        reach(&machine, &rest, goal)
    };
    let spare = (0..schedule.len()).take(MINIMAL_STEPS).find(|&at| without(at).is_some())?;
    Some(format!("the run of {kind} does not need step {} of {}", spare + 1, schedule.len()))
}

/// What in a timeline does not fit together.
fn crooked(timeline: &Timeline) -> Option<String> {
    let last = timeline.steps.len() as u32;
    let inside = |step: u32| (1..=last).contains(&step);
    let lanes = timeline.steps.iter().all(|step| step.lane < timeline.lanes.len());
    let rows: u32 = timeline
        .rows(true)
        .iter()
        .map(|row| match row {
            TimelineRow::Step(_) => 1,
            TimelineRow::Fold(fold) => fold.to + 1 - fold.from,
        })
        .sum();
    let phases = |band: &Band| {
        let ordered = band.phases.windows(2).all(|pair| pair[0].to <= pair[1].from);
        ordered && band.phases.iter().all(|phase| inside(phase.from) && inside(phase.to) && phase.from <= phase.to)
    };
    let ticks = timeline.bands.iter().flat_map(|band| &band.ticks).all(|tick| inside(tick.step));
    let spans = timeline.spans.iter().all(|span| {
        let until = span.until.unwrap_or(span.from);
        inside(span.from) && inside(until) && span.from <= until && span.slot < timeline.slots.len()
    });
    let missing = timeline.missing.iter().all(|missing| match *missing {
        Missing::Order { from, to } => inside(from) && inside(to) && from < to,
        Missing::Flip { step, band } => inside(step) && band < timeline.bands.len(),
    });
    let checks = [
        (lanes, "lanes"),
        (rows == last, "rows"),
        (timeline.bands.iter().all(phases), "phases"),
        (ticks, "ticks"),
        (spans, "spans"),
        (missing, "missing orders"),
    ];
    let wrong = checks.into_iter().find(|(right, _)| !right)?;
    Some(format!("the {} of its timeline do not fit together", wrong.1))
}

type Key = (&'static str, SiteId);

fn compare(outcome: &Outcome, valuation: &Valuation, all: &BTreeSet<Key>) -> Vec<String> {
    let mut lines = Vec::new();
    let said = || outcome.found.iter().chain(&outcome.assumed).chain(&outcome.discarded);
    for found in said().filter(|found| found.valuation == *valuation) {
        let key = (rule(&found.violation), found.violation.site);
        if !all.contains(&key) {
            lines.push(format!("the naive explorer does not find {} at site {}", key.0, key.1.0));
        }
    }
    if said().next().is_none() && outcome.lapped.is_empty() && outcome.gaps.is_empty() {
        for (name, site) in all {
            lines.push(format!("only the naive explorer finds {name} at site {}", site.0));
        }
    }
    lines
}

/// What any schedule of these inputs breaks; `None` where there are too many.
fn every_schedule(kernel: &Kernel, valuation: &Valuation, limits: &Limits) -> Option<BTreeSet<Key>> {
    let limits = Limits { states: NAIVE_STATES, run_steps: 2_000, total_steps: 100_000, ..limits.clone() };
    let mut machine = Machine::new(kernel, valuation, &limits);
    let first = canonical(&machine);
    if first.state.error().is_some() || first.state.unmodelled() {
        return None;
    }
    machine.adopt_numbering(&first.state);
    let mut keys = BTreeSet::new();
    let mut lost = false;
    let explored = naive(&machine, &limits, &Cancel::never(), |state, _| {
        lost |= state.error().is_some();
        keys.extend(state.violations().iter().map(|violation| (rule(violation), violation.site)));
    });
    (explored.is_ok_and(|explored| explored.complete) && !lost).then_some(keys)
}

fn rule(violation: &Violation) -> &'static str {
    match violation.rule {
        Rule::Race { .. } => "a race",
        Rule::ProxyFence { .. } => "a missing fence",
        Rule::OverwrittenMember { .. } => "another member's contents",
        Rule::Uninitialised { .. } => "an uninitialised read",
        Rule::NotLive { .. } => "a dead barrier",
        Rule::Reinit => "a second init",
        Rule::Outlives { .. } => "an operation that outlives the kernel",
        Rule::PendingResult { .. } => "a result that is not there yet",
        Rule::Unfinished { .. } => "an unfinished dot",
        Rule::Overflow(_) => "an overflow",
        Rule::BarrierStorage => "a barrier overwritten",
        Rule::InFlight { .. } => "an invalidation under an operation",
        Rule::WaitedOn { .. } => "an invalidation under a wait",
        Rule::ArrivedTwice => "a second arrival",
        Rule::OutOfBounds { .. } => "an index out of bounds",
        Rule::NotArrived => "a wait without an arrival",
        Rule::Deadlock(_) => "a deadlock",
    }
}
