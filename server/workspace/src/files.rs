//! What was read from disk: immutable views of it, and the store that makes them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use python::syntax::Module;
use rustc_hash::FxHashMap;
use specialize::Recipe;

use super::dependencies::{ChangeLog, Dependencies, FileChange};
use super::dumps::{self, DumpFolder};
use super::file_system::{FileSystem, Stamp};
use crate::limits::index::{
    BYTES as MAX_BYTES, ENTRIES as MAX_ENTRIES, FILES as MAX_FILES, LIFETIME as INDEX_LIFETIME, NAMES as MAX_REMEMBERED,
};

/// A text file on disk, parsed as Python when somebody asks for the tree.
#[derive(Debug)]
pub struct SourceFile {
    path: Arc<Path>,
    stamp: Stamp,
    text: Arc<str>,
    module: OnceLock<Arc<Module>>,
    /// The file as it was before, for the last good text of what is broken now.
    before: Option<Arc<Module>>,
}

impl SourceFile {
    /// Its text.
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// Its tree.
    pub fn module(&self) -> &Arc<Module> {
        let parse = || Module::parse(self.path.to_string_lossy(), self.text.clone(), self.before.as_deref());
        self.module.get_or_init(|| Arc::new(parse()))
    }
}

/// The texts of a workspace's Python files, which are searched for the names of kernels.
#[derive(Debug, Default)]
pub struct TextIndex {
    files: FxHashMap<Arc<Path>, Arc<SourceFile>>,
    /// Which files mention a name, for names that were asked for. Never locked while a text is searched.
    mentions: Mutex<FxHashMap<String, Arc<[Arc<Path>]>>>,
}

impl TextIndex {
    /// The text of a file of the index.
    pub fn text(&self, path: &Path) -> Option<&Arc<str>> {
        self.files.get(path).map(|file| &file.text)
    }

