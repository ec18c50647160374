//! Files of the workspace, and those of Triton itself, which an analysis does not look into and editors want to see.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use python::syntax::{Module, Sources};

use super::snapshot::{FileProvider, SOURCE_FOLDERS, WorkspaceSources};
use crate::limits::uses::FILES as MAX_MENTIONS;

/// [`WorkspaceSources`] with the Triton of the workspace, or else the one that is installed for a file.
pub struct TritonSources<'s, P> {
    inner: &'s WorkspaceSources<P>,
    folders: Vec<PathBuf>,
}

impl<'s, P: FileProvider> TritonSources<'s, P> {
    /// The sources as the file at a path sees them.
    pub fn new(inner: &'s WorkspaceSources<P>, file: &Path) -> TritonSources<'s, P> {
        let root = inner.root_of(file);
        let mut folders: Vec<PathBuf> = SOURCE_FOLDERS.iter().map(|folder| root.join(folder)).collect();
        folders.extend(inner.installed(file).map(|found| found.packages));
        TritonSources { inner, folders }
    }
}

impl<P> fmt::Debug for TritonSources<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TritonSources").field("folders", &self.folders).finish_non_exhaustive()
    }
}

impl<P: FileProvider> Sources for TritonSources<'_, P> {
    fn import(&self, from: &str, name: &str) -> Option<Arc<Module>> {
        let triton = name == "triton" || name.starts_with("triton.");
        if !triton {
            return self.inner.import(from, name);
        }
        let parts: Vec<&str> = name.split('.').collect();
        self.folders.iter().find_map(|folder| self.inner.package(folder, &parts))
    }

    fn file(&self, from: &str, path: &str) -> Option<Arc<Module>> {
        self.inner.file(from, path)
    }

    fn mentions(&self, name: &str) -> Vec<Arc<Module>> {
        self.inner.mentioning(name, MAX_MENTIONS)
    }
}
