//! Paths as the workspace compares them: absolute, without `.` and `..`.

use std::path::{Component, Path, PathBuf};

/// The folder that counts as the workspace of a file: the nearest one above it with `.git`, or its own.
pub(crate) fn root(file: &Path) -> PathBuf {
    let folder = file.parent().unwrap_or(Path::new(""));
    folder.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(folder).to_path_buf()
}

/// A path from the root on; as it is where the current folder is not known.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    normalized(&std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()))
}

/// A path without `.` and `..`.
pub(super) fn normalized(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                if !out.pop() {
                    out.push("..");
                }
            }
            part => out.push(part),
        }
    }
    out
}
