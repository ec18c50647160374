//! One cause, one finding: which violations follow from another one of the same kernel.
//!
//! A violation is taken to be the cause of another where the other is gone once the first is mended, and
//! that is run, not guessed. For two accesses that nothing orders, mended means that the thread of the
//! later one, each time that it comes there, has seen what the thread of the earlier one has done: as a
//! wait before it would have it. For bytes that a barrier is told wrongly, that it is told those that come. For a barrier
//! on which more threads arrive than it counts, that it counts them all.
//!
//! Buffers that are packed into what one op overwrites are each a finding, whatever mends one of them.
//!
//! What is missed: violations that only another schedule shows, and two that mend each other only together.

use super::replay::{self, ReplayedRun};
use crate::limits::cause::{STEPS, TRIAL, VIOLATIONS};
use explore::{Readiness, System};
use kernel::{EffectKind, Kernel};
use machine::{BarrierAction, Event, Machine, Rule, State, Valuation, Violation};
use verify::Found;

/// For each violation the number of the one that it follows from, if it does.
pub(crate) fn causes(kernel: &Kernel, found: &[Found]) -> Vec<Option<usize>> {
    let mut of: Vec<Option<usize>> = vec![None; found.len()];
    if found.len() < 2 || found.len() > VIOLATIONS {
        return of;
    }
    let mut left = STEPS;
    let mut shown: Vec<Option<bool>> = vec![None; found.len()];
    for cause in 0..found.len() {
        if of[cause].is_some() {
            continue;
        }
        let Some(rest) = left.checked_sub(found[cause].schedule.len() as u64) else { break };
        left = rest;
        let Some(repair) = Repair::new(kernel, &found[cause]) else { continue };
        for other in 0..found.len() {
            let sibling = machine::siblings(kernel, &found[cause].violation, &found[other].violation);
            let open = other != cause && of[other].is_none() && !of.contains(&Some(other)) && !sibling;
            if open && follows(kernel, &repair, &found[other], &mut shown[other], &mut left) {
                of[other] = Some(cause);
            }
        }
    }
    of
}

/// What would mend a violation.
enum Repair {
    /// The thread of the later access sees what that of the earlier one has done.
    Ordered { earlier: Event, later: Event },
    /// The kernel with the bytes that come, or with the arrivals that are made.
    Changed(Box<Kernel>),
}

impl Repair {
    fn new(kernel: &Kernel, found: &Found) -> Option<Repair> {
        let machine = replay::machine(kernel, &found.valuation);
        match &found.violation.rule {
            Rule::Race { earlier, later } => {
                let replay = replay::replay(&machine, found)?;
                let counted = [later, earlier].into_iter().find_map(|event| {
                    let mended = counts(kernel, &replay, replay.guard(kernel, event)?.0)?;
                    goes_through(&mended, &found.valuation, &found.violation)
                        .then_some(Repair::Changed(Box::new(mended)))
                });
                if counted.is_some() {
                    return counted;
                }
                match machine.channels().barrier_of(earlier.channel).and_then(|at| replay.end.barriers().get(at)) {
                    Some((place, _)) => expects(kernel, &replay, *place)
                        .map(Repair::changed)
                        .or(Some(Repair::Ordered { earlier: *earlier, later: *later })),
                    None => Some(Repair::Ordered { earlier: *earlier, later: *later }),
                }
            }
            Rule::Deadlock(blocked) => {
                let replay = replay::replay(&machine, found)?;
                let counted = blocked.iter().find_map(|stuck| match stuck.on {
                    machine::BlockedOn::Barrier { barrier, .. } => counts(kernel, &replay, barrier),
                    machine::BlockedOn::Partitions => None,
                });
                let counted = counted.filter(|mended| goes_through(mended, &found.valuation, &found.violation));
                counted.map(Repair::changed).or_else(|| {
                    blocked.iter().find_map(|stuck| match stuck.on {
                        machine::BlockedOn::Barrier { barrier, pending: 0, bytes, .. } if bytes != 0 => {
                            expects(kernel, &replay, barrier).map(Repair::changed)
                        }
                        _ => None,
                    })
                })
            }
            _ => None,
        }
    }

    fn changed(kernel: Kernel) -> Repair {
        Repair::Changed(Box::new(kernel))
    }
}

/// Whether the bytes that a barrier is told are why an access races: with those that come it does not, and the kernel
/// goes through.
pub(crate) fn is_told_wrongly(
    kernel: &Kernel,
    valuation: &Valuation,
    replay: &ReplayedRun,
    violation: &Violation,
    place: machine::BarrierPlace,
) -> bool {
    expects(kernel, replay, place).is_some_and(|mended| goes_through(&mended, valuation, violation))
}

