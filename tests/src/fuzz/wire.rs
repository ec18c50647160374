//! The wire of the real server: whatever bytes come, it lives and answers the next message.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::rc::Rc;

use serde_json::{Value, json};

use super::memory::Process;
use super::mutate;
use super::target::{LIMIT, Target};
use crate::lsp::client::Server;
use crate::lsp::requests;
use crate::sources::root;

const URI: &str = "file:///fuzzed.ttgir";

/// A server that is asked again and again, and how many inputs it has had.
#[derive(Default)]
struct Asked {
    server: RefCell<Option<Server>>,
    process: Cell<Option<u32>>,
    inputs: Cell<u64>,
}

/// After so many inputs the server is a new one: what documents they left open is not what is looked for.
const INPUTS: u64 = 200;

impl Asked {
    fn start(&self, program: &PathBuf) -> Server {
        let mut command = Command::new(program);
        command.arg("lsp").stderr(Stdio::null());
        let server = Server::spawn(command, json!({}));
        self.process.set(Some(server.process()));
        server
    }

    /// Sends the bytes, then a request, and waits for its answer.
    fn read(&self, program: &PathBuf, bytes: &[u8]) {
        let kept = self.server.borrow_mut().take();
        let old = self.inputs.replace(self.inputs.get() + 1).is_multiple_of(INPUTS);
        let mut server = kept.filter(|_| !old).unwrap_or_else(|| self.start(program));
        server.send_raw(bytes);
        // A name that no input has.
        let id = format!("probe {}", self.inputs.get());
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": "textDocument/hover",
            "params": { "textDocument": { "uri": URI }, "position": { "line": 0, "character": 0 } } });
        server.send_raw(&framed(&message));
        server.named_answer(&id);
        *self.server.borrow_mut() = Some(server);
    }
}

/// A message with its header.
fn framed(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// The target, with this server.
pub(super) fn target(program: PathBuf) -> Target {
    let asked = Rc::new(Asked::default());
    let of = asked.clone();
    Target {
        name: "wire",
        inputs: inputs(),
        mutate: mutate::mutated,
        read: Box::new(move |bytes, _| asked.read(&program, bytes)),
        limit: LIMIT,
        process: Box::new(move || of.process.get().map_or(Process::Own, Process::Other)),
    }
}

/// Parts of sessions, each some messages.
fn inputs() -> Vec<Vec<u8>> {
    let text = std::fs::read_to_string(root().join("kernels/ring_not_waited.ttgir")).unwrap_or_default();
    let document = json!({ "uri": URI, "languageId": "ttgir", "version": 1, "text": text });
    let opened = json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": { "textDocument": document } });
    let changed = |version: i32, with: &str| {
        let range = json!({ "start": { "line": 3, "character": 0 }, "end": { "line": 3, "character": 2 } });
        let params = json!({ "textDocument": { "uri": URI, "version": version },
            "contentChanges": [{ "range": range, "text": with }] });
        json!({ "jsonrpc": "2.0", "method": "textDocument/didChange", "params": params })
    };
    let closed = json!({ "jsonrpc": "2.0", "method": "textDocument/didClose",
        "params": { "textDocument": { "uri": URI } } });
    let other =
        |method: &str| json!({ "jsonrpc": "2.0", "id": 5, "method": method, "params": { "a": [1, null, "b"] } });
    let cancel = json!({ "jsonrpc": "2.0", "method": "$/cancelRequest", "params": { "id": 3 } });
    let answer = json!({ "jsonrpc": "2.0", "id": 3, "result": { "applied": true } });
    let deep = format!("{}1{}", "[".repeat(300), "]".repeat(300));
    let deep = format!("{{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"textDocument/hover\",\"params\":{deep}}}");
    let deep = format!(
        "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: {}\r\n\r\n{deep}",
        deep.len()
    );
    let capabilities = json!({ "hoverProvider": true, "definitionProvider": true, "referencesProvider": true,
        "documentSymbolProvider": true, "foldingRangeProvider": true, "inlayHintProvider": true,
        "codeActionProvider": true, "completionProvider": {}, "renameProvider": true, "diagnosticProvider": {},
        "semanticTokensProvider": {}, "selectionRangeProvider": true });
    let mut parts = vec![
        vec![opened.clone(), changed(2, "x"), changed(3, ""), cancel],
        vec![opened.clone(), closed],
        vec![other("textDocument/unknown"), other("$/unknown"), answer],
        vec![json!([1, 2]), json!(7), json!({ "jsonrpc": "1.0" })],
    ];
    let asked = requests::examples(&capabilities, URI, &text).into_iter().enumerate();
    let asked =
        asked.map(|(id, (method, params))| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    parts.extend(asked.map(|request| vec![request]));
    let bytes = parts.iter().map(|part| part.iter().flat_map(framed).collect());
    bytes.chain([deep.into_bytes()]).collect()
}
