//! Kernels that are run.

use tower_lsp::ls_types::Uri;

use super::{SessionState, StateMessage};
use crate::lsp::position::Mapper;
use crate::lsp::runs::diagnostics::{self, MarkSource, Marks};
use crate::lsp::runs::waiting::{RunAnswer, RunWaiter};
use crate::lsp::runs::{self, ActiveRun, RunContext, RunKernelParams, RunOutcome, RunWords};

impl SessionState {
    /// By what a run tells of itself.
    pub(super) fn run_context(&self) -> RunContext {
        RunContext { client: self.client.clone(), sender: self.sender.clone(), active_runs: self.active_runs.clone() }
    }

    pub(super) fn start_run(&mut self, request: RunKernelParams, waiter: Option<RunWaiter>) {
        let uri = request.uri.clone();
        let Some(document) = self.documents.get_mut(&uri) else {
            self.refuse("the file is not open, so nothing of it is run".to_owned(), waiter);
            return;
        };
        if let Err(why) = self.shared.client.runs.check(&request) {
            self.refuse(why, waiter);
            return;
        }
        if self.runs.contains_key(&uri) {
            let why = "a kernel of this file is being run".to_owned();
            match waiter {
                None => self.sender.show(format!("fencepost: {why}")),
                waiter => self.refuse(why, waiter),
            }
            return;
        }
        if !std::mem::take(&mut document.run).is_empty() {
            self.publish_run(&uri);
        }
        let Some(document) = self.documents.get(&uri) else { return };
        self.last_id += 1;
        let id = self.last_id;
        let run = waiter.as_ref().map_or_else(|| ActiveRun::new(id), |waiter| ActiveRun::waited_for(id, waiter));
        let context = self.run_context();
        let snapshot = self.shared.snapshot(&uri, document);
        self.runs.insert(uri.clone(), run.clone());
        let messages = self.messages.clone();
        self.runtime.spawn(async move {
            let outcome = runs::run(&context, request, &run, snapshot).await;
            // A closed channel means that the process is about to end.
            let _ = messages.send(StateMessage::RunEnded { uri, id, outcome, waiter });
        });
    }

    /// Says why nothing is run: to who waits for it, else to everybody.
    fn refuse(&self, why: String, waiter: Option<RunWaiter>) {
        match waiter {
            Some(waiter) => waiter.tell(RunAnswer { state: "refused", summary: why, ..RunAnswer::default() }),
            None => self.sender.show_error(format!("fencepost: {why}")),
        }
    }

    pub(super) fn run_ended(&mut self, uri: &Uri, id: u64, outcome: RunOutcome, waiter: Option<RunWaiter>) {
        if self.runs.get(uri).is_some_and(|run| run.id == id) {
            self.runs.remove(uri);
        }
        let Some(document) = self.documents.get_mut(uri) else { return };
        match outcome {
            RunOutcome::Dropped => {}
            RunOutcome::Refused(why) => self.refuse(why, waiter),
            RunOutcome::Finished { version, state, words, seconds, .. } if version != document.version => {
                let summary =
                    format!("{}; that is of an earlier text, so nothing is marked in this one", words.summary);
                let details = words.details;
                match waiter {
                    None => self.sender.show(format!("fencepost: {summary}")),
                    Some(waiter) => {
                        let answer =
                            RunAnswer { state, summary, details, seconds, outdated: true, ..RunAnswer::default() };
                        waiter.tell(answer);
                    }
                }
            }
            RunOutcome::Finished { state, diagnostics, words: RunWords { summary, details }, seconds, .. } => {
                document.run = Marks::new(MarkSource::Run, diagnostics);
                match waiter {
                    None => self.sender.show(format!("fencepost: {summary}")),
                    Some(waiter) => {
                        let mapper = Mapper::new(&document.rope, self.shared.client.encoding);
                        let diagnostics = diagnostics::to_proto(&document.run, mapper, uri, &self.shared.client);
                        waiter.tell(RunAnswer { state, summary, details, diagnostics, seconds, outdated: false });
                    }
                }
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
            diagnostics.extend(document.known().into_iter().flat_map(|known| known.diagnostics.clone()));
        }
        self.sender.publish(uri.clone(), Some(document.version), diagnostics);
    }
}
