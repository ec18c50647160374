//! What an analysis may look at: the folders, the open documents, and a view of the disk.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use engine::instances::PythonFile;
use python::syntax::{Module, Sources, mentions_kernels};
use rustc_hash::FxHashMap;
use settings::Settings;
use specialize::Recipe;

use super::dependencies::Dependencies;
use super::dumps;
use super::files::{FileStore, FileView, SourceFile, TextIndex};
use super::paths::{normalized, root};
use crate::limits::index::NAMES as MAX_REMEMBERED;
use crate::limits::launches::MENTIONS as MAX_MENTIONS;
use crate::limits::symbols::SEARCHED as MAX_SEARCHED;

/// Where a project keeps its packages.
pub(super) const SOURCE_FOLDERS: &[&str] = &["", "src", "python"];
/// Libraries whose sources are not looked into, wherever they lie.
const LIBRARIES: &[&str] = &["triton", "torch", "numpy"];

/// A workspace at one moment. Open documents count as they are in the editor, others as they are on disk.
#[derive(Clone, Debug, Default)]
pub struct WorkspaceSnapshot {
    /// The folders.
    pub roots: Vec<PathBuf>,
    open: FxHashMap<PathBuf, OpenScript>,
    /// Which open documents mention a name, for names that were asked for since one of them changed. Never locked while a
    /// text is searched.
    mentions: Arc<Mutex<FxHashMap<String, Arc<[PathBuf]>>>>,
    /// Settings that are open, as they are in the editor.
    open_settings: FxHashMap<PathBuf, Arc<str>>,
    /// What the editor says.
    pub editor: Arc<Settings>,
    /// What is known of the disk.
    pub view: Arc<FileView>,
}

/// An open Python document.
#[derive(Clone, Debug)]
struct OpenScript {
    script: PythonFile,
    /// The tree of one that can hold no kernel: made when it is asked for.
    plain: Arc<OnceLock<Arc<Module>>>,
}

impl WorkspaceSnapshot {
    /// A workspace of these folders, of which nothing is known yet.
    pub(super) fn new(roots: Vec<PathBuf>) -> WorkspaceSnapshot {
        WorkspaceSnapshot { roots, ..WorkspaceSnapshot::default() }
    }

    /// Replaces the text of an open document.
    pub fn open(&mut self, path: &str, script: &PythonFile) {
        self.mentions = Arc::default();
        self.open.insert(PathBuf::from(path), OpenScript { script: script.clone(), plain: Arc::default() });
    }

    /// The open documents that mention a name, in the order of their paths.
    fn mentioning(&self, name: &str) -> Arc<[PathBuf]> {
        if let Some(known) = held(&self.mentions).get(name) {
            return known.clone();
        }
        let finder = memchr::memmem::Finder::new(name.as_bytes());
        let mentions = self.open.iter().filter(|(_, open)| finder.find(open.script.text().as_bytes()).is_some());
        let mut found: Vec<PathBuf> = mentions.map(|(path, _)| path.clone()).collect();
        found.sort();
        let found: Arc<[PathBuf]> = found.into();
        let mut remembered = held(&self.mentions);
        if remembered.len() >= MAX_REMEMBERED {
            remembered.clear();
        }
        remembered.insert(name.to_owned(), found.clone());
        found
    }

    /// Removes a document that is open no longer.
    pub fn close(&mut self, path: &str) {
        self.mentions = Arc::default();
        self.open.remove(Path::new(path));
        self.open_settings.remove(Path::new(path));
    }

    /// Replaces the text of open settings.
    pub fn open_settings(&mut self, path: &str, text: &str) {
        self.open_settings.insert(PathBuf::from(path), text.into());
    }

    /// Whether a document is open.
    pub fn is_open(&self, path: &Path) -> bool {
        self.open.contains_key(path) || self.open_settings.contains_key(path)
    }

