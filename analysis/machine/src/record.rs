//! What one step did, for the run that a finding tells. Made on every step, kept only by replays.

use super::clock::Channel;
use super::violation::BarrierPlace;
use kernel::{EffectId, SiteId};
use smallvec::SmallVec;

/// What one step of one thread did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// The thread of the machine.
    pub thread: u16,
    /// The op of the text, for messages.
    pub site: SiteId,
    /// Its effect, where it is one.
    pub effect: Option<EffectId>,
    /// Where its accesses went, in their order.
    pub places: SmallVec<[BarrierPlace; 3]>,
    /// What happened to barriers, in order.
    pub barriers: SmallVec<[BarrierRecord; 1]>,
    /// When its accesses are over, in their order and for each CTA that they reach. Noted for who drives the
    /// machine; empty else.
    pub done: SmallVec<[CompletionEvent; 2]>,
}

/// When one access of an operation is over in one CTA's memory: who has seen the event sees the access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CompletionEvent {
    /// Which of the operation's accesses.
    pub access: u16,
    /// The CTA whose memory it touches, by its number.
    pub cta: u16,
    /// The channel of the event.
    pub channel: Channel,
    /// Its number there.
    pub number: u32,
}

/// What a step did to a barrier, and the state it left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BarrierRecord {
    /// The barrier by its place.
    pub place: BarrierPlace,
    /// What the step did to it.
    pub act: BarrierAction,
    /// Flips since its init.
    pub flips: u32,
    /// Arrivals that the phase still waits for.
    pub pending: i64,
    /// Bytes that the phase still waits for.
    pub bytes: i64,
}

impl BarrierRecord {
    /// Flips since the init that a wait is sure to have seen; for other acts those that it left.
    pub fn seen(&self) -> u32 {
        match self.act {
            BarrierAction::Wait { ahead, .. } => self.flips - ahead,
            _ => self.flips,
        }
    }
}

/// An act on a barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BarrierAction {
    /// It was initialised.
    Init,
    /// It was invalidated.
    Invalidate,
    /// Something arrived or was expected; `flipped`: and completed the phase.
    Arrive {
        /// Whether the phase was completed.
        flipped: bool,
    },
    /// Its phase was read.
    Read {
        /// The parity, 0 or 1.
        phase: u32,
    },
    /// A wait passed.
    Wait {
        /// The parity it named.
        phase: u32,
        /// Flips that are counted and that it may have come before, since they hang on operations that are under way.
        ahead: u32,
    },
}
