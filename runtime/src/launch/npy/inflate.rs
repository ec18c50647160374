//! Unpacks what was deflated (RFC 1951), which is what `numpy.savez_compressed` writes.

/// Longest code.
const LONGEST: usize = 15;
/// The order in which lengths of the code of lengths are written.
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// The bytes, of which there must be no more than `size`.
pub(super) fn inflate(packed: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut input = Bits { bytes: packed, at: 0, held: 0, count: 0 };
    let mut out = Vec::with_capacity(size.min(1 << 26));
    loop {
        let last = input.take(1)? == 1;
        match input.take(2)? {
            0 => stored(&mut input, &mut out, size)?,
            1 => {
                let mut lengths = [8u8; 288];
                lengths.get_mut(144..256)?.fill(9);
                lengths.get_mut(256..280)?.fill(7);
                block(&mut input, &mut out, size, &Code::new(&lengths)?, &Code::new(&[5; 30])?)?;
            }
            2 => {
                let (literals, distances) = codes(&mut input)?;
                block(&mut input, &mut out, size, &literals, &distances)?;
            }
            _ => return None,
        }
        if last {
            return Some(out);
        }
    }
}

/// The input, lowest bit first.
struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
    held: u64,
    count: u32,
}

impl Bits<'_> {
    fn take(&mut self, count: u32) -> Option<usize> {
        while self.count < count {
            self.held |= u64::from(*self.bytes.get(self.at)?) << self.count;
            self.at += 1;
            self.count += 8;
        }
        let bits = self.held & ((1 << count) - 1);
        self.held >>= count;
        self.count -= count;
        Some(bits as usize)
    }
}

/// A canonical prefix code: how many codes there are of each length, and their symbols in order.
struct Code {
    counts: [usize; LONGEST + 1],
    symbols: Vec<usize>,
}

impl Code {
    fn new(lengths: &[u8]) -> Option<Code> {
        let mut counts = [0; LONGEST + 1];
        for length in lengths.iter().filter(|length| **length > 0) {
            *counts.get_mut(usize::from(*length))? += 1;
        }
        let mut symbols: Vec<usize> =
            (0..lengths.len()).filter(|at| lengths.get(*at).is_some_and(|it| *it > 0)).collect();
        symbols.sort_by_key(|at| lengths.get(*at).copied());
        Some(Code { counts, symbols })
    }

    fn read(&self, input: &mut Bits<'_>) -> Option<usize> {
        let (mut code, mut first, mut before) = (0usize, 0usize, 0usize);
        for count in self.counts.iter().skip(1) {
            code |= input.take(1)?;
            if code < first + count {
                return self.symbols.get(before + code.checked_sub(first)?).copied();
            }
            before += count;
            first = (first + count) << 1;
            code <<= 1;
        }
        None
    }
}

fn stored(input: &mut Bits<'_>, out: &mut Vec<u8>, size: usize) -> Option<()> {
    input.take(input.count % 8)?;
    let length = input.take(16)?;
    if length != !input.take(16)? & 0xffff || out.len() + length > size {
        return None;
    }
    for _ in 0..length {
        out.push(input.take(8)? as u8);
    }
    Some(())
}

/// The codes that a block brings along.
fn codes(input: &mut Bits<'_>) -> Option<(Code, Code)> {
    let (literals, distances, count) = (input.take(5)? + 257, input.take(5)? + 1, input.take(4)? + 4);
    let mut lengths = [0u8; 19];
    for at in ORDER.iter().take(count) {
        *lengths.get_mut(*at)? = input.take(3)? as u8;
    }
    let code = Code::new(&lengths)?;
    let mut lengths: Vec<u8> = Vec::with_capacity(literals + distances);
    while lengths.len() < literals + distances {
        let (length, times) = match code.read(input)? {
            symbol @ 0..=15 => (symbol as u8, 1),
            16 => (*lengths.last()?, input.take(2)? + 3),
            17 => (0, input.take(3)? + 3),
            _ => (0, input.take(7)? + 11),
        };
        lengths.extend(std::iter::repeat_n(length, times));
    }
    let distances = lengths.get(literals..literals + distances)?;
    Some((Code::new(lengths.get(..literals)?)?, Code::new(distances)?))
}

fn block(input: &mut Bits<'_>, out: &mut Vec<u8>, size: usize, literals: &Code, distances: &Code) -> Option<()> {
    loop {
        let symbol = literals.read(input)?;
        if symbol == 256 {
            return Some(());
        }
        if symbol < 256 {
            if out.len() >= size {
                return None;
            }
            out.push(symbol as u8);
            continue;
        }
        let length = match symbol - 257 {
            28 => 258,
            step @ 0..=7 => step + 3,
            29.. => return None,
            step => spread(input, step, 4)? + 3,
        };
        let step = distances.read(input)?;
        let distance = if step < 2 { step + 1 } else { spread(input, step, 2)? + 1 };
        let from = out.len().checked_sub(distance)?;
        if out.len() + length > size {
            return None;
        }
        for at in from..from + length {
            out.push(*out.get(at)?);
        }
    }
}

/// The number that a step of a scale stands for, of which each `group` steps take one more bit.
fn spread(input: &mut Bits<'_>, step: usize, group: usize) -> Option<usize> {
    let extra = u32::try_from(step / group - 1).ok().filter(|extra| *extra < 16)?;
    Some(((group + step % group) << extra) + input.take(extra)?)
}
