//! Gluon to IR: the rows of Gluon's modules for the Python evaluator.
//!
//! The result is the text of a TTGIR module as Triton's code generator would make it, before its passes,
//! with an origin for each op. It is lowered like any other: what an op means is said once, and the same
//! kernel in both languages has the same kernel text.

mod builtins;

use std::sync::Arc;

use base::{Cancel, Cancelled};
pub use builtins::{builtin, canonical, catalog, default_swizzle, forms, library, methods, parameters};
pub use python::elaborated::Elaborated;
pub use python::interp::Problem;
pub use python::library::Form;
pub use python::origin::{FileId, Frame, FrameId, Origin, OriginId, Origins};
pub use python::specialization::{
    Argument, ArgumentFacts, Contents, Given, Handed, Host, Language, LaunchFacts, Shared, Spec, ValueSource,
};
use python::syntax::{Module, Sources};
pub use python::target::{Target, Version};

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
