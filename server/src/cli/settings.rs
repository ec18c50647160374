//! Settings of the command line that no kernel has a use for: slips of the pen.

use std::collections::BTreeSet;

use engine::instances::Elaboration;

use super::args::Python;

/// Names of parameters of the kernels that were looked at.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownParameters(BTreeSet<String>);

impl KnownParameters {
    /// Adds those of a file.
    pub(crate) fn add(&mut self, elaboration: &Elaboration) {
        let params = elaboration.kernels.iter().flat_map(|kernel| &kernel.entry.params);
        self.0.extend(params.map(|param| param.name.clone()));
    }

    /// Adds those of other files.
    pub(crate) fn merge(&mut self, other: KnownParameters) {
        self.0.extend(other.0);
    }

    /// What is wrong with `--set`: each name that no kernel has a parameter of.
    pub(crate) fn problems(&self, python: &Python) -> Vec<String> {
        let unknown = python.set.iter().map(|(name, _)| name).filter(|name| !self.0.contains(*name));
        let said = unknown.map(|name| {
            let hint = match nearest(name, self.0.iter().map(String::as_str)) {
                Some(near) => format!("; did you mean `{near}`?"),
                None => String::new(),
            };
            format!("--set {name}: no kernel has such a parameter{hint}")
        });
        said.collect()
    }
}

/// What is wrong with `--set` for these files.
pub(crate) fn problems<'a>(python: &Python, elaborations: impl IntoIterator<Item = &'a Elaboration>) -> Vec<String> {
    let mut known = KnownParameters::default();
    elaborations.into_iter().for_each(|elaboration| known.add(elaboration));
    known.problems(python)
}

/// Of these names the one that is at most three edits away, and at most half of the name.
pub(crate) fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
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
