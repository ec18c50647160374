//! What memory is known to hold, as far as it is single integers.

use kernel::Var;
use std::collections::BTreeMap;

/// Where a word is: the position of its CTA, its buffer, and its start in bits.
pub(super) type WordPlace = (usize, u32, u64);

/// The integers that went through memory, and counters.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub(crate) struct Words {
    stored: BTreeMap<WordPlace, i64>,
    /// By thread and variable: how often a counter was added to.
    claims: BTreeMap<(usize, Var), i64>,
}

impl Words {
    pub(super) fn store(&mut self, place: WordPlace, value: i64) {
        self.stored.insert(place, value);
    }

    pub(super) fn stored(&self, place: WordPlace) -> Option<i64> {
        self.stored.get(&place).copied()
    }

    /// How often a thread has added to a counter before.
    pub(super) fn claim(&mut self, thread: usize, counter: Var) -> i64 {
        let claims = self.claims.entry((thread, counter)).or_default();
        *claims += 1;
        *claims - 1
    }

    /// What is written over holds no word that is known; the word itself follows its store.
    pub(super) fn forget(&mut self, (cta, buffer, start): WordPlace, bits: u64) {
        if self.stored.is_empty() {
            return;
        }
        let over = (cta, buffer, start)..(cta, buffer, start.saturating_add(bits.max(1)));
        let gone: Vec<_> = self.stored.range(over).map(|(place, _)| *place).collect();
        for place in gone {
            self.stored.remove(&place);
        }
    }
}
