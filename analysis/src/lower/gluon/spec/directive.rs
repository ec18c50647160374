//! `# fencepost: num_buffers=3, a_desc=fp16[128,64], target=sm_100` above a kernel.

use super::Given;
use crate::base::TextRange;

/// One line of directives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Directive {
    /// The line.
    pub range: TextRange,
    /// What it gives to parameters.
    pub values: Vec<(String, Given)>,
}

/// The directives above a statement.
pub fn directives(_text: &str, _def: u32) -> Vec<Directive> {
    Vec::new()
}
