//! What to check: files named, files found in directories, stdin; and reading them.
//!
//! Directories are searched for `*.ttgir` and for `*.py` that can hold kernels, hidden and git-ignored ones too, since a compiler's
//! cache and dump directories are usually both; only `.git` is left out, and what a `fencepost.toml` excludes. Links to directories
//! are not followed.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::FxHashSet;
use walkdir::WalkDir;

use render::SourceText;
use render::check::{ReadError, SourcePosition};
use workspace::{Workspace, absolute};

/// Offsets are 32 bits wide.
const MAX_BYTES: u64 = u32::MAX as u64;

/// Something to check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    /// Where it comes from.
    pub(crate) origin: Origin,
    /// Whether the user named it, rather than a directory that holds it.
    pub(crate) named: bool,
}

/// Where a text comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A file.
    File(PathBuf),
    /// Standard input.
    Stdin,
    /// Standard input that stands for this file.
    NamedStdin(PathBuf),
    /// This text, which stands for this file.
    Given(PathBuf, Arc<str>),
    /// A path that leads to no file, and why.
    Nowhere(PathBuf, String),
}

impl Source {
    /// What a path names that leads to one file, or to standard input.
    pub(crate) fn named(path: &Path) -> Source {
        let origin = if path.as_os_str() == "-" { Origin::Stdin } else { Origin::File(path.to_path_buf()) };
        Source { origin, named: true }
    }

    /// The file that it is, or that it stands for.
    pub(crate) fn file(&self) -> Option<&Path> {
        match &self.origin {
            Origin::File(path) | Origin::NamedStdin(path) | Origin::Given(path, _) => Some(path),
            Origin::Stdin | Origin::Nowhere(..) => None,
        }
    }

    /// The path as given, `<stdin>` for standard input.
    pub(crate) fn path(&self) -> String {
        match &self.origin {
            Origin::File(path) | Origin::Nowhere(path, _) | Origin::NamedStdin(path) | Origin::Given(path, _) => {
                path.display().to_string()
            }
            Origin::Stdin => "<stdin>".to_owned(),
        }
    }
}

/// Everything that `paths` name, in their order, directories by name, each file once; standard input stands for
/// `stdin_name`, and for it alone.
pub(crate) fn collect(paths: &[PathBuf], stdin_name: Option<&Path>) -> Vec<Source> {
    let mut sources = Vec::new();
    let mut seen: FxHashSet<String> = stdin_name.map(|name| name.display().to_string()).into_iter().collect();
    for path in paths {
        if path.as_os_str() == "-" {
            let origin = stdin_name.map_or(Origin::Stdin, |name| Origin::NamedStdin(name.to_path_buf()));
            sources.push(Source { origin, named: true });
            continue;
        }
        let found =
            if path.is_dir() { walk(path) } else { vec![Source { origin: Origin::File(path.clone()), named: true }] };
        sources.extend(found.into_iter().filter(|source| seen.insert(source.path())));
    }
    sources
}

fn walk(root: &Path) -> Vec<Source> {
    let mut sources = Vec::new();
    let workspace = Workspace::of(None);
    let excluded = |path: &Path| {
        let path = absolute(path);
        workspace.settings_of(&path).excludes(&path)
    };
    let entries = WalkDir::new(root).sort_by_file_name().into_iter();
    for entry in entries.filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git") {
        let origin = match entry {
            Ok(entry) if entry.file_type().is_dir() => continue,
            Ok(entry) if entry.path().extension().is_some_and(|extension| extension == "ttgir") => {
                if excluded(entry.path()) {
                    continue;
                }
                Origin::File(entry.into_path())
            }
            Ok(entry) if entry.path().extension().is_some_and(|extension| extension == "py") => {
                if excluded(entry.path()) || !has_kernels(entry.path()) {
                    continue;
                }
                Origin::File(entry.into_path())
            }
            Ok(_) => continue,
            Err(error) => {
                let path = error.path().unwrap_or(root).to_path_buf();
                let message = error.io_error().map_or_else(|| error.to_string(), plain);
                Origin::Nowhere(path, message)
            }
        };
        sources.push(Source { origin, named: false });
    }
    if sources.is_empty() {
        let message = "no .ttgir file and no kernel in Python in this directory".to_owned();
        sources.push(Source { origin: Origin::Nowhere(root.to_path_buf(), message), named: true });
    }
    sources
}

