//! What Gluon and Python bring along: a table of functions by module path, name and version.
//!
//! A row says how a function is called and from which release on until which; what it does is a function
//! of this room. Names that several modules export have one row, [`modules`] knows who exports what.

mod args;
mod table;

pub use args::{Args, Bound};
pub use table::{lookup, member};

use super::interp::{Eval, Interp};
use super::spec::Version;

/// Runs a builtin with its arguments in the order of its parameters.
pub type Run = for<'a> fn(&mut Interp<'a>, &Bound<'a>) -> Eval<'a>;

/// A function of the table.
pub struct Row {
    /// Full name: `gl.nvidia.hopper.tma.async_load`, `math.log2`, `len`; a method by its class:
    /// `shared_memory_descriptor.index`, with `self` first among the parameters.
    pub path: &'static str,
    /// Parameters as in Python: `smem, pointer, mask=None, *, pred=True`. `*args` and `**kwargs` collect.
    pub params: &'static str,
    /// The first release that has it in this form.
    pub since: Version,
    /// The last one; `None` for those that still do.
    pub until: Option<Version>,
    /// What it does.
    pub run: Run,
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Row({})", self.path)
    }
}

impl Row {
    /// The name a reader of Python would use: the last two parts of the path.
    pub fn what(&self) -> &'static str {
        let start = self.path.rmatch_indices('.').nth(1).map_or(0, |(at, _)| at + 1);
        &self.path[start..]
    }
}

/// A class that Gluon defines: layouts and the like.
pub struct Class {
    /// Full name: `gl.NVMMASharedLayout`.
    pub path: &'static str,
    /// Parameters of its constructor, which also are its fields.
    pub params: &'static str,
    /// Checks and completes what the constructor was given; the fields come in the order of `params`.
    pub make: Run,
}

impl std::fmt::Debug for Class {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Class({})", self.path)
    }
}