    /// Whether a document is open that an analysis has looked at.
    pub fn has_open_among(&self, dependencies: &Dependencies) -> bool {
        self.open.keys().chain(self.open_settings.keys()).any(|path| dependencies.reads(path))
    }

    /// The text of an open document.
    pub fn text_of(&self, path: &Path) -> Option<&str> {
        let settings = || self.open_settings.get(path).map(|text| &**text);
        self.open.get(path).map(|open| open.script.text()).or_else(settings)
    }

    /// Which of these files are open and are not on disk, by path.
    pub fn unsaved(&self, among: &Dependencies) -> Vec<PathBuf> {
        let missing = |path: &Path| !matches!(self.view.file(path), Some(Some(_)));
        let mut paths: Vec<PathBuf> = self
            .open
            .keys()
            .chain(self.open_settings.keys())
            .filter(|path| among.reads(path) && missing(path))
            .cloned()
            .collect();
        paths.sort();
        paths
    }

    /// Which of the folders a file is in; around the file where it is in none. Looks at the disk.
    pub fn root_of(&self, file: &Path) -> PathBuf {
        let inside = self.roots.iter().filter(|root| file.starts_with(root));
        inside.max_by_key(|root| root.components().count()).cloned().unwrap_or_else(|| root(file))
    }
}

/// Gives what a snapshot lacks, to several workers at once. It may block for as long as the disk takes.
pub trait FileProvider: Sync {
    /// The file at a path.
    fn load(&self, path: &Path) -> Option<Arc<SourceFile>>;

    /// Why a file that is there cannot be read, where that is known.
    fn unreadable(&self, _path: &Path) -> Option<String> {
        None
    }

    /// The index of the workspace's files.
    fn index(&self) -> Arc<TextIndex>;

    /// What was compiled in a folder.
    fn recipes(&self, folder: &Path) -> Arc<[Recipe]>;
}

impl FileProvider for Mutex<FileStore> {
    fn load(&self, path: &Path) -> Option<Arc<SourceFile>> {
        held(self).load(path)
    }

    fn unreadable(&self, path: &Path) -> Option<String> {
        held(self).unreadable(path)
    }

    fn index(&self) -> Arc<TextIndex> {
        held(self).index()
    }

    fn recipes(&self, folder: &Path) -> Arc<[Recipe]> {
        held(self).recipes(folder)
    }
}

/// What several workers look at; a panic of one of them leaves it whole.
fn held<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the names mean that files of a folder import; `None` where the workspace has no such file.
type ImportedNames = FxHashMap<String, Option<Arc<Module>>>;

/// The [`Sources`] of one analysis: a snapshot, and whoever gives what it lacks.
///
/// What was given is kept, so that an analysis sees one version of each file.
pub struct WorkspaceSources<P> {
    snapshot: Arc<WorkspaceSnapshot>,
    provider: P,
    loaded: Mutex<FxHashMap<PathBuf, Option<Arc<SourceFile>>>>,
    /// What imports mean, by the folder of the importing file and the name: a kernel that is elaborated with many
    /// values imports the same files each time.
    imports: Mutex<FxHashMap<PathBuf, ImportedNames>>,
    index: OnceLock<Arc<TextIndex>>,
    asked: Mutex<Dependencies>,
}

impl<P> fmt::Debug for WorkspaceSources<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkspaceSources").field("roots", &self.snapshot.roots).finish_non_exhaustive()
    }
}

impl<P: FileProvider> WorkspaceSources<P> {
    /// Looks into `snapshot`, and asks `provider` for the rest.
    pub fn new(snapshot: Arc<WorkspaceSnapshot>, provider: P) -> WorkspaceSources<P> {
        WorkspaceSources {
            snapshot,
            provider,
            loaded: Mutex::default(),
            imports: Mutex::default(),
            index: OnceLock::new(),
            asked: Mutex::default(),
        }
    }

    /// Which of the workspace's folders a file is in.
    pub(super) fn root_of(&self, file: &Path) -> PathBuf {
        self.snapshot.root_of(file)
    }

