//! What was read from disk: immutable views of it, and the store that makes them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use python::syntax::Module;
use rustc_hash::FxHashMap;

use super::file_system::{FileSystem, Stamp};

/// How long the list of a workspace's files is good, unless somebody says that files have changed.
const INDEX_LIFETIME: Duration = Duration::from_secs(10);
/// Files that are searched for launches.
const MAX_FILES: usize = 4_000;
/// Entries of directories that are looked at for them.
const MAX_ENTRIES: usize = 50_000;
/// A file of more bytes launches nothing that we look at.
const MAX_BYTES: u64 = 1 << 20;
/// Names whose mentions an index remembers; every prefix of a kernel's name that is typed is one.
const MAX_REMEMBERED: usize = 1_024;

/// A text file on disk, parsed as Python when somebody asks for the tree.
#[derive(Debug)]
pub(crate) struct SourceFile {
    path: Arc<Path>,
    stamp: Stamp,
    text: Arc<str>,
    module: OnceLock<Arc<Module>>,
    /// The file as it was before, for the last good text of what is broken now.
    before: Option<Arc<Module>>,
}

impl SourceFile {
    /// Its text.
    pub(crate) fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// Its tree.
    pub(crate) fn module(&self) -> &Arc<Module> {
        let parse = || Module::parse(self.path.to_string_lossy(), self.text.clone(), self.before.as_deref());
        self.module.get_or_init(|| Arc::new(parse()))
    }
}

/// The texts of a workspace's Python files, which are searched for the names of kernels.
#[derive(Debug, Default)]
pub(crate) struct TextIndex {
    files: FxHashMap<Arc<Path>, Arc<SourceFile>>,
    /// Which files mention a name, for names that were asked for. Never locked while a text is searched.
    mentions: Mutex<FxHashMap<String, Arc<[Arc<Path>]>>>,
}

impl TextIndex {
    /// The paths of the files whose text has `name` in it, in no order.
    pub(crate) fn mentioning(&self, name: &str) -> Arc<[Arc<Path>]> {
        let lock = || self.mentions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(name) {
            return known.clone();
        }
        let finder = memchr::memmem::Finder::new(name.as_bytes());
        let files = self.files.values().filter(|file| finder.find(file.text.as_bytes()).is_some());
        let found: Arc<[Arc<Path>]> = files.map(|file| file.path.clone()).collect();
        let mut remembered = lock();
        if remembered.len() >= MAX_REMEMBERED {
            remembered.clear();
        }
        remembered.insert(name.to_owned(), found.clone());
        found
    }
}

/// What is known of the disk. It never changes; the [`FileStore`] makes another one.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileView {
    /// Counts the changes that were noticed. Reading a file for the first time is no change.
    pub(crate) revision: u64,
    files: FxHashMap<Arc<Path>, Option<Arc<SourceFile>>>,
    index: Option<Arc<TextIndex>>,
}

impl FileView {
    /// The file at a path; the inner `None` where it is known that there is none, the outer one where nothing
    /// is known.
    #[allow(clippy::option_option, reason = "unknown, known to be missing, there")]
    pub(crate) fn file(&self, path: &Path) -> Option<Option<Arc<SourceFile>>> {
        self.files.get(path).cloned()
    }

    /// The index, where it has been made.
    pub(crate) fn index(&self) -> Option<&Arc<TextIndex>> {
        self.index.as_ref()
    }
}

/// Reads files and keeps what was read. Its methods block for as long as the file system does.
#[derive(Debug)]
pub(crate) struct FileStore {
    file_system: Arc<dyn FileSystem>,
    roots: Vec<PathBuf>,
    view: Arc<FileView>,
    /// When the last comparison of the known files with the disk began.
    checked: Option<Instant>,
    /// When the last walk over the folders began.
    walked: Option<Instant>,
}

impl FileStore {
    /// A store of a workspace that has read nothing yet.
    pub(crate) fn new(file_system: Arc<dyn FileSystem>, roots: Vec<PathBuf>) -> FileStore {
        FileStore { file_system, roots, view: Arc::default(), checked: None, walked: None }
    }

    /// All that is known by now.
    pub(crate) fn view(&self) -> &Arc<FileView> {
        &self.view
    }

