//! Races, pending accesses and missing fences in words.

use super::replay::Replay;
use super::words::Words;
use super::{Kind, Note};
use crate::model::{Event, Machine, Record, Rule, Violation};
use crate::sync::{CommitKind, EffectKind, Mode, Var};

/// A classified violation, before its run is told.
#[derive(Clone, Debug)]
pub struct Told {
    /// What is wrong.
    pub kind: Kind,
    /// One sentence.
    pub message: String,
    /// Places, in order; the last is primary unless one says so.
    pub notes: Vec<Note>,
}

/// A race.
pub fn race(words: &Words<'_>, machine: &Machine<'_>, replay: &Replay, violation: &Violation) -> Option<Told> {
    let Rule::Race { earlier, later } = &violation.rule else { return None };
    let too_early = earlier.mode == Mode::Read && read_nothing(replay, earlier);
    let kind = classify(words, machine, replay, earlier, later, too_early);
    let (who, whom) = (words.partition(later.thread), words.partition(earlier.thread));
    let buffer = place(words, replay, later);
    let message = match kind {
        Kind::PendingAccess => {
            let family = words.channels.family(earlier.channel)?;
            let (done, op) = (if later.mode == Mode::Read { "read" } else { "written" }, op_of(words, earlier));
            let under_way = match family {
                CommitKind::Tdm => format!("{op} is still under way"),
                _ => format!("the group of {op} is still pending"),
            };
            format!("{buffer} is {done} while {under_way}; {} must come first", Words::awaited_by(family))
        }
        Kind::PhaseMismatch => {
            // Too early is the one whose wait let it pass.
            let (early, other) = if too_early { (earlier, later) } else { (later, earlier) };
            let (barrier, flips, _) = replay.guard(words.kernel, early)?;
            let name = words.barrier(barrier);
            format!(
                "{} {} {} after a wait on `{name}` that passed at flip {flips}, before the one that follows {} in {}: \
                 the phase is off",
                words.partition(early.thread),
                verb(early.mode),
                words.operand(early),
                op_of(words, other),
                words.partition(other.thread),
            )
        }
        Kind::ExpectMismatch => format!(
            "{buffer} is {} before all of it has come: its barrier expects fewer bytes than the copies bring",
            if later.mode == Mode::Read { "read" } else { "written" },
        ),
        Kind::MissingBackwardBarrier if earlier.mode == Mode::Write => format!(
            "{who} overwrites {buffer} again although nothing says that its last contents were read, or even came"
        ),
        Kind::MissingBackwardBarrier => {
            format!("{who} overwrites {buffer} although nothing says that {whom} has finished reading it")
        }
        Kind::PackedOverwrite => format!(
            "{who} zeroes all of {buffer} although nothing says that {whom} has finished reading the part packed into it"
        ),
        _ if too_early => format!("{whom} reads {buffer} although nothing says that {who} has written it"),
        _ if later.mode == Mode::Write => {
            format!("{who} overwrites {buffer} although nothing says that the write by {whom} is over")
        }
        _ => format!("{who} reads {buffer} although nothing says that the write by {whom} is visible"),
    };
    let late = |event: &Event| {
        let unfinished = words.channels.family(event.channel).is_some()
            || words.channels.barrier_of(event.channel).is_some()
            || event.channel.0 >= words.channels.tensor_core(0).0;
        if unfinished { " and is still in flight" } else { "" }
    };
    let first = format!("{} {}{}", words.partition(earlier.thread), verb_of(words, replay, earlier), late(earlier));
    let second = format!("{} {}", words.partition(later.thread), verb_of(words, replay, later));
    let note =
        |event: &Event, text: String, primary| Note { source: None, range: words.event_range(event), text, primary };
    let notes = vec![note(earlier, first, too_early), note(later, second, !too_early)];
    Some(Told { kind, message, notes })
}

/// A dot that nobody waited for.
pub fn unfinished(words: &Words<'_>, violation: &Violation, access: &Event) -> Option<Told> {
    let family = words.channels.family(access.channel)?;
    let (who, op) = (words.partition(access.thread), op_of(words, access));
    let message =
        format!("{who} ends while the group of {op} is still pending: {} must come first", Words::awaited_by(family));
    let note = |range, text, primary| Note { source: None, range, text, primary };
    let notes = vec![
        note(
            words.site_range(words.kernel.effect(access.effect).site),
            format!("{who} starts {op}, whose result is never known to be there"),
            true,
        ),
        note(words.site_range(violation.site), format!("{who} ends"), false),
    ];
    Some(Told { kind: Kind::PendingAccess, message, notes })
}

