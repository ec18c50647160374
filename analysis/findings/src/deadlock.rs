//! Deadlocks, with the one of three causes that applies.
//!
//! Source: the phase model of the AutoWS barrier report. A wait never ends because nobody
//! produces its phase, because flips come at another cadence than the waits need, or because the
//! arrival it needs stands behind a wait that needs it. Counts alone are never a verdict.

use super::description::Description;
use super::replay::Replay;
use super::words::Words;
use super::{Kind, Note};
use base::{Message, message};
use explore::{Status, System};
use machine::{
    BarrierAction, BarrierPlace, BarrierRecord, Blocked, BlockedOn, Machine, Record, Rule, State, Violation,
};

/// How many forced steps are tried to find out who would have arrived.
const GHOST_STEPS: u32 = 20_000;

/// A deadlock.
pub(crate) fn deadlock(
    words: &Words<'_>,
    machine: &Machine<'_>,
    replay: &Replay,
    violation: &Violation,
    alternative: bool,
) -> Option<Description> {
    let Rule::Deadlock(blocked) = &violation.rule else { return None };
    let ghost = ghost(machine, replay);
    let mut notes = Vec::new();
    let mut kind = Kind::Deadlock;
    let mut message = None;
    for (position, stuck) in blocked.iter().enumerate() {
        let BlockedOn::Barrier { barrier, phase, flips, pending, initial, bytes } = stuck.on else { continue };
        let name = words.barrier(barrier);
        let who = words.partition(stuck.thread);
        let cause = if pending == 0 && bytes != 0 {
            kind = Kind::ExpectMismatch;
            let (expected, came) = replay.bytes(barrier);
            message!("`{name}` is told to expect {expected} bytes, and {came} come", name, expected, came)
        } else if alternative && flips > 0 && pending == initial {
            kind = Kind::LappedWait;
            message!(
                "where it comes late, `{name}` has flipped {} already, and phase {phase} is current again",
                name,
                times(flips),
                phase
            )
        } else if let Some(record) = arrival(&ghost, barrier, stuck.thread) {
            let other = words.partition(record.thread);
            notes.push(Note::new(
                words.site_range(record.site),
                message!("{other} would arrive on `{name}` here, behind its own wait", other, name),
            ));
            let theirs = blocked.iter().find(|other| other.thread == record.thread).and_then(|other| match other.on {
                BlockedOn::Barrier { barrier, .. } => Some(message!("its own wait for `{}`", words.barrier(barrier))),
                _ => None,
            });
            let behind = theirs.unwrap_or_else(|| "a wait".into());
            message!(
                "{other} arrives on `{name}` only after {behind}, which this one holds up: a cycle",
                other,
                name,
                behind
            )
        } else if flips > 0 && pending == initial {
            if passed_before(replay, stuck, barrier, phase) || !seen(replay, barrier, flips) {
                kind = Kind::PhaseMismatch;
            }
            let come = if flips == 1 { "one comes".into() } else { message!("{flips} come", flips) };
            message!(
                "phase {phase} of `{name}` is over with its next flip, number {}, and only {come}",
                phase,
                name,
                flips + 1,
                come
            )
        } else if pending < initial {
            let came = initial - pending;
            message!(
                "a phase of `{name}` needs {initial} arrivals, and only {came} {}",
                name,
                initial,
                came,
                if came == 1 { "comes" } else { "come" }
            )
        } else {
            message!("nobody arrives on `{name}`", name)
        };
        notes.push(Note {
            source: None,
            range: words.site_range(stuck.site),
            text: message!("{who} waits for phase {phase} of `{name}` for ever", who, phase, name),
            primary: position == 0 || message.is_none(),
        });
        message.get_or_insert_with(|| message!("{who} never gets past this wait{:}{cause}", who, cause));
    }
    let mut primary_seen = false;
    for note in &mut notes {
        note.primary &= !primary_seen;
        primary_seen |= note.primary;
    }
    Some(Description { kind, message: message?, notes, order: None })
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
fn passed_before(replay: &Replay, stuck: &Blocked, place: BarrierPlace, phase: u32) -> bool {
    replay.records.iter().any(|record| {
        record.thread == stuck.thread
            && record.site == stuck.site
            && record
                .barriers
                .iter()
                .any(|barrier| barrier.place == place && barrier.act == BarrierAction::Wait { phase })
    })
}

/// Whether some wait saw a flip.
fn seen(replay: &Replay, place: BarrierPlace, flip: u32) -> bool {
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
fn ghost(machine: &Machine<'_>, replay: &Replay) -> Vec<Record> {
    let mut state: State = replay.end.clone();
    state.resume();
    let mut records = Vec::new();
    let mut steps = 0;
    loop {
        let mut moved = false;
        for thread in 0..machine.threads() {
            while !machine.stopped(&state) && machine.status(&state, thread) == Status::Ready && steps < GHOST_STEPS {
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
            .find(|&thread| machine.status(&state, thread) == Status::Blocked && machine.waits(&state, thread));
        let Some(thread) = waiting else { return records };
        let Some(record) = machine.take(&mut state, thread) else { return records };
        records.push(record);
        steps += 1;
    }
}
