//! Accesses of memory and commit groups, from their issue until somebody knows that they are over.

use std::collections::{BTreeMap, VecDeque};

use super::{BarrierSlot, CommitGroup, Span};
use base::{Message, Names, message};
use findings::Words;
use kernel::{CommitKind, Completion, EffectKind, Space};
use machine::{BarrierPlace, Channel, Channels, Machine, Record, State};

/// An access that nobody knows to be over.
struct OpenAccess {
    span: usize,
    /// Of its event, in its channel.
    number: u32,
}

/// Spans in the making.
pub(super) struct Spans<'a> {
    names: &'a dyn Names,
    /// What the slots are called in the IR.
    ir: Vec<Message>,
    places: Vec<BarrierPlace>,
    /// Places, by number.
    pub slots: Vec<BarrierSlot>,
    /// Accesses, by step.
    pub spans: Vec<Span>,
    /// Groups, by step.
    pub groups: Vec<CommitGroup>,
    /// By channel and issuing thread, in the order of their numbers: a thread that knows one knows all before it.
    open: BTreeMap<(Channel, usize), VecDeque<OpenAccess>>,
}

impl<'a> Spans<'a> {
    /// None yet; slots are called by these names.
    pub(super) fn new(names: &'a dyn Names) -> Spans<'a> {
        let (places, slots, spans) = (Vec::new(), Vec::new(), Vec::new());
        Spans { names, ir: Vec::new(), places, slots, spans, groups: Vec::new(), open: BTreeMap::new() }
    }

    /// What a step does; `state` is the one it left.
    pub(super) fn step(&mut self, words: &Words<'_>, machine: &Machine<'_>, step: u32, record: &Record, state: &State) {
        let effect = record.effect.map(|id| &words.kernel.effect(id).kind);
        if let Some(EffectKind::Operation { accesses, .. }) = effect
            && let Some((channel, number)) = issued(state, step)
        {
            for (access, &place) in accesses.iter().zip(&record.places) {
                let slot = self.slot(words, place);
                let issuer = (channel, usize::from(record.thread));
                self.open.entry(issuer).or_default().push_back(OpenAccess { span: self.spans.len(), number });
                let completes = completes(machine.channels(), channel, usize::from(record.thread));
                let (mode, from) = (access.mode, step);
                self.spans.push(Span { slot, mode, from, until: None, seen_by: None, completes, site: None });
            }
        }
        self.groups(words, step, record, state);
        self.see(machine.channels(), step, usize::from(record.thread), state);
    }

    /// The slot at a place.
    pub(super) fn slot(&mut self, words: &Words<'_>, place: BarrierPlace) -> usize {
        if let Some(at) = self.places.iter().position(|known| *known == place) {
            return at;
        }
        let mut name = words.slot(place.buffer, place.start);
        if words.cluster.len() > 1 {
            name = message!("{name} of CTA {cta}", name, place.cta);
        }
        if self.ir.contains(&name) {
            // Another window of the same slot.
            name = message!("{name} + {bytes} B", name, words.offset(place) / 8);
        }
        self.places.push(place);
        let info = words.kernel.buffers.get(place.buffer.0 as usize);
        let (base, length) = info.map_or((None, 0), |info| (info.start, info.slot_bits.min(info.bits)));
        let start = base.unwrap_or(0) + place.start;
        // A window inside of a slot ends where the slot does.
        let length = length.saturating_sub(words.offset(place));
        self.slots.push(BarrierSlot {
            name: name.render(self.names),
            concerned: false,
            space: info.map_or(Space::Shared, |info| info.space),
            cta: place.cta,
            buffer: if base.is_some() { 0 } else { place.buffer.0 },
            bits: (start, start + length),
            is_allocated: base.is_some(),
        });
        self.ir.push(name);
        self.slots.len() - 1
    }

    /// Ends the spans that a thread has learnt to be over; the one that steps comes first.
    fn see(&mut self, channels: Channels, step: u32, stepping: usize, state: &State) {
        for (&(channel, issuer), open) in &mut self.open {
            while let Some(first) = open.front() {
                let knows = |&thread: &usize| {
                    let own = issuer == thread && channel == channels.base(thread);
                    !own && state.threads().get(thread).is_some_and(|at| at.seen.get(channel) >= first.number)
                };
                let Some(by) = std::iter::once(stepping).chain(0..state.threads().len()).find(knows) else { break };
                if let Some(span) = self.spans.get_mut(first.span) {
                    (span.until, span.seen_by) = (Some(step), Some(by));
                }
                open.pop_front();
            }
        }
    }

    fn groups(&mut self, words: &Words<'_>, step: u32, record: &Record, state: &State) {
        let lane = usize::from(record.thread);
        let Some(at) = state.threads().get(lane) else { return };
        let (kind, begins, closes) = match record.effect.map(|id| &words.kernel.effect(id).kind) {
            Some(EffectKind::Operation { completion: Completion::Commit { kind, implicit, .. }, .. }) => {
                (*kind, true, *implicit)
            }
            Some(EffectKind::Commit(kind)) => (*kind, true, true),
            Some(EffectKind::WaitGroup { kind, .. }) => (*kind, false, false),
            _ => return,
        };
        let family = family(kind);
        let own = |group: &&mut CommitGroup| group.lane == lane && group.family == family && group.over.is_none();
        if begins {
            if !self.groups.iter_mut().filter(own).any(|group| group.closed.is_none()) {
                self.groups.push(CommitGroup { lane, family, from: step, closed: None, over: None });
            }
            let open = self.groups.iter_mut().filter(own).find(|group| group.closed.is_none());
            if let Some(group) = open.filter(|_| closes) {
                group.closed = Some(step);
            }
        } else {
            let mut closed: Vec<&mut CommitGroup> =
                self.groups.iter_mut().filter(own).filter(|group| group.closed.is_some()).collect();
            let left = at.groups.get(kind as usize).map_or(0, |groups| groups.open.len());
            let over = closed.len().saturating_sub(left);
            closed.iter_mut().take(over).for_each(|group| group.over = Some(step));
        }
    }
}

/// The event that a step's accesses are, as its channel and its number there.
fn issued(state: &State, step: u32) -> Option<(Channel, u32)> {
    state.accesses().find(|event| event.step == step).map(|event| (event.channel, event.number))
}

fn completes(channels: Channels, channel: Channel, thread: usize) -> &'static str {
    if channel == channels.base(thread) {
        "in order"
    } else if channel == channels.tensor_core(thread) {
        "tensor core"
    } else if channels.family(channel).is_some() {
        "commit group"
    } else {
        "transaction"
    }
}

fn family(kind: CommitKind) -> &'static str {
    match kind {
        CommitKind::AsyncCopy => "cp.async",
        CommitKind::Wgmma => "wgmma",
        CommitKind::TmaStore => "TMA store",
        CommitKind::Tdm => "TDM",
        CommitKind::RelaxedRead => "relaxed read",
        CommitKind::Stage => "pipeline stage",
    }
}
