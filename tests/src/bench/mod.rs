//! What `cargo xtask bench` measures, and how it says so.

pub mod against_peers;
pub mod instructions;
mod machine;
mod report;
pub mod suites;

pub use report::Report;

use std::path::{Path, PathBuf};

/// The release build of `fencepost` beside this program.
pub fn binary() -> Option<PathBuf> {
    let this = std::env::current_exe().ok()?;
    let folder = this.parent()?;
    let beside = [folder.to_path_buf(), folder.with_file_name("release")];
    beside.iter().map(|folder| folder.join("fencepost")).find(|path| path.is_file())
}

/// A program on the path.
pub(crate) fn installed(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// The Pythons that may have a peer: `FENCEPOST_PYTHON` and `FENCEPOST_PEERS`, then that of the path.
pub(crate) fn pythons() -> Vec<PathBuf> {
    let named = ["FENCEPOST_PYTHON", "FENCEPOST_PEERS"];
    let named = named.iter().filter_map(|name| std::env::var_os(name).map(PathBuf::from));
    named.chain(installed("python3")).collect()
}

/// A file of this repository.
pub(crate) fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}
