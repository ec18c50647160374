//! What somebody may have meant by a name that there is not.

/// Of these names the one that is at most three edits away, and at most half of the name.
pub fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let (edits, near) = names.map(|other| (distance(name, other), other)).min()?;
    (edits <= 3 && 2 * edits <= name.len()).then_some(near)
}

fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.to_lowercase().chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_guessed() {
        let kinds = || ["deadlock", "phase-mismatch", "lapped-wait"].into_iter();
        assert_eq!(nearest("deadlok", kinds()), Some("deadlock"));
        assert_eq!(nearest("phase-missmatch", kinds()), Some("phase-mismatch"));
        assert_eq!(nearest("banana", kinds()), None);
        assert_eq!(nearest("num_slot", ["num_slots", "steps"].into_iter()), Some("num_slots"));
        assert_eq!(nearest("x", ["y"].into_iter()), None);
    }
}
