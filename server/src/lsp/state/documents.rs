//! Documents that open, change and close.

use std::sync::Arc;
use std::time::Instant;

use engine::Source;
use tower_lsp::ls_types::{TextDocumentContentChangeEvent, Uri};

use super::{REPORT_TIMEOUT, SessionState, StateMessage};
use crate::limits::files::TEXT;
use crate::limits::memo::CHANGES;
use crate::lsp::document::{AnalysisJob, DiskCheck, OpenDocument, Refusal};
use crate::lsp::runs::ActiveRun;

impl SessionState {
    pub(super) fn open(&mut self, uri: Uri, language: &str, version: i32, text: String) {
        self.forget(&uri);
        if text.len() as u64 > TEXT {
            let (size, uri) = (TEXT >> 20, uri.as_str());
            self.sender.show_error(format!("fencepost: {uri} is larger than {size} MiB, and is not analysed"));
            return;
        }
        let document = OpenDocument::new(&uri, language, version, text, self.shared.outcomes.clone());
        let path = document.path.clone();
        self.documents.insert(uri.clone(), document);
        self.update_workspace(&uri);
        self.workspace_changed();
        self.analyse(uri);
        self.analyse_dependents(path.as_deref());
    }

    pub(super) fn change(&mut self, uri: &Uri, version: i32, changes: Vec<TextDocumentContentChangeEvent>) {
        let Some(document) = self.documents.get_mut(uri) else {
            tracing::warn!("change of {}, which is not open", uri.as_str());
            return;
        };
        // Who is pushed all diagnostics at once keeps the marks of a run till the next ones come.
        let apart = self.shared.client.pull_diagnostics;
        let outdates_run = apart && (document.run.are_current() || document.compiled.are_current());
        if let Err(why) = document.change(version, changes, &self.shared.client) {
            self.lose_track(uri, why);
            return;
        }
        document.refuse_outdated();
        if !document.report_subscribers.is_empty() {
            let timeout = StateMessage::ReportTimeout { uri: uri.clone(), generation: document.generation };
            let messages = self.messages.clone();
            self.runtime.spawn(async move {
                tokio::time::sleep(REPORT_TIMEOUT).await;
                let _ = messages.send(timeout);
            });
        }
        let (path, idle) = (document.path.clone(), document.job.is_none());
        if outdates_run {
            self.publish_run(uri);
        }
        self.update_workspace(uri);
        self.edits += 1;
        if self.edits.is_multiple_of(CHANGES) {
            self.shared.outcomes.forget_unused();
            self.documents.values().for_each(|document| document.cache.forget_unused());
        }
        if self.documents.get(uri).is_some_and(|document| document.settled.is_some()) {
            self.settle(uri);
        } else if idle {
            self.analyse(uri.clone());
        }
        self.analyse_dependents(path.as_deref());
    }

    pub(super) fn close(&mut self, uri: Uri) {
        let Some(document) = self.forget(&uri) else { return };
        let marked = !document.run.is_empty() || !document.compiled.is_empty();
        if marked || (!self.shared.client.pull_diagnostics && document.published) {
            self.sender.publish(uri, None, Vec::new());
        }
        if let Some(path) = &document.path {
            self.workspace().close(path);
        }
        self.workspace_changed();
        self.analyse_dependents(document.path.as_deref());
        self.push_settings();
        if self.documents.is_empty() {
            self.release_memory();
        }
    }

    /// Lets go of what was kept for documents that may be opened again: none is open.
    fn release_memory(&mut self) {
        self.shared.outcomes = Arc::default();
        if let Some(loader) = &self.shared.loader {
            loader.forget();
        }
    }

    /// Removes a document with all that goes on for it.
    pub(super) fn forget(&mut self, uri: &Uri) -> Option<OpenDocument> {
        let mut document = self.documents.remove(uri)?;
        document.jobs().for_each(AnalysisJob::cancel);
        [self.runs.remove(uri), self.compilations.remove(uri)].iter().flatten().for_each(ActiveRun::cancel);
        for waiting in std::mem::take(&mut document.waiting) {
            (waiting.reply)(Err(Refusal::Outdated));
        }
        self.sender.report_changed(uri.clone(), document.report_subscribers.clone());
        Some(document)
    }

    /// Puts the text of a Python document, or of settings, into the workspace.
    fn update_workspace(&mut self, uri: &Uri) {
        let Some(document) = self.documents.get(uri) else { return };
        let (Some(path), source) = (document.path.clone(), document.source.clone()) else { return };
        match &*source {
            Source::Python(script) => self.workspace().open(&path, script),
            Source::Other(text) => {
                self.workspace().open_settings(&path, text);
                self.workspace_changed();
            }
            Source::Ir(_) => {}
        }
    }

    /// Analyses the open documents anew that depend on a Python document.
    pub(super) fn analyse_dependents(&mut self, path: Option<&str>) {
        let Some(path) = path else { return };
        for document in self.documents.values_mut() {
            if let Some(job) = &mut document.job {
                job.edited.push(path.to_owned());
            }
        }
        let workspace = &self.shared.workspace;
        let dependents = self.documents.iter().filter(|(_, document)| document.depends_on(path, workspace));
        let uris: Vec<Uri> = dependents.map(|(uri, _)| uri.clone()).collect();
        self.analyse_again(uris, DiskCheck::Brief(Instant::now()));
    }

    /// Analyses documents again whose text is the same.
    pub(super) fn analyse_again(&mut self, uris: Vec<Uri>, check: DiskCheck) {
        for uri in uris {
            let known = self.documents.get_mut(&uri).filter(|document| document.out_of_sync.is_none());
            let Some(document) = known else { continue };
            document.outdate();
            document.rechecked = true;
            // Who asked about this text still wants to know.
            let now = document.generation;
            document.waiting.iter_mut().filter_map(|waiting| waiting.generation.as_mut()).for_each(|of| *of = now);
            document.disk_check = document.disk_check.max(check);
            if document.job.is_none() {
                self.analyse(uri);
            }
        }
    }
}
