//! Files that change on disk, and folders that come and go.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use tower_lsp::ls_types::Uri;

use super::SessionState;
use crate::lsp::conversation;
use crate::lsp::document::{DiskCheck, OpenDocument};
use workspace::{FileView, WorkspaceSnapshot, absolute};

impl SessionState {
    /// Files have changed on disk. What is open counts as it is open, whatever the disk says.
    pub(super) fn files_changed(&mut self, uris: &[Uri]) {
        let mut paths: Vec<PathBuf> = uris.iter().filter_map(Uri::to_file_path).map(|path| absolute(&path)).collect();
        paths.sort();
        paths.dedup();
        let now = Instant::now();
        if paths.iter().any(|path| self.dumps.iter().any(|folder| path.starts_with(folder)))
            && let Some(loader) = &self.shared.loader
        {
            loader.look_at_dumps();
        }
        // The loader begins at once, whether or not a worker comes to wait for it.
        if let Some(loader) = &self.shared.loader {
            loader.revalidate_paths(paths.clone());
        }
        let workspace = &self.shared.workspace;
        paths.retain(|path| !workspace.is_open(path));
        let concerned = self.documents.iter().filter(|(_, document)| document.reads(&paths));
        let uris: Vec<Uri> = concerned.map(|(uri, _)| uri.clone()).collect();
        self.analyse_again(uris, DiskCheck::Full(now));
        self.workspace_changed();
    }

    /// The workspace has other folders.
    pub(super) fn folders_changed(&mut self, added: Vec<PathBuf>, removed: &[PathBuf]) {
        let mut roots = self.shared.workspace.roots.clone();
        roots.retain(|root| !removed.contains(root) && !added.contains(root));
        roots.extend(added);
        self.set_roots(roots);
    }

    /// Replaces the folders of the workspace. What depends on them is analysed anew when the loader says so.
    pub(super) fn set_roots(&mut self, roots: Vec<PathBuf>) {
        self.workspace().roots.clone_from(&roots);
        if let Some(loader) = &self.shared.loader {
            loader.set_roots(roots);
        }
        self.workspace_changed();
    }

    /// Has the client watch folders of compiled kernels that are new; else the loader looks at them now and then.
    fn watch_dumps(&mut self, view: &FileView) {
        if !self.shared.client.watches_folders {
            return;
        }
        let new: Vec<PathBuf> =
            view.dump_folders().filter(|folder| !self.dumps.contains(*folder)).map(Path::to_path_buf).collect();
        for folder in new {
            let (client, loader, number) = (self.client.clone(), self.shared.loader.clone(), self.dumps.len());
            self.dumps.insert(folder.clone());
            self.runtime.spawn(async move {
                if conversation::watch_dumps(client, number, folder).await
                    && let Some(loader) = loader
                {
                    loader.dumps_are_watched();
                }
            });
        }
    }

    /// Takes over what the loader has read; analyses anew what was analysed with files that have changed since.
    pub(super) fn files_read(&mut self, view: Arc<FileView>) {
        let revision = view.revision;
        let known = self.shared.workspace.view.revision == revision;
        self.watch_dumps(&view);
        self.workspace().view = view;
        if known {
            return;
        }
        let workspace = self.shared.workspace.clone();
        let mut stale = Vec::new();
        // An analysis under way is compared with the view when it ends.
        for (uri, document) in self.documents.iter_mut().filter(|(_, document)| document.job.is_none()) {
            if document.is_outdated_by(&workspace) {
                stale.push(uri.clone());
            } else if document.known().is_some() {
                document.disk_revision = revision;
            }
        }
        self.analyse_again(stale, DiskCheck::None);
        self.workspace_changed();
    }
}

impl OpenDocument {
    /// Whether its analysis has looked at one of these files.
    fn reads(&self, paths: &[PathBuf]) -> bool {
        let known = self.known().and_then(|known| known.dependencies.as_ref());
        known.is_some_and(|known| paths.iter().any(|path| known.reads(path)))
    }

    /// Whether its analysis depends on another open document, as that is now.
    pub(super) fn depends_on(&self, path: &str, workspace: &WorkspaceSnapshot) -> bool {
        let (path, own) = (Path::new(path), self.path.as_deref() == Some(path));
        let known = self.known().and_then(|known| known.dependencies.as_ref());
        !own && known.is_some_and(|known| known.concerns(path, workspace.text_of(path).unwrap_or_default()))
    }

    /// Whether its analysis was made with files that have changed since.
    pub(super) fn is_outdated_by(&self, workspace: &WorkspaceSnapshot) -> bool {
        let Some(known) = self.known().filter(|_| self.disk_revision < workspace.view.revision) else {
            return false;
        };
        match &known.dependencies {
            Some(known) => workspace.view.concerns(self.disk_revision, known, &|path| workspace.is_open(path)),
            None => self.depends_on_disk(),
        }
    }
}
