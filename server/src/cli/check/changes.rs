//! `--changed-since REV`: which lines of which files have changed, asked of the user's git.
//!
//! The working tree is compared with the revision; files that git does not know yet, and does not ignore, count as
//! changed whole. Of lines that were removed the lines around them count. Lines that differ in comments and white space
//! at their ends alone have not changed, but for comments that are written for us.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use base::{LineIndex, TextRange};

use workspace::absolute;

/// What has changed since a revision.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// As it was given.
    pub(crate) revision: String,
    /// The files that came, changed or went, by their full names.
    files: BTreeMap<PathBuf, Change>,
}

/// What has changed in a file.
#[derive(Debug, Default)]
struct Change {
    /// The lines of the text as it is now; `None` where each of them counts.
    lines: Option<Vec<(u32, u32)>>,
    /// What was removed, of Python: who is named there may be concerned.
    removed: String,
}

impl Changes {
    /// Asks git about the repositories of these paths.
    ///
    /// # Errors
    ///
    /// A sentence, where a path stands in no repository or the revision is none.
    pub(crate) fn since(revision: &str, paths: &[PathBuf]) -> Result<Changes, String> {
        let mut changes = Changes { revision: revision.to_owned(), files: BTreeMap::new() };
        let mut known: BTreeSet<PathBuf> = BTreeSet::new();
        for path in paths {
            if path.as_os_str() == "-" {
                return Err("--changed-since has nothing to compare standard input with".to_owned());
            }
            let path = absolute(path);
            let folder = if path.is_dir() { path.as_path() } else { path.parent().unwrap_or(&path) };
            let top = git(folder, &["rev-parse".as_ref(), "--show-toplevel".as_ref()]).map_err(|why| match why {
                Failure::NoGit(why) => why,
                Failure::Said(_) => {
                    format!("--changed-since needs a git repository, and {} is in none", folder.display())
                }
            })?;
            let top = PathBuf::from(String::from_utf8_lossy(&top).trim_end_matches(['\n', '\r']));
            if known.insert(top.clone()) {
                changes.add(&top)?;
            }
        }
        Ok(changes)
    }

    fn add(&mut self, top: &Path) -> Result<(), String> {
        let commit = format!("{}^{{commit}}", self.revision);
        let verify = ["rev-parse", "--verify", "--quiet", "--end-of-options", commit.as_str()].map(OsStr::new);
        let commit = git(top, &verify).map_err(|_| {
            format!("--changed-since {}: there is no such revision in {}", self.revision, top.display())
        })?;
        let commit = String::from_utf8_lossy(&commit).trim().to_owned();
        let diff = ["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", &commit, "--"];
        for name in names(&asked(top, &diff)?) {
            let change = if let Some(sign) = comment_sign(&name) {
                let lines = ["diff", "--unified=0", "--no-color", "--no-renames", "--no-ext-diff", "--no-textconv"];
                let mut arguments: Vec<&OsStr> = lines.iter().map(OsStr::new).collect();
                arguments.extend([commit.as_ref(), "--".as_ref(), name.as_os_str()]);
                Change::read(&git(top, &arguments).map_err(Failure::words)?, sign)
            } else {
                Some(Change::default())
            };
            self.files.extend(change.map(|change| (absolute(&top.join(&name)), change)));
        }
        let untracked = ["ls-files", "--others", "--exclude-standard", "-z"];
        for name in names(&asked(top, &untracked)?) {
            self.files.insert(absolute(&top.join(name)), Change::default());
        }
        Ok(())
    }

