//! `initialize`: what the client can do, and where its workspace is.

use std::path::PathBuf;

use serde_json::Value;
use tower_lsp::ls_types::{InitializeParams, InitializeResult, ServerInfo, Uri};

use crate::lsp::capabilities::server_capabilities;
use crate::lsp::client_config::ClientConfig;
use crate::lsp::runs::params::RunCapabilities;
use workspace::absolute;

/// What the client has said about itself.
pub(crate) fn client_config(params: &InitializeParams) -> ClientConfig {
    ClientConfig::new(&params.capabilities, RunCapabilities::new(params.initialization_options.as_ref()))
}

/// What the server says about itself.
pub(crate) fn result(client: &ClientConfig) -> InitializeResult {
    let version = Some(env!("CARGO_PKG_VERSION").to_owned());
    InitializeResult {
        capabilities: server_capabilities(client),
        server_info: Some(ServerInfo { name: "fencepost".to_owned(), version }),
        ..InitializeResult::default()
    }
}

/// The settings among the client's options: those below `settings`, or else all of them.
pub(crate) fn settings(params: &InitializeParams) -> Value {
    let options = params.initialization_options.clone().unwrap_or_default();
    match options.get("settings") {
        Some(settings) => settings.clone(),
        None => options,
    }
}

/// The folders of the workspace.
pub(crate) fn folders(params: &InitializeParams) -> Vec<PathBuf> {
    let named = params.workspace_folders.iter().flatten().filter_map(|folder| folder.uri.to_file_path());
    let mut folders: Vec<PathBuf> = named.map(|path| absolute(&path)).collect();
    #[allow(deprecated, reason = "clients that know no folders name a root")]
    if let (true, Some(root)) = (folders.is_empty(), params.root_uri.as_ref().and_then(Uri::to_file_path)) {
        folders.push(absolute(&root));
    }
    folders
}
