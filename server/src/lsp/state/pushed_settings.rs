//! What is wrong with a `fencepost.toml` that nobody has opened, for a client that asks for no diagnostics: it is pushed
//! under the file's own name. A client that asks is told by the kernel's document, or asks for the workspace.

use std::collections::BTreeMap;

use tower_lsp::ls_types::{Diagnostic, Uri};

use super::SessionState;

impl SessionState {
    /// Pushes what is wrong with the settings of the documents that are open, and takes back what no longer is.
    pub(super) fn push_settings(&mut self) {
        if self.shared.client.pull_diagnostics {
            return;
        }
        let is_open = |uri: &Uri| self.documents.contains_key(uri);
        let known = || self.documents.values().map(|document| document.known());
        let wrong = known().flatten().filter_map(|known| known.wrong_settings.as_ref());
        let now: BTreeMap<Uri, Vec<Diagnostic>> =
            wrong.filter(|it| !is_open(&it.uri)).map(|it| (it.uri.clone(), it.diagnostics.clone())).collect();
        // A document that is being analysed may say the same again.
        let is_all = known().all(|known| known.is_some());
        let mut before = std::mem::take(&mut self.pushed_settings);
        // What is open speaks for itself.
        before.retain(|uri, _| !is_open(uri));
        if is_all {
            for uri in before.keys().filter(|uri| !now.contains_key(*uri)) {
                self.sender.publish(uri.clone(), None, Vec::new());
            }
            before.clear();
        }
        for (uri, diagnostics) in now {
            if before.get(&uri) != Some(&diagnostics) {
                self.sender.publish(uri.clone(), None, diagnostics.clone());
            }
            before.insert(uri, diagnostics);
        }
        self.pushed_settings = before;
    }
}
