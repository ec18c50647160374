//! Inputs that are nearly right.

use base::rng::SplitMix64;

use crate::chaos::edits::SIGNS;

/// Numbers that are seldom meant.
const NUMBERS: [&str; 14] = [
    "0",
    "1",
    "-1",
    "2",
    "7",
    "255",
    "256",
    "65536",
    "2147483647",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "18446744073709551616",
    "1000000000",
];

/// Pieces that mean something to some reader, beside the signs of both languages.
const PIECES: [&str; 6] = ["\0", "\u{2028}", "lambda: ", "while True:\n    ", "x[0] = x\n", "def f(): return f()\n"];

/// An input with a few changes, out of some that are right.
pub(super) fn mutated(inputs: &[Vec<u8>], rng: &mut SplitMix64) -> Vec<u8> {
    let Some(first) = inputs.get(rng.below(inputs.len().max(1))) else { return Vec::new() };
    let mut out = first.clone();
    for _ in 0..1 + rng.below(6) {
        change(&mut out, inputs, rng);
    }
    out
}

fn change(out: &mut Vec<u8>, inputs: &[Vec<u8>], rng: &mut SplitMix64) {
    let at = rng.below(out.len() + 1);
    let insert = |out: &mut Vec<u8>, at: usize, piece: &[u8]| drop(out.splice(at..at, piece.iter().copied()));
    match rng.below(10) {
        0 => {
            let piece = rng.below(PIECES.len() + SIGNS.len());
            let piece = PIECES.get(piece).copied().unwrap_or_else(|| SIGNS[piece - PIECES.len()]);
            insert(out, at, piece.as_bytes());
        }
        1 => drop(out.drain(at..(at + 1 + rng.below(12)).min(out.len()))),
        2 | 3 => number(out, at, rng),
        4 => {
            // A line more than once.
            let (start, end) = line(out, at);
            let again = out[start..end].repeat(1 + rng.below(3));
            insert(out, end, &again);
        }
        5 => {
            let (start, end) = line(out, at);
            drop(out.drain(start..end));
        }
        6 => {
            let (start, end) = line(out, at);
            let taken: Vec<u8> = out.drain(start..end).collect();
            let to = rng.below(out.len() + 1);
            let to = line(out, to).0;
            insert(out, to, &taken);
        }
        7 => {
            // A part of another input.
            let other = &inputs[rng.below(inputs.len())];
            let (start, end) = line(other, rng.below(other.len() + 1));
            insert(out, at, &other[start..end]);
        }
        8 => {
            if let Some(byte) = out.get_mut(at) {
                *byte = (rng.next_u64() & 0xff) as u8;
            }
        }
        _ => word(out, at, rng),
    }
}

/// Puts another number in place of the next one.
fn number(out: &mut Vec<u8>, at: usize, rng: &mut SplitMix64) {
    let Some(start) = out[at..].iter().position(u8::is_ascii_digit).map(|next| at + next) else { return };
    let end = out[start..].iter().position(|byte| !byte.is_ascii_digit()).map_or(out.len(), |next| start + next);
    out.splice(start..end, NUMBERS[rng.below(NUMBERS.len())].bytes());
}

/// Puts another word of the input in place of the next one.
fn word(out: &mut Vec<u8>, at: usize, rng: &mut SplitMix64) {
    let taken = next_word(out, rng.below(out.len() + 1)).map(|(start, end)| out[start..end].to_vec());
    if let (Some(taken), Some((start, end))) = (taken, next_word(out, at)) {
        out.splice(start..end, taken);
    }
}

fn next_word(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let start = at + text.get(at..)?.iter().position(is_word)?;
    let end = text[start..].iter().position(|byte| !is_word(byte)).map_or(text.len(), |next| start + next);
    Some((start, end))
}

fn line(text: &[u8], at: usize) -> (usize, usize) {
    let start = text[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let end = text[at..].iter().position(|byte| *byte == b'\n').map_or(text.len(), |end| at + end + 1);
    (start, end)
}
