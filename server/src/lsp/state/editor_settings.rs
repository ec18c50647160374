//! What the editor says of its settings.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use tower_lsp::ls_types::Uri;

use super::SessionState;
use crate::lsp::conversation;
use crate::lsp::document::DiskCheck;

impl SessionState {
    /// Begins what is asked of the client.
    pub(super) fn initialized(&mut self) {
        let (client, config, messages) = (self.client.clone(), self.shared.client.clone(), self.messages.clone());
        if !config.watches_files {
            self.watch_files();
        }
        self.runtime.spawn(async move { conversation::begin(client, &config, messages).await });
    }

    /// The client does not watch files, so the loader does.
    pub(super) fn watch_files(&self) {
        if let Some(loader) = &self.shared.loader {
            loader.watch();
        }
    }

    /// The client says that its settings have changed, and what they are unless it is to be asked.
    pub(super) fn settings_announced(&mut self, settings: &Value) {
        if self.shared.client.gives_settings {
            let (client, messages) = (self.client.clone(), self.messages.clone());
            self.runtime.spawn(conversation::ask_settings(client, messages));
        } else if let Some(settings) = conversation::sent_settings(settings) {
            self.settings_changed(&settings);
        }
    }

    /// Takes over what the editor said when the session began: it holds where its settings say nothing.
    pub(super) fn options_given(&mut self, options: &Value) {
        self.options = settings::read_editor(options).0;
        self.settings_changed(options);
    }

    /// Takes over what the editor says. Settings of files are stronger.
    pub(super) fn settings_changed(&mut self, settings: &Value) {
        let (settings, wrong) = settings::read_editor(settings);
        let settings = settings.over(&self.options);
        if !wrong.is_empty() && self.wrong_settings != wrong {
            self.sender.show_error(format!("fencepost: settings of the editor: {}", wrong.join("; ")));
        }
        self.wrong_settings = wrong;
        if *self.shared.workspace.editor == settings {
            return;
        }
        if settings.python != self.shared.workspace.editor.python {
            let config = Arc::make_mut(&mut self.shared.client);
            config.runs = config.runs.with_python(settings.python.as_deref());
        }
        self.workspace().editor = Arc::new(settings);
        self.workspace_changed();
        let all: Vec<Uri> = self.documents.keys().cloned().collect();
        self.analyse_again(all, DiskCheck::None);
    }

    /// The client is told of the files of settings of these folders by what it asks for, and of no others.
    pub(super) fn settings_told(&mut self, folders: BTreeSet<PathBuf>) {
        self.shared.told_settings = Arc::new(folders);
        self.push_settings();
    }
}
