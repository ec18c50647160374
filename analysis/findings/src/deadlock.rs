//! Deadlocks, with the one of three causes that applies.
//!
//! Source: the phase model of the AutoWS barrier report. A wait never ends because nobody
//! produces its phase, because flips come at another cadence than the waits need, or because the
//! arrival it needs stands behind a wait that needs it. Counts alone are never a verdict.

use super::description::Description;
use super::replay::ReplayedRun;
use super::words::Words;
use super::{Kind, Note, Severity};
use crate::limits::deadlock::GHOST_STEPS;
use base::{Message, message};
use explore::{Readiness, System};
use kernel::{EffectKind, Kernel, SiteId};
use machine::{
    BarrierAction, BarrierPlace, BarrierRecord, Blocked, BlockedOn, Machine, Record, Rule, State, Violation,
};

/// Why a wait never ends.
enum Cause<'a> {
    /// Other bytes than expected come.
    Bytes,
    /// It comes late, and the barrier has flipped past it.
    Lapped,
    /// The barrier flipped twice and nobody looked in between: the arrival that flipped it again.
    Twice(&'a Record),
    /// The thread completes several phases itself before it waits for the first of them: the arrival of the last, and how
    /// many.
    Unseen(&'a Record, u32),
    /// The arrival stands behind a wait of its own thread.
    Behind(&'a Record),
    /// Its phase is over with a flip that does not come.
    Phase,
    /// Arrivals of the phase are missing.
    Few,
    /// No arrival comes at all.
    Nobody,
}

/// A deadlock: drawn where nothing else holds a thread up, or where the arrival is missing that would
/// let it go on; the waits of those that it holds up are told beside it.
pub(crate) fn deadlock(
    words: &Words<'_>,
    machine: &Machine<'_>,
    replay: &ReplayedRun,
    violation: &Violation,
    alternative: bool,
) -> Option<Description> {
    let Rule::Deadlock(blocked) = &violation.rule else { return None };
    let ghost = ghost(machine, replay);
    let mut causes: Vec<(&Blocked, Cause<'_>)> = blocked
        .iter()
        .filter(|stuck| matches!(stuck.on, BlockedOn::Barrier { .. }))
        .map(|stuck| (stuck, cause(replay, &ghost, stuck, alternative)))
        .collect();
    let root = causes.iter().position(|(_, cause)| !matches!(cause, Cause::Behind(_))).unwrap_or_else(|| {
        // A cycle. An arrival too many may have led there.
        let again = causes.iter().enumerate().find_map(|(at, (stuck, _))| match stuck.on {
            BlockedOn::Barrier { barrier, .. } if !alternative => Some((at, flipped_again(replay, barrier)?)),
            _ => None,
        });
        let Some((at, record)) = again else { return 0 };
        causes[at].1 = Cause::Twice(record);
        at
    });
    let mut notes = Vec::new();
    let mut told = None;
    for (position, (stuck, cause)) in causes.iter().enumerate() {
        let BlockedOn::Barrier { barrier, phase, .. } = stuck.on else { continue };
        let name = words.barrier(barrier);
        let who = words.partition(stuck.thread);
        let mut primary = position == root;
        if let Cause::Unseen(record, _) = cause {
            let text = message!("{who} completes the last of them here", who);
            notes.push(Note::new(words.site_range(record.site), text));
        }
        if let Cause::Behind(record) = cause {
            let other = words.partition(record.thread);
            let text = message!("{other} would arrive on `{name}` here, behind its own wait", other, name);
            let note = Note::new(words.site_range(record.site), text);
            // Several that wait for one arrival are told of it once.
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        if position == root {
            let (kind, why) = explained(words, replay, blocked, stuck, cause);
            let mut message = message!("{who} never gets past this wait{:}{why}", who, why);
            let place = match cause {
                Cause::Bytes => expectation(words, replay, barrier),
                Cause::Twice(record) => Some((
                    record.site,
                    message!(
                        "{} arrives on `{name}` again before anybody has waited",
                        words.partition(record.thread),
                        name
                    ),
                )),
                Cause::Nobody => missing_arrival(words, replay, &ghost, stuck, barrier),
                _ => None,
            };
            if let Some((site, text)) = place {
                primary = false;
                notes.push(Note::primary(words.site_range(site), text));
                message = message!("{why}, and {who} waits for it for ever", why, who);
            }
            told = Some((kind, message));
        }
        notes.push(Note {
            source: None,
            range: words.site_range(stuck.site),
            text: message!("{who} waits for phase {phase} of `{name}` for ever", who, phase, name),
            primary,
        });
    }
    let (kind, message) = told?;
    // A thread that waits for ever is an error, whatever its kind is where nobody does.
    Some(Description { kind, severity: Severity::Error, message, notes, order: None })
}

fn cause<'a>(replay: &'a ReplayedRun, ghost: &'a [Record], stuck: &Blocked, alternative: bool) -> Cause<'a> {
    let BlockedOn::Barrier { barrier, flips, pending, initial, bytes, .. } = stuck.on else { return Cause::Nobody };
    if pending == 0 && bytes != 0 {
        return Cause::Bytes;
    }
    if alternative && pending == initial && is_lapped(replay, stuck, barrier) {
        return match replay.completed_twice(barrier) {
            Some(record) if record.thread != stuck.thread => Cause::Twice(record),
            _ => Cause::Lapped,
        };
    }
    if let Some(record) = arrival(ghost, barrier, stuck.thread) {
        return if pending < initial && again(replay, ghost, barrier) { Cause::Few } else { Cause::Behind(record) };
    }
    if pending == initial
        && let Some((record, flips)) = replay.unseen_flips(stuck.thread, barrier)
    {
        return Cause::Unseen(record, flips);
    }
    if flips > 0
        && pending == initial
        && (!waited_for(replay, stuck, barrier, flips) || arrives_itself(replay, stuck, barrier))
    {
        Cause::Phase
    } else if pending < initial {
        Cause::Few
    } else {
        Cause::Nobody
    }
}

/// Whether all that would still arrive on a barrier has arrived in its phase already: then it is for the next one.
fn again(replay: &ReplayedRun, ghost: &[Record], place: BarrierPlace) -> bool {
    let mut arrived: Vec<(u16, SiteId)> = Vec::new();
    for record in &replay.records {
        for at in record.barriers.iter().filter(|at| at.place == place) {
            match at.act {
                BarrierAction::Arrive { flipped: false } => arrived.push((record.thread, record.site)),
                BarrierAction::Arrive { flipped: true } | BarrierAction::Init => arrived.clear(),
                _ => {}
            }
        }
    }
    let arrives = |at: &BarrierRecord| at.place == place && matches!(at.act, BarrierAction::Arrive { .. });
    let mut coming = ghost.iter().filter(|record| record.barriers.iter().any(arrives));
    !arrived.is_empty() && coming.all(|record| arrived.contains(&(record.thread, record.site)))
}

/// Whether a barrier has flipped past a thread that waits on it: since the last flip that it saw there. Where nothing has
/// flipped since, it waits for the next one, as it should.
fn is_lapped(replay: &ReplayedRun, stuck: &Blocked, place: BarrierPlace) -> bool {
    let BlockedOn::Barrier { flips, .. } = stuck.on else { return false };
    flips > replay.last_seen(stuck.thread, place).unwrap_or(0)
}

/// The kind and the reason of the wait that a deadlock starts from.
fn explained(
    words: &Words<'_>,
    replay: &ReplayedRun,
    blocked: &[Blocked],
    stuck: &Blocked,
    cause: &Cause<'_>,
) -> (Kind, Message) {
    let BlockedOn::Barrier { barrier, phase, flips, pending, initial, .. } = stuck.on else {
        return (Kind::Deadlock, Message::default());
    };
    let name = words.barrier(barrier);
    match cause {
        Cause::Bytes => (Kind::ExpectMismatch, bytes(words, replay, barrier)),
        Cause::Lapped | Cause::Twice(_) if undercounted(words.kernel, replay, barrier).is_some() => {
            let kind = if matches!(cause, Cause::Lapped) { Kind::LappedWait } else { Kind::Deadlock };
            let arriving = words.all_partitions(&replay.arriving(words.kernel, barrier));
            let arrivals = if initial == 1 { "arrival" } else { "arrivals" };
            let why = message!(
                "{arriving} arrive on `{name}`, but a phase of it is over with {initial} {arrivals}, so it may turn over twice",
                arriving,
                name,
                initial,
                arrivals
            );
            (kind, why)
        }
        Cause::Lapped => {
            let why = message!(
                "where it comes late, `{name}` has flipped {} already, and phase {phase} is current again",
                name,
                times(flips),
                phase
            );
            (Kind::LappedWait, why)
        }
        Cause::Twice(record) => {
            let why = message!(
                "{} completes two phases of `{name}` with no wait in between, so the next one never comes",
                words.partition(record.thread),
                name
            );
            (Kind::Deadlock, why)
        }
        Cause::Unseen(_, many) => {
            let arrivals = if initial == 1 { "arrival" } else { "arrivals" };
            let why = message!(
                "a phase of `{name}` is over with {initial} {arrivals}, so {who} completes {many} of them before it waits \
                 here, and no more come",
                name,
                initial,
                arrivals,
                words.partition(stuck.thread),
                *many
            );
            (Kind::PhaseMismatch, why)
        }
        Cause::Behind(record) => {
            let other = words.partition(record.thread);
            let theirs = blocked.iter().find(|other| other.thread == record.thread).and_then(|other| match other.on {
                BlockedOn::Barrier { barrier, .. } => Some(message!("its own wait for `{}`", words.barrier(barrier))),
                _ => None,
            });
            let behind = theirs.unwrap_or_else(|| "a wait".into());
            let why = message!(
                "{other} arrives on `{name}` only after {behind}, which this one holds up: a cycle",
                other,
                name,
                behind
            );
            (Kind::Deadlock, why)
        }
        Cause::Phase => {
            let mismatch = passed_before(replay, stuck, barrier, phase) || !seen(replay, barrier, flips);
            let come = if flips == 1 { "one comes".into() } else { message!("{flips} come", flips) };
            let why = message!(
                "phase {phase} of `{name}` is over with its next flip, number {}, and only {come}",
                phase,
                name,
                flips + 1,
                come
            );
            (if mismatch { Kind::PhaseMismatch } else { Kind::Deadlock }, why)
        }
        Cause::Few => {
            let came = initial - pending;
            let why = message!(
                "a phase of `{name}` needs {initial} arrivals, and only {came} {}",
                name,
                initial,
                came,
                if came == 1 { "comes" } else { "come" }
            );
            (Kind::Deadlock, why)
        }
        Cause::Nobody if flips > 0 => {
            let why = message!("nobody arrives on `{name}` for phase {phase} after flip {flips}", name, phase, flips);
            let why = match ended(replay, blocked, barrier) {
                Some(last) => {
                    message!("{why}{:}{} did so up to then, and has ended", why, words.partition(last.thread))
                }
                None => why,
            };
            (Kind::Deadlock, why)
        }
        Cause::Nobody => (Kind::Deadlock, message!("nobody arrives on `{name}`", name)),
    }
}

/// How many threads arrive on a barrier, where they are more than a phase of it counts.
fn undercounted(kernel: &Kernel, replay: &ReplayedRun, barrier: BarrierPlace) -> Option<usize> {
    let (initial, threads) = (replay.initial(barrier)?, replay.arriving(kernel, barrier).len());
    (initial < threads as i64).then_some(threads)
}

/// The last arrival on a barrier, where its thread has ended since.
fn ended<'r>(replay: &'r ReplayedRun, blocked: &[Blocked], place: BarrierPlace) -> Option<&'r Record> {
    let arrives = |at: &BarrierRecord| at.place == place && matches!(at.act, BarrierAction::Arrive { .. });
    let last = replay.records.iter().rev().find(|record| record.barriers.iter().any(arrives))?;
    // One that waits for the others to join it has nothing left to do.
    let waits = |stuck: &Blocked| matches!(stuck.on, BlockedOn::Barrier { .. });
    blocked.iter().all(|stuck| stuck.thread != last.thread || !waits(stuck)).then_some(last)
}

/// What a barrier is told to expect, and what comes.
pub(crate) fn bytes(words: &Words<'_>, replay: &ReplayedRun, barrier: BarrierPlace) -> Message {
    let (expected, came) = replay.round_bytes(words.kernel, barrier).unwrap_or_else(|| replay.bytes(barrier));
    message!("`{}` is told to expect {expected} bytes, and {came} come", words.barrier(barrier), expected, came)
}

/// The op that tells a barrier how many bytes come, where one does.
pub(crate) fn expectation(words: &Words<'_>, replay: &ReplayedRun, barrier: BarrierPlace) -> Option<(SiteId, Message)> {
    let record = replay.records.iter().find(|record| {
        let effect = record.effect.and_then(|id| words.kernel.effects.get(id.index()));
        matches!(effect.map(|effect| &effect.kind), Some(EffectKind::Expect { .. }))
            && record.barriers.iter().any(|at| at.place == barrier)
    })?;
    let (expected, _) = replay.round_bytes(words.kernel, barrier)?;
    let who = words.partition(record.thread);
    Some((
        record.site,
        message!("{who} makes `{}` expect {expected} bytes here", who, words.barrier(barrier), expected),
    ))
}

/// Where another thread is done with what the stuck one uses behind its wait, and does not say so;
/// only where nobody arrives on any barrier of the allocation.
fn missing_arrival(
    words: &Words<'_>,
    replay: &ReplayedRun,
    ghost: &[Record],
    stuck: &Blocked,
    barrier: BarrierPlace,
) -> Option<(SiteId, Message)> {
    let arrives = |record: &Record| {
        let on =
            |at: &BarrierRecord| at.place.buffer == barrier.buffer && matches!(at.act, BarrierAction::Arrive { .. });
        record.barriers.iter().any(on)
    };
    if replay.records.iter().chain(ghost).any(arrives) {
        return None;
    }
    let ahead = ghost.iter().position(|record| record.thread == stuck.thread && !record.places.is_empty())?;
    let next = ghost.get(ahead)?;
    let uses = replay.records.iter().enumerate().rev().filter(|(_, record)| record.thread != stuck.thread);
    let uses: Vec<(usize, &Record, BarrierPlace)> = uses
        .filter_map(|(at, record)| {
            let same = |at: &&BarrierPlace| {
                next.places.iter().any(|other| other.buffer == at.buffer && other.start == at.start)
            };
            Some((at, record, *record.places.iter().find(same)?))
        })
        .collect();
    let until_next: Vec<&Record> = replay.records.iter().chain(ghost.iter().take(ahead)).collect();
    // What another barrier hands over does not want for an arrival on this one.
    let missing = uses.iter().find(|(at, ..)| !is_handed_over(&until_next, *at, stuck.thread, barrier));
    let &(_, record, place) = missing.or(uses.first())?;
    let who = words.partition(record.thread);
    let text = message!(
        "{who} uses `{}` here and does not arrive on `{}` when it is done",
        who,
        words.barrier(place),
        words.barrier(barrier)
    );
    Some((record.site, text))
}

/// Whether a thread waits, behind a use of memory by another, for a barrier that this use or what follows it in its thread
/// arrives on; `but` is the barrier that does not count.
fn is_handed_over(records: &[&Record], used: usize, to: u16, but: BarrierPlace) -> bool {
    let Some((first, rest)) = records.get(used..).and_then(<[&Record]>::split_first) else { return false };
    let mut arrived: Vec<BarrierPlace> = Vec::new();
    for record in std::iter::once(first).chain(rest) {
        for at in record.barriers.iter().filter(|at| at.place != but) {
            match at.act {
                BarrierAction::Arrive { .. } if record.thread == first.thread => arrived.push(at.place),
                BarrierAction::Wait { .. } if record.thread == to && arrived.contains(&at.place) => return true,
                _ => {}
            }
        }
    }
    false
}

/// The arrival that flips a barrier a second time with no wait on it since the first.
fn flipped_again(replay: &ReplayedRun, place: BarrierPlace) -> Option<&Record> {
    let mut unseen = false;
    for record in &replay.records {
        for at in record.barriers.iter().filter(|at| at.place == place) {
            match at.act {
                BarrierAction::Arrive { flipped: true } if unseen => return Some(record),
                BarrierAction::Arrive { flipped: true } => unseen = true,
                BarrierAction::Arrive { flipped: false } => {}
                _ => unseen = false,
            }
        }
    }
    None
}

/// Whether the stuck thread itself arrives on the barrier: then its phase is its own making.
fn arrives_itself(replay: &ReplayedRun, stuck: &Blocked, place: BarrierPlace) -> bool {
    let arrives = |at: &BarrierRecord| at.place == place && matches!(at.act, BarrierAction::Arrive { .. });
    replay.records.iter().any(|record| record.thread == stuck.thread && record.barriers.iter().any(arrives))
}

/// Whether the stuck thread has waited for the last flip of a barrier: then it is right to wait for the next.
fn waited_for(replay: &ReplayedRun, stuck: &Blocked, place: BarrierPlace, flips: u32) -> bool {
    let waits =
        |at: &BarrierRecord| at.place == place && at.flips == flips && matches!(at.act, BarrierAction::Wait { .. });
    replay.records.iter().any(|record| record.thread == stuck.thread && record.barriers.iter().any(waits))
}

/// `once`, `twice`, `3 times`.
pub(crate) fn times(number: u32) -> Message {
    match number {
        1 => "once".into(),
        2 => "twice".into(),
        many => message!("{many} times", many),
    }
}

/// Whether the blocked wait passed before on the same barrier with the same phase: its phase does
/// not follow the flips.
fn passed_before(replay: &ReplayedRun, stuck: &Blocked, place: BarrierPlace, phase: u32) -> bool {
    replay.records.iter().any(|record| {
        record.thread == stuck.thread
            && record.site == stuck.site
            && record.barriers.iter().any(|at| {
                at.place == place && matches!(at.act, BarrierAction::Wait { phase: named, .. } if named == phase)
            })
    })
}

/// Whether some wait saw a flip.
fn seen(replay: &ReplayedRun, place: BarrierPlace, flip: u32) -> bool {
    let waits = |barrier: &BarrierRecord| {
        barrier.place == place && barrier.flips == flip && matches!(barrier.act, BarrierAction::Wait { .. })
    };
    replay.records.iter().any(|record| record.barriers.iter().any(waits))
}

/// The first arrival on a barrier by another thread.
fn arrival(ghost: &[Record], place: BarrierPlace, waiter: u16) -> Option<&Record> {
    let arrives =
        |barrier: &BarrierRecord| barrier.place == place && matches!(barrier.act, BarrierAction::Arrive { .. });
    ghost.iter().find(|record| record.thread != waiter && record.barriers.iter().any(arrives))
}

/// What would happen if blocked waits passed: who would still arrive where.
fn ghost(machine: &Machine<'_>, replay: &ReplayedRun) -> Vec<Record> {
    let mut state: State = replay.end.clone();
    state.resume();
    let mut records = Vec::new();
    let mut steps = 0;
    loop {
        let mut moved = false;
        for thread in 0..machine.threads() {
            while !machine.stopped(&state) && machine.status(&state, thread) == Readiness::Ready && steps < GHOST_STEPS
            {
                let Some(record) = machine.take(&mut state, thread) else { return records };
                records.push(record);
                steps += 1;
                moved = true;
            }
        }
        if machine.stopped(&state) || steps >= GHOST_STEPS {
            return records;
        }
        if moved {
            continue;
        }
        let waiting = (0..machine.threads())
            .find(|&thread| machine.status(&state, thread) == Readiness::Blocked && machine.waits(&state, thread));
        let Some(thread) = waiting else { return records };
        let Some(record) = machine.take(&mut state, thread) else { return records };
        records.push(record);
        steps += 1;
    }
}
