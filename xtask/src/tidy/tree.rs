//! The text files of the tree, and how a check names a broken rule.

use std::fmt;
use std::path::Path;

/// A broken rule and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenRule {
    /// Path from the root, with `/`.
    pub path: String,
    /// Line, from 1; 0 for the whole file.
    pub line: usize,
    /// What is wrong and what to do.
    pub message: String,
}

impl fmt::Display for BrokenRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.message),
            line => write!(f, "{}:{line}: {}", self.path, self.message),
        }
    }
}

/// A text file of the tree.
#[derive(Debug, Clone)]
pub(super) struct File {
    /// Path from the root, with `/`.
    pub path: String,
    /// Its whole text, as UTF-8.
    pub text: String,
}

impl File {
    pub(super) fn problem(&self, line: usize, message: impl Into<String>) -> BrokenRule {
        BrokenRule { path: self.path.clone(), line, message: message.into() }
    }
}

/// The text files of the tree, by path.
pub(super) fn read(root: &Path) -> Vec<File> {
    let mut files = Vec::new();
    collect(root, root, &mut files);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// Text files below `folder`; build outputs and what git keeps are left out.
fn collect(root: &Path, folder: &Path, files: &mut Vec<File>) {
    const SKIPPED: [&str; 6] = ["target", "node_modules", ".git", "out", "dist", "__pycache__"];
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        let Ok(kind) = entry.file_type() else { continue };
        if SKIPPED.contains(&name.as_str()) {
            continue;
        }
        if kind.is_dir() {
            collect(root, &path, files);
        } else if kind.is_file()
            && let Ok(text) = std::fs::read_to_string(&path)
        {
            let relative = path.strip_prefix(root).unwrap_or(&path);
            let path = relative.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
            files.push(File { path, text });
        }
    }
}
