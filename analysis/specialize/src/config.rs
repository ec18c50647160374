//! What a project and a command line say of all kernels, as plain data.

use super::{Recipe, Target, Version};

/// Who says which release of Triton a file is for, the weakest first. A directive says it for its kernel alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum VersionSource {
    /// Nobody: it is the newest release that is known.
    #[default]
    Newest,
    /// It is installed beside the file.
    Installed,
    /// `triton = "3.8"` of the configuration.
    Configuration,
    /// The command line.
    Command,
}

/// Settings that reach specialisations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// `--set NAME=VALUE`: stronger than anything else, for every kernel that has the parameter. Texts that
    /// [`super::given`] takes.
    pub set: Vec<(String, String)>,
    /// `--target`, or the configuration's.
    pub target: Option<Target>,
    /// Whether the command line says it.
    pub target_commanded: bool,
    /// Which Triton.
    pub version: Version,
    /// Who says so.
    pub version_from: VersionSource,
    /// `[values]` of the configuration: parameter, and what it is given where nobody else says.
    /// Several rows of one name are several values.
    pub values: Vec<(String, String)>,
    /// What was compiled before.
    pub recipes: Vec<Recipe>,
}

/// What the newest release has no more and what there is no other name for, and the last release that had it.
const GONE: &[(&str, Version)] = &[("make_block_ptr", Version(3, 8))];

/// Whether two texts say the same of the release that a file is for.
pub fn same_release(a: &str, b: &str) -> bool {
    GONE.iter().all(|(name, _)| a.contains(name) == b.contains(name))
}

impl Config {
    /// The release that a text is for: where nobody says, the newest that has what it calls.
    pub(super) fn version_of(&self, text: &str) -> Version {
        if self.version_from != VersionSource::Newest {
            return self.version;
        }
        let gone = GONE.iter().filter(|(name, _)| text.contains(name));
        gone.map(|(_, last)| *last).fold(self.version, Version::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_calls_what_is_gone_is_for_an_older_release() {
        let none = Config::default();
        assert_eq!(none.version_of("b = tl.make_block_ptr(x)"), Version(3, 8));
        assert_eq!(none.version_of("b = tl.load(x)"), none.version);
        let said = Config { version_from: VersionSource::Configuration, ..Config::default() };
        assert_eq!(said.version_of("b = tl.make_block_ptr(x)"), Version(3, 9));
    }
}
