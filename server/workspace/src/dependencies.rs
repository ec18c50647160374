//! What an analysis has looked at, and whether a change of a file concerns it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::limits::index::CHANGES as REMEMBERED;
use rustc_hash::FxHashSet;

/// The files that an analysis asked for, those that were missing too, and the names whose mentions it asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dependencies {
    paths: FxHashSet<PathBuf>,
    names: BTreeSet<String>,
}

impl Dependencies {
    /// A file was asked for.
    pub(super) fn add_path(&mut self, path: &Path) {
        if !self.paths.contains(path) {
            self.paths.insert(path.to_path_buf());
        }
    }

    /// The files that mention a name were asked for.
    pub(super) fn add_name(&mut self, name: &str) {
        if !self.names.contains(name) {
            self.names.insert(name.to_owned());
        }
    }

    /// Adds what another analysis looked at.
    pub fn extend(&mut self, other: Dependencies) {
        self.paths.extend(other.paths);
        self.names.extend(other.names);
    }

    /// Whether a file was asked for.
    pub fn reads(&self, path: &Path) -> bool {
        self.paths.contains(path)
    }

    /// Whether a file that has this text now matters: it was asked for, or mentions a name that was.
    pub fn concerns(&self, path: &Path, text: &str) -> bool {
        self.reads(path)
            || self.names.iter().any(|name| memchr::memmem::find(text.as_bytes(), name.as_bytes()).is_some())
    }
}

/// A file that came, changed or went.
#[derive(Clone, Debug)]
pub(crate) struct FileChange {
    /// Which.
    pub path: Arc<Path>,
    /// Its text before; empty where there was none.
    before: Arc<str>,
    /// Its text now; empty where there is none.
    now: Arc<str>,
}

impl FileChange {
    /// A change of the file at `path`.
    pub(super) fn new(path: Arc<Path>, before: Option<&Arc<str>>, now: Option<&Arc<str>>) -> FileChange {
        let text = |text: Option<&Arc<str>>| text.cloned().unwrap_or_else(|| "".into());
        FileChange { path, before: text(before), now: text(now) }
    }

    /// Whether it matters to whoever depends on these.
    pub(crate) fn concerns(&self, dependencies: &Dependencies) -> bool {
        dependencies.concerns(&self.path, &self.before) || dependencies.concerns(&self.path, &self.now)
    }
}

/// The newest changes of the disk, by the revision that came of them.
#[derive(Clone, Debug, Default)]
pub(super) struct ChangeLog {
    /// All changes after this revision are there.
    complete_after: u64,
    changes: Vec<(u64, FileChange)>,
}

impl ChangeLog {
    /// Something else than a file has changed, which concerns everybody.
    pub(super) fn reset(&mut self, revision: u64) {
        *self = ChangeLog { complete_after: revision, changes: Vec::new() };
    }

    /// Adds the changes that led to a revision.
    pub(super) fn add(&mut self, revision: u64, changes: impl IntoIterator<Item = FileChange>) {
        self.changes.extend(changes.into_iter().map(|change| (revision, change)));
        let dropped = self.changes.len().saturating_sub(REMEMBERED);
        if let Some((last, _)) = self.changes.drain(..dropped).next_back() {
            self.complete_after = last;
        }
    }

    /// The changes after a revision; `None` where not all of them are known any more.
    pub(super) fn since(&self, revision: u64) -> Option<impl Iterator<Item = &FileChange>> {
        let newer = self.changes.iter().filter(move |(of, _)| *of > revision).map(|(_, change)| change);
        (revision >= self.complete_after).then_some(newer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(path: &str, before: &str, now: &str) -> FileChange {
        FileChange::new(Path::new(path).into(), Some(&before.into()), Some(&now.into()))
    }

    #[test]
    fn a_change_concerns_who_asked_for_the_file_or_is_named_in_it() {
        let mut known = Dependencies::default();
        known.add_path(Path::new("/w/helper.py"));
        known.add_name("matmul");
        assert!(change("/w/helper.py", "", "x = 1").concerns(&known));
        assert!(change("/w/test.py", "", "matmul[grid]()").concerns(&known));
        assert!(change("/w/test.py", "matmul[grid]()", "").concerns(&known));
        assert!(!change("/w/other.py", "x = 1", "x = 2").concerns(&known));
    }

    #[test]
    fn what_is_forgotten_is_said() {
        let mut log = ChangeLog::default();
        log.add(1, [change("/a", "", "")]);
        log.add(2, [change("/b", "", "")]);
        let since = |log: &ChangeLog, revision| log.since(revision).map(Iterator::count);
        assert_eq!((since(&log, 0), since(&log, 1), since(&log, 2)), (Some(2), Some(1), Some(0)));
        log.add(3, (0..REMEMBERED).map(|_| change("/c", "", "")));
        assert_eq!((since(&log, 1), since(&log, 2)), (None, Some(REMEMBERED)));
        log.reset(4);
        assert_eq!((since(&log, 3), since(&log, 4)), (None, Some(0)));
    }
}
