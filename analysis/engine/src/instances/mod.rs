//! Python files with Gluon kernels, as the engine and those who show its answers see them.
//!
//! A [`Script`] is the text. The [`Workshop`] makes an [`Elaboration`] of it: of each kernel its instances,
//! and of each of these a [`Shadow`], which is the text of a TTGIR module with the way back to the Python.
//! The engine judges shadows like any other module; what it says is then put in the words and at the
//! places of the Python, and what it says of several instances is merged.
//!
//! Deviations: ranges of a shadow are those of whole calls, since Triton's own locations are no finer.
//!
//! Fixes are edits of the Python that [`Engine::fix_gluon`](crate::Engine::fix_gluon) has tried.

mod fix;
mod fixes;
mod judge;
mod merge;
mod opinion;
mod ops;
mod place;
mod report;
mod say;
mod script;
mod shadow;
mod show;
#[cfg(test)]
mod tests;
mod workshop;

pub use gluon::{Config, Entry, Given, Handed, Param, Site, Target, given};
pub use opinion::Opinion;
pub use place::Placed;
pub use script::Script;
pub use shadow::Shadow;
pub use show::{hover, occurrences, symbols};
pub use workshop::{Elaboration, KernelInstances, Workshop};
