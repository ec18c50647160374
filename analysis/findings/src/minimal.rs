//! The shortest run that shows a violation.
//!
//! A run is a schedule, and leaving out an entry makes its thread end one step short. A schedule is
//! *minimal* if without any one of its entries the machine no longer breaks the same rule at the
//! same sites. What thread `t` has to have done is what the clocks of the steps concerned know of
//! it, which is a first guess; then each thread is cut further for as long as the violation stays.
//!
//! What is missed: a smaller run that another choice of inputs would give; a run that needs two
//! threads cut at once.

use crate::limits::minimal::{EFFORT, SPARE};
use explore::{Readiness, Schedule, System};
use kernel::SiteId;
use machine::{BarrierPlace, Blocked, Event, Machine, Record, Rule, State, Violation};

/// What a run has to show.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Goal {
    /// A broken rule.
    Broken(Violation),
    /// A barrier that flips past a thread that stands before its wait.
    Lapped {
        /// The thread.
        thread: u16,
        /// Its wait.
        site: SiteId,
        /// The barrier.
        place: BarrierPlace,
        /// Flips by which it has gone past.
        flips: u32,
    },
}

/// A run that shows its goal with its last step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MinimalRun {
    /// Who stepped when.
    pub schedule: Schedule,
    /// What was reached; for a violation the one of this run, with its own step numbers.
    pub goal: Goal,
}

impl Goal {
    /// Whether a state shows it; `known` violations were there before.
    fn holds(&self, machine: &Machine<'_>, state: &State, known: usize) -> Option<Goal> {
        match self {
            Goal::Broken(wanted) => {
                let remark = matches!(wanted.rule, Rule::Outlives { .. } | Rule::InFlight { ending: true, .. });
                let new = if remark { state.remarks() } else { state.violations().get(known..)? };
                new.iter().find(|violation| same(wanted, violation)).cloned().map(Goal::Broken)
            }
            Goal::Lapped { thread, place, flips, .. } => {
                let barrier = state.barriers().iter().find(|(known, _)| known == place).map(|(_, barrier)| barrier);
                let past = barrier.is_some_and(|barrier| barrier.flips >= *flips);
                (past && machine.waits(state, usize::from(*thread))).then(|| self.clone())
            }
        }
    }
}

/// Whether two violations are the same one, in runs of different lengths.
pub fn same(a: &Violation, b: &Violation) -> bool {
    let place = |violation: &Violation| (violation.site, violation.thread, violation.effect, violation.barrier);
    let event = |event: &Event| (event.effect, event.access, event.thread);
    place(a) == place(b)
        && match (&a.rule, &b.rule) {
            (Rule::Race { earlier: a, later: x }, Rule::Race { earlier: b, later: y })
            | (Rule::ProxyFence { earlier: a, later: x }, Rule::ProxyFence { earlier: b, later: y })
            | (Rule::OverwrittenMember { earlier: a, later: x }, Rule::OverwrittenMember { earlier: b, later: y }) => {
                event(a) == event(b) && event(x) == event(y)
            }
            (Rule::Uninitialised { read: a }, Rule::Uninitialised { read: b })
            | (Rule::Outlives { access: a }, Rule::Outlives { access: b }) => event(a) == event(b),
            (Rule::Deadlock(a), Rule::Deadlock(b)) => {
                let sites = |blocked: &[Blocked]| -> Vec<_> {
                    blocked.iter().map(|blocked| (blocked.thread, blocked.site)).collect()
                };
                sites(a) == sites(b)
            }
            (Rule::InFlight { issuer: a, at: x, .. }, Rule::InFlight { issuer: b, at: y, .. }) => a == b && x == y,
            (a, b) => a == b,
        }
}

/// Follows a schedule until the goal shows, leaving out what cannot be done: a thread that is not
/// ready at its turn is not asked again.
pub fn reach(machine: &Machine<'_>, schedule: &Schedule, goal: &Goal) -> Option<MinimalRun> {
    let mut state = machine.initial();
    let mut gone = vec![false; machine.threads()];
    let mut taken = Schedule::new();
    for &entry in schedule {
        let thread = usize::from(entry);
        if machine.stopped(&state) {
            break;
        }
        if gone.get(thread) != Some(&false) {
            continue;
        }
        if machine.status(&state, thread) != Readiness::Ready {
            gone[thread] = true;
            continue;
        }
        let known = state.violations().len();
        machine.take(&mut state, thread)?;
        taken.push(entry);
        if let Some(goal) = goal.holds(machine, &state, known) {
            return Some(MinimalRun { schedule: taken, goal });
        }
    }
    let quiet = (0..machine.threads()).all(|thread| machine.status(&state, thread) != Readiness::Ready);
    if machine.stopped(&state) || !quiet {
        return None;
    }
    let known = state.violations().len();
    machine.finish(&mut state);
    goal.holds(machine, &state, known).map(|goal| MinimalRun { schedule: taken, goal })
}

