//! Parts of an allocation in the units that people use: slots of a ring, rows and columns of a
//! tile, columns of tensor memory, bytes where nothing else fits.

use super::words::Words;
use crate::limits::extent::{ELEMENTS, RUNS};
use base::bits::Bits;
use base::{Message, message};
use kernel::{BufferId, Dim, Instr, Shape, Space};

/// A part of an allocation as a phrase, and whether it is a plural: `rows 32 to 63 of %buf`.
pub(crate) fn phrase(words: &Words<'_>, buffer: BufferId, bits: &[(u64, u64)]) -> (Message, bool) {
    let name = words.buffer(buffer);
    let Some(info) = words.kernel.buffers.get(buffer.0 as usize) else { return (message!("`{name}`", name), false) };
    let slot = info.slot_bits.max(1);
    let slots = info.bits / slot;
    let whole = [(0, info.bits.min(slot))];
    if slots <= 1 {
        if bits == whole {
            return (message!("`{name}`", name), false);
        }
        let (part, plural) = inside(words, buffer, info.space, bits);
        return (message!("{part} of `{name}`", part, name), plural);
    }
    // By slot, counted from the slot's start.
    let mut parts: Vec<(u64, Bits)> = Vec::new();
    for &(lo, hi) in bits {
        for number in lo / slot..hi.div_ceil(slot) {
            let (from, to) = (lo.max(number * slot), hi.min((number + 1) * slot));
            let part = (from - number * slot, to - number * slot);
            match parts.last_mut() {
                Some((last, bits)) if *last == number => bits.push(part),
                _ => parts.push((number, vec![part])),
            }
        }
    }
    let Some((first, part)) = parts.first().cloned() else { return (message!("`{name}`", name), false) };
    if parts.iter().any(|(_, other)| *other != part) {
        return (message!("{} of `{name}`", bytes(bits), name), true);
    }
    let numbers: Vec<u64> = parts.iter().map(|(number, _)| *number).collect();
    let ring = match numbers.len() as u64 {
        1 => message!("`{name}[{first}]`", name, first),
        all if all == slots => message!("all {slots} slots of `{name}`", slots, name),
        _ => message!("slots {} of {slots} of `{name}`", list(&numbers), slots, name),
    };
    if part == whole {
        return (ring, numbers.len() > 1);
    }
    let (part, plural) = inside(words, buffer, info.space, &part);
    (message!("{part} of {ring}", part, ring), plural)
}

/// A part of one slot: `rows 32 to 63`.
fn inside(words: &Words<'_>, buffer: BufferId, space: Space, bits: &[(u64, u64)]) -> (String, bool) {
    if space == Space::Tensor {
        let columns: Vec<u64> = bits.iter().flat_map(|&(lo, hi)| lo / 32..hi.div_ceil(32)).collect();
        return numbered("column", &columns);
    }
    let Some(shape) = shape(words, buffer).filter(|shape| shape.exact) else { return (bytes(bits), true) };
    let slot = words.kernel.buffers.get(buffer.0 as usize).map_or(0, |info| info.slot_bits);
    let size = |dims: &[Dim]| dims.iter().map(|dim| dim.size * dim.stride).max().unwrap_or(0);
    let mut dims = shape.dims.as_slice();
    while dims.len() > 1 && size(dims) > slot {
        dims = &dims[1..];
    }
    let Some(sets) = product(dims, shape.element, bits) else { return (bytes(bits), true) };
    let name = |at: usize| match (dims.len(), at) {
        (2, 0) => "row".to_owned(),
        (2, _) => "column".to_owned(),
        (1, _) => "element".to_owned(),
        _ => format!("dimension {at} index"),
    };
    let cut = sets.iter().enumerate().filter(|(at, set)| set.len() as u64 != dims[*at].size);
    let parts: Vec<(String, bool)> = cut.map(|(at, set)| numbered(&name(at), set)).collect();
    let plural = parts.iter().all(|part| part.1);
    (parts.into_iter().map(|part| part.0).collect::<Vec<_>>().join(", "), plural)
}

/// The shape of a whole allocation.
fn shape<'a>(words: &Words<'a>, buffer: BufferId) -> Option<&'a Shape> {
    let mut instrs = words.kernel.blocks.iter().flat_map(|block| &block.instrs);
    instrs.find_map(|instr| match instr {
        Instr::Base(var, base) if *base == buffer => words.kernel.shape(*var),
        _ => None,
    })
}

