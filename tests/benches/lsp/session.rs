//! One session with a server: the wire, and waiting for what it says of a text.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::arguments::Server;
use crate::client::Client;
use crate::mirror::{Encoding, Mirror};

/// How long a server may be silent until what it said last counts as complete, where it does not say so itself.
const QUIET: Duration = Duration::from_millis(60);

/// How long a server that says that it is done may still send what it did.
const GRACE: Duration = Duration::from_millis(10);

/// How long a server that is asked to end may take.
const PARTING: Duration = Duration::from_secs(3);

/// How long anything is waited for.
const LIMIT: Duration = Duration::from_secs(60);

/// The notification by which Fencepost says how far the analysis of a document is.
const STATUS: &str = "fencepost/status";

pub(crate) struct Session {
    child: Child,
    stdin: ChildStdin,
    messages: Receiver<(Instant, Value)>,
    capabilities: Value,
    /// Whether the client asks for diagnostics, and whether it does so with this server.
    can_pull: bool,
    pulls: bool,
    pub(crate) encoding: Encoding,
    last_id: i64,
    /// Whether the server says itself when it is done.
    says_complete: bool,
}

/// What came of one text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shown {
    /// Until the status of each kernel said what its first runs show; `None` where it says nothing of kernels.
    pub(crate) told: Option<Duration>,
    /// Until the first diagnostics of the text; `None` where none came in time.
    pub(crate) first: Option<Duration>,
    /// Until the last.
    pub(crate) complete: Option<Duration>,
    /// How many there are then.
    pub(crate) count: usize,
}

/// A document that the session has open.
pub(crate) struct Open {
    pub(crate) uri: String,
    pub(crate) mirror: Mirror,
    pub(crate) version: i32,
}

