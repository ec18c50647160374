//! `--changed-since REV`: which lines of which files have changed, asked of the user's git.
//!
//! The working tree is compared with the revision; files that git does not know yet, and does not ignore, count as
//! changed whole. Of lines that were removed the lines around them count.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use base::{LineIndex, TextRange};

use crate::workspace::absolute;

/// What has changed since a revision.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// As it was given.
    pub(crate) revision: String,
    /// The changed files, by their full names, and those of them of which each line counts.
    files: BTreeMap<PathBuf, Option<Vec<(u32, u32)>>>,
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
        let commit = git(top, &verify)
            .map_err(|_| format!("--changed-since {}: there is no such revision in {}", self.revision, top.display()))?;
        let commit = String::from_utf8_lossy(&commit).trim().to_owned();
        let diff = ["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--diff-filter=d", &commit, "--"];
        for name in names(&asked(top, &diff)?) {
            let lines = ["diff", "--unified=0", "--no-color", "--no-renames", "--no-ext-diff", "--no-textconv", &commit, "--"];
            let mut arguments: Vec<&OsStr> = lines.iter().map(OsStr::new).collect();
            arguments.push(name.as_os_str());
            let kernels = name.extension().is_some_and(|extension| extension == "py" || extension == "ttgir");
            // Of other files nobody asks for lines.
            let hunks = if kernels { hunks(&git(top, &arguments).map_err(Failure::words)?) } else { None };
            self.files.insert(absolute(&top.join(&name)), hunks);
        }
        let untracked = ["ls-files", "--others", "--exclude-standard", "-z"];
        for name in names(&asked(top, &untracked)?) {
            self.files.insert(absolute(&top.join(name)), None);
        }
        Ok(())
    }

    /// Whether a file has changed.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.files.contains_key(&real(path))
    }

    /// The changed lines of a file with this text.
    pub(crate) fn lines(&self, path: &Path, text: &str) -> Vec<TextRange> {
        let index = LineIndex::new(text);
        let all = || vec![(0, index.lines())];
        let changed = match self.files.get(&real(path)) {
            None => Vec::new(),
            Some(None) => all(),
            Some(Some(lines)) => lines.clone(),
        };
        let lines = changed.iter().flat_map(|&(first, end)| first..end.min(index.lines()));
        lines.map(|line| TextRange::new(index.line_start(line), index.line_start(line + 1))).collect()
    }
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

/// The lines of the new text that hunks are about, from 0; `None` where there is none, as for a file that git takes
/// for binary.
fn hunks(diff: &[u8]) -> Option<Vec<(u32, u32)>> {
    let text = String::from_utf8_lossy(diff);
    let mut all = Vec::new();
    for line in text.lines() {
        let Some(rest) = line.strip_prefix("@@ -") else { continue };
        let Some(new) = rest.split_whitespace().nth(1).and_then(|new| new.strip_prefix('+')) else { continue };
        let (start, count) = new.split_once(',').unwrap_or((new, "1"));
        let (Ok(start), Ok(count)) = (start.parse::<u32>(), count.parse::<u32>()) else { continue };
        // Lines were removed between `start` and the next one.
        let (first, end) = if count == 0 { (start.saturating_sub(1), start + 1) } else { (start.saturating_sub(1), start.saturating_sub(1) + count) };
        all.push((first, end));
    }
    (!all.is_empty()).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_are_lines_of_the_new_text() {
        let diff = b"--- a/k.py\n+++ b/k.py\n@@ -1,0 +2,3 @@ def\n+x\n@@ -9 +12 @@\n@@ -20,2 +22,0 @@\n@@ -1 +0,0 @@\n";
        assert_eq!(hunks(diff), Some(vec![(1, 4), (11, 12), (21, 23), (0, 1)]));
        assert_eq!(hunks(b"Binary files differ\n"), None);
    }
}