/// The minimal run that shows what `schedule` leads to; `None` if that does not lead there. Attempts take their
/// steps off `left`; once none is left, the shortest run so far is the answer.
pub fn minimal(machine: &Machine<'_>, schedule: &Schedule, goal: &Goal, left: &mut usize) -> Option<MinimalRun> {
    let mut best = reach(machine, schedule, goal)?;
    if let Some(budgets) = guess(machine, &best)
        && let Some(shown) = reach(machine, &within(&best.schedule, &budgets), goal)
    {
        best = shown;
    }
    // Cutting one thread may free another, and another order may need less.
    let (mut spare, mut effort) = (SPARE, EFFORT);
    loop {
        while let Some(shorter) = cut(machine, &best, goal, &mut spare, left) {
            best = shorter;
        }
        // Another order that shows it too.
        let shown = gather(machine, &best, goal).unwrap_or(best);
        let shorter = cut(machine, &shown, goal, &mut spare, left);
        let shorter = shorter.or_else(|| {
            effort = effort.min(*left);
            let before = effort;
            let shorter = thin(machine, &shown, goal, &mut effort);
            *left -= before - effort;
            shorter
        });
        let Some(shorter) = shorter else { return Some(shown) };
        best = shorter;
    }
}

/// How many steps each thread takes.
fn counts(threads: usize, schedule: &Schedule) -> Vec<usize> {
    let mut counts = vec![0; threads];
    for &entry in schedule {
        if let Some(count) = counts.get_mut(usize::from(entry)) {
            *count += 1;
        }
    }
    counts
}

/// A schedule with at most so many steps a thread.
fn within(schedule: &Schedule, budgets: &[usize]) -> Schedule {
    let mut left = budgets.to_vec();
    let keeps = |entry: &_| match left.get_mut(usize::from(*entry)) {
        Some(left @ 1..) => {
            *left -= 1;
            true
        }
        _ => false,
    };
    let mut keeps = keeps;
    schedule.iter().copied().filter(|entry| keeps(entry)).collect()
}

/// The steps that a goal is made of, and from which on each matters.
fn seeds(shown: &MinimalRun, records: &[Record]) -> Option<Vec<u32>> {
    let last = records.len() as u32;
    Some(match &shown.goal {
        Goal::Broken(violation) => match &violation.rule {
            Rule::Race { earlier, .. } | Rule::ProxyFence { earlier, .. } | Rule::OverwrittenMember { earlier, .. } => {
                vec![earlier.step, last]
            }
            Rule::Unfinished { access } | Rule::Outlives { access } => vec![access.step, last],
            Rule::PendingResult { dot } => {
                let started = records.iter().rposition(|record| record.effect == Some(*dot))?;
                vec![started as u32 + 1, last]
            }
            Rule::Uninitialised { .. } | Rule::OutOfBounds { .. } => vec![last],
            Rule::NotLive { .. }
            | Rule::Reinit
            | Rule::Overflow(_)
            | Rule::BarrierStorage
            | Rule::WaitedOn { .. }
            | Rule::InFlight { .. }
            | Rule::NotArrived
            | Rule::ArrivedTwice => {
                let place = violation.barrier?;
                let mut seeds = steps_on(records, place);
                seeds.push(last);
                seeds
            }
            // All that happened kept the threads from going on.
            Rule::Deadlock(_) => return None,
        },
        Goal::Lapped { thread, place, .. } => {
            let before = records.iter().rposition(|record| record.thread == *thread).map(|at| at as u32 + 1);
            let mut seeds = steps_on(records, *place);
            seeds.extend(before);
            seeds
        }
    })
}

/// Steps that act on a barrier.
fn steps_on(records: &[Record], place: BarrierPlace) -> Vec<u32> {
    let acts = |record: &Record| record.barriers.iter().any(|barrier| barrier.place == place);
    records.iter().enumerate().filter(|(_, record)| acts(record)).map(|(at, _)| at as u32 + 1).collect()
}

