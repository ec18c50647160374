//! Races, pending accesses and missing fences in words.

use super::cause::is_told_wrongly;
use super::deadlock::{bytes, expectation};
use super::description::Description;
use super::packed::{self, packed};
use super::replay::ReplayedRun;
use super::words::{Words, verb};
use super::{Kind, MissingOrder, Note, Severity};
use base::{Message, message};
use kernel::{BufferId, CommitKind, EffectId, EffectKind, Mode};
use machine::{BarrierAction, BarrierPlace, BarrierRecord, Event, Machine, Record, Rule, Valuation, Violation};

/// A race.
pub(crate) fn race(
    words: &Words<'_>,
    machine: &Machine<'_>,
    replay: &ReplayedRun,
    violation: &Violation,
    valuation: &Valuation,
) -> Option<Description> {
    let Rule::Race { earlier, later } = &violation.rule else { return None };
    let too_early = earlier.mode == Mode::Read && read_nothing(replay, earlier);
    let race = Race { words, machine, replay, earlier, later, too_early };
    let told = words.channels.barrier_of(earlier.channel).and_then(|barrier| replay.end.barriers().get(barrier));
    let kind = match told {
        Some((place, _)) if is_told_wrongly(words.kernel, valuation, replay, violation, *place) => Kind::ExpectMismatch,
        _ => classify(words, machine, replay, earlier, later, too_early),
    };
    let (message, notes) = (race.message(kind)?, race.notes(kind));
    let (awaited, early) = if too_early { (later, earlier) } else { (earlier, later) };
    let order = matches!(kind, Kind::PendingAccess | Kind::MissingForwardBarrier | Kind::MissingBackwardBarrier)
        .then(|| MissingOrder::between(words, replay, awaited, early));
    Some(Description { kind, severity: kind.severity(), message, notes, order })
}

/// Two accesses that nothing orders, and the run in which they met.
#[derive(Clone, Copy)]
struct Race<'a> {
    words: &'a Words<'a>,
    machine: &'a Machine<'a>,
    replay: &'a ReplayedRun,
    earlier: &'a Event,
    later: &'a Event,
    /// Whether the earlier one is a read that should have come after the later one, a write.
    too_early: bool,
}

