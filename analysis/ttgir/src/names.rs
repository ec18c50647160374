//! Interned names: open addressing over one string, so that a clone is two copies of memory.

use super::ids::Sym;

/// Names by number and numbers by name.
#[derive(Clone, Default, Debug)]
pub(super) struct Names {
    text: String,
    /// End of each name in `text`.
    ends: Vec<u32>,
    hashes: Vec<u32>,
    /// Symbol + 1 per slot, 0 for an empty one; the length is a power of two.
    slots: Vec<u32>,
}

/// A hash good enough for identifiers and short type texts.
pub(super) fn hash(bytes: &[u8]) -> u32 {
    const K: u64 = 0x517c_c1b7_2722_0a95;
    let mut h = bytes.len() as u64;
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let mut word = [0u8; 8];
        word.copy_from_slice(chunk);
        h = (h.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(K);
    }
    let mut tail = 0u64;
    for &b in chunks.remainder() {
        tail = tail << 8 | u64::from(b);
    }
    h = (h.rotate_left(5) ^ tail).wrapping_mul(K);
    (h >> 32) as u32
}

impl Names {
    /// The symbol of `name`, made if it is new.
    pub(crate) fn intern(&mut self, name: &str) -> Sym {
        if self.ends.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let h = hash(name.as_bytes());
        let mask = self.slots.len() - 1;
        let mut at = h as usize & mask;
        loop {
            match self.slots[at] {
                0 => break,
                s => {
                    let sym = s - 1;
                    if self.hashes[sym as usize] == h && self.get(Sym(sym)) == name {
                        return Sym(sym);
                    }
                }
            }
            at = (at + 1) & mask;
        }
        let sym = self.ends.len() as u32;
        self.text.push_str(name);
        self.ends.push(self.text.len() as u32);
        self.hashes.push(h);
        self.slots[at] = sym + 1;
        Sym(sym)
    }

    /// The symbol of `name`, if it was interned.
    pub(crate) fn find(&self, name: &str) -> Option<Sym> {
        if self.slots.is_empty() {
            return None;
        }
        let h = hash(name.as_bytes());
        let mask = self.slots.len() - 1;
        let mut at = h as usize & mask;
        loop {
            let sym = self.slots[at].checked_sub(1)?;
            if self.hashes[sym as usize] == h && self.get(Sym(sym)) == name {
                return Some(Sym(sym));
            }
            at = (at + 1) & mask;
        }
    }

    /// The name of a symbol.
    pub(crate) fn get(&self, sym: Sym) -> &str {
        let at = sym.index();
        let Some(&end) = self.ends.get(at) else { return "" };
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        self.text.get(start as usize..end as usize).unwrap_or("")
    }

    /// How many names there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(256);
        self.slots = vec![0; size];
        for (sym, &h) in self.hashes.iter().enumerate() {
            let mut at = h as usize & (size - 1);
            while self.slots[at] != 0 {
                at = (at + 1) & (size - 1);
            }
            self.slots[at] = sym as u32 + 1;
        }
    }
}
