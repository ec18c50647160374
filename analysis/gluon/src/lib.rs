//! Gluon to IR: executes the front end that Triton has in Python, on Triton's own terms.
//!
//! The result is the text of a TTGIR module as Triton's code generator would make it, before its passes,
//! with an origin for each op. [`lower`] lowers it like any other. What an op means is thus said
//! once, and the same kernel in both languages has the same kernel text.

mod builtins;
mod dtype;
mod emit;
mod eval;
mod host;
mod interp;
mod origin;
mod scope;
mod spec;
pub mod syntax;
mod value;

use std::rc::Rc;

use base::TextRange;
pub use builtins::{builtin, canonical};
pub use eval::elaborate;
pub use interp::{FileId, Problem};
pub use origin::{Frame, FrameId, Origin, OriginId, Origins};
pub use spec::{
    Argument, Config, Directive, Entry, Given, Handed, Host, Instance, Instances, Memo, Note, Param, Recipe, Site,
    Source, Spec, Target, Use, Version, directives, entries, given, instances, recipe, stray,
};

/// A kernel as it was elaborated.
#[derive(Clone, Debug, Default)]
pub struct Elaborated {
    /// The function's name.
    pub kernel: String,
    /// Its name in the file's source.
    pub name: TextRange,
    /// The module, as text; empty where nothing could be made.
    pub ir: String,
    /// Where its ops come from.
    pub origins: Origins,
    /// Python names of SSA values, by number.
    pub names: Vec<Option<Rc<str>>>,
    /// The files that were looked at, by [`FileId`]: 0 is the kernel's own.
    pub files: Vec<String>,
    /// Labels of the partitions, in order: the functions that they run.
    pub partitions: Vec<String>,
    /// What Triton would refuse.
    pub problems: Vec<Problem>,
    /// What could not be followed.
    pub unmodelled: Vec<(FileId, TextRange, String)>,
    /// Functions and classes that were run, by where they start in which file: what an edit must touch
    /// to change this kernel, beside the statements of the files themselves.
    pub touched: Vec<(FileId, TextRange)>,
}
