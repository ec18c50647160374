//! Values packed into a part of a larger allocation: which races are about them, and what is said.
//!
//! A member is a window that is written and read as itself. A window that is only read, or only
//! written, is a part of whatever else is there: a slice of an accumulator, a quarter of a tile.
//! Windows over the same bits with elements of another size are other members. What this misses:
//! members of one element size that overlap without one clearing the other.

use super::description::Description;
use super::extent::phrase;
use super::paths::Loops;
use super::replay::ReplayedRun;
use super::words::Words;
use super::{Kind, Note};
use base::{Message, message};
use kernel::{Access, EffectId, EffectKind, Mode, Var};
use machine::Event;

/// Whether a write reaches into another member than the one it is for, and the earlier access is of that.
pub(crate) fn packed(words: &Words<'_>, earlier: &Event, later: &Event) -> bool {
    let (Some(of), Some(write)) = (words.access(earlier), words.access(later)) else { return false };
    if write.mode != Mode::Write || words.kernel.shape(of.view) == words.kernel.shape(write.view) {
        return false;
    }
    let element = |view: Var| words.kernel.shape(view).map(|shape| shape.element);
    let reaches = write.clears && bits(words, of.view) < bits(words, write.view);
    let (written, read) = uses(words, of.view);
    let own = written && (earlier.mode == Mode::Read || read);
    own && (reaches || read && element(of.view) != element(write.view))
}

/// What is said of it; `end` is what would say that the earlier access is over.
pub(crate) fn message(
    words: &Words<'_>,
    replay: &ReplayedRun,
    earlier: &Event,
    later: &Event,
    end: &Message,
) -> Message {
    let (who, whom) = (words.partition(later.thread), words.partition(earlier.thread));
    let name = words.access(earlier).and_then(|access| words.map.var(access.view)).map(Message::value);
    let name = words.member(earlier.effect, earlier.access).or(name);
    let named = name.map(|name| message!("`{name}`", name));
    let overwritten = match (place(words, replay, later), words.access(later)) {
        (Some(part), Some(access)) if !access.clears => part,
        _ => message!("all of {}", words.operand(later)),
    };
    let (member, comma) = match (named, place(words, replay, earlier)) {
        (Some(name), Some(part)) if name != words.operand(earlier) => {
            (message!("{name}, which is packed into {part}", name, part), ",")
        }
        (_, Some(part)) => (message!("what is packed into {part}", part), ""),
        _ => ("what is packed into it".into(), ""),
    };
    let cadence = cadence(words, earlier, later);
    match earlier.mode {
        Mode::Read => {
            message!(
                "{who} overwrites {overwritten} while {whom} may still be reading {member}{end}{cadence}",
                who,
                overwritten,
                whom,
                member,
                end,
                cadence
            )
        }
        Mode::Write => {
            message!(
                "{who} overwrites {overwritten} although {member}{comma} may be unread, or unwritten, by {whom}{cadence}",
                who,
                overwritten,
                member,
                comma,
                whom,
                cadence
            )
        }
    }
}

/// Where the wait for the member belongs: at the overwrite, or before the loop around it that the
/// member's use is not in.
fn cadence(words: &Words<'_>, earlier: &Event, later: &Event) -> Message {
    let loops = Loops::new(words.kernel);
    let around = |effect: EffectId| loops.around_effect(effect);
    let (outer, inner) = (around(earlier.effect), around(later.effect));
    let name = |number: usize| match loops.counter(words, number) {
        Some(counter) => message!("the loop over {counter}", counter),
        None => "the inner loop".into(),
    };
    match inner.get(outer.len()) {
        Some(&number) if !outer.is_empty() => {
            let phase = inner.get(outer.len() - 1).map_or_else(Message::default, |&number| {
                loops.counter(words, number).map_or_else(Message::default, |counter| {
                    message!(", with a phase that flips once an iteration over {counter}", counter)
                })
            });
            message!("; the wait for that belongs before {}{phase}", name(number), phase)
        }
        Some(&number) => message!("; the wait for that belongs before {}", name(number)),
        None => "; the wait for that belongs right before the overwrite, at the same loop level".into(),
    }
}

/// The part of its allocation that an event touched.
fn place(words: &Words<'_>, replay: &ReplayedRun, event: &Event) -> Option<Message> {
    let record = replay.record(event.step).filter(|record| record.effect == Some(event.effect))?;
    let place = record.places.get(usize::from(event.access))?;
    let shape = words.kernel.shape(words.access(event)?.view)?;
    let bits: Vec<(u64, u64)> = shape.intervals().iter().map(|(lo, hi)| (lo + place.start, hi + place.start)).collect();
    Some(phrase(words, place.buffer, &bits).0)
}

fn bits(words: &Words<'_>, view: Var) -> Option<u64> {
    let shape = words.kernel.shape(view)?;
    Some(shape.intervals().iter().map(|(lo, hi)| hi - lo).sum())
}

/// Whether a window is written and whether it is read as itself.
fn uses(words: &Words<'_>, view: Var) -> (bool, bool) {
    let (shape, buffer) = (words.kernel.shape(view), words.buffer_of(view));
    let same = |access: &&Access| {
        words.kernel.shape(access.view) == shape && words.buffer_of(access.view) == buffer && !access.clears
    };
    let accesses = words.kernel.effects.iter().flat_map(|effect| match &effect.kind {
        EffectKind::Operation { accesses, .. } => accesses.as_slice(),
        _ => &[],
    });
    accesses.filter(same).fold((false, false), |(written, read), access| match access.mode {
        Mode::Write => (true, read),
        Mode::Read => (written, true),
    })
}

/// A read of a member whose bits another member's write has taken, in order.
pub(crate) fn foreign(words: &Words<'_>, replay: &ReplayedRun, earlier: &Event, later: &Event) -> Option<Description> {
    let (who, whom) = (words.partition(later.thread), words.partition(earlier.thread));
    let part = place(words, replay, later).unwrap_or_else(|| words.operand(later));
    let op = words.kernel.effects.get(earlier.effect.index()).map(|effect| words.op(effect.site))?;
    let writer = own_writer(words, replay, later).map(|writer| message!(" by {writer}", writer));
    let message = message!(
        "{who} reads {part} for what was stored there{writer}, but {op} in {whom} has overwritten it before: the two are \
         in order, so that no wait helps, and the read has to come first",
        who,
        part,
        writer,
        op,
        whom
    );
    let note =
        |event: &Event, text: Message, primary| Note { source: None, range: words.event_range(event), text, primary };
    let notes = vec![
        note(earlier, message!("{whom} overwrites {part} with another value", whom, part), false),
        note(later, message!("{who} reads {part}", who, part), true),
    ];
    Some(Description::of(Kind::ReuseSlotHazard, message, notes))
}

/// Who last wrote the window of a read as itself.
fn own_writer(words: &Words<'_>, replay: &ReplayedRun, read: &Event) -> Option<Message> {
    let shape = words.kernel.shape(words.access(read)?.view)?;
    let at = replay.record(read.step)?.places.get(usize::from(read.access))?;
    let before = replay.records.get(..(read.step as usize).checked_sub(1)?)?;
    before.iter().rev().find_map(|record| {
        let EffectKind::Operation { accesses, .. } = &words.kernel.effects.get(record.effect?.index())?.kind else {
            return None;
        };
        let own = accesses.iter().zip(&record.places).any(|(access, place)| {
            access.mode == Mode::Write && place == at && words.kernel.shape(access.view) == Some(shape)
        });
        own.then(|| words.partition(record.thread))
    })
}
