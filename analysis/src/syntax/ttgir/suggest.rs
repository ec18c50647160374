//! "Did you mean": the nearest of a list of names.

/// The candidate nearest to `word`, if it is near enough to be a slip of the hand.
pub(super) fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<String> {
    let limit = match word.chars().count() {
        0..=2 => 1,
        3..=7 => 2,
        _ => 3,
    };
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        if candidate == word || candidate.len().abs_diff(word.len()) > limit {
            continue;
        }
        let distance = distance(word.as_bytes(), candidate.as_bytes(), limit);
        if distance <= limit && best.is_none_or(|(d, _)| distance < d) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate.to_owned())
}

/// Edits (insert, delete, replace, swap neighbours) from `a` to `b`; more than `limit` is any
/// number above it.
fn distance(a: &[u8], b: &[u8], limit: usize) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, &x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &y) in b.iter().enumerate() {
            let mut cost = (last[j] + usize::from(x != y)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && x == b[j - 1] && a[i - 1] == y {
                cost = cost.min(before[j - 1] + 1);
            }
            row.push(cost);
        }
        if row.iter().all(|&cost| cost > limit) {
            return limit + 1;
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
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
