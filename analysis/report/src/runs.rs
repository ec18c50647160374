//! The runs that a report is made from: those that show findings, and the canonical run of each
//! choice of inputs under which loops run as often as is expected.
//!
//! One canonical run stands for all schedules where it is confluent; where it is not, the schedules
//! that break a rule are among the findings, and those are run too. What is missed: choices of inputs
//! past the budget of steps, the larger ones first; [`RecordedRun::complete`] says whether a run was cut.

use crate::limits::runs::STEPS;
use explore::{Readiness, Schedule, System};
use machine::{BarrierPlace, Machine, Record, State, Valuation};
use verify::Outcome;

/// A run to make.
#[derive(Clone, Debug)]
pub(super) struct RunPlan {
    /// The inputs of the run.
    pub valuation: Valuation,
    /// Who steps when; the canonical schedule where there is none.
    pub schedule: Option<Schedule>,
    /// Steps that it has to make.
    pub least: u32,
}

/// A run that was made.
#[derive(Clone, Debug)]
pub(super) struct RecordedRun {
    /// The inputs of the run.
    pub valuation: Valuation,
    /// Whether every thread came to its end.
    pub complete: bool,
    /// Whether it executed an op that the machine cannot follow.
    pub unmodelled: bool,
    /// Its barriers, with the flips that they made.
    pub flips: Vec<(BarrierPlace, u32)>,
}

/// The runs for an outcome: findings first, then the largest inputs, then from the smallest on.
pub(super) fn plans(outcome: &Outcome) -> Vec<RunPlan> {
    let mut plans: Vec<RunPlan> = Vec::new();
    for found in &outcome.found {
        let known = |plan: &RunPlan| {
            plan.valuation == found.valuation && plan.schedule.as_ref().is_none_or(|known| *known == found.schedule)
        };
        let least = found.violation.step;
        match plans.iter().position(known).and_then(|at| plans.get_mut(at)) {
            Some(plan) => plan.least = plan.least.max(least),
            None => {
                let (valuation, schedule) = (found.valuation.clone(), Some(found.schedule.clone()));
                plans.push(RunPlan { valuation, schedule, least });
            }
        }
    }
    let ample = outcome.valuations.get(..outcome.ample).unwrap_or_default();
    let (last, rest) = match ample.split_last() {
        Some((last, rest)) => (Some(last), rest),
        None => (None, ample),
    };
    plans.extend(last.into_iter().chain(rest).map(|inputs| RunPlan {
        valuation: inputs.clone(),
        schedule: None,
        least: 0,
    }));
    plans
}

/// Steps that are left for the runs of a report.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget(u32);

impl Budget {
    pub(super) fn new() -> Budget {
        Budget(STEPS)
    }

    /// Whether nothing is left.
    pub(super) fn spent(self) -> bool {
        self.0 == 0
    }
}

/// Makes a run; `each` sees the state after each step and what the step did.
pub(super) fn drive(
    machine: &Machine<'_>,
    plan: &RunPlan,
    budget: &mut Budget,
    mut each: impl FnMut(&mut State, &Record),
) -> RecordedRun {
    let mut state = machine.initial();
    let mut step = |state: &mut State, thread: usize| {
        let left = budget.0 > 0 || state.step() < plan.least;
        let can = left && !machine.stopped(state) && machine.status(state, thread) == Readiness::Ready;
        let Some(record) = can.then(|| machine.take(state, thread)).flatten() else { return false };
        budget.0 = budget.0.saturating_sub(1);
        each(state, &record);
        true
    };
    match &plan.schedule {
        Some(schedule) => {
            let threads = machine.threads();
            for &thread in schedule {
                if usize::from(thread) >= threads || !step(&mut state, usize::from(thread)) {
                    break;
                }
            }
        }
        None => loop {
            let mut moved = false;
            for thread in 0..machine.threads() {
                while step(&mut state, thread) {
                    moved = true;
                }
            }
            if !moved {
                break;
            }
        },
    }
    let idle = (0..machine.threads()).all(|thread| machine.status(&state, thread) == Readiness::Idle);
    RecordedRun {
        valuation: plan.valuation.clone(),
        complete: idle && !machine.stopped(&state),
        unmodelled: state.unmodelled(),
        flips: state.barriers().iter().map(|(place, barrier)| (*place, barrier.total)).collect(),
    }
}
