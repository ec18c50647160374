//! A memdesc as a variable's value: its buffer, its start in bits, and the CTA where it is not the own.

/// A memdesc that names no slot.
pub(super) const OUT: i64 = i64::MIN;

/// Bits of the start.
const START: u32 = 40;

/// Where the number of another CTA begins, plus one.
const REMOTE: u32 = 57;

/// A window of the own CTA's memory.
pub(super) fn pack(buffer: u32, start: u64) -> i64 {
    (i64::from(buffer) << START) | start as i64
}

/// The same place in another CTA.
pub(super) fn remote(value: i64, cta: u16) -> i64 {
    (value & ((1 << REMOTE) - 1)) | ((i64::from(cta) + 1) << REMOTE)
}

/// Moves a window; `OUT` stays what it is.
pub(super) fn moved(value: i64, bits: u64) -> i64 {
    if value == OUT { OUT } else { value + bits as i64 }
}

/// The buffer and the start.
pub(super) fn unpack(value: i64) -> (u32, u64) {
    let own = value & ((1 << REMOTE) - 1);
    ((own >> START) as u32, (own & ((1 << START) - 1)) as u64)
}

/// The CTA, where it is another one.
pub(super) fn cta(value: i64) -> Option<u16> {
    ((value >> REMOTE) as u16).checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_keeps_its_parts() {
        let far = remote(pack(7, 4096), 15);
        assert_eq!((unpack(far), cta(far)), ((7, 4096), Some(15)));
        assert_eq!((unpack(pack(7, 4096)), cta(pack(7, 4096))), ((7, 4096), None));
        assert_eq!((unpack(moved(far, 64)), cta(moved(far, 64))), ((7, 4160), Some(15)));
        assert_eq!(moved(OUT, 64), OUT);
    }
}
