//! A thread: where a partition of one CTA stands and what it knows.

use super::clock::{Channel, Clock, FAMILIES};
use super::frontier::{Frontier, Publication};
use super::shadow::{ImplicitOrder, Observer};
use kernel::{BlockId, CommitKind};
use smallvec::SmallVec;

/// How far a thread is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ThreadStatus {
    /// Not started: a partition before its fork.
    NotStarted,
    /// At an effect or a terminator that others can notice.
    Running,
    /// Ended: a partition that waits for its join.
    Ended,
}

/// Operations that complete by group count, of one family.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub struct Groups {
    /// How many operations were issued so far.
    pub issued: u32,
    /// Number of the last operation of each group, oldest first; groups known to be over are
    /// dropped, and those that are too old for any wait to tell them apart.
    pub open: SmallVec<[u32; 8]>,
}

impl Groups {
    /// Closes a group over all operations issued so far. No wait looks past the last `kept`.
    pub fn commit(&mut self, kept: usize) {
        self.open.push(self.issued);
        let spare = self.open.len().saturating_sub(kept);
        self.open.drain(..spare);
    }

    /// Lets at most `pending` groups stay open; gives the last operation that is then over.
    pub fn wait(&mut self, pending: u32) -> Option<u32> {
        let over = self.open.len().checked_sub(pending as usize)?;
        self.open.drain(..over).next_back()
    }
}

/// One partition in one CTA: its position in the program, and what it knows.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Thread {
    /// How far it is.
    pub life: ThreadStatus,
    /// The block it is in.
    pub block: BlockId,
    /// The next instruction there; past the last one, the terminator.
    pub instr: u32,
    /// Events of its own so far.
    pub ticks: u32,
    /// Tensor-core operations issued.
    pub tensor_core: u32,
    /// Commit groups, by family.
    pub groups: [Groups; FAMILIES.len()],
    /// In a warp pipeline: what was waited for in the present stage, by channel and number. Half of the
    /// warps comes to that wait one stage later.
    pub lagging: SmallVec<[(Channel, u32); 1]>,
    /// What asynchronous dots leave in registers and may not be there yet: the number of the result, and that
    /// of the dot in its commit family.
    pub results: SmallVec<[(u32, u32); 2]>,
    /// Rendezvous that it arrived at and has not waited for: the barrier's number, and how many
    /// flips that one had made before.
    pub rendezvous: SmallVec<[(u32, u32); 1]>,
    /// Accesses it sees.
    pub seen: Clock,
    /// Accesses that are fenced for it.
    pub fenced: Clock,
    /// Events that are over in time for it.
    pub order: Clock,
    /// Reads that are over for it beside those it sees.
    pub over: Clock,
}

impl Thread {
    /// What it knows, for an access.
    pub(super) fn observer(&self, thread: u16, own: ImplicitOrder, stages: Channel) -> Observer<'_> {
        let stage = self.open_stage().map(|closed| (stages, closed));
        Observer { thread, seen: &self.seen, fenced: &self.fenced, over: &self.over, own, stage }
    }

    /// In a warp pipeline: the number of the last access of the stage before.
    pub(super) fn open_stage(&self) -> Option<u32> {
        self.groups[CommitKind::Stage as usize].open.last().copied()
    }

    /// Sees operations up to one of a commit family; in a warp pipeline only when the stage is over.
    pub(super) fn see_group(&mut self, channel: Channel, last: u32) {
        if self.open_stage().is_some() {
            self.lagging.retain(|(known, _)| *known != channel);
            self.lagging.push((channel, last));
        } else {
            self.seen.see(channel, last);
            self.order.see(channel, last);
        }
    }

    /// The slower half of the warps has come to the waits of the stage too.
    pub(super) fn catch_up(&mut self) {
        for (channel, last) in std::mem::take(&mut self.lagging) {
            self.seen.see(channel, last);
            self.order.see(channel, last);
        }
    }

    /// What it knows, for an arrival.
    pub(super) fn publishes(&self) -> Publication<'_> {
        Publication {
            seen: Some([&self.seen, &self.fenced]),
            order: &self.order,
            over: [Some(&self.over), None],
            also: None,
        }
    }

    /// Learns what a barrier has published.
    pub(super) fn learn(&mut self, published: &Frontier) {
        self.seen.join(&published.seen);
        self.fenced.join(&published.fenced);
        self.order.join(&published.order);
        self.over.join(&published.over);
    }

    /// A thread that has not started.
    pub fn not_started() -> Thread {
        Thread {
            life: ThreadStatus::NotStarted,
            block: BlockId(0),
            instr: 0,
            ticks: 0,
            tensor_core: 0,
            groups: Default::default(),
            lagging: SmallVec::new(),
            results: SmallVec::new(),
            rendezvous: SmallVec::new(),
            seen: Clock::default(),
            fenced: Clock::default(),
            order: Clock::default(),
            over: Clock::default(),
        }
    }
}
