//! Editors, as they introduce themselves: the parameters of their `initialize` request.

use std::path::Path;

use serde_json::{Value, json};

/// The files of `tests/benches/clients`.
pub(crate) const CLIENTS: [&str; 4] = ["vscode", "neovim", "helix", "eglot"];

#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) name: String,
    parameters: Value,
}

impl Client {
    pub(crate) fn read(name: &str) -> Result<Client, String> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("benches/clients/{name}.json"));
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let parameters = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Client { name: name.to_owned(), parameters })
    }

    /// Whether it asks for diagnostics rather than waiting for them.
    pub(crate) fn pulls(&self) -> bool {
        self.parameters.pointer("/capabilities/textDocument/diagnostic").is_some()
    }

    /// Its request for a workspace.
    pub(crate) fn initialize(&self, root: &Path) -> Value {
        let uri = uri(root);
        let mut parameters = self.parameters.clone();
        // How a measurement knows that nothing more is to come; no editor's own.
        parameters["capabilities"]["experimental"] = json!({ "fencepostStatus": true });
        parameters["processId"] = json!(std::process::id());
        parameters["rootUri"] = json!(uri);
        parameters["workspaceFolders"] = json!([{ "uri": uri, "name": "bench" }]);
        parameters
    }
}

/// The name of a file in the protocol.
pub(crate) fn uri(path: &Path) -> String {
    let mut uri = "file://".to_owned();
    for byte in path.to_string_lossy().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => uri.push(char::from(byte)),
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}
