//! Gluon to IR: the rows of Gluon's modules for the Python evaluator, and what kernels are launched with.
//!
//! The result is the text of a TTGIR module as Triton's code generator would make it, before its passes,
//! with an origin for each op. It is lowered like any other: what an op means is said once, and the same
//! kernel in both languages has the same kernel text.

mod builtins;
#[cfg(test)]
mod copies;
mod limits;
mod spec;

use std::sync::Arc;

use base::{Cancel, Cancelled};
pub use builtins::{builtin, canonical, catalog, default_swizzle, forms, methods, parameters};
pub use limits::LIMITS;
pub use python::elaborated::Elaborated;
pub use python::interp::Problem;
pub use python::library::Form;
pub use python::origin::{FileId, Frame, FrameId, Origin, OriginId, Origins};
pub use python::specialization::{
    Argument, ArgumentFacts, Contents, Given, Handed, Host, Language, LaunchFacts, Shared, Spec, ValueSource,
};
use python::syntax::{Module, Sources};
pub use python::target::{Target, Version};
pub use spec::speaks_of_ctas;
pub use spec::{
    Config, Directive, Entry, FileKernels, FirstInstance, Imports, Instance, Instances, LaunchSite, Memo, OPEN, Param,
    ParamUse, Recipe, SpecNote, SpecNoteKind, VersionSource, directives, entries, given, imported, is_any_integer,
    kernels, kernels_telling, neighbours, recipe, same_release, shown, version, written,
};

/// Elaborates one specialisation of a kernel of `module`.
///
/// # Errors
///
/// Where `cancel` says so.
pub fn elaborate(
    module: &Arc<Module>,
    sources: &dyn Sources,
    spec: &Spec,
    cancel: &Cancel,
) -> Result<Elaborated, Cancelled> {
    python::eval::elaborate(module, sources, builtins::library(), spec, cancel)
}
