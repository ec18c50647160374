//! All schedules, up to the order of steps that no other thread can notice.
//!
//! Such a step commutes with all that follows, so it is taken at once and alone. States from which schedules part
//! are visited once, in whatever order they are reached: sleep sets would save steps here, but no states. What is
//! missed: nothing within the limits; a met limit is said.

use super::{Explored, Readiness, Schedule, System};
use base::{Cancel, Cancelled, Limits};
use rustc_hash::FxHashSet;

/// Visits schedules depth first; `end` sees each last state with its schedule.
pub fn search<M: System>(
    machine: &M,
    limits: &Limits,
    cancel: &Cancel<'_>,
    mut end: impl FnMut(&M::State, &Schedule),
) -> Result<Explored, Cancelled> {
    walk(machine, limits, cancel, true, &mut end)
}

/// A state still to be left by some threads.
struct Open<S> {
    state: S,
    depth: usize,
    threads: Vec<u16>,
}

pub(super) fn walk<M: System>(
    machine: &M,
    limits: &Limits,
    cancel: &Cancel<'_>,
    reduce: bool,
    end: &mut dyn FnMut(&M::State, &Schedule),
) -> Result<Explored, Cancelled> {
    let mut seen = FxHashSet::default();
    let mut explored = Explored { states: 1, steps: 0, complete: true };
    let mut schedule = Schedule::new();
    let first = machine.initial();
    seen.insert(machine.digest(&first));
    let mut stack = vec![open(machine, first, 0, reduce)];
    while let Some(top) = stack.last_mut() {
        let Some(thread) = top.threads.pop() else {
            stack.pop();
            continue;
        };
        schedule.truncate(top.depth);
        let mut state = if top.threads.is_empty() {
            // The last way out: the state itself can be used up.
            let Some(last) = stack.pop() else { break };
            last.state
        } else {
            top.state.clone()
        };
        machine.step(&mut state, usize::from(thread));
        schedule.push(thread);
        explored.steps += 1;
        if explored.steps.is_multiple_of(256) {
            cancel.check()?;
        }
        if explored.steps >= limits.total_steps {
            explored.complete = false;
            return Ok(explored);
        }
        let next = open(machine, state, schedule.len(), reduce);
        if next.threads.is_empty() {
            let mut state = next.state;
            if !machine.stopped(&state) {
                machine.finish(&mut state);
            }
            end(&state, &schedule);
            continue;
        }
        // Only where schedules part: a state with one way out is come to again by no more than the way to the next
        // such place.
        if next.threads.len() > 1 && !seen.insert(machine.digest(&next.state)) {
            continue;
        }
        explored.states += 1;
        if explored.states >= limits.states {
            explored.complete = false;
            return Ok(explored);
        }
        stack.push(next);
    }
    Ok(explored)
}

fn open<M: System>(machine: &M, state: M::State, depth: usize, reduce: bool) -> Open<M::State> {
    if machine.stopped(&state) {
        return Open { state, depth, threads: Vec::new() };
    }
    let ready = |thread: &usize| machine.status(&state, *thread) == Readiness::Ready;
    let mut threads: Vec<u16> = (0..machine.threads()).filter(ready).map(|thread| thread as u16).collect();
    if reduce {
        let alone = threads.iter().find(|&&thread| machine.is_local(&state, usize::from(thread)));
        if let Some(&thread) = alone {
            threads = vec![thread];
        }
    }
    // The stack takes the last first: the default partition goes first.
    threads.reverse();
    Open { state, depth, threads }
}
