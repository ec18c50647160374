//! What a project and a command line say of all kernels, as plain data.

use super::{Recipe, Target, Version};

/// Settings that reach specialisations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// `--set NAME=VALUE`: stronger than anything else, for every kernel that has the parameter.
    pub set: Vec<(String, String)>,
    /// `--target`, or the configuration's.
    pub target: Option<Target>,
    /// Which Triton.
    pub version: Version,
    /// `[values]` of the configuration: parameter, and what it is given where nobody else says.
    /// Several rows of one name are several values.
    pub values: Vec<(String, String)>,
    /// What was compiled before.
    pub recipes: Vec<Recipe>,
}
