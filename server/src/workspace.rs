//! The Python files of a workspace: what a file imports, and who mentions its kernels.
//!
//! Open documents count as they are in the editor, others as they are on disk. A file is read again when
//! its size or time has changed; which files there are is looked at again after [`FRESH`] or when somebody
//! says that one has come or gone.
//!
//! Missed: packages outside of the workspace; an import that only an installed package can answer is not
//! followed.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant, SystemTime};

use engine::instances::PythonFile;
use python::syntax::{Module, Sources};
use rustc_hash::FxHashMap;
use walkdir::WalkDir;

/// How long a list of files is good.
const FRESH: Duration = Duration::from_secs(10);
/// Files that are searched for launches.
const FILES: usize = 4_000;
/// Entries of directories that are looked at for them.
const ENTRIES: usize = 50_000;
/// A file larger than this launches nothing that we look at.
const LARGE: u64 = 1 << 20;
/// Launch sites that are looked at for one name.
const MENTIONS: usize = 24;
/// Folders that hold no launches of the user's.
const SKIPPED: &[&str] = &["node_modules", "__pycache__", "site-packages", "build", "dist", "target"];
/// Libraries whose sources are not looked into, wherever they lie.
const LIBRARIES: &[&str] = &["triton", "torch", "numpy"];

/// The files.
#[derive(Debug, Default)]
pub struct Workspace {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    roots: Vec<PathBuf>,
    /// What is open, by path.
    open: FxHashMap<PathBuf, Open>,
    /// What was read.
    read: FxHashMap<PathBuf, (Stamp, Arc<Module>)>,
    /// Texts that are searched, and when they were listed.
    listed: Option<(Instant, Vec<Listed>)>,
    mentions: FxHashMap<String, Vec<PathBuf>>,
}

/// An open document.
#[derive(Debug)]
struct Open {
    python: PythonFile,
    /// Its tree, of one that does not mention Gluon: made when it is asked for.
    plain: Option<Arc<Module>>,
}

type Stamp = (u64, Option<SystemTime>);

#[derive(Debug)]
struct Listed {
    path: PathBuf,
    stamp: Stamp,
    text: String,
}

impl Workspace {
    /// That of folders.
    pub fn new(roots: Vec<PathBuf>) -> Workspace {
        Workspace { inner: Mutex::new(Inner { roots, ..Inner::default() }) }
    }

    /// That around a file: the nearest folder above it with `.git`, or its own.
    pub fn around(file: &Path) -> Workspace {
        Workspace::new(vec![root(&absolute(file))])
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Which of its folders a file is in; around the file where it is in none.
    pub fn root_of(&self, file: &Path) -> PathBuf {
        let inner = self.lock();
        let inside = inner.roots.iter().filter(|root| file.starts_with(root));
        inside.max_by_key(|root| root.components().count()).cloned().unwrap_or_else(|| root(file))
    }

    /// Which folders it is of.
    pub fn set_roots(&self, roots: Vec<PathBuf>) {
        let mut inner = self.lock();
        inner.roots = roots;
        inner.forget();
    }

    /// An open document as it is now.
    pub fn open(&self, path: &str, python: &PythonFile) {
        let mut inner = self.lock();
        inner.open.insert(PathBuf::from(path), Open { python: python.clone(), plain: None });
        inner.mentions.clear();
    }

    /// A document that is open no longer.
    pub fn close(&self, path: &str) {
        let mut inner = self.lock();
        inner.open.remove(Path::new(path));
        inner.mentions.clear();
    }

    /// Something has changed on disk.
    pub fn changed(&self) {
        self.lock().forget();
    }
}

impl Sources for Workspace {
    fn import(&self, from: &str, name: &str) -> Option<Arc<Module>> {
        let dots = name.bytes().take_while(|byte| *byte == b'.').count();
        let parts: Vec<&str> = name.get(dots..)?.split('.').filter(|part| !part.is_empty()).collect();
        let mut inner = self.lock();
        let folder = Path::new(from).parent()?.to_path_buf();
        if dots > 0 {
            let base = folder.ancestors().nth(dots - 1)?.to_path_buf();
            return inner.package(&base, &parts);
        }
        if parts.first().is_none_or(|first| LIBRARIES.contains(first)) {
            return None;
        }
        let mut folders: Vec<PathBuf> = folder.ancestors().map(Path::to_path_buf).collect();
        if let Some(end) = folders.iter().position(|folder| inner.roots.contains(folder)) {
            folders.truncate(end + 1);
        } else {
            folders.truncate(1);
        }
        let more: Vec<PathBuf> = inner.roots.iter().flat_map(|root| [root.clone(), root.join("src")]).collect();
        folders.extend(more);
        folders.iter().find_map(|folder| inner.package(folder, &parts))
    }