impl Race<'_> {
    /// The sentence of a race of this kind.
    fn message(&self, kind: Kind) -> Option<Message> {
        let Race { words, machine, replay, earlier, later, too_early } = *self;
        let (who, whom) = (words.partition(later.thread), words.partition(earlier.thread));
        let buffer = place(words, replay, later);
        let apart = words.channels.family(earlier.channel).filter(|_| earlier.thread == later.thread);
        let does = if later.mode == Mode::Read { "reads" } else { "overwrites" };
        Some(match kind {
            _ if apart == Some(CommitKind::RelaxedRead) => message!(
                "{who} overwrites {buffer} while other warps of it may still be reading it{:}Triton puts no barrier between \
                 {op} and an asynchronous copy",
                who,
                buffer,
                words.op_of(earlier)
            ),
            _ if apart == Some(CommitKind::Stage) => message!(
                "{who} {does} {buffer} one stage of the warp pipeline behind {op}{:}half of its warps runs a stage later, so \
                 both happen at once",
                who,
                does,
                buffer,
                words.op_of(earlier)
            ),
            Kind::PendingAccess if replay.lags(machine, later.thread, earlier, later.step) => message!(
                "{who} {does} {buffer} in the stage of the warp pipeline right behind the wait for {op}{:}half of its warps \
                 runs a stage later, and has not waited for its part yet",
                who,
                does,
                buffer,
                words.op_of(earlier)
            ),
            Kind::PendingAccess => self.while_pending(&buffer)?,
            Kind::PhaseMismatch => self.at_another_phase()?,
            Kind::ExpectMismatch => self.before_all_has_come(&buffer),
            Kind::MissingBackwardBarrier if earlier.mode == Mode::Write => message!(
                "{who} writes {buffer} again while its last contents may still be on the way, or unread{:}no wait in between \
                 says otherwise",
                who,
                buffer
            ),
            Kind::MissingBackwardBarrier => {
                let end = release(words, replay, earlier, later);
                message!(
                    "{who} overwrites {buffer} while {} may still be reading it{end}",
                    who,
                    buffer,
                    actor(words, earlier, later),
                    end
                )
            }
            Kind::PackedOverwrite => {
                let end = release(words, replay, earlier, later);
                packed::message(words, replay, earlier, later, &end)
            }
            _ if too_early => {
                message!(
                    "{whom} reads {buffer}, which {who} writes only later{:}nothing makes {whom} wait for that",
                    whom,
                    buffer,
                    who,
                    whom
                )
            }
            _ => self.without_a_wait(&buffer),
        })
    }

    /// A group of operations has not been waited for.
    fn while_pending(&self, buffer: &Message) -> Option<Message> {
        let Race { words, replay, earlier, later, .. } = *self;
        let who = words.partition(later.thread);
        let family = words.channels.family(earlier.channel)?;
        let (done, op) = (if later.mode == Mode::Read { "read" } else { "written" }, words.op_of(earlier));
        let under_way = match family {
            CommitKind::Tdm => message!("{op} is still under way", op),
            _ => message!("the group of {op} is still pending", op),
        };
        Some(if let Some(bar) = arrives_when_copied(words, replay, earlier) {
            message!(
                "{buffer} is {done} while {op} is under way: `{}` says when it is over, and {who} does not wait for it",
                buffer,
                done,
                op,
                words.barrier(bar),
                who
            )
        } else if family == CommitKind::AsyncCopy && !committed(words, replay, earlier) {
            message!(
                "{buffer} is {done} while {op} is under way: no `{ttg.async_commit_group}` has closed its group, so no \
             `{ttg.async_wait}` waits for it",
                buffer,
                done,
                op
            )
        } else {
            message!(
                "{buffer} is {done} while {under_way}; {} must come first",
                buffer,
                done,
                under_way,
                Words::awaited_by(family)
            )
        })
    }

    /// The wait of who is too early let it pass at another phase.
    fn at_another_phase(&self) -> Option<Message> {
        let Race { words, replay, earlier, later, too_early, .. } = *self;
        // Too early is the one whose wait let it pass.
        let (early, other) = if too_early { (earlier, later) } else { (later, earlier) };
        let (barrier, flips, step) = replay.guard(words.kernel, early)?;
        let name = words.barrier(barrier);
        let ahead = replay.record(step).is_some_and(|wait| wait.barriers.iter().any(|at| at.seen() < at.flips));
        Some(if ahead {
            early_wait(words, early, other, name, flips)
        } else {
            message!(
                "{} {} {} too early{:}its wait on `{name}` passed at flip {flips}, but {} in {} is over only with a later one",
                words.partition(early.thread),
                verb(early.mode),
                words.operand(early),
                name,
                flips,
                words.op_of(other),
                words.partition(other.thread)
            )
        })
    }

    /// The barrier is told to expect other bytes than come.
    fn before_all_has_come(&self, buffer: &Message) -> Message {
        let Race { words, replay, earlier, later, .. } = *self;
        let done = if later.mode == Mode::Read { "read" } else { "written" };
        let told = words.channels.barrier_of(earlier.channel).and_then(|barrier| {
            let place = replay.end.barriers().get(barrier)?.0;
            Some(bytes(words, replay, place))
        });
        let why = told.unwrap_or_else(|| "its barrier expects fewer bytes than the copies bring".into());
        message!("{buffer} is {done} before all of it has come{:}{why}", buffer, done, why)
    }

    /// Nothing says that the earlier write is over.
    fn without_a_wait(&self, buffer: &Message) -> Message {
        let Race { words, replay, earlier, later, .. } = *self;
        let (who, whom) = (words.partition(later.thread), words.partition(earlier.thread));
        let end = release(words, replay, earlier, later);
        let does = if later.mode == Mode::Write { "overwrites" } else { "reads" };
        if unfinished_at(words, earlier) {
            message!(
                "{who} {does} {buffer} while {} may still be writing it{end}",
                who,
                does,
                buffer,
                actor(words, earlier, later),
                end
            )
        } else {
            message!("{who} {does} {buffer} without waiting for the write in {whom}{end}", who, does, buffer, whom, end)
        }
    }

    /// What each of the two does, and what is wrong beside.
    fn notes(&self, kind: Kind) -> Vec<Note<Message>> {
        let Race { words, replay, earlier, later, too_early, .. } = *self;
        let late = |event: &Event| if unfinished_at(words, event) { " and is still in flight" } else { "" };
        let first =
            message!("{} {}{}", words.partition(earlier.thread), verb_of(words, replay, earlier), late(earlier));
        let second = message!("{} {}", words.partition(later.thread), verb_of(words, replay, later));
        let either = either(words, earlier, later, too_early);
        let (first, second) = if too_early {
            (message!("{first}: {either}", first, either), second)
        } else {
            (first, message!("{second}: {either}", second, either))
        };
        let note = |event: &Event, text: Message, primary| Note {
            source: None,
            range: words.event_range(event),
            text,
            primary,
        };
        let mut notes = vec![note(earlier, first, too_early), note(later, second, !too_early)];
        // What is wrong is what the barrier was told, whatever then meets it first.
        let told = words.channels.barrier_of(earlier.channel).filter(|_| kind == Kind::ExpectMismatch);
        let told = told.and_then(|barrier| expectation(words, replay, replay.end.barriers().get(barrier)?.0));
        if let Some((site, text)) = told {
            notes.iter_mut().for_each(|note| note.primary = false);
            notes.push(Note::primary(words.site_range(site), text));
        }
        let place_of = |event: &Event| {
            let record = replay.record(event.step).filter(|record| record.effect == Some(event.effect))?;
            record.places.get(usize::from(event.access)).map(|place| place.buffer)
        };
        if let (Some(one), Some(other)) = (place_of(earlier), place_of(later)) {
            notes.extend(words.same_memory(one, other).map(|(range, text)| Note::new(range, text)));
        }
        notes
    }
}

