//! Python files that are compiled by the user's own Triton when they are saved.

use tower_lsp::ls_types::Uri;

use super::{SessionState, StateMessage};
use crate::lsp::runs::ActiveRun;
use crate::lsp::runs::diagnostics::{MarkSource, Marks};
use crate::lsp::runs::on_save::{self, Compiled};

impl SessionState {
    /// A document was saved.
    pub(super) fn saved(&mut self, uri: Uri) {
        self.files_changed(std::slice::from_ref(&uri));
        if self.shared.workspace.editor.compile_on_save != Some(true) {
            return;
        }
        let Some(document) = self.documents.get(&uri).filter(|it| it.depends_on_disk() && it.out_of_sync.is_none())
        else {
            return;
        };
        if !self.shared.client.runs.trusted {
            if !std::mem::replace(&mut self.told_untrusted, true) {
                let why = "nothing is compiled on save in a workspace that is not trusted (option `trusted`)";
                self.sender.show_error(format!("fencepost: {why}"));
            }
            return;
        }
        self.last_id += 1;
        let (id, run) = (self.last_id, ActiveRun::new(self.last_id));
        let context = self.run_context();
        let snapshot = self.shared.snapshot(&uri, document);
        // What was saved before is of no more use.
        self.compilations.insert(uri.clone(), run.clone()).iter().for_each(ActiveRun::cancel);
        let messages = self.messages.clone();
        self.runtime.spawn(async move {
            let compiled = on_save::compile(&context, &run, snapshot).await;
            // A closed channel means that the process is about to end.
            let _ = messages.send(StateMessage::Compiled { uri, id, compiled });
        });
    }

    /// A compilation has ended; `None` where it was stopped.
    pub(super) fn compiled(&mut self, uri: &Uri, id: u64, compiled: Option<Compiled>) {
        if self.compilations.get(uri).is_none_or(|run| run.id != id) {
            return;
        }
        self.compilations.remove(uri);
        let Some(document) = self.documents.get_mut(uri) else { return };
        // What was typed meanwhile is compiled with the next save.
        let Some(compiled) = compiled.filter(|compiled| compiled.version == document.version) else { return };
        let before = std::mem::replace(&mut document.compiled, Marks::new(MarkSource::Triton, compiled.marks));
        if !before.is_empty() || !document.compiled.is_empty() {
            self.publish_run(uri);
        }
    }
}