    fn file(&self, from: &str, path: &str) -> Option<Arc<Module>> {
        let folder = Path::new(from).parent()?;
        self.lock().read(&plain(&folder.join(path)))
    }

    fn mentions(&self, name: &str) -> Vec<Arc<Module>> {
        let mut inner = self.lock();
        inner.list();
        if !inner.mentions.contains_key(name) {
            let finder = memchr::memmem::Finder::new(name.as_bytes());
            let listed = inner.listed.iter().flat_map(|(_, listed)| listed);
            let found: Vec<PathBuf> = listed
                .filter(|file| !inner.open.contains_key(&file.path) && finder.find(file.text.as_bytes()).is_some())
                .map(|file| file.path.clone())
                .collect();
            let open = inner.open.iter().filter(|(_, open)| finder.find(open.python.text().as_bytes()).is_some());
            let mut all: Vec<PathBuf> = open.map(|(path, _)| path.clone()).chain(found).collect();
            all.sort();
            all.dedup();
            all.truncate(MENTIONS);
            inner.mentions.insert(name.to_owned(), all);
        }
        let paths = inner.mentions.get(name).cloned().unwrap_or_default();
        paths.iter().filter_map(|path| inner.read(path)).collect()
    }
}

impl Inner {
    fn forget(&mut self) {
        self.listed = None;
        self.mentions.clear();
    }

    /// `a.b` below a folder: `a/b.py` or `a/b/__init__.py`.
    fn package(&mut self, folder: &Path, parts: &[&str]) -> Option<Arc<Module>> {
        let path = parts.iter().fold(folder.to_path_buf(), |path, part| path.join(part));
        if parts.is_empty() {
            return self.read(&path.join("__init__.py"));
        }
        let mut file = path.clone().into_os_string();
        file.push(".py");
        self.read(Path::new(&file)).or_else(|| self.read(&path.join("__init__.py")))
    }

    fn read(&mut self, path: &Path) -> Option<Arc<Module>> {
        if let Some(open) = self.open.get_mut(path) {
            if open.python.mentions_gluon() {
                return Some(open.python.module().clone());
            }
            let parse = || Arc::new(Module::parse(path.to_string_lossy(), open.python.text(), None));
            return Some(open.plain.get_or_insert_with(parse).clone());
        }
        let stamp = stamp(path)?;
        if let Some((known, module)) = self.read.get(path)
            && *known == stamp
        {
            return Some(module.clone());
        }
        let text = fs::read_to_string(path).ok()?;
        let before = self.read.get(path).map(|(_, module)| module.clone());
        let module = Arc::new(Module::parse(path.to_string_lossy(), text, before.as_deref()));
        self.read.insert(path.to_path_buf(), (stamp, module.clone()));
        Some(module)
    }

