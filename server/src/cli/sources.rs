//! What to check: files named, files found in directories, stdin; and reading them.
//!
//! Directories are searched for `*.ttgir` and for `*.py` that can hold kernels. What is hidden, `node_modules`, and what a
//! `.gitignore` names is left out unless it is named itself, or the arguments say otherwise: a compiler's cache and its dumps are
//! usually all of that. What a `fencepost.toml` excludes is left out of them in any case. Links to directories are not followed.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::gitignore::Gitignore;
use ignore::{DirEntry, WalkBuilder};
use rustc_hash::FxHashSet;

use crate::limits::files::TEXT as MAX_BYTES;
use render::SourceText;
use render::check::{ReadError, SourcePosition};
use settings::FILE;
use workspace::{Encoding, Undecodable, Workspace, absolute};

/// What is wrong with Python in another encoding, as Python sees it.
const NO_COOKIE: &str = ", and no comment in its first two lines says `coding: latin-1`";

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

    /// Whether its settings exclude it, or a pattern of the command does.
    pub(crate) fn is_excluded(&self, patterns: &[String]) -> bool {
        let folder = self.file().and_then(Path::parent).unwrap_or(Path::new("")).to_path_buf();
        self.file().is_some_and(|path| Exclusion::new(patterns, &folder).holds(path))
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

/// What paths lead to.
pub(crate) struct Collected {
    /// What to check.
    pub(crate) sources: Vec<Source>,
    /// What there is to know beside: directories in which there is nothing to check.
    pub(crate) notes: Vec<String>,
}

/// How directories are searched.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Search<'a> {
    /// Whether they hold what is hidden or ignored, too.
    pub(crate) everything: bool,
    /// Patterns of what is left out beside what settings exclude.
    pub(crate) exclude: &'a [String],
}

/// What is left out of a directory.
struct Exclusion<'a> {
    workspace: Workspace,
    patterns: &'a [String],
    /// The folder from which the patterns count, and the one for what does not lie in that.
    folders: [PathBuf; 2],
}

impl Exclusion<'_> {
    /// What settings and patterns leave out; the patterns count from the current folder, outside of it from `root`.
    fn new<'a>(patterns: &'a [String], root: &Path) -> Exclusion<'a> {
        let here = if patterns.is_empty() { PathBuf::new() } else { absolute(Path::new(".")) };
        Exclusion { workspace: Workspace::of(None), patterns, folders: [here, absolute(root)] }
    }

    fn holds(&self, path: &Path) -> bool {
        let path = absolute(path);
        let commanded = || {
            let below = self.folders.iter().find_map(|folder| path.strip_prefix(folder).ok()).unwrap_or(&path);
            workspace::matches_any(self.patterns, below)
        };
        commanded() || self.workspace.settings_of(&path).excludes(&path)
    }
}

/// Everything that `paths` name, in their order, directories by name, each file once; standard input stands for
/// `stdin_name`, and for it alone.
pub(crate) fn collect(paths: &[PathBuf], stdin_name: Option<&Path>, search: Search<'_>) -> Collected {
    let (mut sources, mut notes) = (Vec::new(), Vec::new());
    let mut seen: FxHashSet<String> = stdin_name.map(|name| name.display().to_string()).into_iter().collect();
    for path in paths {
        if path.as_os_str() == "-" {
            let origin = stdin_name.map_or(Origin::Stdin, |name| Origin::NamedStdin(name.to_path_buf()));
            sources.push(Source { origin, named: true });
            continue;
        }
        let found = if path.is_dir() {
            let (found, excluded) = walk(path, search);
            if found.is_empty() {
                notes.push(nothing(path, search, excluded));
            }
            found
        } else {
            vec![Source { origin: Origin::File(path.clone()), named: true }]
        };
        sources.extend(found.into_iter().filter(|source| seen.insert(source.path())));
    }
    Collected { sources, notes }
}

/// That there is nothing to check in a directory, from which so many files are excluded.
fn nothing(root: &Path, search: Search<'_>, excluded: usize) -> String {
    let root = root.display();
    if excluded > 0 {
        let files = if excluded == 1 { "1 file is".to_owned() } else { format!("{excluded} files are") };
        let flag = if search.exclude.is_empty() { "" } else { "--exclude or " };
        return format!("{root}: {files} left out, by {flag}`exclude` in `{FILE}`; one that is named is looked at");
    }
    let left_out = match search.everything {
        true => "",
        false => {
            "; what is hidden, node_modules and what a .gitignore names is looked at where it is named, or with --no-ignore"
        }
    };
    format!("{root}: no .ttgir file and no kernel in Python in this directory{left_out}")
}

/// Whether a directory is itself among what git ignores.
fn is_ignored(root: &Path) -> bool {
    let root = absolute(root);
    for folder in root.ancestors().skip(1) {
        let (rules, _) = Gitignore::new(folder.join(".gitignore"));
        if rules.matched_path_or_any_parents(&root, true).is_ignore() {
            return true;
        }
        if folder.join(".git").exists() {
            break;
        }
    }
    false
}

