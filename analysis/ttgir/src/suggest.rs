//! "Did you mean": the nearest of a list of names.

use crate::limits::names::SUGGESTED as MAX_LEN;

/// The candidate nearest to `word`, if it is near enough to be a slip of the hand; of equals the
/// first by name.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<String> {
    let limit = match word.len() {
        0..=2 => 1,
        3..=7 => 2,
        _ => 3,
    };
    if word.len() > MAX_LEN {
        return None;
    }
    let letters = letters(word);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let near = candidate.len() <= MAX_LEN && candidate.len().abs_diff(word.len()) <= limit && candidate != word;
        if !near || (letters ^ self::letters(candidate)).count_ones() as usize > 2 * limit {
            continue;
        }
        let found = (distance(word.as_bytes(), candidate.as_bytes(), limit), candidate);
        if found.0 <= limit && best.is_none_or(|best| found < best) {
            best = Some(found);
        }
    }
    best.map(|(_, candidate)| candidate.to_owned())
}

/// Which bytes occur: an edit changes at most two of these bits.
fn letters(word: &str) -> u64 {
    word.bytes().fold(0, |bits, b| bits | 1 << (b & 63))
}

/// Edits (insert, delete, replace, swap neighbours) from `a` to `b`; more than `limit` is any
/// number above it.
fn distance(a: &[u8], b: &[u8], limit: usize) -> usize {
    let mut rows = [[0usize; MAX_LEN + 1]; 3];
    (0..=b.len()).for_each(|j| rows[0][j] = j);
    for (i, &x) in a.iter().enumerate() {
        let (row, last, before) = ((i + 1) % 3, i % 3, (i + 2) % 3);
        rows[row][0] = i + 1;
        let mut least = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let mut cost = (rows[last][j] + usize::from(x != y)).min(rows[last][j + 1] + 1).min(rows[row][j] + 1);
            if i > 0 && j > 0 && x == b[j - 1] && a[i - 1] == y {
                cost = cost.min(rows[before][j - 1] + 1);
            }
            rows[row][j + 1] = cost;
            least = least.min(cost);
        }
        if least > limit {
            return limit + 1;
        }
    }
    rows[a.len() % 3][b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_are_found_and_strangers_are_not() {
        let names = ["ttng.wait_barrier", "ttng.init_barrier", "ttg.local_load"];
        assert_eq!(nearest("ttng.wait_barier", names).as_deref(), Some("ttng.wait_barrier"));
        assert_eq!(nearest("ttg.lcoal_load", names).as_deref(), Some("ttg.local_load"));
        assert_eq!(nearest("scf.for", names), None);
    }
}
