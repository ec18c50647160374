//! Where names are defined and used: values, functions, aliases of attributes, types and locations.

use super::occurrence::{Occurrence, OccurrenceAccess};
use super::uses;
use base::TextRange;
use ttgir::Document;
use ttgir::queries::spot::Spot;
use ttgir::queries::words::{places, word_at};
use ttgir::{Tree, ValueId};

/// Where the name at `offset` is defined.
pub fn definition(document: &Document, offset: u32) -> Option<TextRange> {
    let spot = Spot::at(document, offset)?;
    let tree = spot.tree();
    let found = match tree.value_at(spot.offset) {
        Some((value, _)) => named(tree, value).into_iter().find(|found| found.definition)?.range,
        None => words(tree, spot.offset).into_iter().find(|found| found.definition)?.range,
    };
    Some(spot.lift(found))
}

/// Every place of the name at `offset`, in the order of the text; of a barrier or buffer also every operation on it,
/// through whatever views, captures and carried values.
pub fn occurrences(document: &Document, offset: u32) -> Vec<Occurrence> {
    let Some(spot) = Spot::at(document, offset) else { return Vec::new() };
    let tree = spot.tree();
    let mut found = match tree.value_at(spot.offset) {
        Some((value, _)) => {
            let mut found = uses::of_memory(tree, value);
            let memory = !found.is_empty();
            for mut name in named(tree, value) {
                if found.iter().any(|known| known.range == name.range) {
                    continue;
                }
                if memory {
                    name.access = OccurrenceAccess::Name;
                }
                found.push(name);
            }
            found
        }
        None => words(tree, spot.offset),
    };
    for occurrence in &mut found {
        occurrence.range = spot.lift(occurrence.range);
    }
    found.sort();
    found.dedup_by_key(|found| found.range);
    found
}

/// The places where a value's own name stands.
pub(super) fn named(tree: &Tree, value: ValueId) -> Vec<Occurrence> {
    let defined = tree.value_range(value);
    let known = super::hover::defining_op(tree, value).is_some();
    let uses = tree.uses(value).into_iter().filter(|range| !known || *range != defined);
    let mut found: Vec<Occurrence> = uses.map(|range| Occurrence::of(range, OccurrenceAccess::Read)).collect();
    if known {
        found.push(Occurrence::definition(defined));
    }
    found
}

/// The places of the alias or symbol at an offset.
pub(super) fn words(tree: &Tree, offset: u32) -> Vec<Occurrence> {
    let text = tree.text();
    let Some(token) = word_at(tree, offset) else { return Vec::new() };
    let word = token.range.of(text);
    let defined = if word.starts_with('@') {
        tree.symbol_ranges(word)
    } else {
        // A name that nothing defines is a dialect's own: `#ttg.shared_memory`.
        let Some(range) = tree.alias_range(word) else { return Vec::new() };
        vec![range]
    };
    let place = |range: TextRange| match defined.contains(&range) {
        true => Occurrence::definition(range),
        false => Occurrence::of(range, OccurrenceAccess::Read),
    };
    places(tree, word).into_iter().map(place).collect()
}