/// The files below a directory, by name; all of them, or those that are neither hidden nor ignored by git.
fn entries(root: &Path, everything: bool) -> impl Iterator<Item = Result<DirEntry, ignore::Error>> {
    let mut walk = WalkBuilder::new(root);
    walk.standard_filters(false).hidden(!everything).git_ignore(!everything).require_git(false);
    if !everything && !is_ignored(root) {
        walk.parents(true).git_exclude(true).git_global(true);
    }
    walk.sort_by_file_name(|a, b| a.cmp(b)).filter_entry(move |entry| {
        let name = entry.file_name();
        entry.depth() == 0 || (name != ".git" && (everything || name != "node_modules"))
    });
    walk.build()
}

/// The path that an error of the search is about, and what it is.
fn trouble(error: &ignore::Error, root: &Path) -> (PathBuf, String) {
    match error {
        ignore::Error::WithPath { path, err } => (path.clone(), trouble(err, root).1),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => trouble(err, root),
        error => (root.to_path_buf(), error.io_error().map_or_else(|| error.to_string(), plain)),
    }
}

/// What there is to check below a directory, and how many files are excluded.
fn walk(root: &Path, search: Search<'_>) -> (Vec<Source>, usize) {
    let (mut sources, mut left_out) = (Vec::new(), 0);
    let exclusion = Exclusion::new(search.exclude, root);
    let mut excluded = |path: &Path| {
        let is = exclusion.holds(path);
        left_out += usize::from(is);
        is
    };
    for entry in entries(root, search.everything) {
        let origin = match entry {
            Ok(entry) if entry.file_type().is_none_or(|it| it.is_dir()) => continue,
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
                let (path, message) = trouble(&error, root);
                Origin::Nowhere(path, message)
            }
        };
        sources.push(Source { origin, named: false });
    }
    (sources, left_out)
}

/// Whether a Python file can hold kernels. One that is too large is not looked into: that is said when it is read.
fn has_kernels(path: &Path) -> bool {
    if std::fs::metadata(path).is_ok_and(|data| data.len() > MAX_BYTES) {
        return true;
    }
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
                Ok(data) if data.len() > MAX_BYTES => Err(too_large()),
                _ => bounded(file),
            })
        }
    }?;
    text(bytes, source.file().is_some_and(|path| engine::is_python(&path.to_string_lossy())))
}

fn bounded(from: impl Read) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    from.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| ReadError::new(plain(&error)))?;
    if bytes.len() as u64 > MAX_BYTES { Err(too_large()) } else { Ok(bytes) }
}

fn too_large() -> ReadError {
    ReadError::new(format!("is larger than {} MiB; split the dump at its `// -----` lines", MAX_BYTES >> 20))
}

/// Bytes as text, or what makes them none. Python may say its encoding, and may be empty: many a package is.
fn text(bytes: Vec<u8>, python: bool) -> Result<String, ReadError> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(ReadError::new("is UTF-16; save it as UTF-8"));
    }
    let start = &bytes[..bytes.len().min(1024)];
    if let Some(at) = start.iter().position(|&byte| byte == 0) {
        return Err(ReadError::new(format!("is binary: byte {at} is 0")));
    }
    if python {
        match Encoding::decode_python(bytes.clone()) {
            Ok((text, _)) => return Ok(text),
            Err(Undecodable::Encoding(name)) => {
                let message = format!("is encoded as {name}, as its first lines say; save it as UTF-8 or Latin-1");
                return Err(ReadError::new(message));
            }
            // Said with its place below.
            Err(Undecodable::At(_)) => {}
        }
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
            message: format!("is not UTF-8: byte {at} is 0x{byte:02x}{}", if python { NO_COOKIE } else { "" }),
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
        let bad = text(b"module {\n  \xf0\x9d\x92\xb3\xff".to_vec(), false);
        assert_eq!(bad.map_err(|trouble| trouble.position), Err(Some(SourcePosition { line: 2, column: 4, utf16: 5 })));
        assert!(text(b"\x7fELF\0\0".to_vec(), false).is_err());
        assert!(text(b" \r\n".to_vec(), false).is_err());
        assert!(text(b"\xff\xfem\0".to_vec(), false).is_err());
        assert_eq!(text(b"module {}".to_vec(), false), Ok("module {}".to_owned()));
        assert_eq!(text(Vec::new(), true), Ok(String::new()));
        assert_eq!(text(b"# coding: latin-1\n# \xe9".to_vec(), true), Ok("# coding: latin-1\n# é".to_owned()));
        let other = text(b"# coding: koi8-r\n# \xe9".to_vec(), true).expect_err("it is not read");
        assert!(other.message.contains("koi8-r"), "{other:?}");
    }
}