impl Session {
    pub(crate) fn start(server: &Server, client: &Client, root: &Path) -> Option<Session> {
        let mut command = Command::new(&server.program);
        command.args(&server.arguments).current_dir(root);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().ok()?;
        let (stdin, stdout) = (child.stdin.take()?, child.stdout.take()?);
        let (send, messages) = channel();
        thread::spawn(move || {
            let mut from = BufReader::new(stdout);
            while let Some(message) = read(&mut from) {
                if send.send((Instant::now(), message)).is_err() {
                    break;
                }
            }
        });
        let mut session = Session {
            child,
            stdin,
            messages,
            capabilities: Value::Null,
            can_pull: client.pulls(),
            pulls: false,
            encoding: Encoding::Utf16,
            last_id: 0,
            says_complete: false,
        };
        let (answer, _) = session.ask("initialize", client.initialize(root))?;
        session.capabilities = answer["capabilities"].clone();
        session.encoding = Encoding::named(session.capabilities["positionEncoding"].as_str());
        session.pulls = session.can_pull && session.has("diagnosticProvider");
        session.notify("initialized", json!({}));
        Some(session)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Whether the server offers something.
    pub(crate) fn has(&self, provider: &str) -> bool {
        !matches!(self.capabilities.get(provider), None | Some(Value::Null | Value::Bool(false)))
    }

    pub(crate) fn open(&mut self, path: &Path, text: String) -> (Open, Shown) {
        let sent = Instant::now();
        let open = self.open_now(path, text);
        let shown = self.settle(&open, sent, QUIET);
        (open, shown)
    }

    /// Sends an edit without waiting.
    pub(crate) fn send_edit(&mut self, open: &mut Open, start: usize, end: usize, with: &str) -> Instant {
        let changes = open.mirror.edit(start, end, with, self.encoding);
        open.version += 1;
        let document = json!({ "uri": open.uri, "version": open.version });
        let sent = Instant::now();
        self.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
        sent
    }

    /// Sends an edit and waits for what the server says of it.
    pub(crate) fn edit(&mut self, open: &mut Open, start: usize, end: usize, with: &str) -> Shown {
        let sent = self.send_edit(open, start, end, with);
        self.settle(open, sent, QUIET)
    }

    /// Opens a document without waiting for what is said of it.
    pub(crate) fn open_now(&mut self, path: &Path, text: String) -> Open {
        let uri = crate::client::uri(path);
        let language = if path.extension().is_some_and(|ending| ending == "py") { "python" } else { "ttgir" };
        let document = json!({ "uri": uri, "languageId": language, "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
        Open { uri, mirror: Mirror::new(text), version: 1 }
    }

    /// All that comes in until a moment, but what the server asks: that is answered.
    pub(crate) fn messages_until(&mut self, until: Instant) -> Vec<(Instant, Value)> {
        let mut all = Vec::new();
        loop {
            let wait = until.saturating_duration_since(Instant::now());
            match self.messages.recv_timeout(wait) {
                Ok((at, message)) if !self.answer(&message) => all.push((at, message)),
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => return all,
                Err(RecvTimeoutError::Disconnected) => {
                    thread::sleep(wait);
                    return all;
                }
            }
        }
    }

    /// Whether diagnostics are asked for rather than waited for.
    pub(crate) fn pulls(&self) -> bool {
        self.pulls
    }

    /// The number of the newest request.
    pub(crate) fn last_id(&self) -> i64 {
        self.last_id
    }

    pub(crate) fn close(&mut self, open: &Open) {
        self.notify("textDocument/didClose", json!({ "textDocument": { "uri": open.uri } }));
    }

    /// Waits for the diagnostics of a document's present text.
    pub(crate) fn settle(&mut self, open: &Open, sent: Instant, quiet: Duration) -> Shown {
        let mut shown = Shown::default();
        let mut pull = self.pulls.then(|| self.pull(open));
        let (mut complete, mut again, mut pulled_last) = (false, false, false);
        let mut last = sent;
        let mut told: BTreeMap<String, Instant> = BTreeMap::new();
        loop {
            let waited = if complete && pull.is_none() {
                (last + GRACE).saturating_duration_since(Instant::now())
            } else if shown.first.is_some() && pull.is_none() && !self.says_complete {
                (last + quiet).saturating_duration_since(Instant::now())
            } else {
                (sent + LIMIT).saturating_duration_since(Instant::now())
            };
            let (at, message) = match self.messages.recv_timeout(waited) {
                Ok(arrived) => arrived,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            };
            if self.answer(&message) {
                let registered = self.pulls && shown.first.is_none() && pull.is_none();
                if registered || (message["method"] == "workspace/diagnostic/refresh" && self.pulls) {
                    again = true;
                    if pull.is_none() {
                        (pull, again) = (Some(self.pull(open)), false);
                    }
                }
                continue;
            }
            if message["method"] == STATUS && message["params"]["uri"] == open.uri.as_str() {
                self.says_complete = true;
                let version = message["params"]["version"].as_i64();
                last = last.max(at);
                if version == Some(i64::from(open.version)) {
                    for kernel in message["params"]["kernels"].as_array().into_iter().flatten() {
                        told.entry(kernel["name"].to_string()).or_insert(at);
                    }
                    shown.told = told.values().max().map(|at| *at - sent);
                }
                complete = version == Some(i64::from(open.version)) && message["params"]["state"] == "done";
                if complete && shown.first.is_some() {
                    shown.complete = Some(at - sent);
                    if self.pulls && !std::mem::replace(&mut pulled_last, true) {
                        // What was answered before may be a start only.
                        again = pull.is_some();
                        pull = pull.or_else(|| Some(self.pull(open)));
                    }
                }
                continue;
            }
            let items = if message["method"] == "textDocument/publishDiagnostics" {
                let parameters = &message["params"];
                let version = parameters["version"].as_i64();
                let own = parameters["uri"] == open.uri.as_str()
                    && version.is_none_or(|version| version == i64::from(open.version));
                if !own || self.pulls {
                    continue;
                }
                parameters["diagnostics"].as_array()
            } else if pull.is_some() && message["id"].as_i64() == pull {
                pull = None;
                if again || message.get("error").is_some() {
                    (pull, again) = (Some(self.pull(open)), false);
                }
                if message.get("error").is_some() {
                    continue;
                }
                message["result"]["items"].as_array()
            } else {
                continue;
            };
            last = last.max(at);
            shown.first.get_or_insert(at - sent);
            shown.complete = Some(at - sent);
            shown.count = items.map_or(0, Vec::len);
        }
        if complete && shown.first.is_none() {
            // It had nothing to say that it had not said before.
            (shown.first, shown.complete) = (Some(last - sent), Some(last - sent));
        }
        shown
    }

    fn pull(&mut self, open: &Open) -> i64 {
        self.send_request("textDocument/diagnostic", json!({ "textDocument": { "uri": open.uri } }))
    }

    /// A request and the time until its answer.
    pub(crate) fn ask(&mut self, method: &str, parameters: Value) -> Option<(Value, Duration)> {
        let sent = Instant::now();
        let id = self.send_request(method, parameters);
        loop {
            let wait = (sent + LIMIT).saturating_duration_since(Instant::now());
            let (at, message) = self.messages.recv_timeout(wait).ok()?;
            if !self.answer(&message) && message["id"].as_i64() == Some(id) {
                return message.get("error").is_none().then(|| (message["result"].clone(), at - sent));
            }
        }
    }

    /// What has come in by now: notifications of diagnostics of a document, with their times. Of a client that asks, the
    /// answers.
    pub(crate) fn arrived(&mut self, open: &Open, until: Instant) -> Vec<Instant> {
        let mut all = Vec::new();
        let mut pull = self.pulls.then(|| self.pull(open));
        loop {
            let wait = until.saturating_duration_since(Instant::now());
            let Ok((at, message)) = self.messages.recv_timeout(wait) else { break };
            let refresh = self.answer(&message) && message["method"] == "workspace/diagnostic/refresh";
            if refresh && self.pulls && pull.is_none() {
                pull = Some(self.pull(open));
            }
            let pushed = message["method"] == "textDocument/publishDiagnostics"
                && message["params"]["uri"] == open.uri.as_str()
                && !self.pulls;
            let pulled = pull.is_some() && message["id"].as_i64() == pull && message.get("method").is_none();
            if pulled {
                pull = None;
            }
            if pushed || (pulled && message.get("error").is_none()) {
                all.push(at);
            }
        }
        all
    }

    pub(crate) fn send_request(&mut self, method: &str, parameters: Value) -> i64 {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }));
        id
    }

