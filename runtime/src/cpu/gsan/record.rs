//! Accesses as shadow memory remembers them.

use std::collections::HashMap;

use machine::Channel;
use tensors::memory::AccessMode;
use ttgir::OpId;

use super::clock::Actor;
use crate::limits::gsan::ATOMICS;

/// How far an atomic's effect reaches.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) enum Scope {
    /// The threads of one CTA.
    Cta,
    /// One device.
    Gpu,
    /// All devices and the host.
    Sys,
}

impl Scope {
    pub(super) fn name(self) -> &'static str {
        match self {
            Scope::Cta => "cta",
            Scope::Gpu => "gpu",
            Scope::Sys => "sys",
        }
    }

    /// Whether it covers CTAs of these programs and positions. There is one device.
    pub(super) fn covers(self, a: (u32, u16), b: (u32, u16)) -> bool {
        self != Scope::Cta || a == b
    }
}

/// An access that one execution of an op made: when, by whom, how.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Record {
    pub(super) op: OpId,
    pub(super) program: u32,
    /// The event that ends it.
    pub(super) channel: Channel,
    pub(super) number: u32,
    /// The step of its thread that it is, or that issued it.
    pub(super) step: (Channel, u32),
    pub(super) thread: u16,
    pub(super) cta: u16,
    pub(super) mode: AccessMode,
    /// Of an atomic.
    pub(super) scope: Option<Scope>,
    /// Whether every CTA of the program does it, of which one was executed.
    pub(super) everywhere: bool,
    /// Whether it is an asynchronous operation.
    pub(super) asynchronous: bool,
}

impl Record {
    pub(super) fn place(&self) -> (u32, u16) {
        (self.program, self.cta)
    }

    pub(super) fn writes(&self) -> bool {
        !matches!(self.mode, AccessMode::Read | AccessMode::AtomicRead)
    }

    /// Whether this one comes before what an actor does.
    pub(super) fn is_before(&self, actor: &Actor) -> bool {
        let own = self.everywhere && self.program == actor.program && actor.follows.is_some();
        own || actor.comes_after(self.program, self.channel, self.number)
    }

    /// Whether both are atomics, and the scope of each reaches the other: such two do not race.
    pub(super) fn is_exempt(&self, other: &Record) -> bool {
        let (Some(a), Some(b)) = (self.scope, other.scope) else { return false };
        a.covers(self.place(), other.place()) && b.covers(self.place(), other.place())
    }

    /// An atomic that no atomic of another CTA races with, save one of a narrower scope.
    fn is_wide(&self) -> bool {
        self.scope.is_some_and(|scope| scope != Scope::Cta)
    }
}

/// The number of a record or of a set; 0 for none.
pub(super) type Id = u32;

/// All records of a launch.
#[derive(Debug, Default)]
pub(super) struct Records {
    all: Vec<Record>,
    last: HashMap<OpId, Id>,
}

impl Records {
    /// The number of a record; the same for one that equals the last of its op. `None` where numbers have run out.
    pub(super) fn add(&mut self, record: Record) -> Option<Id> {
        let last = self.last.entry(record.op).or_insert(0);
        if let Some(at) = last.checked_sub(1)
            && self.all.get(at as usize) == Some(&record)
        {
            return Some(*last);
        }
        self.all.push(record);
        *last = u32::try_from(self.all.len()).ok()?;
        Some(*last)
    }

    pub(super) fn get(&self, id: Id) -> Option<&Record> {
        self.all.get(id.checked_sub(1)? as usize)
    }

    pub(super) fn held(&self) -> u64 {
        (self.all.capacity() * size_of::<Record>()) as u64
    }
}

/// A set of accesses: one, and the others.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Node {
    record: Id,
    others: Id,
    /// How many accesses it holds.
    len: u32,
    /// How many were added, those that sampling left out as well.
    added: u32,
    /// Whether all of them are atomics that reach beyond their CTA.
    wide: bool,
    /// Whether an atomic that wrote is among them.
    writes: bool,
}

