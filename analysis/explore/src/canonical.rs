//! Single runs under fixed schedules.

use super::{Readiness, System};

/// Which thread took each step.
pub type Schedule = Vec<u16>;

/// A run and where it ended.
#[derive(Clone, Debug)]
pub struct ScheduledRun<S> {
    /// Who stepped when.
    pub schedule: Schedule,
    /// The last state, finished.
    pub state: S,
}

/// Always steps the first thread of `order` that is ready.
fn run_in_order<M: System>(machine: &M, mut run: ScheduledRun<M::State>, order: &[usize]) -> ScheduledRun<M::State> {
    while !machine.stopped(&run.state) {
        let ready = order.iter().find(|&&thread| machine.status(&run.state, thread) == Readiness::Ready);
        let Some(&thread) = ready else {
            machine.finish(&mut run.state);
            break;
        };
        machine.step(&mut run.state, thread);
        run.schedule.push(thread as u16);
    }
    run
}

/// Takes turns: each thread in number order runs until it blocks.
pub fn canonical<M: System>(machine: &M) -> ScheduledRun<M::State> {
    canonical_by(machine, |state, thread| machine.step(state, thread))
}

/// The same; `step` takes each step, for who wants to see it.
pub fn canonical_by<M: System>(machine: &M, mut step: impl FnMut(&mut M::State, usize)) -> ScheduledRun<M::State> {
    let mut run = ScheduledRun { schedule: Schedule::new(), state: machine.initial() };
    loop {
        let mut moved = false;
        for thread in 0..machine.threads() {
            while !machine.stopped(&run.state) && machine.status(&run.state, thread) == Readiness::Ready {
                step(&mut run.state, thread);
                run.schedule.push(thread as u16);
                moved = true;
            }
        }
        if machine.stopped(&run.state) {
            return run;
        }
        if !moved {
            machine.finish(&mut run.state);
            return run;
        }
    }
}

/// Follows `prefix`, then lets `thread` step only when no other thread can.
pub fn run_delaying<M: System>(machine: &M, prefix: &[u16], thread: usize) -> ScheduledRun<M::State> {
    let run = follow(machine, prefix);
    let mut order: Vec<usize> = (0..machine.threads()).filter(|&other| other != thread).collect();
    order.push(thread);
    run_in_order(machine, run, &order)
}

/// Lets `thread` step whenever it can, the others only when it cannot.
pub fn run_preferring<M: System>(machine: &M, thread: usize) -> ScheduledRun<M::State> {
    let mut order: Vec<usize> = (0..machine.threads()).filter(|&other| other != thread).collect();
    order.insert(0, thread);
    run_in_order(machine, follow(machine, &[]), &order)
}

/// Follows a schedule to its end; `each` sees the state after each step. Stops early where the
/// schedule does not fit the machine.
pub fn replay<M: System>(machine: &M, schedule: &[u16], mut each: impl FnMut(usize, &M::State)) -> M::State {
    let mut state = machine.initial();
    for (number, &thread) in schedule.iter().enumerate() {
        let thread = usize::from(thread);
        if thread >= machine.threads() || machine.stopped(&state) || machine.status(&state, thread) != Readiness::Ready
        {
            return state;
        }
        machine.step(&mut state, thread);
        each(number, &state);
    }
    if !machine.stopped(&state)
        && (0..machine.threads()).all(|thread| machine.status(&state, thread) != Readiness::Ready)
    {
        machine.finish(&mut state);
    }
    state
}

fn follow<M: System>(machine: &M, prefix: &[u16]) -> ScheduledRun<M::State> {
    let mut run = ScheduledRun { schedule: Schedule::new(), state: machine.initial() };
    for &thread in prefix {
        let ready = usize::from(thread) < machine.threads()
            && !machine.stopped(&run.state)
            && machine.status(&run.state, usize::from(thread)) == Readiness::Ready;
        if !ready {
            break;
        }
        machine.step(&mut run.state, usize::from(thread));
        run.schedule.push(thread);
    }
    run
}
