//! Documents whose text here is not the client's any more.
//!
//! A change that is lost, or that cannot be made, parts both texts for good: what comes later is about another text.
//! Then one diagnostic says so, nothing else is said of the document, and its file counts as it is on disk, until
//! the client sends the whole text or opens the document again.

use std::sync::Arc;

use engine::Analysis;
use tower_lsp::ls_types::Uri;
use transport::Lost;

use super::SessionState;
use crate::lsp::diagnostics::{self, CutOff};
use crate::lsp::last_good::LastGood;

impl SessionState {
    /// A message that may have changed a document could not be read.
    pub(super) fn lost(&mut self, what: &Lost, why: &str) {
        let uris: Vec<Uri> = match what {
            Lost::Text(uri) => self.documents.keys().filter(|open| *open == uri).cloned().collect(),
            Lost::SomeText => self.documents.keys().cloned().collect(),
            Lost::Other => Vec::new(),
        };
        for uri in uris {
            self.lose_track(&uri, why.to_owned());
        }
    }

    /// The text of a document is not the client's any more.
    pub(super) fn lose_track(&mut self, uri: &Uri, why: String) {
        let Some(document) = self.documents.get_mut(uri) else { return };
        if document.out_of_sync.is_some() {
            return;
        }
        tracing::error!("{} is out of step: {why}", uri.as_str());
        let name = uri.path().as_str().rsplit('/').next().unwrap_or_default().to_owned();
        self.sender.show_error(format!(
            "fencepost: the text of {name} is not known any more ({why}). Close the file and open it again."
        ));
        document.out_of_sync = Some(why.clone());
        document.outdate();
        document.refuse_outdated();
        (document.run, document.compiled) = Default::default();
        document.last_good = LastGood::default();
        let (path, version) = (document.path.clone(), document.version);
        let snapshot = self.shared.snapshot(uri, document);
        let said = diagnostics::document_analysis(&snapshot, Analysis::default(), None, Some(CutOff::OutOfSync(why)));
        let said = Arc::new(said);
        document.analysis = Some(said.clone());
        document.published = true;
        let pulls = self.shared.client.pull_diagnostics;
        // What came of a run is published in either case.
        let diagnostics = if pulls { Vec::new() } else { said.diagnostics.clone() };
        self.sender.publish(uri.clone(), Some(version), diagnostics);
        self.answer_waiting(uri);
        if let Some(document) = self.documents.get(uri) {
            self.sender.report_changed(uri.clone(), document.report_subscribers.clone());
        }
        if let Some(path) = &path {
            self.workspace().close(path);
        }
        self.analyse_dependents(path.as_deref());
    }
}
