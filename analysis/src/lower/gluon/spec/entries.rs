//! The kernels of a file.

use crate::base::TextRange;
use crate::syntax::gluon::Module;

/// A kernel, by its text alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Where its statement starts in the file's source, decorators included: what [`super::Spec::def`] names it by.
    pub def: u32,
    /// Its statement in the file's source.
    pub range: TextRange,
    /// Its name in the file's source.
    pub name_range: TextRange,
    /// The functions around it, outermost first.
    pub inside: Vec<String>,
    /// Its parameters.
    pub params: Vec<Param>,
}

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// Where that is.
    pub range: TextRange,
    /// Whether it is annotated as a constexpr.
    pub constexpr: bool,
    /// The text of its default.
    pub default: Option<String>,
}

/// The functions of a file that are launched, or could be.
pub fn entries(_module: &Module) -> Vec<Entry> {
    Vec::new()
}
