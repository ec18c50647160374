//! Python files of a folder, for what imports them.

use python::syntax::{Module, Sources};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Reads and parses a Python file.
pub fn module(path: &Path) -> Result<Arc<Module>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(Arc::new(Module::parse(path.display().to_string(), text, None)))
}

/// Files on the disk, read once each. Imports are looked for beside the file that imports, then in `roots`.
#[derive(Debug, Default)]
pub struct Disk {
    roots: Vec<PathBuf>,
    read: Mutex<BTreeMap<PathBuf, Option<Arc<Module>>>>,
}

impl Disk {
    /// Files beside the one that imports, and under these folders.
    pub fn new(roots: Vec<PathBuf>) -> Disk {
        Disk { roots, read: Mutex::default() }
    }

    fn read(&self, path: &Path) -> Option<Arc<Module>> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.entry(path.to_owned()).or_insert_with(|| module(path).ok()).clone()
    }
}

impl Sources for Disk {
    fn import(&self, from: &str, name: &str) -> Option<Arc<Module>> {
        let dots = name.len() - name.trim_start_matches('.').len();
        let parts: PathBuf = name[dots..].split('.').collect();
        let mut beside = Path::new(from).parent()?;
        for _ in 1..dots {
            beside = beside.parent()?;
        }
        let roots = self.roots.iter().map(PathBuf::as_path).filter(|_| dots == 0);
        std::iter::once(beside).chain(roots).find_map(|folder| {
            let stem = folder.join(&parts);
            let file = stem.with_file_name(format!("{}.py", stem.file_name()?.to_str()?));
            self.read(&file).or_else(|| self.read(&stem.join("__init__.py")))
        })
    }

    fn file(&self, from: &str, path: &str) -> Option<Arc<Module>> {
        self.read(&Path::new(from).parent()?.join(path))
    }

    fn mentions(&self, _: &str) -> Vec<Arc<Module>> {
        Vec::new()
    }
}
