//! What the server asks of the client once the session runs: to watch files, to say when its settings change, and
//! what they are. Each from a task of its own with a time limit, so that a client that does not answer costs nothing.

use std::path::PathBuf;

use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::timeout;
use tower_lsp::ls_types::{ConfigurationItem, Registration, Uri};
use transport::Client;

use super::client_config::ClientConfig;
use super::state::StateMessage;
use crate::limits::client::QUESTION as TIMEOUT;

/// The section of the editor's settings.
pub(crate) const SECTION: &str = "fencepost";

/// Files whose changes matter, wherever they are.
const WATCHED: [&str; 4] = ["**/*.py", "**/fencepost.toml", "**/.fencepost/**", "**/*.{ttgir,ttir}"];

/// Registers what the client registers dynamically, and asks for its settings.
pub(crate) async fn begin(client: Client, config: &ClientConfig, state: UnboundedSender<StateMessage>) {
    let mut registrations = Vec::new();
    if config.watches_files {
        let watchers: Vec<Value> = WATCHED.iter().map(|pattern| json!({ "globPattern": pattern })).collect();
        registrations.push(Registration {
            id: "fencepost/files".to_owned(),
            method: "workspace/didChangeWatchedFiles".to_owned(),
            register_options: Some(json!({ "watchers": watchers })),
        });
    }
    if config.registers_settings {
        registrations.push(Registration {
            id: "fencepost/settings".to_owned(),
            method: "workspace/didChangeConfiguration".to_owned(),
            register_options: Some(json!({ "section": SECTION })),
        });
    }
    if !registrations.is_empty() {
        let asked = timeout(TIMEOUT, client.register_capability(registrations)).await;
        if !matches!(asked, Ok(Ok(()))) {
            // It said that it watches; now nobody does unless we do.
            tracing::warn!("the client registers nothing: {asked:?}");
            let _ = state.send(StateMessage::WatchFiles);
        }
    }
    if config.gives_settings {
        ask_settings(client, state).await;
    }
}

/// Has the client watch a folder in which Triton leaves kernels; whether it does.
pub(crate) async fn watch_dumps(client: Client, number: usize, folder: PathBuf) -> bool {
    let Some(base) = Uri::from_file_path(&folder) else { return false };
    let pattern = json!({ "baseUri": base, "pattern": "**/*.ttgir" });
    let registration = Registration {
        id: format!("fencepost/dumps/{number}"),
        method: "workspace/didChangeWatchedFiles".to_owned(),
        register_options: Some(json!({ "watchers": [{ "globPattern": pattern }] })),
    };
    matches!(timeout(TIMEOUT, client.register_capability(vec![registration])).await, Ok(Ok(())))
}

/// Asks for the editor's settings.
pub(crate) async fn ask_settings(client: Client, state: UnboundedSender<StateMessage>) {
    let item = ConfigurationItem { scope_uri: None, section: Some(SECTION.to_owned()) };
    match timeout(TIMEOUT, client.configuration(vec![item])).await {
        Ok(Ok(values)) => {
            if let Some(settings) = values.into_iter().next().filter(|value| !value.is_null()) {
                // A closed channel means that the process is about to end.
                let _ = state.send(StateMessage::SettingsChanged(settings));
            }
        }
        failed => tracing::warn!("the client does not say its settings: {failed:?}"),
    }
}

/// The settings in what a client sends unasked: below their section, or alone. `None` where it sends nothing, and is
/// to be asked.
pub(crate) fn sent_settings(settings: &Value) -> Option<Value> {
    match settings.get(SECTION) {
        Some(own) => Some(own.clone()),
        None => settings.as_object().filter(|object| !object.is_empty()).map(|_| settings.clone()),
    }
}