    /// Lists the Python files, unless that was done just now.
    fn list(&mut self) {
        if self.listed.as_ref().is_some_and(|(when, _)| when.elapsed() < FRESH) {
            return;
        }
        let mut before: FxHashMap<PathBuf, Listed> = FxHashMap::default();
        for file in self.listed.take().into_iter().flat_map(|(_, listed)| listed) {
            before.insert(file.path.clone(), file);
        }
        let (mut listed, mut entries, mut changed) = (Vec::new(), 0, false);
        for root in &self.roots {
            let walk = WalkDir::new(root).sort_by_file_name().into_iter();
            for entry in walk.filter_entry(|entry| entry.depth() == 0 || wanted(entry.file_name().to_str())) {
                entries += 1;
                if entries > ENTRIES || listed.len() >= FILES {
                    break;
                }
                let Ok(entry) = entry else { continue };
                if !entry.file_type().is_file() || entry.path().extension().is_none_or(|it| it != "py") {
                    continue;
                }
                let path = entry.into_path();
                let Some(stamp) = stamp(&path).filter(|(size, _)| *size <= LARGE) else { continue };
                if let Some(known) = before.remove(&path).filter(|known| known.stamp == stamp) {
                    listed.push(known);
                    continue;
                }
                changed = true;
                if let Ok(text) = fs::read_to_string(&path) {
                    listed.push(Listed { path, stamp, text });
                }
            }
        }
        if changed || !before.is_empty() {
            self.mentions.clear();
        }
        self.listed = Some((Instant::now(), listed));
    }
}

fn wanted(name: Option<&str>) -> bool {
    name.is_some_and(|name| !name.starts_with('.') && !SKIPPED.contains(&name))
}

fn stamp(path: &Path) -> Option<Stamp> {
    let data = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some((data.len(), data.modified().ok()))
}

/// The folder that counts as the workspace of a file: the nearest one above it with `.git`, or its own.
pub fn root(file: &Path) -> PathBuf {
    let folder = file.parent().unwrap_or(Path::new(""));
    folder.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(folder).to_path_buf()
}

/// A path from the root on; as it is where that is not known.
pub fn absolute(path: &Path) -> PathBuf {
    plain(&std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()))
}

/// Without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_looked_for_where_python_would() {
        let root = std::env::temp_dir().join(format!("fencepost-workspace-{}", std::process::id()));
        let write = |name: &str, text: &str| {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap_or(&root)).and_then(|()| fs::write(path, text))
        };
        let made = [
            write("kernels/main.py", "import helper\n"),
            write("kernels/helper.py", "x = 1\n"),
            write("kernels/sub/__init__.py", "y = 2\n"),
            write("tests/test_main.py", "main.kernel[grid]()\n"),
        ];
        assert!(made.iter().all(Result::is_ok));
        let workspace = Workspace::new(vec![root.clone()]);
        let main = root.join("kernels/main.py").to_string_lossy().into_owned();
        let text = |module: Option<Arc<Module>>| module.map(|module| module.text().to_string());
        assert_eq!(text(workspace.import(&main, "helper")).as_deref(), Some("x = 1\n"));
        assert_eq!(text(workspace.import(&main, "kernels.helper")).as_deref(), Some("x = 1\n"));
        assert_eq!(text(workspace.import(&main, ".sub")).as_deref(), Some("y = 2\n"));
        assert_eq!(text(workspace.import(&main, "torch")), None);
        assert_eq!(text(workspace.file(&main, "../kernels/./helper.py")).as_deref(), Some("x = 1\n"));
        assert_eq!(workspace.mentions("main.kernel").len(), 1);
        let helper = root.join("kernels/helper.py").to_string_lossy().into_owned();
        workspace.open(&helper, &PythonFile::new(helper.clone(), "x = 3\n"));
        assert_eq!(text(workspace.import(&main, "helper")).as_deref(), Some("x = 3\n"));
        workspace.close(&helper);
        assert_eq!(text(workspace.import(&main, "helper")).as_deref(), Some("x = 1\n"));
        let _ = fs::remove_dir_all(root);
    }
}