/// What the clocks of the steps concerned know of each thread.
fn guess(machine: &Machine<'_>, shown: &MinimalRun) -> Option<Vec<usize>> {
    let threads = machine.threads();
    let (replay, _) = super::replay::repeat(machine, &shown.schedule, u32::MAX);
    let mut seeds = seeds(shown, &replay.records)?;
    seeds.sort_unstable();
    let mut state = machine.initial();
    let (mut known, mut own) = (vec![0; threads], vec![0; threads]);
    let mut ticks: Vec<Vec<u32>> = vec![Vec::new(); threads];
    for (at, &entry) in shown.schedule.iter().enumerate() {
        let thread = usize::from(entry);
        machine.take(&mut state, thread)?;
        ticks[thread].push(state.threads()[thread].ticks);
        if seeds.binary_search(&(at as u32 + 1)).is_ok() {
            own[thread] = ticks[thread].len();
            for (other, known) in known.iter_mut().enumerate() {
                *known = state.threads()[thread].order.get(machine.channels().base(other)).max(*known);
            }
        }
    }
    // The end of a partition is no event of its own, but the join waits for it.
    let steps = |thread: usize| ticks[thread].iter().filter(|tick| **tick <= known[thread]).count();
    Some(
        (0..threads)
            .map(|thread| if known[thread] == 0 { own[thread] } else { steps(thread).max(own[thread]) })
            .collect(),
    )
}

/// The run with one thread cut as far as it goes; `None` where no thread can be. Fewer iterations of
/// a loop may do where one step less does not, so a thread's first few steps are tried too, as long
/// as `spare` steps are left for that.
fn cut(
    machine: &Machine<'_>,
    shown: &MinimalRun,
    goal: &Goal,
    spare: &mut usize,
    left: &mut usize,
) -> Option<MinimalRun> {
    let counts = counts(machine.threads(), &shown.schedule);
    let mut attempt = |thread: usize, steps: usize| {
        *left = left.checked_sub(shown.schedule.len())?;
        let mut budgets = counts.clone();
        budgets[thread] = steps;
        reach(machine, &within(&shown.schedule, &budgets), goal)
    };
    (0..counts.len()).filter(|&thread| counts[thread] > 0).find_map(|thread| {
        let mut few = 0;
        while few + 1 < counts[thread] && *spare >= shown.schedule.len() {
            *spare -= shown.schedule.len();
            if let Some(shorter) = attempt(thread, few) {
                return Some(shorter);
            }
            few += 1 + few / 8;
        }
        let mut best = attempt(thread, counts[thread] - 1)?;
        let (mut fails, mut works) = (None, counts[thread] - 1);
        while fails.map_or(works > 0, |fails| fails + 1 < works) {
            let middle = fails.map_or(0, |fails: usize| fails + (works - fails) / 2);
            match attempt(thread, middle) {
                Some(shown) => (best, works) = (shown, middle),
                None => fails = Some(middle),
            }
        }
        Some(best)
    })
}

/// The run without one of its entries, where there is one that it does not need. In a stretch of
/// one thread's steps all entries are alike. Gives up once `effort` is spent.
fn thin(machine: &Machine<'_>, shown: &MinimalRun, goal: &Goal, effort: &mut usize) -> Option<MinimalRun> {
    let schedule = &shown.schedule;
    let starts = (0..schedule.len()).filter(|&at| at == 0 || schedule[at] != schedule[at - 1]);
    starts.into_iter().find_map(|at| {
        *effort = effort.checked_sub(schedule.len())?;
        let mut rest = schedule.clone();
        rest.remove(at);
        reach(machine, &rest, goal)
    })
}

/// The same steps in an order that is easy to follow: each thread for as long as it can go on, and
/// before the first access of a violation all that does not need it.
fn gather(machine: &Machine<'_>, shown: &MinimalRun, goal: &Goal) -> Option<MinimalRun> {
    let counts = counts(machine.threads(), &shown.schedule);
    let mut order: Vec<usize> = (0..machine.threads()).collect();
    let mut held = counts.clone();
    if let Goal::Broken(violation) = &shown.goal
        && let Rule::Race { earlier, later } | Rule::ProxyFence { earlier, later } = &violation.rule
    {
        let (first, last) = (usize::from(earlier.thread), usize::from(later.thread));
        let steps = shown.schedule.get(..(earlier.step as usize).checked_sub(1)?)?;
        let before = steps.iter().filter(|entry| usize::from(**entry) == first).count();
        *held.get_mut(last)? -= 1;
        let held = held.get_mut(first)?;
        *held = before.min(*held);
        order.sort_by_key(|&thread| (thread == last, thread != first));
    }
    let mut state = machine.initial();
    let (mut schedule, mut done) = (Schedule::new(), vec![0; machine.threads()]);
    for budgets in [held, counts] {
        loop {
            let before = schedule.len();
            for &thread in &order {
                let entry = shown.schedule.iter().copied().find(|entry| usize::from(*entry) == thread);
                let Some(entry) = entry else { continue };
                while done[thread] < budgets[thread]
                    && !machine.stopped(&state)
                    && machine.status(&state, thread) == Readiness::Ready
                {
                    machine.take(&mut state, thread)?;
                    schedule.push(entry);
                    done[thread] += 1;
                }
            }
            if schedule.len() == before {
                break;
            }
        }
    }
    reach(machine, &schedule, goal)
}
