//! What a worker gets of all open documents, for a request that leads from one file to another: nothing in it changes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use base::{Cancel, TextRange};
use ropey::Rope;
use tower_lsp::ls_types::{Location, Uri};

use super::client_config::ClientConfig;
use super::position::Mapper;
use super::snapshot::Snapshot;
use crate::limits::disk::CHECK as DISK_CHECK;
use workspace::{Loader, LoaderClient, WorkspaceSnapshot, WorkspaceSources, absolute};

/// All open documents at one moment.
pub(crate) struct SessionSnapshot {
    /// One a document, in the order of their names.
    pub(crate) documents: Vec<Snapshot>,
    /// The Python files around them.
    pub(crate) workspace: Arc<WorkspaceSnapshot>,
    /// Who reads files that `workspace` lacks.
    pub(crate) loader: Option<Loader>,
    /// What the client can do.
    pub(crate) client: Arc<ClientConfig>,
}

impl SessionSnapshot {
    /// An open document.
    pub(crate) fn document(&self, uri: &Uri) -> Option<&Snapshot> {
        self.documents.iter().find(|document| document.uri == *uri)
    }

    /// The open document of a file.
    fn open_file(&self, path: &Path) -> Option<&Snapshot> {
        self.documents.iter().find(|document| path_of(&document.uri).as_deref() == Some(path))
    }

    /// The files of the workspace, for one request; a wait for the disk ends with `cancel`.
    pub(crate) fn files<'a>(&'a self, cancel: &'a Cancel<'a>) -> SessionFiles<'a> {
        self.files_in(self.workspace.clone(), cancel)
    }

    /// The same after a comparison with the disk, for what may go wrong where a file is overlooked.
    pub(crate) fn files_now<'a>(&'a self, cancel: &'a Cancel<'a>) -> SessionFiles<'a> {
        let mut workspace = self.workspace.clone();
        let checked = self.loader.as_ref().map(|loader| loader.revalidate(Instant::now(), true));
        if let Some(view) = checked.and_then(|checked| checked.wait(cancel, Some(DISK_CHECK))) {
            Arc::make_mut(&mut workspace).view = view;
        }
        self.files_in(workspace, cancel)
    }

    fn files_in<'a>(&'a self, workspace: Arc<WorkspaceSnapshot>, cancel: &'a Cancel<'a>) -> SessionFiles<'a> {
        let client = LoaderClient::new(self.loader.as_ref(), cancel, &|_| {});
        SessionFiles { session: self, sources: WorkspaceSources::new(workspace, client) }
    }
}

/// The path of a document.
pub(crate) fn path_of(uri: &Uri) -> Option<PathBuf> {
    uri.to_file_path().map(|path| absolute(&path))
}

/// The name of a file for the client: as the client spells it where it is open.
fn uri_of(path: &Path) -> Option<Uri> {
    Uri::from_file_path(path)
}

/// The text of a file, open or on disk.
pub(crate) struct FileText {
    /// Its name.
    pub(crate) uri: Uri,
    rope: Rope,
    text: Arc<str>,
}

impl FileText {
    /// The text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Converts its positions.
    pub(crate) fn mapper(&self, client: &ClientConfig) -> Mapper<'_> {
        Mapper::new(&self.rope, client.encoding)
    }
}

/// Files as they are in the editor, or else on disk.
pub(crate) struct SessionFiles<'a> {
    session: &'a SessionSnapshot,
    /// The Python files.
    pub(crate) sources: WorkspaceSources<LoaderClient<'a>>,
}

impl SessionFiles<'_> {
    /// The text of the file at a path; `None` where there is none.
    pub(crate) fn text(&self, path: &Path) -> Option<FileText> {
        if let Some(open) = self.session.open_file(path) {
            let text = open.source.text().into();
            return Some(FileText { uri: open.uri.clone(), rope: open.rope.clone(), text });
        }
        let text = self.sources.on_disk(path)?.text().clone();
        Some(FileText { uri: uri_of(path)?, rope: Rope::from_str(&text), text })
    }

    /// A place in the file at a path.
    pub(crate) fn location(&self, path: &Path, range: TextRange) -> Option<Location> {
        let file = self.text(path)?;
        Some(Location::new(file.uri.clone(), file.mapper(&self.session.client).range(range)))
    }

    /// The file that a compiler names in the document `from`: at that path, or in a folder of the workspace, or beside
    /// the document, under the longest end of the path that is there. Only files that are open or on disk are found.
    pub(crate) fn source(&self, named: &str, from: &Uri) -> Option<PathBuf> {
        let parts: Vec<&str> = named.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".").collect();
        let exists = |path: &PathBuf| self.session.open_file(path).is_some() || path.is_file();
        let whole = Path::new(named);
        if whole.is_absolute()
            && let Some(found) = Some(absolute(whole)).filter(exists)
        {
            return Some(found);
        }
        let beside = path_of(from).and_then(|path| path.parent().map(Path::to_path_buf));
        let folders: Vec<PathBuf> = beside.into_iter().chain(self.session.workspace.roots.iter().cloned()).collect();
        // The longest end of the path that is some file's: another machine had the workspace elsewhere.
        (0..parts.len()).find_map(|skipped| {
            let end: PathBuf = parts.get(skipped..)?.iter().collect();
            let open = self.session.documents.iter().filter(|document| document.source.python().is_some());
            let mut open = open.filter_map(|document| path_of(&document.uri)).filter(|path| path.ends_with(&end));
            let (first, more) = (open.next(), open.next().is_some());
            let on_disk = || folders.iter().map(|folder| absolute(&folder.join(&end))).find(exists);
            first.filter(|_| !more).or_else(on_disk)
        })
    }
}