/// Whether a Python file can hold kernels.
fn has_kernels(path: &Path) -> bool {
    std::fs::read(path).is_ok_and(|bytes| python::syntax::mentions_kernels(&String::from_utf8_lossy(&bytes)))
}

/// The text of a source.
pub(crate) fn read(source: &Source) -> Result<String, ReadError> {
    let bytes = match &source.origin {
        Origin::Nowhere(_, why) => return Err(ReadError::new(why.clone())),
        Origin::Given(_, text) => Ok(text.as_bytes().to_vec()),
        Origin::Stdin | Origin::NamedStdin(_) => bounded(io::stdin().lock()),
        Origin::File(path) => {
            File::open(path).map_err(|error| ReadError::new(plain(&error))).and_then(|file| match file.metadata() {
                Ok(data) if data.is_dir() => Err(ReadError::new("is a directory")),
                Ok(data) if data.len() >= MAX_BYTES => Err(too_large()),
                _ => bounded(file),
            })
        }
    }?;
    text(bytes)
}

fn bounded(from: impl Read) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    from.take(MAX_BYTES).read_to_end(&mut bytes).map_err(|error| ReadError::new(plain(&error)))?;
    if bytes.len() as u64 >= MAX_BYTES { Err(too_large()) } else { Ok(bytes) }
}

fn too_large() -> ReadError {
    ReadError::new("larger than 4 GiB; split the dump at its `// -----` lines")
}

/// Bytes as text, or what makes them none.
fn text(bytes: Vec<u8>) -> Result<String, ReadError> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(ReadError::new("is UTF-16; save it as UTF-8"));
    }
    let start = &bytes[..bytes.len().min(1024)];
    if let Some(at) = start.iter().position(|&byte| byte == 0) {
        return Err(ReadError::new(format!("is binary: byte {at} is 0")));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let (valid, rest) = error.as_bytes().split_at(at);
        let valid = String::from_utf8_lossy(valid);
        let byte = rest.first().copied().unwrap_or_default();
        let places = SourceText::new(&valid);
        let (line, column) = places.line_column(at as u32);
        let (_, utf16) = places.utf16(at as u32);
        ReadError {
            message: format!("is not UTF-8: byte {at} is 0x{byte:02x}"),
            position: Some(SourcePosition { line, column, utf16: utf16 + 1 }),
        }
    })?;
    if text.trim().is_empty() { Err(ReadError::new("is empty")) } else { Ok(text) }
}

/// Whether a text without a name is Python.
pub(crate) fn looks_like_python(text: &str) -> bool {
    text.lines().any(|line| ["import ", "from ", "def ", "@"].iter().any(|word| line.starts_with(word)))
}

/// An I/O error without the operating system's number.
pub(super) fn plain(error: &io::Error) -> String {
    let message = error.to_string();
    match message.find(" (os error") {
        Some(at) => message[..at].to_lowercase(),
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_are_said_at_their_place() {
        let bad = text(b"module {\n  \xf0\x9d\x92\xb3\xff".to_vec());
        assert_eq!(bad.map_err(|trouble| trouble.position), Err(Some(SourcePosition { line: 2, column: 4, utf16: 5 })));
        assert!(text(b"\x7fELF\0\0".to_vec()).is_err());
        assert!(text(b" \r\n".to_vec()).is_err());
        assert!(text(b"\xff\xfem\0".to_vec()).is_err());
        assert_eq!(text(b"module {}".to_vec()), Ok("module {}".to_owned()));
    }
}
