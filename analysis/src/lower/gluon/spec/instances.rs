//! What a kernel is analysed with.

use std::sync::Arc;

use super::{Config, Entry, Spec, Target};
use crate::base::{Cancel, Cancelled, TextRange};
use crate::syntax::gluon::{Module, Sources};

/// A kernel with all that shapes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// What to elaborate.
    pub spec: Spec,
    /// What tells it from the other instances of its kernel: `num_buffers=2`; empty for the only one.
    pub label: String,
    /// All that was assumed and who says so, for a hint at the `def`.
    pub hint: String,
    /// The line that pins it: `# fencepost: num_buffers=2, …`.
    pub directive: String,
}

/// The instances of one kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Instances {
    /// In a fixed order; at most [`Instances::MOST`].
    pub list: Vec<Instance>,
    /// What is to be said of how they came about.
    pub notes: Vec<Note>,
}

impl Instances {
    /// How many instances a kernel has at most.
    pub const MOST: usize = 16;
}

/// Something to be said of a kernel's specialisation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Where, in the kernel's file's source.
    pub range: TextRange,
    /// One sentence.
    pub message: String,
    /// Whether a directive is wrong, which is an error; the others are remarks.
    pub error: bool,
}

/// A kernel that Triton compiled, as it lies in its cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// The Python file, as Triton spells it.
    pub file: String,
    /// The line of its `def`, from 1.
    pub line: u32,
    /// Types of the parameters that are no constexprs.
    pub types: Vec<(String, String)>,
    /// What it was compiled for.
    pub target: Option<Target>,
    /// Warps of the default partition.
    pub num_warps: Option<u32>,
    /// CTAs of a cluster.
    pub num_ctas: Option<u32>,
}

/// What was found out and need not be again while the host code stays the same. One a file; the caller
/// keeps it from edit to edit.
#[derive(Debug, Default)]
pub struct Memo {}

/// The instances of each of `entries`, in their order.
///
/// # Errors
///
/// When `cancel` says so.
pub fn instances(
    _module: &Arc<Module>,
    _sources: &dyn Sources,
    entries: &[Entry],
    _config: &Config,
    _memo: &mut Memo,
    cancel: &Cancel<'_>,
) -> Result<Vec<Instances>, Cancelled> {
    cancel.check()?;
    Ok(entries.iter().map(|_| Instances::default()).collect())
}