    /// The paths of the files whose text has `name` in it, in no order.
    pub fn mentioning(&self, name: &str) -> Arc<[Arc<Path>]> {
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

impl TextIndex {
    /// The files that came, changed or went since `before`, by path.
    fn changes_from(&self, before: &TextIndex) -> Vec<FileChange> {
        let mut paths: Vec<&Arc<Path>> = self.files.keys().chain(before.files.keys()).collect();
        paths.sort();
        paths.dedup();
        let change = |path: &Arc<Path>| {
            let (was, is) = (before.files.get(path), self.files.get(path));
            let text = |file: Option<&Arc<SourceFile>>| file.map(|file| file.text.clone());
            (!same(was, is)).then(|| FileChange::new(path.clone(), text(was).as_ref(), text(is).as_ref()))
        };
        paths.into_iter().filter_map(change).collect()
    }
}

/// A file that is another one now, or is no more.
type Changed = (Arc<Path>, Option<Arc<SourceFile>>);

/// Whether a file is the same one as before.
fn same(before: Option<&Arc<SourceFile>>, now: Option<&Arc<SourceFile>>) -> bool {
    match (before, now) {
        (Some(before), Some(now)) => Arc::ptr_eq(before, now),
        (before, now) => before.is_none() && now.is_none(),
    }
}

/// What is known of the disk. It never changes; the [`FileStore`] makes another one.
#[derive(Clone, Debug, Default)]
pub struct FileView {
    /// Counts the changes that were noticed. Reading a file for the first time is no change.
    pub revision: u64,
    files: FxHashMap<Arc<Path>, Option<Arc<SourceFile>>>,
    index: Option<Arc<TextIndex>>,
    changes: ChangeLog,
    /// What was compiled, by the folder in which it lies.
    recipes: FxHashMap<PathBuf, Arc<[Recipe]>>,
}

impl FileView {
    /// Whether something has changed after a revision that matters to whoever depends on these, files that `ignored`
    /// names left out.
    pub fn concerns(&self, since: u64, dependencies: &Dependencies, ignored: &dyn Fn(&Path) -> bool) -> bool {
        let mut changes = self.changes.since(since);
        changes
            .as_mut()
            .is_none_or(|changes| changes.any(|change| !ignored(&change.path) && change.concerns(dependencies)))
    }

    /// The file at a path; the inner `None` where it is known that there is none, the outer one where nothing
    /// is known.
    #[allow(clippy::option_option, reason = "unknown, known to be missing, there")]
    pub fn file(&self, path: &Path) -> Option<Option<Arc<SourceFile>>> {
        self.files.get(path).cloned()
    }

    /// The folders of compiled kernels that are looked at.
    pub fn dump_folders(&self) -> impl Iterator<Item = &Path> {
        self.recipes.keys().map(PathBuf::as_path)
    }

    /// What was compiled in a folder, where it was looked at.
    pub fn recipes(&self, folder: &Path) -> Option<&Arc<[Recipe]>> {
        self.recipes.get(folder)
    }

    /// The index, where it has been made.
    pub fn index(&self) -> Option<&Arc<TextIndex>> {
        self.index.as_ref()
    }
}

/// Reads files and keeps what was read. Its methods block for as long as the file system does.
#[derive(Debug)]
pub struct FileStore {
    file_system: Arc<dyn FileSystem>,
    roots: Vec<PathBuf>,
    view: Arc<FileView>,
    /// When the last comparison of the known files with the disk began.
    checked: Option<Instant>,
    /// When the last walk over the folders began.
    walked: Option<Instant>,
    dumps: BTreeMap<PathBuf, DumpFolder>,
}

impl FileStore {
    /// A store of a workspace that has read nothing yet.
    pub fn new(file_system: Arc<dyn FileSystem>, roots: Vec<PathBuf>) -> FileStore {
        FileStore { file_system, roots, view: Arc::default(), checked: None, walked: None, dumps: BTreeMap::new() }
    }

    /// All that is known by now.
    pub fn view(&self) -> &Arc<FileView> {
        &self.view
    }

    /// Changes the folders of the workspace.
    pub fn set_roots(&mut self, roots: Vec<PathBuf>) {
        self.roots = roots;
        let view = Arc::make_mut(&mut self.view);
        view.index = None;
        view.revision += 1;
        view.changes.reset(view.revision);
    }

    /// Forgets what was read: nobody looks at it.
    pub fn forget(&mut self) {
        self.view = Arc::new(FileView { revision: self.view.revision + 1, ..FileView::default() });
        (self.checked, self.walked) = (None, None);
        self.dumps.clear();
    }

    /// The file at a path, read if it is not known yet.
    pub fn load(&mut self, path: &Path) -> Option<Arc<SourceFile>> {
        if let Some(known) = self.view.file(path) {
            return known;
        }
        let indexed = self.view.index.as_ref().and_then(|index| index.files.get(path)).cloned();
        let file = self.read(path.into(), indexed.as_ref());
        Arc::make_mut(&mut self.view).files.insert(path.into(), file.clone());
        file
    }

    /// Why a file that is there cannot be read.
    pub(super) fn unreadable(&self, path: &Path) -> Option<String> {
        self.file_system.unreadable(path)
    }

    /// What was compiled in a folder.
    pub fn recipes(&mut self, folder: &Path) -> Arc<[Recipe]> {
        if let Some(known) = self.view.recipes(folder) {
            return known.clone();
        }
        let found = DumpFolder::default().look(&*self.file_system, folder);
        let recipes = found.recipes.clone();
        self.dumps.insert(folder.to_path_buf(), found);
        Arc::make_mut(&mut self.view).recipes.insert(folder.to_path_buf(), recipes.clone());
        recipes
    }

    /// Whether folders of compiled kernels are looked at.
    pub fn has_dumps(&self) -> bool {
        !self.dumps.is_empty()
    }

    /// Looks at the folders of compiled kernels again.
    pub fn look_at_dumps(&mut self) {
        for (folder, before) in &mut self.dumps {
            let now = before.look(&*self.file_system, folder);
            let files = now.changed_files(before);
            let recipes = now.recipes.clone();
            *before = now;
            if files.is_empty() {
                continue;
            }
            let view = Arc::make_mut(&mut self.view);
            view.revision += 1;
            view.recipes.insert(folder.clone(), recipes);
            let changes =
                files.iter().map(|file| FileChange::new(dumps::dependency(folder, Path::new(file)).into(), None, None));
            view.changes.add(view.revision, changes.collect::<Vec<_>>());
        }
    }

    /// The index of the workspace, made if there is none yet.
    pub fn index(&mut self) -> Arc<TextIndex> {
        if let Some(index) = &self.view.index {
            return index.clone();
        }
        let index = Arc::new(self.walk());
        Arc::make_mut(&mut self.view).index = Some(index.clone());
        index
    }

    /// Compares what is known with the disk, unless that has been done since `asked`: every known file, and the
    /// list of files where it is too old or `list` insists.
    pub fn revalidate(&mut self, asked: Instant, list: bool) {
        let mut changed = Vec::new();
        if self.checked.is_none_or(|checked| checked < asked) {
            self.checked = Some(Instant::now());
            let known: Vec<_> = self.view.files.iter().map(|(path, file)| (path.clone(), file.clone())).collect();
            for (path, before) in known {
                let now = self.read(path.clone(), before.as_ref());
                if !same(before.as_ref(), now.as_ref()) {
                    changed.push((path, now));
                }
            }
        }
        let old = |walked: Instant| if list { walked < asked } else { walked.elapsed() > INDEX_LIFETIME };
        let index = self.view.index.clone().filter(|_| self.walked.is_none_or(old));
        let index = index.map(|before| (self.walk(), before));
        let listed = index.as_ref().map(|(now, before)| now.changes_from(before)).unwrap_or_default();
        let index = index.filter(|_| !listed.is_empty()).map(|(now, _)| Arc::new(now));
        self.take(changed, index, listed);
    }

    /// Compares these files with the disk, whether known or not: somebody has said that they have changed. Below
    /// what are folders by now the list of files is made anew.
    pub fn revalidate_paths(&mut self, paths: &[PathBuf]) {
        let (mut changed, mut listed, mut index) = (Vec::new(), Vec::new(), None::<TextIndex>);
        for path in paths {
            let (known, indexed) = (self.view.file(path), self.view.index.as_ref());
            let before = known.clone().flatten();
            let listed_before = indexed.and_then(|index| index.files.get(&**path)).cloned();
            let now = self.read(path.as_path().into(), before.as_ref().or(listed_before.as_ref()));
            if known.is_some() && !same(before.as_ref(), now.as_ref()) {
                changed.push((path.as_path().into(), now.clone()));
            }
            let Some(all) = indexed.filter(|_| self.is_listed(path)) else { continue };
            if same(listed_before.as_ref(), now.as_ref()) {
                continue;
            }
            let text = |file: &Option<Arc<SourceFile>>| file.as_ref().map(|file| file.text.clone());
            let (before, after) = (text(&listed_before), text(&now));
            listed.push(FileChange::new(path.as_path().into(), before.as_ref(), after.as_ref()));
            let all = index.get_or_insert_with(|| TextIndex { files: all.files.clone(), mentions: Mutex::default() });
            match now.filter(|now| now.stamp.size <= MAX_BYTES && all.files.len() < MAX_FILES) {
                Some(now) => drop(all.files.insert(path.as_path().into(), now)),
                None => drop(all.files.remove(&**path)),
            }
        }
        self.take(changed, index.map(Arc::new), listed);
    }

    /// Whether a file that comes is one of those that are searched.
    fn is_listed(&self, path: &Path) -> bool {
        let inside = self.roots.iter().filter_map(|root| path.strip_prefix(root).ok());
        inside.into_iter().any(|below| self.file_system.is_wanted(below))
    }

    /// Makes a new view of what has changed.
    fn take(&mut self, changed: Vec<Changed>, index: Option<Arc<TextIndex>>, listed: Vec<FileChange>) {
        if changed.is_empty() && index.is_none() {
            return;
        }
        let view = Arc::make_mut(&mut self.view);
        view.revision += 1;
        let known = changed.iter().map(|(path, now)| {
            let before = view.files.get(path).and_then(|file| file.as_ref()).map(|file| &file.text);
            FileChange::new(path.clone(), before, now.as_ref().map(|file| &file.text))
        });
        let known: Vec<FileChange> = known.chain(listed).collect();
        view.changes.add(view.revision, known);
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
