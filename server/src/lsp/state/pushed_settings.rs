//! What is wrong with a `fencepost.toml` that nobody has opened: it is pushed under the file's own name, to clients that
//! ask for diagnostics too, since most of them ask for documents that are open alone. Who asks for the workspace is told
//! by the answer, and what was pushed is taken back.

use std::collections::BTreeMap;
use std::path::Path;

use settings::FILE;
use tower_lsp::ls_types::{Diagnostic, Uri};

use super::SessionState;

impl SessionState {
    /// Pushes what is wrong with the settings of the documents that are open, and takes back what no longer is.
    pub(super) fn push_settings(&mut self) {
        let is_open = |uri: &Uri| self.documents.contains_key(uri);
        let told = &self.shared.told_settings;
        let is_told = |uri: &Uri| {
            let path = uri.to_file_path();
            path.as_deref().and_then(Path::parent).is_some_and(|folder| told.contains(folder))
        };
        let known = || self.documents.values().map(|document| document.known());
        let wrong = known().flatten().filter_map(|known| known.wrong_settings.as_ref());
        let wrong = wrong.filter(|it| !is_open(&it.uri) && !is_told(&it.uri));
        let now: BTreeMap<Uri, Vec<Diagnostic>> = wrong.map(|it| (it.uri.clone(), it.diagnostics.clone())).collect();
        // A document that is being analysed may say the same again.
        let is_all = known().all(|known| known.is_some());
        let mut before = std::mem::take(&mut self.pushed_settings);
        // What is open speaks for itself: what it pushes takes the place of this, what is asked for does not.
        let pulls = self.shared.client.pull_diagnostics;
        before.retain(|uri, _| {
            let elsewhere = is_told(uri) || is_open(uri);
            if elsewhere && (pulls || !is_open(uri)) {
                self.sender.publish(uri.clone(), None, Vec::new());
            }
            !elsewhere
        });
        if is_all {
            for uri in before.keys().filter(|uri| !now.contains_key(*uri)) {
                self.sender.publish(uri.clone(), None, Vec::new());
            }
        }
        for (uri, diagnostics) in &now {
            if before.get(uri) != Some(diagnostics) {
                self.sender.publish(uri.clone(), None, diagnostics.clone());
                // Not every client shows that a file which is not open has diagnostics.
                self.sender.show_warning(words(diagnostics));
            }
        }
        if is_all {
            before.clear();
        }
        before.extend(now);
        self.pushed_settings = before;
    }
}

/// What is wrong, in a line.
fn words(diagnostics: &[Diagnostic]) -> String {
    let Some(first) = diagnostics.first() else { return String::new() };
    let more = match diagnostics.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    format!("in `{FILE}`, line {}: {}{more}", first.range.start.line + 1, first.message)
}
