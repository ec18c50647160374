//! Settings of the command line that no kernel has a use for: slips of the pen.

use std::collections::BTreeSet;

use engine::instances::Elaboration;
use execution::recipe_check::COMPILED_WITH;
use runtime::launch::{ArgumentValue, LaunchArgument, LaunchSpec};

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
        let unknown = |(name, value): &(String, String)| {
            if self.0.contains(name) {
                return None;
            }
            if SHAPED_WITH.contains(&name.as_str()) {
                let fits = value.parse::<u32>().is_ok_and(u32::is_power_of_two);
                return (!fits).then(|| format!("--set {name}: `{value}` is no power of two"));
            }
            let known = self.0.iter().map(String::as_str).chain(SHAPED_WITH);
            Some(self::unknown("--set", name, known))
        };
        python.set.iter().filter_map(unknown).collect()
    }
}

/// What is wrong with an `--arg` for these launches of kernels in Python: that no kernel of them has such a parameter, or
/// that a value is a name, which only a constexpr can be. Where the file's own code makes the launch it may take others.
pub(crate) fn wrong_argument(
    arguments: &[LaunchArgument],
    launches: &[LaunchSpec],
    elaboration: Option<&Elaboration>,
) -> Option<String> {
    let elaboration = elaboration.filter(|_| launches.iter().all(|launch| launch.entry.is_none()))?;
    let launched = |name: &str| launches.iter().any(|launch| launch.kernel.as_deref().is_none_or(|it| it == name));
    let kernels = elaboration.kernels.iter().filter(|kernel| launched(&kernel.entry.name));
    let params: Vec<_> = kernels.flat_map(|kernel| &kernel.entry.params).collect();
    arguments.iter().find_map(|LaunchArgument { name, given }| {
        let mut of_name = params.iter().filter(|param| param.name == *name).peekable();
        if of_name.peek().is_none() {
            let known = params.iter().map(|param| param.name.as_str()).chain(COMPILED_WITH);
            return match given {
                ArgumentValue::Int(1..) if COMPILED_WITH.contains(&name.as_str()) => None,
                _ if COMPILED_WITH.contains(&name.as_str()) => {
                    Some(format!("--arg {name}: `{given}` is no number above 0"))
                }
                _ => Some(unknown("--arg", name, known)),
            };
        }
        match given {
            ArgumentValue::Python(text) if is_name(text) && of_name.all(|param| !param.constexpr) => {
                Some(format!("--arg {name}: `{text}` is no number and no tensor, such as `f16[64,64]`"))
            }
            _ => None,
        }
    })
}

/// What a kernel is analysed with beside its parameters.
const SHAPED_WITH: [&str; 2] = ["num_warps", "num_ctas"];

fn is_name(text: &str) -> bool {
    text != "None" && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// That no kernel has a parameter of this name, and which name somebody may have meant.
fn unknown<'a>(option: &str, name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let hint = match nearest(name, known) {
        Some(near) => format!("; did you mean `{near}`?"),
        None => String::new(),
    };
    format!("{option} {name}: no kernel has such a parameter{hint}")
}

/// What is wrong with `--set` for these files.
pub(crate) fn problems<'a>(python: &Python, elaborations: impl IntoIterator<Item = &'a Elaboration>) -> Vec<String> {
    let mut known = KnownParameters::default();
    elaborations.into_iter().for_each(|elaboration| known.add(elaboration));
    known.problems(python)
}
