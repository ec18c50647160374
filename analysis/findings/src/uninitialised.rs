//! Reads of what nobody has written: which part, and where its write is instead.
//!
//! The run that led there is repeated to see what was unwritten before each such read, and the
//! kernel's other inputs are run to see who writes it there. One of four sentences follows: nothing
//! ever writes it, the first write comes later, another path writes it, or it was written before
//! the buffer was allocated anew.

use super::description::Description;
use super::extent::phrase;
use super::inputs::inputs;
use super::other_runs::{OtherRun, OtherRuns};
use super::paths::{Loops, block_of, skipped};
use super::replay::{ReplayedRun, walk};
use super::words::Words;
use super::{Kind, Note};
use base::bits::{Bits, intersect, merged};
use base::{Message, message};
use kernel::{Access, BufferId, EffectId, EffectKind, Mode};
use machine::{BarrierPlace, Event, Machine, Record, Rule, State, Unwritten, Valuation};
use verify::Found;

/// What a run says of one read.
#[derive(Default)]
struct Seen {
    /// What it met unwritten, from its buffer's start.
    bits: Bits,
    /// What it met so the first time.
    first: Bits,
    /// The iteration of the first read that did, in words.
    place: Message,
}

/// A write of memory in a run.
#[derive(Clone, Copy)]
struct Write {
    effect: EffectId,
    access: u16,
    thread: u16,
    step: u32,
}

/// A read of what nobody wrote.
pub(crate) fn uninitialised(
    words: &Words<'_>,
    machine: &Machine<'_>,
    replay: &ReplayedRun,
    found: &Found,
    others: &OtherRuns<'_>,
) -> Option<Description> {
    let Rule::Uninitialised { read } = &found.violation.rule else { return None };
    let at = *replay.record(read.step)?.places.get(usize::from(read.access))?;
    let buffer = at.buffer;
    let mut seen = look(machine, replay, read, buffer);
    if seen.first.is_empty() {
        seen.first = window(words, read, &at);
        seen.bits.clone_from(&seen.first);
    }
    // Longer runs of the same kind show more of the same: other slots of a ring.
    let others: Vec<&OtherRun<'_>> = others.but(&found.valuation).collect();
    // What a race leads to is another matter.
    let races =
        |run: &ReplayedRun| run.end.violations().iter().any(|violation| matches!(violation.rule, Rule::Race { .. }));
    for other in others.iter().filter(|other| !races(&other.replay)) {
        seen.bits.extend(other.unwritten(read, buffer).copied());
    }
    seen.bits = merged(seen.bits);
    let (what, plural) = phrase(words, buffer, &seen.bits);
    let who = words.partition(read.thread);
    let vars = machine.vars(&replay.end, usize::from(read.thread));
    let telling = Telling { words, replay, vars, read, at, bits: &seen.first, what: &what, plural, who: &who };
    let (message, further) = telling
        .later()
        .or_else(|| telling.gone())
        .or_else(|| telling.skipped(&others, &found.valuation))
        .unwrap_or_else(|| telling.never(&others));
    let allocated = words.map.buffers.get(buffer.0 as usize).map(|(_, range)| *range);
    let place = replay.record(read.step).and_then(|record| record.places.get(usize::from(read.access)));
    let place = place.map_or_else(|| words.operand(read), |place| message!("`{}`", words.barrier(*place)));
    let note = |range, text: Message, primary| Note { source: None, range, text, primary };
    let mut notes = Vec::new();
    let (before, after): (Vec<Note<Message>>, Vec<Note<Message>>) = further.into_iter().partition(|note| note.primary);
    notes.extend(before.into_iter().map(|note| Note { primary: false, ..note }));
    if let Some(range) = allocated.filter(|range| !range.is_empty() && notes.iter().all(|note| note.range != *range)) {
        notes.insert(0, note(range, "allocated here, with undefined contents".into(), false));
    }
    notes.push(note(words.event_range(read), message!("{who} reads {place}{}", who, place, seen.place), true));
    notes.extend(after);
    Some(Description::of(Kind::UninitialisedRead, message, notes))
}

/// All that an access touches of its buffer.
fn window(words: &Words<'_>, access: &Event, at: &BarrierPlace) -> Bits {
    let accesses = match &words.kernel.effect(access.effect).kind {
        EffectKind::Operation { accesses, .. } => accesses.as_slice(),
        EffectKind::ClcLoad { source, .. } => std::slice::from_ref(source),
        _ => &[],
    };
    let shape = accesses.get(usize::from(access.access)).and_then(|access| words.kernel.shape(access.view));
    let window = shape.map(|shape| shape.intervals()).into_iter().flatten();
    merged(window.map(|(lo, hi)| (lo + at.start, hi + at.start)).collect())
}

