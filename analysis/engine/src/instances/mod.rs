//! Python files with Gluon kernels, as the engine and those who show its answers see them.
//!
//! A [`PythonFile`] is the text. The [`Elaborator`] makes an [`Elaboration`] of it: of each kernel its instances,
//! and of each of these an [`ElaboratedInstance`], which is the text of a TTGIR module with the way back to the Python.
//! The engine judges instances like any other module; what it says is then put in the words and at the
//! places of the Python, and what it says of several instances is merged.
//!
//! Deviations: ranges of an elaborated instance are those of whole calls, since Triton's own locations are no finer.
//!
//! Fixes are edits of the Python that [`Engine::fix_python`](crate::Engine::fix_python) has tried.

mod ahead;
mod arguments;
mod blame;
mod budget;
mod directed;
mod elaborator;
mod fix;
mod fixes;
mod heuristics;
mod instance;
mod judge;
mod judged;
mod launched;
mod merge;
mod opinion;
mod outline;
mod pin;
mod place;
mod premise;
mod python_file;
mod refused;
mod report;
mod say;
#[cfg(test)]
mod tests;
mod unlike;
mod varied;

pub use elaborator::{Elaboration, Elaborator, FirstElaborated, KernelInstances};
pub use gluon::{Argument, Given, Handed, Spec, Target, ValueSource, Version};
pub use instance::ElaboratedInstance;
pub(crate) use judged::{JudgedKernel, JudgedKey};
pub use opinion::Opinion;
pub use place::PythonLocation;
pub use python::syntax::{Module, Sources};
pub use python_file::PythonFile;
pub use specialize::{Config, Entry, LaunchSite, Param, VersionSource, given, version};