/// The sets of accesses since the last write that cells of shadow memory name: reads, and atomic updates that other
/// atomics do not race with. Neighbouring cells mostly share one, so a cell has its number only.
#[derive(Debug, Default)]
pub(super) struct AccessSets {
    nodes: Vec<Node>,
    known: HashMap<(Id, Id), Id>,
    /// Most accesses of a set, and where the choice among more of them stands; exact without.
    sample: Option<(u32, base::rng::SplitMix64)>,
}

/// Of a set, how many of its newest are looked through for one that a new one makes needless.
const NEAR: usize = 8;
impl AccessSets {
    /// Sets of so many accesses at most, chosen at random by a seed; of all without a limit.
    pub(super) fn new(slots: Option<u32>, seed: u64) -> AccessSets {
        let sample = slots.map(|slots| (slots.max(1), base::rng::SplitMix64::stream(seed, 3)));
        AccessSets { sample, ..AccessSets::default() }
    }

    fn node(&self, set: Id) -> Option<Node> {
        self.nodes.get(set.checked_sub(1)? as usize).copied()
    }

    /// Whether a set holds nothing but atomics of a wide scope.
    pub(super) fn is_wide(&self, set: Id) -> bool {
        self.node(set).is_none_or(|node| node.wide)
    }

    /// Whether an atomic that wrote is in a set.
    pub(super) fn has_writes(&self, set: Id) -> bool {
        self.node(set).is_some_and(|node| node.writes)
    }

    /// The accesses of a set, newest first.
    pub(super) fn each(&self, set: Id) -> impl Iterator<Item = Id> {
        std::iter::successors(self.node(set), |node| self.node(node.others)).map(|node| node.record)
    }

    fn push(&mut self, others: Id, id: Id, record: &Record, added: u32) -> Id {
        let key = (others, id);
        if self.sample.is_none()
            && let Some(known) = self.known.get(&key)
        {
            return *known;
        }
        let before = self.node(others);
        self.nodes.push(Node {
            record: id,
            others,
            len: before.map_or(0, |node| node.len) + 1,
            added,
            wide: record.is_wide() && before.is_none_or(|node| node.wide),
            writes: record.writes() || before.is_some_and(|node| node.writes),
        });
        let made = self.nodes.len() as Id;
        self.known.insert(key, made);
        made
    }

    /// A set with one more access; what the new one comes after, and whoever sees the new one has seen, is left out.
    pub(super) fn add(&mut self, records: &Records, set: Id, id: Id) -> Id {
        let (Some(record), Some(node)) = (records.get(id), self.node(set)) else {
            let Some(record) = records.get(id) else { return set };
            return self.push(0, id, record, 1);
        };
        let needless = |known: Id| {
            known == id
                || records.get(known).is_some_and(|known| {
                    (known.program, known.channel) == (record.program, record.channel)
                        && known.number <= record.number
                        && (known.mode, known.scope) == (record.mode, record.scope)
                })
        };
        let near: Vec<Id> = self.each(set).take(NEAR).collect();
        if near.first() == Some(&id) {
            return set;
        }
        if let Some(at) = near.iter().position(|known| needless(*known)) {
            if near[at] == id {
                return set;
            }
            let mut rest = (0..=at).fold(set, |set, _| self.node(set).map_or(0, |node| node.others));
            for &kept in near[..at].iter().rev() {
                if let Some(record) = records.get(kept) {
                    rest = self.push(rest, kept, record, node.added);
                }
            }
            return self.push(rest, id, record, node.added);
        }
        if record.writes() && node.len >= ATOMICS {
            return self.push(0, id, record, 1);
        }
        let added = node.added.saturating_add(1);
        let Some((slots, random)) = &mut self.sample else { return self.push(set, id, record, added) };
        if node.len < *slots {
            return self.push(set, id, record, added);
        }
        // Each of all accesses so far is kept with the same probability.
        let place = random.below(added as usize);
        let mut kept: Vec<Id> = self.each(set).collect();
        if let Some(place) = kept.get_mut(place) {
            *place = id;
        }
        let mut made = 0;
        for &id in kept.iter().rev() {
            if let Some(record) = records.get(id) {
                made = self.push(made, id, record, added);
            }
        }
        made
    }

    pub(super) fn held(&self) -> u64 {
        (self.nodes.capacity() * size_of::<Node>() + self.known.capacity() * size_of::<(Id, Id, Id)>()) as u64
    }
}