/// Whether the later access stands behind a wait on the barrier that says when the earlier one is over, which may pass
/// before that has come.
fn may_pass_early(words: &Words<'_>, replay: &ReplayedRun, earlier: &Event, later: &Event) -> bool {
    let Some((place, seen, step)) = replay.guard(words.kernel, later) else { return false };
    let early = |at: &BarrierRecord| at.place == place && at.flips > seen;
    let says =
        |at: &BarrierRecord| at.place == place && at.flips > seen && matches!(at.act, BarrierAction::Arrive { .. });
    let between = (earlier.step.saturating_sub(1) as usize)..(step.saturating_sub(1) as usize);
    unfinished_at(words, earlier)
        && replay.record(step).is_some_and(|wait| wait.barriers.iter().any(early))
        && replay
            .records
            .get(between)
            .unwrap_or_default()
            .iter()
            .any(|record| record.thread == earlier.thread && record.barriers.iter().any(says))
}

/// An access behind a wait that may pass two flips early, since what brings the flips is still under way.
fn early_wait(words: &Words<'_>, early: &Event, other: &Event, barrier: Message, flips: u32) -> Message {
    let passes = match flips {
        0 => message!("before its first flip"),
        flips => message!("at flip {flips}", flips),
    };
    message!(
        "{} {} {} too early{:}its wait on `{barrier}` can pass {passes}, while {op} in {whom} is still under way{:}it names \
         a parity, and nothing says that the flips in between have come",
        words.partition(early.thread),
        verb(early.mode),
        words.operand(early),
        barrier,
        passes,
        words.op_of(other),
        words.partition(other.thread)
    )
}

/// What happens if the two come in the one order, and if they come in the other: what follows a site.
fn either(words: &Words<'_>, earlier: &Event, later: &Event, too_early: bool) -> Message {
    let (first, second) = (words.partition(earlier.thread), words.partition(later.thread));
    match (earlier.mode, later.mode) {
        (Mode::Read, _) if too_early => {
            message!("if the write comes first, this reads what {second} writes; if not, what was there before", second)
        }
        (Mode::Read, _) => {
            message!(
                "if the read is over, nothing is lost; if not, {first} reads what {second} writes here",
                first,
                second
            )
        }
        (Mode::Write, Mode::Read) => {
            message!("if the write is over, this reads what {first} wrote; if not, what was there before", first)
        }
        (Mode::Write, Mode::Write) => {
            message!("if the other write is over, this one stays; if not, that of {first} may come on top of it", first)
        }
    }
}

/// Whether an access goes on beside its thread.
fn unfinished_at(words: &Words<'_>, event: &Event) -> bool {
    if words.channels.family(event.channel).is_some_and(CommitKind::is_by_warps) {
        return false;
    }
    words.channels.family(event.channel).is_some()
        || words.channels.barrier_of(event.channel).is_some()
        || event.channel.0 >= words.channels.tensor_core(0).0
}

/// Who may not be done: `partition1`, or the op of the same partition.
fn actor(words: &Words<'_>, earlier: &Event, later: &Event) -> Message {
    match (unfinished_at(words, earlier), earlier.thread == later.thread) {
        (true, true) => message!("its own {}", words.op_of(earlier)),
        (true, false) => message!("{} in {}", words.op_of(earlier), words.partition(earlier.thread)),
        (false, _) => words.partition(earlier.thread),
    }
}

