//! What is wrong with a `fencepost.toml` that nobody has opened, for a client that asks for no diagnostics: it is pushed
//! under the file's own name. A client that asks is told by the kernel's document, or asks for the workspace.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::Source;
use ropey::Rope;
use settings::FILE;
use tower_lsp::ls_types::{Diagnostic, Uri};
use workspace::{Configuration, settings_problems};

use super::SessionState;
use crate::lsp::diagnostics;
use crate::lsp::snapshot::{Snapshot, WrongSettings};

/// What there is to push of the settings that hold for a document; `None` where nothing is wrong with them, and where the
/// client is told by the document itself.
pub(super) fn wrong_settings(snapshot: &Snapshot, configuration: &Configuration) -> Option<WrongSettings> {
    if snapshot.client.pull_diagnostics || configuration.problems.is_empty() {
        return None;
    }
    let uri = Uri::from_file_path(configuration.folder.as_ref()?.join(FILE))?;
    let text = configuration.wrong.clone().unwrap_or_default();
    let problems = match &configuration.wrong {
        Some(text) => settings_problems(text),
        None => configuration.problems.clone(),
    };
    let rope = Rope::from_str(&text);
    let file = Snapshot { uri: uri.clone(), rope, source: Arc::new(Source::Other(text)), ..snapshot.clone() };
    let diagnostics = problems.iter().map(|problem| diagnostics::problem(&file, problem)).collect();
    Some(WrongSettings { uri, diagnostics })
}

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