fn classify(
    words: &Words<'_>,
    machine: &Machine<'_>,
    replay: &Replay,
    earlier: &Event,
    later: &Event,
    too_early: bool,
) -> Kind {
    let next = replay.next_arrival(earlier.thread, earlier.step.saturating_sub(1));
    if words.pending(earlier).is_some() {
        // Between partitions, what counts is whether the group was over when it was handed on.
        let handed_on = next.map_or(later.step, |arrival| arrival.step);
        let over = earlier.thread != later.thread && replay.has_seen(machine, earlier.thread, earlier, handed_on);
        if !over {
            return Kind::PendingAccess;
        }
    }
    if overdrawn(words, replay, earlier) {
        return Kind::ExpectMismatch;
    }
    if too_early {
        let guarded = replay.guard(words.kernel, earlier).is_some_and(|(place, ..)| {
            replay.next_arrival(later.thread, later.step.saturating_sub(1)).is_some_and(|next| next.place == place)
        });
        return if guarded { Kind::PhaseMismatch } else { Kind::MissingForwardBarrier };
    }
    if let Some((place, flips, step)) = replay.guard(words.kernel, later) {
        // The wait is on the barrier that says the earlier access is over, but saw a flip before
        // the one that says so.
        let awaited = match words.channels.barrier_of(earlier.channel) {
            Some(barrier) => replay.end.barriers.get(barrier).map(|(place, _)| (*place, earlier.number)),
            None => next.map(|arrival| (arrival.place, arrival.flip)),
        };
        // A thread cannot have waited for an arrival of its own that comes later.
        let own = earlier.thread == later.thread && next.is_none_or(|arrival| arrival.step > step);
        let own = own && words.channels.barrier_of(earlier.channel).is_none();
        if awaited.is_some_and(|(awaited, flip)| awaited == place && flip > flips) && step >= earlier.step && !own {
            return Kind::PhaseMismatch;
        }
    }
    match (earlier.mode, later.mode) {
        (Mode::Read, _) if packed(words, earlier, later) => Kind::PackedOverwrite,
        (Mode::Read, _) => Kind::MissingBackwardBarrier,
        // A producer over itself: its readers' release is what is missing.
        (Mode::Write, Mode::Write) if earlier.effect == later.effect => Kind::MissingBackwardBarrier,
        _ => Kind::MissingForwardBarrier,
    }
}

/// Whether the bytes of a copy came on top of what its barrier expected, then and for good: they may
/// come before somebody says that they are expected.
fn overdrawn(words: &Words<'_>, replay: &Replay, event: &Event) -> bool {
    let Some(number) = words.channels.barrier_of(event.channel) else { return false };
    let negative = |record: &Record| record.barriers.iter().any(|barrier| barrier.bytes < 0);
    replay.record(event.step).is_some_and(negative)
        && replay.end.barriers.get(number).is_some_and(|(_, barrier)| barrier.bytes < 0)
}

/// A full overwrite against a smaller window that has a writer of its own: a tile packed into the
/// columns of the accumulator, not a slice of the accumulator.
fn packed(words: &Words<'_>, earlier: &Event, later: &Event) -> bool {
    let (Some(read), Some(write)) = (words.access(earlier), words.access(later)) else { return false };
    let bits = |view: Var| {
        let shape = words.kernel.shape(view)?;
        Some(shape.intervals().iter().map(|(lo, hi)| hi - lo).sum::<u64>())
    };
    let own_writer = || {
        words.kernel.effects.iter().any(|effect| match &effect.kind {
            EffectKind::Operation { accesses, .. } => accesses.iter().any(|access| {
                access.mode == Mode::Write
                    && !access.clears
                    && words.kernel.shape(access.view) == words.kernel.shape(read.view)
                    && words.buffer_of(access.view) == words.buffer_of(read.view)
            }),
            _ => false,
        })
    };
    write.clears && bits(read.view) < bits(write.view) && own_writer()
}

/// Whether a read met memory that nobody had written.
fn read_nothing(replay: &Replay, read: &Event) -> bool {
    replay.end.violations.iter().any(|other| match &other.rule {
        Rule::Uninitialised { read: empty } => empty.effect == read.effect && empty.access == read.access,
        _ => false,
    })
}

/// A generic access that an async one follows without a fence.
pub fn fence(words: &Words<'_>, replay: &Replay, violation: &Violation) -> Option<Told> {
    let Rule::ProxyFence { earlier, later } = &violation.rule else { return None };
    let message = format!(
        "{} {} {} through the async proxy, but no `ttng.fence_async_shared` covers the generic access in {}",
        words.partition(later.thread),
        verb(later.mode),
        place(words, replay, later),
        words.partition(earlier.thread),
    );
    let notes = vec![
        Note {
            source: None,
            range: words.event_range(earlier),
            text: format!(
                "{} {} through the generic proxy",
                words.partition(earlier.thread),
                verb_of(words, replay, earlier)
            ),
            primary: false,
        },
        Note {
            source: None,
            range: words.event_range(later),
            text: format!(
                "{} {} through the async proxy",
                words.partition(later.thread),
                verb_of(words, replay, later)
            ),
            primary: true,
        },
    ];
    Some(Told { kind: Kind::MissingProxyFence, message, notes })
}

fn verb(mode: Mode) -> &'static str {
    match mode {
        Mode::Read => "reads",
        Mode::Write => "writes",
    }
}

/// What an event touched, slot included: `%smem[1]`.
fn place(words: &Words<'_>, replay: &Replay, event: &Event) -> String {
    let record = replay.record(event.step).filter(|record| record.effect == Some(event.effect));
    match record.and_then(|record| record.places.get(usize::from(event.access))) {
        Some(place) => format!("`{}`", words.barrier(*place)),
        None => words.operand(event),
    }
}

fn verb_of(words: &Words<'_>, replay: &Replay, event: &Event) -> String {
    format!("{} {}", verb(event.mode), place(words, replay, event))
}

fn op_of(words: &Words<'_>, event: &Event) -> String {
    words.kernel.effects.get(event.effect.index()).map(|effect| words.op(effect.site)).unwrap_or_default()
}
