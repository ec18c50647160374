//! What all documents of a session share.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use engine::SharedCache;
use tokio::sync::watch;
use tower_lsp::ls_types::Uri;

use super::client_config::ClientConfig;
use super::document::OpenDocument;
use super::snapshot::Snapshot;
use workspace::{Loader, WorkspaceSnapshot};

/// What all documents share: nothing in it is changed in place while a worker looks at it.
#[derive(Clone)]
pub(crate) struct Shared {
    /// What the client can do.
    pub(crate) client: Arc<ClientConfig>,
    /// The files.
    pub(crate) workspace: Arc<WorkspaceSnapshot>,
    /// What the engines of all documents have found out; the one thing here that grows, and no answer depends on it.
    pub(crate) outcomes: Arc<SharedCache>,
    /// Who reads files; `None` where there are no files.
    pub(crate) loader: Option<Loader>,
    /// Folders whose `fencepost.toml` the client is told about by what it asks for.
    pub(crate) told_settings: Arc<BTreeSet<PathBuf>>,
}

impl Shared {
    /// A document at this moment.
    pub(crate) fn snapshot(&self, uri: &Uri, document: &OpenDocument) -> Snapshot {
        Snapshot {
            uri: uri.clone(),
            version: document.version,
            rope: document.rope.clone(),
            source: document.source.clone(),
            workspace: self.workspace.clone(),
            loader: self.loader.clone(),
            client: self.client.clone(),
            analysis: document.analysis.clone(),
            interim: document.settled.as_ref().map(|settled| settled.analysis.clone()).or(document.interim.clone()),
            cache: document.cache.at(document.generation),
        }
    }
}

/// What the state thread says of the workspace.
pub(crate) struct WorkspaceState {
    /// What all documents share.
    pub(crate) shared: Shared,
    /// Names of the documents that are open: they are asked for alone.
    pub(crate) open: Vec<Uri>,
    /// Counts what may change answers.
    pub(crate) changes: watch::Receiver<u64>,
}
