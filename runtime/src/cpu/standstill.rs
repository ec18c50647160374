//! Whether nobody can ever go on: each thread that does not wait goes round and leaves no trace.
//!
//! A thread that comes back to a place with all its values as they were, while nothing has changed that others notice,
//! does the same again until somebody else changes something. Where that holds of all threads of all programs at once,
//! and no further program is to begin, nobody ever does: spinning on a flag that no program sets.

use explore::{Readiness, System};
use kernel::{BlockId, Var};

use super::context::Context;
use super::future::HandleValue;
use super::program::{AskedWord, Program};
use super::rounds::{FIRST, Kept, Rounds};

impl<'k> Program<'k> {
    /// A thread begins a block; `changes` counts what others can notice.
    pub(super) fn goes_round(&mut self, changes: u64, (thread, cta): (usize, usize), block: BlockId) {
        let Some(rounds) = self.rounds.get_mut(thread) else { return };
        if rounds.changes != changes {
            *rounds = Rounds { changes, ..Rounds::default() };
        }
        rounds.jumps += 1;
        if rounds.closed || rounds.jumps < FIRST {
            return;
        }
        let mut rounds = std::mem::take(rounds);
        rounds.closed = rounds.kept.as_ref().is_some_and(|kept| kept.block == block && self.is_as(kept, cta));
        if !rounds.closed && rounds.jumps >= rounds.next {
            (rounds.kept, rounds.next) = (Some(self.kept(cta, block)), 2 * rounds.next);
            // What it asks for from here on is asked in the round.
            if let Some(asked) = self.asked.get_mut(thread) {
                *asked = None;
            }
        }
        if let Some(place) = self.rounds.get_mut(thread) {
            *place = rounds;
        }
    }

    fn vars(&self) -> impl Iterator<Item = Var> + use<> {
        (0..self.state.vars_per_cta() as u32).map(Var)
    }

    fn kept(&self, cta: usize, block: BlockId) -> Kept {
        let ints = self.vars().map(|var| self.state.var(cta, var)).collect();
        let handles = self.vars().map(|var| self.handle(cta, var).cloned()).collect();
        Kept { block, ints, handles }
    }

    fn is_as(&self, kept: &Kept, cta: usize) -> bool {
        self.vars().zip(&kept.ints).all(|(var, known)| self.state.var(cta, var) == *known)
            && self.vars().zip(&kept.handles).all(|(var, known)| match (self.handle(cta, var), known) {
                (Some(HandleValue::Value(now)), Some(HandleValue::Value(before))) => now == before,
                (None, None) => true,
                _ => false,
            })
    }

    fn is_in_round(&self, changes: u64, thread: usize) -> bool {
        self.rounds.get(thread).is_some_and(|rounds| rounds.closed && rounds.changes == changes)
    }

    /// The words for which its threads ask that go round.
    pub(super) fn asked_in_rounds(&self, changes: u64) -> impl Iterator<Item = AskedWord> {
        let threads = self.asked.iter().enumerate().filter(move |(thread, _)| self.is_in_round(changes, *thread));
        threads.filter_map(|(_, asked)| *asked)
    }

    /// Whether it is neither over nor stuck, and none of its threads goes on before something changes.
    pub(super) fn stands_still(&self, context: &Context<'k>, changes: u64) -> bool {
        let waits = |thread: usize| {
            self.exchanges.get(thread).is_some_and(Option::is_some)
                || context.machine.status(&self.state, thread) != Readiness::Ready
        };
        let rounds = |thread: usize| self.is_in_round(changes, thread) && !waits(thread);
        let mut threads = 0..self.state.threads().len();
        self.pending.is_empty()
            && threads.clone().any(rounds)
            && threads.all(|thread| waits(thread) || self.is_in_round(changes, thread))
    }
}
