//! Kernels in Python beside what Triton makes of them.
//!
//! [`files`] gives the files that a kernel imports, [`recipe`] reads what a kernel is compiled with,
//! [`skeleton`] lists what a kernel does at which place of the Python, [`both`] compares the two
//! languages, [`file`] says what is found in a whole file, [`typing`] makes texts that are being typed,
//! [`long`] long ones.

pub mod both;
pub mod file;
pub mod files;
pub mod long;
pub mod recipe;
pub mod skeleton;
pub mod typing;

use base::Cancel;
use files::Disk;
pub use files::module;
use gluon::{Elaborated, Spec, elaborate};
use python::syntax::Module;
use std::sync::Arc;

/// The kernel of a file, as the Python gives it.
pub fn python(module: &Arc<Module>, files: &Disk, spec: &Spec) -> Result<Elaborated, String> {
    elaborate(module, files, spec, &Cancel::never()).map_err(|_| "the elaboration says it was cancelled".to_owned())
}