/// What a run says of a read.
fn look(machine: &Machine<'_>, replay: &ReplayedRun, read: &Event, buffer: BufferId) -> Seen {
    let loops = Loops::new(machine.kernel());
    let block = block_of(machine.kernel(), read.effect);
    let mut seen = Seen::default();
    let before = |state: &State, thread: usize| {
        if thread != usize::from(read.thread) || machine.next_effect_id(state, thread) != Some(read.effect) {
            return;
        }
        let same = |empty: &Unwritten| empty.access == read.access && empty.buffer == buffer;
        let Some(empty) = machine.unwritten(state, thread).into_iter().find(same) else { return };
        if seen.first.is_empty() {
            seen.place = block.map(|block| loops.place(block, machine.vars(state, thread))).unwrap_or_default();
            seen.first = merged(empty.bits.clone());
        }
        seen.bits.extend(empty.bits);
    };
    walk(machine, &replay.schedule, before, |(), _| {});
    seen
}

/// What is known when the sentence is chosen.
struct Telling<'a> {
    words: &'a Words<'a>,
    replay: &'a ReplayedRun,
    /// What the run left in the reader's variables.
    vars: &'a [i64],
    read: &'a Event,
    at: BarrierPlace,
    bits: &'a Bits,
    what: &'a Message,
    plural: bool,
    who: &'a Message,
}