    /// Who gives what the snapshot lacks.
    pub(super) fn provider(&self) -> &P {
        &self.provider
    }

    /// The text of settings at a path.
    pub(super) fn settings_text(&self, path: &Path) -> Option<Arc<str>> {
        if let Some(text) = self.snapshot.open_settings.get(path) {
            held(&self.asked).add_path(path);
            return Some(text.clone());
        }
        self.on_disk(path).map(|file| file.text().clone())
    }

    /// Why settings that are there cannot be read.
    pub(super) fn unreadable_settings(&self, path: &Path) -> Option<String> {
        self.provider.unreadable(path)
    }

    /// Whether settings are open, so that what is wrong with them is said there.
    pub(super) fn is_open_settings(&self, path: &Path) -> bool {
        self.snapshot.open_settings.contains_key(path)
    }

    /// What was compiled of a Python file in a folder.
    pub(super) fn compiled(&self, folder: &Path, file: &Path) -> Vec<Recipe> {
        held(&self.asked).add_path(&dumps::dependency(folder, file));
        let known = self.snapshot.view.recipes(folder).cloned();
        let recipes = known.unwrap_or_else(|| self.provider.recipes(folder));
        let of_file = |recipe: &&Recipe| Path::new(&recipe.file).file_name() == file.file_name();
        recipes.iter().filter(of_file).cloned().collect()
    }

    /// What the editor says.
    pub(super) fn editor_settings(&self) -> &Settings {
        &self.snapshot.editor
    }

    /// What was looked at so far.
    pub fn dependencies(&self) -> Dependencies {
        held(&self.asked).clone()
    }

    /// A file as it is on disk.
    pub fn on_disk(&self, path: &Path) -> Option<Arc<SourceFile>> {
        held(&self.asked).add_path(path);
        if let Some(known) = self.snapshot.view.file(path) {
            return known;
        }
        if let Some(known) = held(&self.loaded).get(path) {
            return known.clone();
        }
        let file = self.provider.load(path);
        // Of two who load it at once both take what the first has got.
        held(&self.loaded).entry(path.to_path_buf()).or_insert(file).clone()
    }

    fn module(&self, path: &Path) -> Option<Arc<Module>> {
        let Some(open) = self.snapshot.open.get(path) else {
            return self.on_disk(path).map(|file| file.module().clone());
        };
        held(&self.asked).add_path(path);
        if open.script.mentions_kernels() {
            return Some(open.script.module().clone());
        }
        let parse = || Arc::new(Module::parse(path.to_string_lossy(), open.script.text(), None));
        Some(open.plain.get_or_init(parse).clone())
    }

    /// The files that mention a name, in the order of their paths, no more than `most`.
    pub(super) fn mentioning(&self, name: &str, most: usize) -> Vec<Arc<Module>> {
        let made = || self.snapshot.view.index().cloned().unwrap_or_else(|| self.provider.index());
        held(&self.asked).add_name(name);
        let open = &self.snapshot.open;
        let on_disk = self.index.get_or_init(made).mentioning(name);
        let in_editor = self.snapshot.mentioning(name);
        let mut paths: Vec<&Path> =
            on_disk.iter().map(|path| &**path).filter(|path| !open.contains_key(*path)).collect();
        paths.extend(in_editor.iter().map(PathBuf::as_path));
        paths.sort();
        paths.truncate(most);
        paths.into_iter().filter_map(|path| self.module(path)).collect()
    }

    /// The texts of the Python files that hold kernels, by their paths, as they are in the editor or on disk.
    pub fn kernel_texts(&self) -> Vec<(PathBuf, Arc<str>)> {
        let made = || self.snapshot.view.index().cloned().unwrap_or_else(|| self.provider.index());
        let open = &self.snapshot.open;
        let index = self.index.get_or_init(made);
        let mut paths = index.mentioning("jit").to_vec();
        paths.sort();
        let closed = paths.iter().filter(|path| !open.contains_key(&***path)).take(MAX_SEARCHED);
        let on_disk = closed.filter_map(|path| Some((path.to_path_buf(), index.text(path)?.clone())));
        let in_editor = open.iter().map(|(path, open)| (path.clone(), Arc::from(open.script.text())));
        in_editor.chain(on_disk).filter(|(_, text): &(PathBuf, Arc<str>)| mentions_kernels(text)).collect()
    }