    /// Whether a file has changed.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.files.contains_key(&real(path))
    }

    /// Whether anything has changed that can concern a file: itself, its settings, of Python any Python.
    pub(crate) fn may_concern(&self, path: &Path) -> bool {
        self.has(path) || self.settings_of(path) || (is(path, "py") && self.python().next().is_some())
    }

    /// Whether settings that hold for a file, or did, have changed.
    pub(crate) fn settings_of(&self, path: &Path) -> bool {
        let path = real(path);
        let settings = self.files.keys().filter(|file| file.file_name() == Some(OsStr::new(settings::FILE)));
        settings.filter_map(|file| file.parent()).any(|folder| path.starts_with(folder))
    }

    /// The changed files of Python.
    pub(crate) fn python(&self) -> impl Iterator<Item = &Path> {
        self.files.keys().map(PathBuf::as_path).filter(|path| is(path, "py"))
    }

    /// Whether a changed file names something, or did.
    pub(crate) fn mentions(&self, file: &Path, name: &str) -> bool {
        let change = self.files.get(file);
        change.is_some_and(|change| change.removed.contains(name))
            || std::fs::read(file).is_ok_and(|text| String::from_utf8_lossy(&text).contains(name))
    }

    /// The changed lines of a file with this text.
    pub(crate) fn lines(&self, path: &Path, text: &str) -> Vec<TextRange> {
        let index = LineIndex::new(text);
        let all = || vec![(0, index.lines())];
        let changed = self.files.get(&real(path)).map(|change| change.lines.clone().unwrap_or_else(all));
        let changed = changed.unwrap_or_default();
        let lines = changed.iter().flat_map(|&(first, end)| first..end.min(index.lines()));
        lines.map(|line| TextRange::new(index.line_start(line), index.line_start(line + 1))).collect()
    }
}

fn is(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|it| it == extension)
}

/// The name by which git knows a file: links are followed, as far as its folder.
fn real(path: &Path) -> PathBuf {
    let path = absolute(path);
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    match (folder, path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path,
    }
}

enum Failure {
    /// It could not be started.
    NoGit(String),
    /// What it said.
    Said(String),
}

impl Failure {
    fn words(self) -> String {
        match self {
            Failure::NoGit(why) | Failure::Said(why) => why,
        }
    }
}

fn asked(top: &Path, arguments: &[&str]) -> Result<Vec<u8>, String> {
    let arguments: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
    git(top, &arguments).map_err(Failure::words)
}

fn git(folder: &Path, arguments: &[&OsStr]) -> Result<Vec<u8>, Failure> {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(arguments).stdin(Stdio::null());
    let output = command.output().map_err(|error| Failure::NoGit(format!("git could not be started: {error}")))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Failure::Said(format!("git failed: {}", said.lines().next().unwrap_or("it did not say why"))))
}

fn names(list: &[u8]) -> Vec<PathBuf> {
    let names = list.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.map(|name| PathBuf::from(String::from_utf8_lossy(name).into_owned())).collect()
}

impl Change {
    /// From a diff without context; `None` where only comments and blank lines differ. Each line counts where there is no
    /// hunk, as in a file that git takes for binary.
    fn read(diff: &[u8], sign: &str) -> Option<Change> {
        let text = String::from_utf8_lossy(diff);
        let mut hunks: Vec<Hunk<'_>> = Vec::new();
        for line in text.lines() {
            if !hunks.last_mut().is_some_and(|hunk| hunk.take(line)) {
                hunks.extend(Hunk::begin(line));
            }
        }
        if hunks.is_empty() {
            return Some(Change::default());
        }
        let (mut lines, mut removed) = (Vec::new(), String::new());
        for hunk in hunks.iter().filter(|hunk| hunk.changes_code(sign)) {
            lines.push(hunk.lines);
            hunk.removed.iter().for_each(|line| removed.extend([*line, "\n"]));
        }
        (!lines.is_empty()).then_some(Change { lines: Some(lines), removed })
    }
}

/// One place of a diff.
struct Hunk<'d> {
    /// The lines of the new text, the end excluded.
    lines: (u32, u32),
    /// So many lines that were removed and added are still to come.
    left: (u32, u32),
    removed: Vec<&'d str>,
    added: Vec<&'d str>,
}

