//! The words by which programs steer each other, as they are in each of many states.
//!
//! States are many and differ in few words, so what stands in a word is stored once and has a number, and a state is
//! the numbers of its words. Its hash is a sum over them: a word that changes takes its part away and adds another.

use std::rc::Rc;

use base::rng::mix;
use rustc_hash::FxHashMap;

use crate::program::MemSyncScope;

/// How far programs have seen each other, by program.
pub(super) type Clock = Vec<u32>;

/// What is published with a word.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Released {
    pub(super) clock: Clock,
    pub(super) scope: MemSyncScope,
}

/// What stands in a word.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Word {
    pub(super) value: Option<i64>,
    pub(super) released: Option<Released>,
}

/// All words that some state has, and all that stands in them.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// By tensor and byte.
    places: FxHashMap<(u32, i64), u32>,
    numbers: FxHashMap<Rc<Word>, u32>,
    all: Vec<Rc<Word>>,
}

impl Words {
    /// The number of the word at a byte of a tensor.
    pub(super) fn place(&mut self, tensor: u32, start: i64) -> u32 {
        let next = self.places.len() as u32;
        *self.places.entry((tensor, start)).or_insert(next)
    }

    fn number(&mut self, word: Word) -> u32 {
        if let Some(known) = self.numbers.get(&word) {
            return *known;
        }
        let word = Rc::new(word);
        self.all.push(word.clone());
        let number = self.all.len() as u32;
        self.numbers.insert(word, number);
        number
    }
}

/// What stands in the words of one state.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    /// By place, the number of what stands there, from 1 on; 0 where nobody has looked yet.
    held: Rc<Vec<u32>>,
    /// By place, the program that changed it last and its access. States that differ in that alone are one.
    changed: Rc<Vec<Option<(u32, u32)>>>,
    hash: u64,
}

impl Memory {
    /// How many words it has room for.
    pub(super) fn len(&self) -> usize {
        self.held.len()
    }

    /// What stands at a place, where somebody has looked.
    pub(super) fn get(&self, words: &Words, place: u32) -> Option<Rc<Word>> {
        let number = self.held.get(place as usize).filter(|number| **number > 0)?;
        words.all.get(*number as usize - 1).cloned()
    }

    pub(super) fn set(&mut self, words: &mut Words, place: u32, word: Word) {
        let number = words.number(word);
        let at = place as usize;
        let before = self.held.get(at).copied().unwrap_or(0);
        if before == number {
            return;
        }
        let held = Rc::make_mut(&mut self.held);
        if held.len() <= at {
            held.resize(at + 1, 0);
        }
        held[at] = number;
        self.hash = self.hash.wrapping_sub(part(place, before)).wrapping_add(part(place, number));
    }

    /// Notes who has given a place another value.
    pub(super) fn change(&mut self, place: u32, by: (u32, u32)) {
        let (at, changed) = (place as usize, Rc::make_mut(&mut self.changed));
        if changed.len() <= at {
            changed.resize(at + 1, None);
        }
        changed[at] = Some(by);
    }

    /// Who gave a place its value, by which access.
    pub(super) fn changed(&self, place: u32) -> Option<(u32, u32)> {
        self.changed.get(place as usize).copied().flatten()
    }

    /// Equal for states whose words are equal.
    pub(super) fn hash(&self) -> u64 {
        self.hash
    }
}

/// What a word adds to the hash of its state.
fn part(place: u32, number: u32) -> u64 {
    if number == 0 { 0 } else { mix(u64::from(place) << 32 | u64::from(number)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(value: i64) -> Word {
        Word { value: Some(value), released: None }
    }

    #[test]
    fn a_hash_tells_what_stands_where_and_not_how_it_came_there() {
        let mut words = Words::default();
        let [a, b] = [words.place(0, 0), words.place(0, 4)];
        assert_eq!(words.place(0, 0), a);
        let mut one = Memory::default();
        one.set(&mut words, a, word(1));
        let kept = one.clone();
        one.set(&mut words, b, word(2));
        let mut other = Memory::default();
        other.set(&mut words, b, word(2));
        other.set(&mut words, a, word(7));
        assert_ne!(one.hash(), other.hash());
        other.set(&mut words, a, word(1));
        assert_eq!(one.hash(), other.hash());
        // A copy has words of its own.
        assert_eq!(kept.get(&words, b), None);
        assert_eq!(one.get(&words, b).as_deref(), Some(&word(2)));
        let mut swapped = Memory::default();
        swapped.set(&mut words, a, word(2));
        swapped.set(&mut words, b, word(1));
        assert_ne!(one.hash(), swapped.hash());
    }
}
