//! What `cargo xtask` does, as a library, so that tidy is also a plain cargo test.
//!
//! No dependencies: a newcomer's first command compiles this crate first.

pub mod bench;
pub mod dist;
pub mod mutate;
pub mod new_op;
pub mod site;
mod steps;
pub mod test;
pub mod tidy;

use std::path::PathBuf;

/// The repository's root.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().map(PathBuf::from).unwrap_or_default()
}
