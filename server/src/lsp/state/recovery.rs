//! What becomes of a document whose message could not be handled, since handling it panicked.

use std::sync::Arc;

use engine::Analysis;
use tower_lsp::ls_types::Uri;

use super::{SessionState, StateMessage};
use crate::lsp::diagnostics::{self, CutOff};
use crate::lsp::document::AnalysisJob;
use crate::lsp::panics::{catch_panic, inject};

impl SessionState {
    /// Handles a message; a panic costs what it was about, not the session.
    pub(super) fn handle_safely(&mut self, message: StateMessage) {
        let (what, uri) = message.about();
        // Counted in any case.
        let ended = matches!(message, StateMessage::AnalysisEnded { .. });
        self.running -= usize::from(ended);
        let is_text = matches!(message, StateMessage::Open { .. } | StateMessage::Change { .. });
        let sender = self.sender.clone();
        let Err(panic) = catch_panic(what, &sender, || self.handle(message)) else { return };
        let Some(uri) = uri else { return };
        // Whatever is left half done may panic again.
        let _ = catch_panic("putting that right", &sender, || {
            if is_text {
                self.lose_track(&uri, panic)
            } else {
                self.give_up(&uri, panic)
            }
            self.start_queued();
        });
    }

    /// Ends what goes on for a document without an outcome: who waits for it is answered, and the next edit starts
    /// anew.
    fn give_up(&mut self, uri: &Uri, why: String) {
        self.runs.remove(uri);
        let Some(document) = self.documents.get_mut(uri) else { return };
        document.jobs().for_each(AnalysisJob::cancel);
        (document.job, document.superseded) = (None, None);
        (document.interim, document.settled) = (None, None);
        if document.analysis.is_none() {
            let snapshot = self.shared.snapshot(uri, document);
            let said = diagnostics::document_analysis(&snapshot, Analysis::default(), None, Some(CutOff::Failed(why)));
            let said = Arc::new(said);
            document.analysis = Some(said.clone());
            if !self.shared.client.pull_diagnostics {
                document.published = true;
                self.sender.publish(uri.clone(), Some(document.version), said.diagnostics.clone());
            }
        }
        self.answer_waiting(uri);
        inject("the state: putting right");
    }
}