/// The numbers in each dimension whose product the ranges are; `None` where they are no such box.
fn product(dims: &[Dim], element: u64, bits: &[(u64, u64)]) -> Option<Vec<Vec<u64>>> {
    let total = dims.iter().try_fold(1u64, |total, dim| total.checked_mul(dim.size)).filter(|all| *all <= ELEMENTS)?;
    let mut hit: Vec<Vec<bool>> = dims.iter().map(|dim| vec![false; dim.size as usize]).collect();
    let mut count = 0u64;
    let mut place = vec![0; dims.len()];
    for number in 0..total {
        let (mut rest, mut at) = (number, 0);
        for (number, dim) in dims.iter().enumerate().rev() {
            place[number] = (rest % dim.size) as usize;
            rest /= dim.size;
            at += place[number] as u64 * dim.stride;
        }
        let after = bits.partition_point(|&(lo, _)| lo <= at);
        if after > 0 && bits[after - 1].1 >= at + element {
            count += 1;
            place.iter().zip(&mut hit).for_each(|(place, hit)| hit[*place] = true);
        }
    }
    let numbers = |hit: Vec<bool>| (0u64..).zip(hit).filter(|(_, hit)| *hit).map(|(number, _)| number).collect();
    let sets: Vec<Vec<u64>> = hit.into_iter().map(numbers).collect();
    let boxed = sets.iter().map(|set| set.len() as u64).product::<u64>();
    let named = bits.iter().map(|(lo, hi)| hi - lo).sum::<u64>();
    (count == boxed && count * element == named && count > 0 && count < total).then_some(sets)
}

fn bytes(bits: &[(u64, u64)]) -> String {
    let runs: Vec<(u64, u64)> = bits.iter().map(|&(lo, hi)| (lo / 8, hi.div_ceil(8).saturating_sub(1))).collect();
    format!("bytes {}", spelled(&runs))
}

fn numbered(unit: &str, numbers: &[u64]) -> (String, bool) {
    let ending = if numbers.len() == 1 { "" } else { "s" };
    (format!("{unit}{ending} {}", list(numbers)), numbers.len() != 1)
}

/// `1 and 2`, `0 to 31`, `0 to 7, 16 to 23 and 32 to 39`.
pub(crate) fn list(numbers: &[u64]) -> String {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some(last) if last.1 + 1 >= number => last.1 = number,
            _ => runs.push((number, number)),
        }
    }
    spelled(&runs)
}

fn spelled(runs: &[(u64, u64)]) -> String {
    let one = |&(lo, hi): &(u64, u64)| match hi - lo {
        0 => vec![lo.to_string()],
        1 => vec![lo.to_string(), hi.to_string()],
        _ => vec![format!("{lo} to {hi}")],
    };
    let mut parts: Vec<String> = runs.iter().take(RUNS).flat_map(one).collect();
    if runs.len() > RUNS {
        return format!("{} and so on", parts.join(", "));
    }
    let Some(last) = parts.pop() else { return String::new() };
    if parts.is_empty() { last } else { format!("{} and {last}", parts.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spelled_as_runs() {
        assert_eq!(list(&[1]), "1");
        assert_eq!(list(&[1, 2]), "1 and 2");
        assert_eq!(list(&[0, 1, 2, 5]), "0 to 2 and 5");
        assert_eq!(list(&[0, 2, 4, 6]), "0, 2, 4 and so on");
    }

    #[test]
    fn a_box_of_a_tile() {
        let tile = Shape::dense(&[4, 8], 16);
        let rows = [(2 * 8 * 16, 4 * 8 * 16)];
        assert_eq!(product(&tile.dims, 16, &rows), Some(vec![vec![2, 3], (0..8).collect()]));
        let columns: Bits = (0..4).map(|row| ((row * 8 + 4) * 16, (row * 8 + 8) * 16)).collect();
        assert_eq!(product(&tile.dims, 16, &columns), Some(vec![(0..4).collect(), vec![4, 5, 6, 7]]));
        assert_eq!(product(&tile.dims, 16, &[(0, 16 * 9)]), None);
    }
}