    /// Changes the folders of the workspace.
    pub(crate) fn set_roots(&mut self, roots: Vec<PathBuf>) {
        self.roots = roots;
        let view = Arc::make_mut(&mut self.view);
        view.index = None;
        view.revision += 1;
    }

    /// The file at a path, read if it is not known yet.
    pub(crate) fn load(&mut self, path: &Path) -> Option<Arc<SourceFile>> {
        if let Some(known) = self.view.file(path) {
            return known;
        }
        let indexed = self.view.index.as_ref().and_then(|index| index.files.get(path)).cloned();
        let file = self.read(path.into(), indexed.as_ref());
        Arc::make_mut(&mut self.view).files.insert(path.into(), file.clone());
        file
    }

    /// The index of the workspace, made if there is none yet.
    pub(crate) fn index(&mut self) -> Arc<TextIndex> {
        if let Some(index) = &self.view.index {
            return index.clone();
        }
        let index = Arc::new(self.walk());
        Arc::make_mut(&mut self.view).index = Some(index.clone());
        index
    }

    /// Compares what is known with the disk, unless that has been done since `asked`: every known file, and the
    /// list of files where it is too old or `list` insists.
    pub(crate) fn revalidate(&mut self, asked: Instant, list: bool) {
        let mut changed = Vec::new();
        if self.checked.is_none_or(|checked| checked < asked) {
            self.checked = Some(Instant::now());
            let known: Vec<_> = self.view.files.iter().map(|(path, file)| (path.clone(), file.clone())).collect();
            for (path, before) in known {
                let now = self.read(path.clone(), before.as_ref());
                let same = match (&before, &now) {
                    (Some(before), Some(now)) => Arc::ptr_eq(before, now),
                    (before, now) => before.is_none() && now.is_none(),
                };
                if !same {
                    changed.push((path, now));
                }
            }
        }
        let old = |walked: Instant| if list { walked < asked } else { walked.elapsed() > INDEX_LIFETIME };
        let index = self.view.index.clone().filter(|_| self.walked.is_none_or(old));
        let index = index.and_then(|before| {
            let now = self.walk();
            let kept = now
                .files
                .iter()
                .filter(|(path, file)| before.files.get(*path).is_some_and(|before| Arc::ptr_eq(before, file)));
            (kept.count() != now.files.len() || now.files.len() != before.files.len()).then(|| Arc::new(now))
        });
        if changed.is_empty() && index.is_none() {
            return;
        }
        let view = Arc::make_mut(&mut self.view);
        view.revision += 1;
        view.files.extend(changed);
        view.index = index.or_else(|| view.index.take());
    }

    /// A file as it is now: `before`, where its stamp is the same.
    fn read(&self, path: Arc<Path>, before: Option<&Arc<SourceFile>>) -> Option<Arc<SourceFile>> {
        let stamp = self.file_system.stamp(&path)?;
        if let Some(before) = before.filter(|before| before.stamp == stamp) {
            return Some(before.clone());
        }
        let text = self.file_system.read(&path).ok()?.into();
        let before = before.and_then(|before| before.module.get().cloned());
        Some(Arc::new(SourceFile { path, stamp, text, module: OnceLock::new(), before }))
    }

    fn walk(&mut self) -> TextIndex {
        self.walked = Some(Instant::now());
        let before = self.view.index.clone().unwrap_or_default();
        let (mut files, mut entries) = (FxHashMap::default(), 0);
        for root in &self.roots {
            for entry in self.file_system.walk(root) {
                entries += 1;
                if entries > MAX_ENTRIES || files.len() >= MAX_FILES {
                    break;
                }
                let Some(path) = entry else { continue };
                let Some(stamp) = self.file_system.stamp(&path).filter(|stamp| stamp.size <= MAX_BYTES) else {
                    continue;
                };
                let path: Arc<Path> = path.into();
                if let Some(known) = before.files.get(&path).filter(|known| known.stamp == stamp) {
                    files.insert(path, known.clone());
                } else if let Some(file) = self.read(path.clone(), before.files.get(&path)) {
                    files.insert(path, file);
                }
            }
        }
        TextIndex { files, mentions: Mutex::default() }
    }
}
