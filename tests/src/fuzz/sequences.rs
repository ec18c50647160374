//! What is promised of a text and all its edits, and of a kernel and all its runs: a broken promise panics.

use base::rng::SplitMix64;
use base::{Cancel, Limits};
use ttgir::Document;

use crate::chaos::{Pace, edit};
use crate::mutate::make::mutants;
use crate::promises::broken;

/// Edits of one text.
const EDITS: usize = 8;

/// After some random edits a document says what a new one says, and the analysis does.
pub(super) fn edited(path: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    // The edits are the text's own, so that an input can be read again.
    let seed = bytes.iter().fold(0u64, |seed, byte| seed.wrapping_mul(0x100_0000_01b3) ^ u64::from(*byte));
    if let Err(found) = edit(path, &text, (seed, 0), EDITS, Pace(EDITS / 2)) {
        panic!("{found}");
    }
}

/// Each run that is told of a kernel repeats and is minimal, and visiting all schedules finds no more and no less.
pub(super) fn promised(bytes: &[u8], _: &Cancel<'_>) {
    let text = String::from_utf8_lossy(bytes);
    let limits = Limits { run_steps: 20_000, total_steps: 60_000, states: 4_000, ..Limits::default() };
    let broken = broken(&Document::new(text.as_ref()), &limits);
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// A kernel with up to three slips in its synchronisation.
pub(super) fn with_slips(inputs: &[Vec<u8>], rng: &mut SplitMix64) -> Vec<u8> {
    let Some(input) = inputs.get(rng.below(inputs.len().max(1))) else { return Vec::new() };
    let mut text = String::from_utf8_lossy(input).into_owned();
    for _ in 0..1 + rng.below(3) {
        let document = Document::new(text.as_str());
        let Some(section) = document.sections().first() else { break };
        let made = mutants(section.tree());
        // One that can be written, if there is one.
        let chosen = (0..8).find_map(|_| made.get(rng.below(made.len().max(1)))?.text.clone());
        let Some(chosen) = chosen else { break };
        text = chosen;
    }
    text.into_bytes()
}