/// What would say that an access is over, where the run has such a thing and the later thread did
/// not wait for it.
fn release(words: &Words<'_>, replay: &ReplayedRun, earlier: &Event, later: &Event) -> Message {
    let (who, whom) = (words.partition(later.thread), words.partition(earlier.thread));
    if let Some(text) = undercounted(words, replay, earlier, later) {
        return text;
    }
    let before = replay.records.get(..later.step.saturating_sub(1) as usize).unwrap_or_default();
    let waited = |place: BarrierPlace, flip: u32| {
        let saw = |barrier: &BarrierRecord| {
            barrier.place == place && barrier.seen() >= flip && matches!(barrier.act, BarrierAction::Wait { .. })
        };
        before.iter().any(|record| record.thread == later.thread && record.barriers.iter().any(saw))
    };
    if let Some(barrier) = words.channels.barrier_of(earlier.channel) {
        let Some((place, known)) = replay.end.barriers().get(barrier) else { return Message::default() };
        let (place, name) = (*place, words.barrier(*place));
        if known.total != known.flips {
            // Initialised anew: flips are counted from there, events are not.
            return Message::default();
        }
        return match waited(place, earlier.number) {
            true => Message::default(),
            false => {
                message!("{;}flip {} of `{name}` ends that, and {who} does not wait for it", earlier.number, name, who)
            }
        };
    }
    if earlier.thread == later.thread || words.channels.family(earlier.channel).is_some() {
        return Message::default();
    }
    // Where both are rings, an arrival is about the access if it is on the same slot.
    let slots = |buffer: BufferId, start: u64| {
        let info = words.kernel.buffers.get(buffer.0 as usize);
        info.map_or((1, 0), |info| (info.bits / info.slot_bits.max(1), start / info.slot_bits.max(1)))
    };
    let touched = replay.record(earlier.step).and_then(|record| record.places.get(usize::from(earlier.access)));
    let Some((depth, slot)) = touched.map(|place| slots(place.buffer, place.start)) else { return Message::default() };
    let about = |place: BarrierPlace| {
        let (ring, own) = slots(place.buffer, place.start);
        ring == 1 || ring != depth || own == slot
    };
    if let Some(next) = replay.next_arrival(earlier.thread, earlier.step.saturating_sub(1))
        && about(next.place)
        && !waited(next.place, next.flip)
    {
        return message!(
            "{;}{whom} arrives on `{}` after it, and {who} does not wait for that",
            whom,
            words.barrier(next.place),
            who
        );
    }
    let early = replay.records.iter().take(earlier.step.saturating_sub(1) as usize).rev();
    let mut early = early.filter(|record| record.thread == earlier.thread).flat_map(|record| &record.barriers);
    let last = early.find(|barrier| matches!(barrier.act, BarrierAction::Arrive { .. })).map(|barrier| barrier.place);
    match last {
        Some(last) if depth > 1 && slots(last.buffer, last.start) == (depth, slot) => {
            message!("{;}{whom} arrives on `{}` before it", whom, words.barrier(last))
        }
        _ => Message::default(),
    }
}

/// That the barrier which the later thread waited for counts fewer arrivals than threads arrive on it, the earlier one
/// among them: then a phase may be over without it.
fn undercounted(words: &Words<'_>, replay: &ReplayedRun, earlier: &Event, later: &Event) -> Option<Message> {
    let (place, ..) = replay.guard(words.kernel, later)?;
    let (initial, threads) = (replay.initial(place)?, replay.arriving(words.kernel, place));
    if earlier.thread == later.thread || initial >= threads.len() as i64 || !threads.contains(&earlier.thread) {
        return None;
    }
    let arriving = words.all_partitions(&threads);
    let name = words.barrier(place);
    let arrivals = if initial == 1 { "arrival" } else { "arrivals" };
    Some(message!(
        "{;}{} waited for `{name}`, on which {arriving} arrive, but a phase of it is over with {initial} {arrivals}",
        words.partition(later.thread),
        name,
        arriving,
        initial,
        arrivals
    ))
}