    /// `a.b` below a folder: `a/b.py` or `a/b/__init__.py`.
    pub(super) fn package(&self, folder: &Path, parts: &[&str]) -> Option<Arc<Module>> {
        let path = parts.iter().fold(folder.to_path_buf(), |path, part| path.join(part));
        let package = || self.module(&path.join("__init__.py"));
        if parts.is_empty() {
            return package();
        }
        let mut file = path.clone().into_os_string();
        file.push(".py");
        self.module(Path::new(&file)).or_else(package)
    }

    /// `a.b` in a project in a folder that is installed as `a`: `a/src/a/b.py`, or with another spelling of its name.
    fn project(&self, folder: &Path, parts: &[&str]) -> Option<Arc<Module>> {
        let name = parts.first()?;
        let dashed = name.replace('_', "-");
        let spellings = [*name, &*dashed].into_iter().take(if dashed == *name { 1 } else { 2 });
        let mut folders =
            spellings.flat_map(|name| SOURCE_FOLDERS.iter().map(move |inner| folder.join(name).join(inner)));
        folders.find_map(|folder| self.package(&folder, parts))
    }

    /// What a name means that a file in `folder` imports.
    fn resolve(&self, folder: &Path, name: &str) -> Option<Arc<Module>> {
        let dots = name.bytes().take_while(|byte| *byte == b'.').count();
        let parts: Vec<&str> = name.get(dots..)?.split('.').filter(|part| !part.is_empty()).collect();
        if dots > 0 {
            return self.package(folder.ancestors().nth(dots - 1)?, &parts);
        }
        if parts.first().is_none_or(|first| LIBRARIES.contains(first)) {
            return None;
        }
        let roots = &self.snapshot.roots;
        let mut folders: Vec<&Path> = folder.ancestors().collect();
        let end = folders.iter().position(|folder| roots.iter().any(|root| root == folder));
        folders.truncate(end.unwrap_or(0) + 1);
        let found = folders.iter().find_map(|folder| self.package(folder, &parts));
        // A package names itself also where it lies in no folder of the workspace.
        let first = parts.first().copied().unwrap_or_default();
        let by_name = || {
            let own = folder.ancestors().filter(|folder| folder.ends_with(first));
            own.filter_map(Path::parent).find_map(|folder| self.package(folder, &parts))
        };
        let in_roots = || {
            let mut roots = roots.iter().flat_map(|root| SOURCE_FOLDERS.iter().map(move |inner| root.join(inner)));
            roots.find_map(|folder| self.package(&folder, &parts))
        };
        let in_project = || folders.iter().find_map(|folder| self.project(folder, &parts));
        found.or_else(by_name).or_else(in_roots).or_else(in_project)
    }
}

impl<P: FileProvider> Sources for WorkspaceSources<P> {
    fn import(&self, from: &str, name: &str) -> Option<Arc<Module>> {
        let folder = Path::new(from).parent()?;
        if let Some(known) = held(&self.imports).get(folder).and_then(|names| names.get(name)) {
            return known.clone();
        }
        let module = self.resolve(folder, name);
        held(&self.imports).entry(folder.to_path_buf()).or_default().insert(name.to_owned(), module.clone());
        module
    }

    fn file(&self, from: &str, path: &str) -> Option<Arc<Module>> {
        self.module(&normalized(&Path::new(from).parent()?.join(path)))
    }

    fn mentions(&self, name: &str) -> Vec<Arc<Module>> {
        self.mentioning(name, MAX_MENTIONS)
    }
}
