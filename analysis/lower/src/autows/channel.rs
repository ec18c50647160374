//! Channels between partitions as a thread knows them: arefs, semaphores, tokens, and their counters.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use kernel::{BufferId, Var};
use ttgir::{OpId, ValueId};

/// A counter: of which channel, for which half and partition, and which number of it. Rounds of a plan
/// are counted by place of the block, for no half and partition in particular.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Counter {
    pub(crate) channel: usize,
    pub(crate) side: Side,
    pub(crate) partition: i64,
    pub(crate) part: Part,
}

impl Counter {
    /// What it is called: the fork's name for the rounds of a plan, which count on in every loop; else which number of
    /// the channel it is.
    pub(crate) fn name(self) -> &'static str {
        match self.part {
            Part::Round => "accumCnt",
            Part::Stage => "stage",
            Part::Phase => "phase",
        }
    }

    /// That of the rounds of a plan's block.
    pub(crate) fn round(block: usize) -> Counter {
        Counter { channel: block, side: Side::Put, partition: 0, part: Part::Round }
    }
}

/// Which side of a channel counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Side {
    Put,
    Get,
}

/// What is counted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Part {
    Stage,
    Phase,
    /// How often a block of a plan has run.
    Round,
}

/// Where the counters stand.
pub(crate) type Counters = BTreeMap<Counter, Var>;

/// One buffer of a channel.
#[derive(Clone)]
pub(crate) struct Ring {
    pub(crate) view: Var,
    /// The leading dimension is the slots; scales in tensor memory have none.
    pub(crate) slots: bool,
}

/// An aref, as a thread knows it.
#[derive(Clone)]
pub(crate) struct Aref {
    pub(crate) full: Var,
    pub(crate) empty: Var,
    pub(crate) rings: Vec<Ring>,
    pub(crate) depth: u64,
    /// Stages and phases are in the text.
    pub(crate) spelt: bool,
    /// Partitions that count their puts and gets.
    pub(crate) puts: Vec<i64>,
    pub(crate) gets: Vec<i64>,
    /// Exits by a thread that need a proxy fence.
    pub(crate) fence_put: bool,
    pub(crate) fence_get: bool,
}

impl Aref {
    pub(crate) fn vars_mut(&mut self) -> impl Iterator<Item = &mut Var> {
        [&mut self.full, &mut self.empty].into_iter().chain(self.rings.iter_mut().map(|ring| &mut ring.view))
    }
}

/// A semaphore, as a thread knows it.
#[derive(Clone)]
pub(crate) struct Semaphore {
    pub(crate) barriers: Var,
    pub(crate) rings: Vec<Ring>,
    pub(crate) depth: u64,
    /// The first semaphore over the same first buffer, whose stage it shares.
    pub(crate) group: usize,
    /// Its first buffer.
    pub(crate) first: Option<ValueId>,
    /// A release by a thread needs a proxy fence.
    pub(crate) fence: bool,
}

impl Semaphore {
    pub(crate) fn vars_mut(&mut self) -> impl Iterator<Item = &mut Var> {
        std::iter::once(&mut self.barriers).chain(self.rings.iter_mut().map(|ring| &mut ring.view))
    }
}

/// An aref or a semaphore, as a thread knows it.
#[derive(Clone)]
pub(crate) enum Channel {
    Aref(Aref),
    Semaphore(Semaphore),
}

/// What a thread knows of channels.
#[derive(Clone, Default)]
pub(crate) struct Hidden {
    /// Arefs and semaphores, in the order in which they were made.
    pub(crate) channels: Vec<Channel>,
    /// Where the counters stand.
    pub(crate) counters: Counters,
}

impl Hidden {
    pub(crate) fn vars_mut(&mut self) -> impl Iterator<Item = &mut Var> {
        let views = self.channels.iter_mut().flat_map(|channel| -> Box<dyn Iterator<Item = &mut Var>> {
            match channel {
                Channel::Aref(aref) => Box::new(aref.vars_mut()),
                Channel::Semaphore(semaphore) => Box::new(semaphore.vars_mut()),
            }
        });
        views.chain(self.counters.values_mut())
    }
}

/// The barriers of a token.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) full: BufferId,
    pub(crate) empty: BufferId,
    pub(crate) slots: u64,
    /// Commits are arrivals of asynchronous copies.
    pub(crate) copies: bool,
    /// Ops that program order makes needless.
    pub(crate) elided: FxHashSet<OpId>,
}
