//! Folders in which Triton leaves compiled kernels: what was compiled of which Python file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use specialize::{Recipe, recipe};

use super::file_system::{FileSystem, Stamp};
use crate::limits::watched::{BYTES as MAX_BYTES, ENTRIES as MAX_ENTRIES, KERNELS as MAX_KERNELS};

/// One such folder.
#[derive(Clone, Debug, Default)]
pub(super) struct DumpFolder {
    files: BTreeMap<PathBuf, (Stamp, Option<Recipe>)>,
    /// What was compiled, each once.
    pub(super) recipes: Arc<[Recipe]>,
}

impl DumpFolder {
    /// The folder as it is now; only new files are read.
    pub(super) fn look(&self, disk: &dyn FileSystem, folder: &Path) -> DumpFolder {
        let is_dump = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "ttgir");
        let paths = disk.walk_kernels(folder).take(MAX_ENTRIES).flatten().filter(is_dump);
        let stamped = paths.filter_map(|path| disk.stamp(&path).map(|stamp| (path, stamp)));
        let mut found: Vec<(PathBuf, Stamp)> = stamped.filter(|(_, stamp)| stamp.size <= MAX_BYTES).collect();
        found.sort_by(|(a, of_a), (b, of_b)| of_b.modified.cmp(&of_a.modified).then_with(|| a.cmp(b)));
        found.truncate(MAX_KERNELS);
        let mut files = BTreeMap::new();
        for (path, stamp) in found {
            let known = self.files.get(&path).filter(|(before, _)| *before == stamp).map(|(_, recipe)| recipe.clone());
            let read = || disk.read(&path).ok().and_then(|text| recipe(&text));
            let of_file = known.unwrap_or_else(read);
            files.insert(path, (stamp, of_file));
        }
        let mut recipes: Vec<Recipe> = Vec::new();
        for (_, recipe) in files.values() {
            if let Some(recipe) = recipe.as_ref().filter(|recipe| !recipes.contains(recipe)) {
                recipes.push(recipe.clone());
            }
        }
        DumpFolder { files, recipes: recipes.into() }
    }

    /// The Python files of which something else was compiled than in `before`.
    pub(super) fn changed_files(&self, before: &DumpFolder) -> Vec<String> {
        let gone = before.recipes.iter().filter(|recipe| !self.recipes.contains(recipe));
        let come = self.recipes.iter().filter(|recipe| !before.recipes.contains(recipe));
        let mut files: Vec<String> = gone.chain(come).map(|recipe| recipe.file.clone()).collect();
        files.sort();
        files.dedup();
        files
    }
}

/// The name under which an analysis depends on what was compiled of a Python file: no file has it.
pub(super) fn dependency(folder: &Path, file: &Path) -> PathBuf {
    folder.join(format!("compiled from {}", file.file_name().unwrap_or_default().to_string_lossy()))
}
