//! Kernels that are run.

use tower_lsp::ls_types::Uri;

use super::{SessionState, StateMessage};
use crate::lsp::runs::diagnostics::{MarkSource, Marks};
use crate::lsp::runs::{self, ActiveRun, RunContext, RunKernelParams, RunOutcome};

impl SessionState {
    /// By what a run tells of itself.
    pub(super) fn run_context(&self) -> RunContext {
        RunContext { client: self.client.clone(), sender: self.sender.clone(), active_runs: self.active_runs.clone() }
    }

    pub(super) fn start_run(&mut self, request: RunKernelParams) {
        let uri = request.uri.clone();
        let Some(document) = self.documents.get_mut(&uri) else {
            self.sender.show_error("fencepost: the file is not open, so nothing of it is run".to_owned());
            return;
        };
        if let Err(why) = self.shared.client.runs.check(&request) {
            self.sender.show_error(format!("fencepost: {why}"));
            return;
        }
        if self.runs.contains_key(&uri) {
            self.sender.show("fencepost: a kernel of this file is being run".to_owned());
            return;
        }
        if !std::mem::take(&mut document.run).is_empty() {
            self.publish_run(&uri);
        }
        let Some(document) = self.documents.get(&uri) else { return };
        self.last_id += 1;
        let (id, run) = (self.last_id, ActiveRun::new(self.last_id));
        let context = self.run_context();
        let snapshot = self.shared.snapshot(&uri, document);
        self.runs.insert(uri.clone(), run.clone());
        let messages = self.messages.clone();
        self.runtime.spawn(async move {
            let outcome = runs::run(&context, request, &run, snapshot).await;
            // A closed channel means that the process is about to end.
            let _ = messages.send(StateMessage::RunEnded { uri, id, outcome });
        });
    }

    pub(super) fn run_ended(&mut self, uri: &Uri, id: u64, outcome: RunOutcome) {
        if self.runs.get(uri).is_some_and(|run| run.id == id) {
            self.runs.remove(uri);
        }
        let Some(document) = self.documents.get_mut(uri) else { return };
        match outcome {
            RunOutcome::Dropped => {}
            RunOutcome::Refused(why) => self.sender.show_error(format!("fencepost: {why}")),
            RunOutcome::Finished { generation, summary, .. } if generation != document.generation => {
                let stale = "that is of an earlier text, so nothing is marked in this one";
                self.sender.show(format!("fencepost: {summary}; {stale}"));
            }
            RunOutcome::Finished { diagnostics, summary, .. } => {
                document.run = Marks::new(MarkSource::Run, diagnostics);
                self.sender.show(format!("fencepost: {summary}"));
                self.publish_run(uri);
            }
        }
    }

    /// Publishes what came of a run. A client that asks for diagnostics itself keeps those apart from these.
    pub(super) fn publish_run(&mut self, uri: &Uri) {
        let Some(document) = self.documents.get_mut(uri) else { return };
        let mut diagnostics = document.run_diagnostics(uri, &self.shared.client);
        if !self.shared.client.pull_diagnostics {
            document.published = true;
            diagnostics.extend(document.analysis.iter().flat_map(|known| known.diagnostics.clone()));
        }
        self.sender.publish(uri.clone(), Some(document.version), diagnostics);
    }
}
