//! Paths as the workspace compares them: absolute, without `.` and `..`.

use std::path::{Component, Path, PathBuf};

/// The folder that counts as the workspace of a file: the nearest one above it with `.git`, or its own.
pub fn root(file: &Path) -> PathBuf {
    let folder = file.parent().unwrap_or(Path::new(""));
    folder.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(folder).to_path_buf()
}

/// Files that stand at the top of a Python project.
const PROJECT_FILES: &[&str] = &["pyproject.toml", "setup.py", "setup.cfg"];

/// The folder below which a file's imports and its launches are looked for: the nearest one above it with `.git`;
/// without one the outermost of the nearest one with a project file, the one above its package, and `current`,
/// where that is above it and is neither the top of a disk nor a folder for all kinds of things.
pub fn import_root(file: &Path, current: Option<&Path>) -> PathBuf {
    let folder = file.parent().unwrap_or(Path::new(""));
    if let Some(repository) = folder.ancestors().find(|folder| folder.join(".git").exists()) {
        return repository.to_path_buf();
    }
    let project = folder.ancestors().find(|folder| PROJECT_FILES.iter().any(|name| folder.join(name).is_file()));
    let package = folder.ancestors().find(|folder| !folder.join("__init__.py").is_file());
    let home = std::env::home_dir();
    let common = |folder: &Path| folder.parent().is_none() || folder == std::env::temp_dir();
    let current =
        current.filter(|current| folder.starts_with(current) && !common(current) && home.as_deref() != Some(*current));
    // All are above the file, so that the shortest is the outermost.
    let all = [project, package.filter(|folder| !common(folder)), current].into_iter().flatten();
    all.min_by_key(|folder| folder.components().count()).unwrap_or(folder).to_path_buf()
}

/// A path from the root on; as it is where the current folder is not known.
pub fn absolute(path: &Path) -> PathBuf {
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
