//! What `cargo xtask` does, as a library, so that tidy is also a plain cargo test.
//!
//! No dependencies: a newcomer's first command compiles this crate first.

pub mod bench;
pub mod dist;
pub mod mutate;
pub mod new_op;
mod profile;
pub mod site;
mod steps;
pub mod test;
pub mod tidy;

use std::path::{Path, PathBuf};

/// The repository's root.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().map(PathBuf::from).unwrap_or_default()
}

/// The folder that cargo builds in: the one that this program was built in, wherever the environment or a
/// configuration of cargo puts it.
pub(crate) fn target(root: &Path) -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    let built = program.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file());
    built.map_or_else(|| root.join("target"), Path::to_path_buf)
}