/// Whether the group of an access was or is going to be closed.
fn committed(words: &Words<'_>, replay: &ReplayedRun, event: &Event) -> bool {
    let commits = |record: &Record| {
        let effect = record.effect.and_then(|id| words.kernel.effects.get(id.index()));
        record.thread == event.thread
            && matches!(effect.map(|effect| &effect.kind), Some(EffectKind::Commit(CommitKind::AsyncCopy)))
    };
    replay.records.iter().skip(event.step as usize).any(commits)
}

/// The barrier on which a thread arrives when its `cp.async` are over, where it next does so.
fn arrives_when_copied(words: &Words<'_>, replay: &ReplayedRun, event: &Event) -> Option<BarrierPlace> {
    words.channels.family(event.channel).filter(|family| *family == CommitKind::AsyncCopy)?;
    replay.records.iter().skip(event.step as usize).filter(|record| record.thread == event.thread).find_map(|record| {
        let effect = words.kernel.effects.get(record.effect?.index())?;
        let arrives = matches!(effect.kind, EffectKind::AsyncCopyArrive { .. });
        arrives.then(|| record.barriers.first().map(|barrier| barrier.place)).flatten()
    })
}

/// A dot that nobody waited for.
pub(crate) fn unfinished(words: &Words<'_>, violation: &Violation, access: &Event) -> Option<Description> {
    let family = words.channels.family(access.channel)?;
    let (who, op) = (words.partition(access.thread), words.op_of(access));
    let message = message!(
        "{who} ends while the group of {op} is still pending: {} must come first",
        who,
        op,
        Words::awaited_by(family)
    );
    let note = |range, text, primary| Note { source: None, range, text, primary };
    let notes = vec![
        note(
            words.site_range(words.kernel.effect(access.effect).site),
            message!("{who} starts {op}, whose result is never known to be there", who, op),
            true,
        ),
        note(words.site_range(violation.site), message!("{who} ends", who), false),
    ];
    let order = Some(MissingOrder::at_end(words, access));
    Some(Description { kind: Kind::PendingAccess, severity: Kind::PendingAccess.severity(), message, notes, order })
}

/// An operation that is under way when the kernel ends.
pub(crate) fn outlives(
    words: &Words<'_>,
    machine: &Machine<'_>,
    replay: &ReplayedRun,
    violation: &Violation,
    access: &Event,
) -> Option<Description> {
    let (who, op) = (words.partition(access.thread), words.op_of(access));
    let awaited = match (words.channels.family(access.channel), words.channels.barrier_of(access.channel)) {
        (Some(family), _) => Words::awaited_by(family),
        (_, Some(barrier)) => {
            message!("a wait on `{}`", words.barrier(replay.end.barriers().get(barrier)?.0))
        }
        _ if access.channel == machine.channels().tensor_core(usize::from(access.thread)) => {
            "a commit that is waited for".into()
        }
        _ => return None,
    };
    let does = if access.mode == Mode::Read { "reading" } else { "writing" };
    let message = message!(
        "the kernel ends while {op} in {who} may still be {does} {}{;}{awaited} is customary before that",
        op,
        who,
        does,
        place(words, replay, access),
        awaited
    );
    let notes = vec![
        Note::primary(words.event_range(access), message!("{who} starts {op}", who, op)),
        Note::new(words.site_range(violation.site), "the kernel ends here"),
    ];
    Some(Description::of(Kind::PendingAccess, message, notes))
}

/// What a dot leaves in registers, used while its group may be open.
pub(crate) fn pending_result(words: &Words<'_>, violation: &Violation, dot: EffectId) -> Option<Description> {
    let who = words.partition(violation.thread);
    let site = words.kernel.effects.get(dot.index())?.site;
    let op = words.op(site);
    let message = message!(
        "{who} uses the result of {op} while its group may still be pending: {} must come first",
        who,
        op,
        Words::awaited_by(CommitKind::Wgmma)
    );
    let notes = vec![
        Note::new(words.site_range(site), message!("{who} starts {op}", who, op)),
        Note::primary(words.site_range(violation.site), message!("{who} uses its result", who)),
    ];
    Some(Description::of(Kind::PendingAccess, message, notes))
}

