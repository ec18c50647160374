//! Integers that go through memory: a tile's number that one partition fetches and the others read.

use super::machine::{Machine, bad_slot};
use super::state::{State, remote_cta, unpack};
use kernel::{Var, Word};
use std::collections::BTreeMap;

/// What memory is known to hold, as far as it is single integers.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub(crate) struct Words {
    /// By CTA (as a position), buffer and start in bits: what was stored there.
    stored: BTreeMap<(usize, u32, u64), i64>,
    /// By thread and variable: how often a counter was added to.
    claims: BTreeMap<(usize, Var), i64>,
}

impl Machine<'_> {
    /// Carries a word; the variable that it sets, with its value.
    pub(super) fn word(&self, state: &mut State, thread: usize, word: &Word) -> Option<(Var, i64)> {
        let own = self.position_of(thread);
        match *word {
            Word::Write { view, value } => {
                let value = state.var(own, value);
                if let Some(place) = self.word_place(state, thread, view) {
                    state.words.stored.insert(place, value);
                }
                None
            }
            Word::Read { dst, view, otherwise } => {
                let place = self.word_place(state, thread, view);
                let stored = place.and_then(|place| state.words.stored.get(&place).copied());
                Some((dst, stored.unwrap_or_else(|| state.var(own, otherwise))))
            }
            Word::Claim { dst, otherwise, by } => {
                let claims = state.words.claims.entry((thread, dst)).or_default();
                let before = *claims;
                *claims += 1;
                let (first, by) = (state.var(own, otherwise), state.var(own, by));
                Some((dst, first.wrapping_add(before.wrapping_mul(by))))
            }
        }
    }

    /// What is written over holds no word that is known; the word itself follows its store.
    pub(super) fn forget_words(&self, state: &mut State, position: usize, buffer: u32, start: u64, bits: u64) {
        if state.words.stored.is_empty() {
            return;
        }
        let over = (position, buffer, start)..(position, buffer, start.saturating_add(bits.max(1)));
        let gone: Vec<_> = state.words.stored.range(over).map(|(place, _)| *place).collect();
        for place in gone {
            state.words.stored.remove(&place);
        }
    }

    fn word_place(&self, state: &State, thread: usize, view: Var) -> Option<(usize, u32, u64)> {
        let value = state.var(self.position_of(thread), view);
        if bad_slot(value).is_some() {
            return None;
        }
        let (buffer, start) = unpack(value);
        let cta = remote_cta(value).unwrap_or_else(|| self.cta_of(thread));
        Some((self.cluster().position(cta)?, buffer, start))
    }
}
