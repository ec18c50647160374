//! How the Python of a kernel is reached from its IR.

use ::python::syntax::Module;
use base::TextRange;
use gluon::{Target, Version};

/// The way from the IR to its Python.
pub struct PythonContext<'w> {
    /// The file.
    pub module: &'w Module,
    /// The Python variable that a value of the IR is named after, by its name there without `%`.
    pub variable: &'w dyn Fn(&str) -> Option<String>,
    /// The expression of this file that the op at an offset of the IR comes from.
    pub origin: &'w dyn Fn(u32) -> Option<TextRange>,
    /// What it is compiled for.
    pub target: Target,
    /// Which Triton.
    pub version: Version,
}
