//! Integers that go through memory: a tile's number that one partition fetches and the others read.

use super::machine::{Machine, bad_slot};
use super::state::{State, remote_cta, unpack};
use super::words::WordPlace;
use kernel::{Var, WordAccess};

impl Machine<'_> {
    /// Carries a word; the variable that it sets, with its value.
    pub(super) fn word(&self, state: &mut State, thread: usize, word: &WordAccess) -> Option<(Var, i64)> {
        let own = self.position_of(thread);
        match *word {
            WordAccess::Write { view, value } => {
                let value = state.var(own, value);
                if let Some(place) = self.word_place(state, thread, view) {
                    state.words.store(place, value);
                }
                None
            }
            WordAccess::Read { dst, view, otherwise } => {
                let stored = self.word_place(state, thread, view).and_then(|place| state.words.stored(place));
                Some((dst, stored.unwrap_or_else(|| state.var(own, otherwise))))
            }
            WordAccess::Claim { dst, otherwise, by } => {
                let before = state.words.claim(thread, dst);
                let (first, by) = (state.var(own, otherwise), state.var(own, by));
                Some((dst, first.wrapping_add(before.wrapping_mul(by))))
            }
        }
    }

    fn word_place(&self, state: &State, thread: usize, view: Var) -> Option<WordPlace> {
        let value = state.var(self.position_of(thread), view);
        if bad_slot(value).is_some() {
            return None;
        }
        let (buffer, start) = unpack(value);
        let cta = remote_cta(value).unwrap_or_else(|| self.cta_of(thread));
        Some((self.cluster().position(cta)?, buffer, start))
    }
}