fn classify(
    words: &Words<'_>,
    machine: &Machine<'_>,
    replay: &ReplayedRun,
    earlier: &Event,
    later: &Event,
    too_early: bool,
) -> Kind {
    let next = replay.next_arrival(earlier.thread, earlier.step.saturating_sub(1));
    if !too_early && may_pass_early(words, replay, earlier, later) {
        return Kind::PhaseMismatch;
    }
    if words.pending(earlier).is_some() {
        // Between partitions, what counts is whether the group was over when it was handed on.
        let handed_on = next.map_or(later.step, |arrival| arrival.step);
        let over = earlier.thread != later.thread && replay.has_seen(machine, earlier.thread, earlier, handed_on);
        if !over {
            return Kind::PendingAccess;
        }
    }
    if overdrawn(words, machine, replay, earlier) {
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
            Some(barrier) => replay.end.barriers().get(barrier).map(|(place, _)| (*place, earlier.number)),
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
        _ if packed(words, earlier, later) => Kind::PackedOverwrite,
        (Mode::Read, _) => Kind::MissingBackwardBarrier,
        // A producer over itself: its readers' release is what is missing.
        (Mode::Write, Mode::Write) if earlier.effect == later.effect => Kind::MissingBackwardBarrier,
        _ => Kind::MissingForwardBarrier,
    }
}

/// Whether the bytes of a copy came on top of what its barrier expected, then and for good: they may
/// come before somebody says that they are expected, which another CTA may still do while its barrier
/// misses arrivals.
fn overdrawn(words: &Words<'_>, machine: &Machine<'_>, replay: &ReplayedRun, event: &Event) -> bool {
    let Some(number) = words.channels.barrier_of(event.channel) else { return false };
    let negative = |record: &Record| record.barriers.iter().any(|barrier| barrier.bytes < 0);
    replay.record(event.step).is_some_and(negative)
        && replay.end.barriers().get(number).is_some_and(|(place, barrier)| {
            let elsewhere = place.cta != machine.cta_of(usize::from(event.thread));
            barrier.bytes < 0 && !(elsewhere && barrier.pending > 0)
        })
}

/// Whether a read met memory that nobody had written.
fn read_nothing(replay: &ReplayedRun, read: &Event) -> bool {
    replay.end.violations().iter().any(|other| match &other.rule {
        Rule::Uninitialised { read: empty } => empty.effect == read.effect && empty.access == read.access,
        _ => false,
    })
}

/// A generic access that an async one follows without a fence.
pub(crate) fn fence(words: &Words<'_>, replay: &ReplayedRun, violation: &Violation) -> Option<Description> {
    let Rule::ProxyFence { earlier, later } = &violation.rule else { return None };
    let (who, whom) = (words.partition(later.thread), words.partition(earlier.thread));
    let place = place(words, replay, later);
    // What a read takes into registers it has taken; whether the overwrite may be ahead of it nobody has seen.
    let overwritten = earlier.mode == Mode::Read && later.mode == Mode::Write;
    let (severity, message) = if overwritten {
        let message = message!(
            "{who} overwrites {place} through the async proxy, and {whom}, which has read it through the generic one, does \
             not fence that: CUTLASS puts `{ttng.fence_async_shared}` there in its TMA epilogues, before the release, and \
             none in main loops that read an operand into registers",
            who,
            place,
            whom
        );
        (Severity::Warning, message)
    } else {
        let message = message!(
            "{who} {} {place} through the async proxy, but {whom} does not fence its generic access: \
             `{ttng.fence_async_shared}` has to follow that before it is handed on",
            who,
            verb(later.mode),
            place,
            whom
        );
        (Kind::MissingProxyFence.severity(), message)
    };
    let notes = vec![
        Note::new(
            words.event_range(earlier),
            message!(
                "{} {} through the generic proxy",
                words.partition(earlier.thread),
                verb_of(words, replay, earlier)
            ),
        ),
        Note::primary(
            words.event_range(later),
            message!("{} {} through the async proxy", words.partition(later.thread), verb_of(words, replay, later)),
        ),
    ];
    Some(Description { kind: Kind::MissingProxyFence, severity, message, notes, order: None })
}

/// What an event touched, slot included: `%smem[1]`.
fn place(words: &Words<'_>, replay: &ReplayedRun, event: &Event) -> Message {
    let record = replay.record(event.step).filter(|record| record.effect == Some(event.effect));
    match record.and_then(|record| record.places.get(usize::from(event.access))) {
        Some(place) => match words.member(event.effect, event.access) {
            Some(name) => message!("`{name}` in `{}`", name, words.barrier(*place)),
            None => message!("`{}`", words.barrier(*place)),
        },
        None => words.operand(event),
    }
}

fn verb_of(words: &Words<'_>, replay: &ReplayedRun, event: &Event) -> Message {
    message!("{} {}", verb(event.mode), place(words, replay, event))
}