    pub(crate) fn notify(&mut self, method: &str, parameters: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": parameters }));
    }

    /// Answers a request of the server; whether it was one.
    fn answer(&mut self, message: &Value) -> bool {
        let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) else { return false };
        let result = match method {
            "workspace/configuration" => {
                let items = message["params"]["items"].as_array().map_or(0, Vec::len);
                Value::Array(vec![Value::Null; items])
            }
            "client/registerCapability" => {
                let registered = message["params"]["registrations"].as_array();
                let of = |one: &Value| one["method"] == "textDocument/diagnostic";
                self.pulls |= self.can_pull && registered.is_some_and(|all| all.iter().any(of));
                Value::Null
            }
            _ => Value::Null,
        };
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
        true
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        // A server that has ended is seen when nothing comes.
        let _ = write!(self.stdin, "Content-Length: {}\r\n\r\n{text}", text.len());
        let _ = self.stdin.flush();
    }
}

/// A server that is asked to end may write what it has counted (`cargo xtask dist --profiled`); one that does not
/// is killed.
impl Drop for Session {
    fn drop(&mut self) {
        self.send_request("shutdown", Value::Null);
        self.notify("exit", Value::Null);
        let asked = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) && asked.elapsed() < PARTING {
            thread::sleep(GRACE);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read(from: &mut impl BufRead) -> Option<Value> {
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
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
