//! Settings of the command line that no kernel has a use for: slips of the pen.

use std::collections::BTreeSet;

use engine::instances::Elaboration;

use super::args::Python;
use settings::nearest;

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