/// Whether a changed kernel goes through with the inputs of a violation, and without it.
fn goes_through(mended: &Kernel, valuation: &Valuation, violation: &Violation) -> bool {
    let mut left = TRIAL;
    run(mended, valuation, None, &mut left).is_some_and(|(state, whole)| {
        let bad = |it: &Violation| matches!(it.rule, Rule::Deadlock(_)) || alike(it, violation);
        whole && state.error().is_none() && !state.violations().iter().any(bad)
    })
}

/// The kernel in which a barrier counts the threads that arrive on it, where they are more than it counts.
fn counts(kernel: &Kernel, replay: &ReplayedRun, place: machine::BarrierPlace) -> Option<Kernel> {
    let threads = u32::try_from(replay.arriving(kernel, place).len()).ok()?;
    let initial = replay.initial(place).filter(|initial| i64::from(threads) > *initial)?;
    let inits = replay.records.iter().filter(|record| {
        record.barriers.iter().any(|at| at.place.buffer == place.buffer && at.act == BarrierAction::Init)
    });
    let mut mended = kernel.clone();
    for id in inits.filter_map(|record| record.effect) {
        if let EffectKind::Init { count, .. } = &mut mended.effects.get_mut(id.index())?.kind
            && i64::from(*count) == initial
        {
            *count = threads;
        }
    }
    (mended != *kernel).then_some(mended)
}

/// The kernel in which a barrier is told as many bytes as come, where it is told otherwise.
fn expects(kernel: &Kernel, replay: &ReplayedRun, place: machine::BarrierPlace) -> Option<Kernel> {
    let (expected, came) = replay.round_bytes(kernel, place).filter(|(expected, came)| expected != came)?;
    let told = replay.records.iter().filter(|record| record.barriers.iter().any(|at| at.place == place));
    let told = told.filter_map(|record| record.effect).find(|id| {
        matches!(kernel.effects.get(id.index()).map(|effect| &effect.kind), Some(EffectKind::Expect { .. }))
    })?;
    let mut kernel = kernel.clone();
    let EffectKind::Expect { bytes: was, .. } = kernel.effects.get(told.index())?.kind else { return None };
    // Where several CTAs announce their share, each of them is short of its own.
    let shares = expected.checked_div(was as i64).filter(|shares| *shares > 0 && expected == shares * was as i64);
    let right = was as i64 + (came - expected) / shares.unwrap_or(1);
    for effect in &mut kernel.effects {
        if let EffectKind::Expect { bytes, .. } = &mut effect.kind
            && *bytes == was
        {
            *bytes = u64::try_from(right).ok()?;
        }
    }
    Some(kernel)
}

/// Whether a violation is gone once another one is mended; `shown` remembers whether the kernel as it is shows it in its
/// canonical run.
fn follows(kernel: &Kernel, repair: &Repair, other: &Found, shown: &mut Option<bool>, left: &mut u64) -> bool {
    if matches!(other.violation.rule, Rule::OutOfBounds { .. } | Rule::NotLive { .. } | Rule::Reinit) {
        return false;
    }
    let shows = |state: &State| state.violations().iter().any(|violation| alike(violation, &other.violation));
    let mut run_as_it_is = || run(kernel, &other.valuation, None, left).is_some_and(|(state, _)| shows(&state));
    if !*shown.get_or_insert_with(&mut run_as_it_is) {
        return false;
    }
    let after = match repair {
        Repair::Changed(mended) => run(mended, &other.valuation, None, left),
        Repair::Ordered { earlier, later } => run(kernel, &other.valuation, Some((earlier, later)), left),
    };
    let ends = |state: &State| !state.violations().iter().any(|it| matches!(it.rule, Rule::Deadlock(_)));
    after.is_some_and(|(state, whole)| whole && state.error().is_none() && ends(&state) && !shows(&state))
}

/// Whether two violations break one rule at one op.
fn alike(a: &Violation, b: &Violation) -> bool {
    std::mem::discriminant(&a.rule) == std::mem::discriminant(&b.rule) && a.site == b.site
}

/// The canonical run, and whether it came to its end; with a pair of accesses, the later one's thread sees what the
/// earlier one's did each time before it comes there. `None` where the steps are spent.
fn run(
    kernel: &Kernel,
    valuation: &Valuation,
    ordered: Option<(&Event, &Event)>,
    left: &mut u64,
) -> Option<(State, bool)> {
    let machine = Machine::new(kernel, valuation, &base::Limits::default());
    let mut state = machine.initial();
    loop {
        let mut moved = false;
        for thread in 0..machine.threads() {
            while !machine.stopped(&state) && machine.status(&state, thread) == Readiness::Ready {
                *left = left.checked_sub(1)?;
                if let Some((earlier, later)) = ordered
                    && machine.next_effect_id(&state, thread) == Some(later.effect)
                {
                    machine.see_done(&mut state, thread, earlier);
                }
                machine.take(&mut state, thread);
                moved = true;
            }
        }
        if machine.stopped(&state) {
            return Some((state, false));
        }
        if !moved {
            machine.finish(&mut state);
            return Some((state, true));
        }
    }
}
