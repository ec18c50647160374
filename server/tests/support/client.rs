//! A small LSP client over stdio, for tests of the real binary and benchmarks beside other servers.
//!
//! It reads on a thread of its own, so that a test waits for an event and never for the clock.

#![allow(dead_code, reason = "each crate that includes this file uses a part of it")]

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Longer than anything here takes on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A running server.
pub(crate) struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// Notifications and requests of the server that nobody has waited for yet.
    waiting: VecDeque<Value>,
    next_id: i64,
    /// The result of `initialize`.
    pub info: Value,
}

impl Server {
    /// Starts a server and introduces a client with these capabilities.
    pub(crate) fn spawn(command: Command, capabilities: Value) -> Server {
        Server::spawn_with(command, capabilities, Value::Null)
    }

    /// The same with options of the client.
    pub(crate) fn spawn_with(command: Command, capabilities: Value, options: Value) -> Server {
        let params = json!({ "processId": null, "rootUri": null, "capabilities": capabilities,
            "initializationOptions": options });
        Server::initialize(command, params)
    }

    /// Starts a server for a client that is another process.
    pub(crate) fn spawn_for(process: u32, command: Command) -> Server {
        Server::initialize(command, json!({ "processId": process, "rootUri": null, "capabilities": {} }))
    }

    /// The same in a workspace with these folders; columns are counted in bytes.
    pub(crate) fn spawn_in(command: Command, mut capabilities: Value, folders: &Value) -> Server {
        capabilities["general"] = json!({ "positionEncodings": ["utf-8"] });
        let params = json!({ "processId": null, "rootUri": null, "capabilities": capabilities,
            "workspaceFolders": folders });
        Server::initialize(command, params)
    }

    /// Starts a server with these parameters of `initialize`.
    pub(crate) fn initialize(mut command: Command, params: Value) -> Server {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the server starts");
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let (send, messages) = channel();
        std::thread::spawn(move || {
            let mut stdout = stdout;
            while let Some(message) = read_message(&mut stdout) {
                if send.send(message).is_err() {
                    break;
                }
            }
        });
        let mut server = Server { child, stdin, messages, waiting: VecDeque::new(), next_id: 0, info: Value::Null };
        server.info = server.request("initialize", params).expect("initialize succeeds");
        server.notify("initialized", json!({}));
        server
    }