impl Telling<'_> {
    /// The writes of a run to what was read too early.
    fn writes<'r>(&'r self, run: &'r ReplayedRun) -> impl Iterator<Item = Write> + 'r {
        self.touching(run, self.bits).map(|(write, _)| write)
    }

    /// The writes of a run to some bits of the buffer, with all that they write of it.
    fn touching<'r>(
        &'r self,
        run: &'r ReplayedRun,
        bits: &'r [(u64, u64)],
    ) -> impl Iterator<Item = (Write, Bits)> + 'r {
        (1u32..).zip(&run.records).flat_map(move |(step, record)| {
            accesses(self.words, record)
                .filter(|(_, access, place)| {
                    let mut ctas = access.ctas.of(place.cta);
                    access.mode == Mode::Write && place.buffer == self.at.buffer && ctas.any(|cta| cta == self.at.cta)
                })
                .filter_map(move |(number, access, place)| {
                    let shape = self.words.kernel.shape(access.view)?;
                    let window = shape.intervals().into_iter().map(|(lo, hi)| (lo + place.start, hi + place.start));
                    let window: Bits = window.collect();
                    let write = Write { effect: record.effect?, access: number, thread: record.thread, step };
                    (!intersect(&window, bits).is_empty()).then_some((write, window))
                })
        })
    }

    fn note(&self, write: &Write, text: Message, before: bool) -> Note<Message> {
        let event = Event { effect: write.effect, access: write.access, ..*self.read };
        Note { source: None, range: self.words.event_range(&event), text, primary: before }
    }

    /// The first write comes after the read.
    fn later(&self) -> Option<(Message, Option<Note<Message>>)> {
        let first = self.writes(self.replay).next().filter(|write| write.step >= self.read.step)?;
        let Telling { who, what, .. } = self;
        let whom = self.words.partition(first.thread);
        let message = if first.effect == self.read.effect {
            message!("{who} adds to {what}, which nothing has written: the first operation must not add", who, what)
        } else if first.thread == self.read.thread {
            message!("{who} reads {what} before {} first write, which comes later", who, what, self.their())
        } else {
            message!(
                "{who} reads {what} before {} first write, which comes later in {whom}",
                who,
                what,
                self.their(),
                whom
            )
        };
        let note = self.note(&first, message!("{} first written here, after the read", self.is()), false);
        Some((message, (first.effect != self.read.effect).then_some(note)))
    }

    /// No run writes it; the nearest write to the rest of the buffer is shown.
    fn never(&self, others: &[&OtherRun<'_>]) -> (Message, Option<Note<Message>>) {
        if let Some(write) = others.iter().find_map(|other| self.writes(&other.replay).next()) {
            let message = message!("{} reads {} before anything has written {}", self.who, self.what, self.them());
            return (message, Some(self.note(&write, "this is the first write, if it is reached".into(), false)));
        }
        let runs = || std::iter::once(self.replay).chain(others.iter().map(|other| &other.replay));
        let executed = |effect: usize| {
            let id = Some(EffectId(effect as u32));
            runs().any(|run| run.records.iter().any(|record| record.effect == id))
        };
        if (0..self.words.kernel.effects.len()).any(|effect| self.could_write(effect) && !executed(effect)) {
            // A write that no run got to: what it would write is not known.
            return (message!("{} reads {} before anything has written {}", self.who, self.what, self.them()), None);
        }
        let message = message!("{} reads {}, which nothing ever writes", self.who, self.what);
        let all = |run: &'_ ReplayedRun| self.touching(run, &[(0, u64::MAX)]).collect::<Vec<_>>();
        let near = all(self.replay).into_iter().take_while(|(write, _)| write.step < self.read.step).last();
        let note = near.map(|(near, _)| {
            let own = runs().flat_map(all).filter(|(write, _)| write.effect == near.effect);
            let reached = merged(own.flat_map(|(_, bits)| bits).collect());
            let (reached, _) = phrase(self.words, self.at.buffer, &reached);
            self.note(&near, message!("this write reaches {reached} only", reached), true)
        });
        (message, note)
    }

    /// Whether an effect writes the buffer somewhere.
    fn could_write(&self, effect: usize) -> bool {
        let EffectKind::Operation { accesses, .. } = &self.words.kernel.effects[effect].kind else { return false };
        let mut writes = accesses.iter().filter(|access| access.mode == Mode::Write);
        writes.any(|access| self.words.buffer_of(access.view) == Some(self.at.buffer))
    }

    /// It was written, and then its buffer allocated anew.
    fn gone(&self) -> Option<(Message, Option<Note<Message>>)> {
        let write = self.writes(self.replay).take_while(|write| write.step < self.read.step).last()?;
        let Telling { who, what, .. } = self;
        let name = self.words.buffer(self.at.buffer);
        let message = message!(
            "{who} reads {what}, but what was written there is gone: `{name}` is allocated anew before the read",
            who,
            what,
            name
        );
        Some((message, Some(self.note(&write, "last written here, before it is allocated anew".into(), true))))
    }

    /// Other inputs lead to a write before the read.
    fn skipped(&self, others: &[&OtherRun<'_>], own: &Valuation) -> Option<(Message, Option<Note<Message>>)> {
        let (valuation, write, run) = others.iter().find_map(|other| {
            let OtherRun { valuation, replay: run, .. } = other;
            let write = self.writes(run).next()?;
            let reads = |record: &Record| record.effect == Some(self.read.effect);
            let first = run.records.iter().position(reads).map_or(u32::MAX, |at| at as u32 + 1);
            (write.step < first).then_some((valuation, write, run))
        })?;
        let Telling { who, what, .. } = self;
        let executed = self.replay.records.iter().any(|record| record.effect == Some(write.effect));
        let reason = if executed { None } else { skipped(self.words, write.effect, self.vars) };
        let op = self.words.op(self.words.kernel.effect(write.effect).site);
        if let Some(reason) = reason {
            let message = message!(
                "{who} reads {what}, but on this path nothing has written {}: {reason}",
                who,
                what,
                self.them(),
                reason
            );
            return Some((message, Some(self.note(&write, "this write is skipped".into(), true))));
        }
        let all = inputs(self.words.kernel, self.words.map, own);
        let differ = inputs(self.words.kernel, self.words.map, valuation);
        let differ: Vec<Message> = differ
            .into_iter()
            .filter(|input| !all.contains(input))
            .map(|(name, value)| message!("`{name}` = {value}", name, value))
            .collect();
        let whom = run.record(write.step).map(|record| self.words.partition(record.thread))?;
        let message = message!("{who} reads {what}, but on this path nothing has written {}", who, what, self.them());
        let note =
            message!("with {} {whom} writes {} here first: {op}", Message::join(differ, ", "), whom, self.them(), op);
        Some((message, Some(self.note(&write, note, true))))
    }

    fn them(&self) -> &'static str {
        if self.plural { "them" } else { "it" }
    }

    fn their(&self) -> &'static str {
        if self.plural { "their" } else { "its" }
    }

    fn is(&self) -> Message {
        message!("{} {}", self.what, if self.plural { "are" } else { "is" })
    }
}

/// The memory accesses of a step: number, access, place.
fn accesses<'a>(
    words: &'a Words<'_>,
    record: &'a Record,
) -> impl Iterator<Item = (u16, &'a Access, BarrierPlace)> + 'a {
    let effect = record.effect.and_then(|id| words.kernel.effects.get(id.index()));
    let accesses = match effect.map(|effect| &effect.kind) {
        Some(EffectKind::Operation { accesses, .. }) => accesses.as_slice(),
        _ => &[],
    };
    (0u16..).zip(accesses).zip(&record.places).map(|((at, access), place)| (at, access, *place))
}
