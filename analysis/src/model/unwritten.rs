//! What an operation is about to read though nobody has written it: for words, asked before the
//! step is taken and on a copy of the shadow, so that a run is never changed by it.

use super::Machine;
use super::atoms::Window;
use super::shadow::Shadow;
use super::state::{State, unpack};
use crate::sync::{BufferId, EffectId, EffectKind, Mode};

/// Unwritten bits under one operand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unwritten {
    /// Which of the operation's accesses.
    pub access: u16,
    /// The allocation.
    pub buffer: BufferId,
    /// Ascending, disjoint ranges of bits from the allocation's start.
    pub bits: Vec<(u64, u64)>,
}

impl Machine<'_> {
    /// The effect that a thread stands at, if it stands at one.
    pub fn stands_at(&self, state: &State, thread: usize) -> Option<EffectId> {
        self.next_effect(state, thread).map(|(id, _)| id)
    }

    /// What the operation that a thread stands at will read though nobody has written it.
    pub fn unwritten(&self, state: &State, thread: usize) -> Vec<Unwritten> {
        let Some((_, effect)) = self.next_effect(state, thread) else { return Vec::new() };
        let EffectKind::Operation { accesses, .. } = &effect.kind else { return Vec::new() };
        let mut shadow: Shadow = state.shadow.clone();
        let mut out = Vec::new();
        for (number, access) in accesses.iter().enumerate().filter(|(_, access)| access.mode == Mode::Read) {
            let (value, shape) = (self.scalar(state, thread, access.view), self.shape_of(access.view));
            let Some(shape) = shape.filter(|_| value >= 0) else { continue };
            let (buffer, start) = unpack(value);
            let window = Window { buffer: BufferId(buffer), start, shape };
            let bits = shadow.unwritten(self.kernel, window, self.position_of(thread));
            if !bits.is_empty() {
                out.push(Unwritten { access: number as u16, buffer: BufferId(buffer), bits });
            }
        }
        out
    }
}