    /// Sends raw bytes.
    pub(crate) fn send_raw(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        stdin.write_all(bytes).expect("the server reads");
        stdin.flush().expect("the server reads");
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        self.send_raw(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }

    /// Sends a notification.
    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request and gives its number.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> i64 {
        self.next_id += 1;
        let id = self.next_id;
        // `shutdown` takes no parameters, and tower-lsp insists.
        let message = match params {
            Value::Null => json!({ "jsonrpc": "2.0", "id": id, "method": method }),
            params => json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }),
        };
        self.send(&message);
        id
    }

    /// Sends a request and waits for its result or error.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.ask(method, params);
        self.answer(id)
    }

    /// Waits for the answer to a request.
    pub(crate) fn answer(&mut self, id: i64) -> Result<Value, Value> {
        let mine = |message: &Value| message.get("method").is_none() && message["id"] == json!(id);
        let message = self.wait(&format!("answer {id}"), mine);
        match message.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(message["result"].clone()),
        }
    }

    /// Waits for the answer to a request whose number is a name.
    pub(crate) fn named_answer(&mut self, id: &str) -> Value {
        let answer = self.wait(&format!("answer {id}"), |message| message["id"] == json!(id));
        // What else has come is nobody's.
        self.waiting.clear();
        answer
    }

    /// Waits for the error that answers a message nobody could read.
    pub(crate) fn answer_without_id(&mut self) -> Value {
        self.wait("an error", |message| message.get("method").is_none() && message["id"].is_null())["error"].clone()
    }

    /// Waits for a notification or request of the server.
    pub(crate) fn event(&mut self, method: &str) -> Value {
        self.wait(method, |message| message["method"] == json!(method))
    }

    /// Answers a request of the server.
    pub(crate) fn respond(&mut self, request: &Value, result: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }));
    }

    /// Answers with nothing the requests of the server of this kind that have come.
    pub(crate) fn answer_all(&mut self, method: &str) {
        for request in self.pending(method) {
            self.waiting.retain(|waiting| waiting != &request);
            self.respond(&request, Value::Null);
        }
    }

    /// Waits for the diagnostics of a version.
    pub(crate) fn diagnostics(&mut self, uri: &str, version: i32) -> Vec<Value> {
        let wanted = |message: &Value| {
            message["method"] == json!("textDocument/publishDiagnostics")
                && message["params"]["uri"] == json!(uri)
                && message["params"]["version"] == json!(version)
        };
        let message = self.wait(&format!("diagnostics of {uri} {version}"), wanted);
        message["params"]["diagnostics"].as_array().cloned().unwrap_or_default()
    }

    /// Messages of this kind that have come and that nobody has waited for.
    pub(crate) fn pending(&mut self, method: &str) -> Vec<Value> {
        while let Ok(message) = self.messages.try_recv() {
            self.waiting.push_back(message);
        }
        self.waiting.iter().filter(|message| message["method"] == json!(method)).cloned().collect()
    }

    /// Throws away messages of this kind that have come.
    pub(crate) fn forget(&mut self, method: &str) {
        self.pending(method);
        self.waiting.retain(|message| message["method"] != json!(method));
    }

    /// The number of the process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    fn wait(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.waiting.iter().position(&wanted) {
            return self.waiting.remove(at).expect("it is there");
        }
        let until = Instant::now() + TIMEOUT;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.messages.recv_timeout(left) {
                Ok(message) if wanted(&message) => return message,
                Ok(message) => self.waiting.push_back(message),
                Err(error) => panic!("waited for {what}: {error}; unread: {:?}", self.waiting),
            }
        }
    }

    /// Opens a document as version 1.
    pub(crate) fn open(&mut self, uri: &str, text: &str) {
        self.open_as("ttgir", uri, text);
    }

    /// Opens a document of some language as version 1.
    pub(crate) fn open_as(&mut self, language: &str, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": language, "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Replaces a range, or the whole text.
    pub(crate) fn change(&mut self, uri: &str, version: i32, range: Option<Value>, text: &str) {
        let change = match range {
            Some(range) => json!({ "range": range, "text": text }),
            None => json!({ "text": text }),
        };
        let document = json!({ "uri": uri, "version": version });
        self.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [change] }));
    }

    /// A request about a place.
    pub(crate) fn at(&mut self, method: &str, uri: &str, line: usize, character: usize) -> Result<Value, Value> {
        self.request(method, place(uri, line, character))
    }

    /// Shuts down as the protocol asks and gives the exit code; stdin stays open.
    pub(crate) fn shutdown(mut self) -> ExitStatus {
        self.request("shutdown", Value::Null).expect("shutdown succeeds");
        self.notify("exit", Value::Null);
        self.exit_status()
    }

    /// Closes stdin and gives the exit code.
    pub(crate) fn close_stdin(mut self) -> ExitStatus {
        self.stdin = None;
        self.exit_status()
    }

    /// Waits for the end of the process; its closed stdout says when.
    pub(crate) fn exit_status(&mut self) -> ExitStatus {
        let until = Instant::now() + TIMEOUT;
        while let Ok(message) = self.messages.recv_timeout(until.saturating_duration_since(Instant::now())) {
            self.waiting.push_back(message);
        }
        assert!(Instant::now() < until, "the server does not end");
        self.child.wait().expect("the server ends")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Parameters of a request about a place.
pub(crate) fn place(uri: &str, line: usize, character: usize) -> Value {
    json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": character } })
}

/// A range.
pub(crate) fn range(start: (usize, usize), end: (usize, usize)) -> Value {
    json!({
        "start": { "line": start.0, "character": start.1 },
        "end": { "line": end.0, "character": end.1 },
    })
}

fn read_message(from: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if from.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("Content-Length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
