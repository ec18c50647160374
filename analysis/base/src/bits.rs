//! Sets of bits as ascending, disjoint ranges, each from its first bit to one past its last.

/// Ascending, disjoint ranges.
pub type Bits = Vec<(u64, u64)>;

/// Ranges sorted and merged.
pub fn merged(mut bits: Bits) -> Bits {
    bits.sort_unstable();
    let mut out: Bits = Vec::with_capacity(bits.len());
    for (lo, hi) in bits {
        match out.last_mut() {
            Some(last) if last.1 >= lo => last.1 = last.1.max(hi),
            _ => out.push((lo, hi)),
        }
    }
    out
}

/// What two sets share.
pub fn intersect(a: &[(u64, u64)], b: &[(u64, u64)]) -> Bits {
    let (mut i, mut j, mut out) = (0, 0, Vec::new());
    while i < a.len() && j < b.len() {
        let (lo, hi) = (a[i].0.max(b[j].0), a[i].1.min(b[j].1));
        if lo < hi {
            out.push((lo, hi));
        }
        if a[i].1 < b[j].1 { i += 1 } else { j += 1 }
    }
    out
}

/// What the first set holds and the second does not.
pub fn subtract(a: &[(u64, u64)], b: &[(u64, u64)]) -> Bits {
    let (mut j, mut out) = (0, Vec::new());
    for &(lo, hi) in a {
        let mut from = lo;
        while j < b.len() && b[j].1 <= from {
            j += 1;
        }
        let mut k = j;
        while k < b.len() && b[k].0 < hi {
            if from < b[k].0 {
                out.push((from, b[k].0));
            }
            from = from.max(b[k].1);
            k += 1;
        }
        if from < hi {
            out.push((from, hi));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets() {
        let a = [(0, 10), (20, 30)];
        assert_eq!(intersect(&a, &[(5, 25)]), [(5, 10), (20, 25)]);
        assert_eq!(subtract(&a, &[(5, 25)]), [(0, 5), (25, 30)]);
        assert_eq!(subtract(&a, &[(2, 3), (4, 6), (29, 40)]), [(0, 2), (3, 4), (6, 10), (20, 29)]);
        assert_eq!(subtract(&a, &[]), a);
        assert_eq!(merged(vec![(8, 16), (0, 8), (20, 24)]), [(0, 16), (20, 24)]);
    }
}