impl<'d> Hunk<'d> {
    /// From the line that begins it.
    fn begin(line: &str) -> Option<Hunk<'d>> {
        let (old, new) = line.strip_prefix("@@ -").and_then(|rest| rest.split_once(" +"))?;
        let new = new.split_whitespace().next().unwrap_or("");
        let ((_, before), (start, count)) = (span(old)?, span(new)?);
        // Lines were removed between `start` and the next one.
        let (first, end) = if count == 0 { (start, start + 2) } else { (start, start + count) };
        let lines = (first.saturating_sub(1), end.saturating_sub(1));
        Some(Hunk { lines, left: (before, count), removed: Vec::new(), added: Vec::new() })
    }

    /// Takes a line that belongs to it.
    fn take(&mut self, line: &'d str) -> bool {
        let rest = line.get(1..).unwrap_or("");
        if self.left.0 > 0 && line.starts_with('-') {
            self.left.0 -= 1;
            self.removed.push(rest);
            return true;
        }
        if self.left.1 > 0 && line.starts_with('+') {
            self.left.1 -= 1;
            self.added.push(rest);
            return true;
        }
        false
    }

    /// Whether it is about more than comments and blank lines.
    fn changes_code(&self, sign: &str) -> bool {
        let code = |lines: &[&'d str]| -> Vec<&'d str> {
            lines.iter().map(|line| code(line, sign)).filter(|line| !line.is_empty()).collect()
        };
        code(&self.removed) != code(&self.added)
    }
}

/// How a comment begins in a file of this name; `None` for files whose lines are not told apart.
fn comment_sign(path: &Path) -> Option<&'static str> {
    match path.extension()?.to_str()? {
        "py" | "toml" => Some("#"),
        "ttgir" => Some("//"),
        _ => None,
    }
}

/// A line without its comment and the white space before that. A line with quotes is left as it is, since what looks
/// like a comment may be part of a text; so is what is written for us.
fn code<'l>(line: &'l str, sign: &str) -> &'l str {
    let Some(at) = line.find(sign).filter(|_| !line.contains("fencepost")) else { return line.trim_end() };
    let before = line.get(..at).unwrap_or(line).trim_end();
    if before.contains(['"', '\'']) { line.trim_end() } else { before }
}

/// `12,3`, or `12` for one line.
fn span(text: &str) -> Option<(u32, u32)> {
    let (start, count) = text.split_once(',').unwrap_or((text, "1"));
    Some((start.parse().ok()?, count.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_are_lines_of_the_new_text() {
        let diff = b"--- a/k.py\n+++ b/k.py\n@@ -1,0 +2,3 @@ def\n+x\n@@ -9 +12 @@\n-@@ -1 +1 @@\n+y\n@@ -20,2 +22,0 @@\n-a\n-b\n@@ -1 +0,0 @@\n-c\n";
        let change = Change::read(diff, "#").expect("code has changed");
        assert_eq!(change.lines, Some(vec![(1, 4), (11, 12), (21, 23), (0, 1)]));
        assert_eq!(change.removed, "@@ -1 +1 @@\na\nb\nc\n");
        assert_eq!(Change::read(b"Binary files differ\n", "#").map(|change| change.lines), Some(None));
    }

    #[test]
    fn comments_and_blank_lines_are_no_change() {
        let lines = |diff: &str| Change::read(diff.as_bytes(), "#").map(|change| change.lines.unwrap_or_default());
        assert_eq!(lines("@@ -1,0 +2,2 @@\n+# a word\n+\n@@ -5,2 +7,0 @@\n-  # another\n-\n"), None);
        assert_eq!(lines("@@ -3 +3 @@\n-x = 1\n+x = 1  # one\n"), None);
        assert_eq!(
            lines("@@ -3,2 +3 @@\n-# what for\n-x = 1  # one\n+x = 1\n@@ -9 +8 @@\n-y = 1\n+y = 2\n"),
            Some(vec![(7, 8)])
        );
        assert_eq!(lines("@@ -3 +3 @@\n-x = 1\n+    x = 1\n"), Some(vec![(2, 3)]));
        assert_eq!(lines("@@ -3 +3 @@\n-x = 'a # b'\n+x = 'a # c'\n"), Some(vec![(2, 3)]));
        assert_eq!(lines("@@ -3 +3,2 @@\n-x = 1\n+# fencepost: n=3\n+x = 1\n"), Some(vec![(2, 4)]));
    }
}
