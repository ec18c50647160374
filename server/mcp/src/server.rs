//! The server: one thread reads messages and answers what takes no time, others make the calls of tools.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, BufRead, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use serde_json::{Map, Value, json};

use crate::bound;
use crate::limits::end::GRACE;
use crate::limits::messages::MESSAGE as MAX_MESSAGE;
use crate::message::{self, Failure, INVALID, METHOD, Message, PARAMS, PARSE};
use crate::tool::Tool;

/// The versions of the protocol that are spoken, the newest first.
const VERSIONS: [&str; 3] = ["2025-06-18", "2025-03-26", "2024-11-05"];

/// What is served.
#[derive(Clone, Copy, Debug)]
pub struct Service {
    /// The name of the program.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Its version.
    pub version: &'static str,
    /// What an agent is told at the start.
    pub instructions: &'static str,
    /// The tools.
    pub tools: &'static [Tool],
    /// Bytes of the stack of a call.
    pub stack: usize,
}

/// What a tool answers.
#[derive(Debug, Default)]
pub struct ToolAnswer {
    /// What people read.
    pub text: String,
    /// The same for programs.
    pub document: Option<Value>,
    /// Whether nothing came of the call.
    pub is_error: bool,
    /// Characters of the text at most, and half the bytes of the document.
    pub limit: usize,
}

impl ToolAnswer {
    /// An answer that says what is wrong, for the agent to read.
    pub fn error(problem: &str) -> ToolAnswer {
        ToolAnswer { text: problem.to_owned(), document: None, is_error: true, limit: bound::LIMIT }
    }

    fn value(self) -> Value {
        let text = bound::text(&self.text, self.limit);
        let mut value = json!({ "content": [{ "type": "text", "text": text }], "isError": self.is_error });
        if let Some(document) = self.document {
            value["structuredContent"] = bound::document(document, self.limit.saturating_mul(2));
        }
        value
    }
}

/// Makes a call of a tool. Where the flag is set nobody wants the answer any more.
pub type CallTool = dyn Fn(&Tool, &Map<String, Value>, &Arc<AtomicBool>) -> ToolAnswer + Send + Sync;

/// A call that waits or goes on.
struct Call {
    id: Value,
    tool: &'static Tool,
    arguments: Map<String, Value>,
    stop: Arc<AtomicBool>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Call>,
    /// Those that wait or go on, by their id.
    pending: BTreeMap<String, Arc<AtomicBool>>,
    closed: bool,
}

/// What the threads share.
struct Inner {
    out: Mutex<Box<dyn Write + Send>>,
    queue: Mutex<Queue>,
    /// A call came or ended.
    changed: Condvar,
    service: Service,
    call: Box<CallTool>,
}

/// The server of one client.
pub struct Server(Arc<Inner>);

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A call that panics holds no lock.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Server {
    /// A server that answers there.
    pub fn new(service: Service, out: Box<dyn Write + Send>, call: Box<CallTool>) -> Server {
        Server(Arc::new(Inner {
            out: Mutex::new(out),
            queue: Mutex::default(),
            changed: Condvar::new(),
            service,
            call,
        }))
    }

    /// Answers messages until there are no more.
    ///
    /// # Errors
    ///
    /// Where the input cannot be read, or no thread can be started.
    pub fn serve(&self, input: &mut impl BufRead) -> io::Result<()> {
        let workers = thread::available_parallelism().map_or(2, |cores| cores.get().clamp(2, 8));
        for _ in 0..workers {
            let inner = self.0.clone();
            thread::Builder::new().stack_size(self.0.service.stack).spawn(move || inner.work())?;
        }
        let mut line = Vec::new();
        loop {
            line.clear();
            if input.by_ref().take(MAX_MESSAGE).read_until(b'\n', &mut line)? == 0 {
                break;
            }
            if line.len() as u64 == MAX_MESSAGE && !line.ends_with(b"\n") {
                skip_line(input)?;
                self.0.send(&message::failed(&Value::Null, &Failure::new(INVALID, "the message is too large")));
            } else if !line.trim_ascii().is_empty() {
                self.receive(&line);
            }
        }
        self.0.close();
        Ok(())
    }

    fn receive(&self, line: &[u8]) {
        let value = match serde_json::from_slice::<Value>(line) {
            Ok(value) => value,
            Err(error) => {
                let failure = Failure::new(PARSE, format!("the message is no JSON: {error}"));
                return self.0.send(&message::failed(&Value::Null, &failure));
            }
        };
        match message::read(value) {
            Ok(Message::Batch(messages)) => {
                for value in messages {
                    match message::read(value) {
                        Ok(Message::Batch(_)) => {
                            let failure = Failure::new(INVALID, "a batch holds no batch");
                            self.0.send(&message::failed(&Value::Null, &failure));
                        }
                        Ok(message) => self.handle(message),
                        Err(answer) => self.0.send(&answer),
                    }
                }
            }
            Ok(message) => self.handle(message),
            Err(answer) => self.0.send(&answer),
        }
    }

    fn handle(&self, message: Message) {
        match message {
            Message::Request { id, method, params } => {
                let result = match method.as_str() {
                    "initialize" => Ok(self.0.service.initialized(&params)),
                    "ping" => Ok(json!({})),
                    "tools/list" => {
                        Ok(json!({ "tools": self.0.service.tools.iter().map(Tool::described).collect::<Vec<_>>() }))
                    }
                    "tools/call" => match self.0.enqueue(&id, &params) {
                        Ok(()) => return,
                        Err(failure) => Err(failure),
                    },
                    other => Err(Failure::new(METHOD, format!("there is no method `{other}`"))),
                };
                self.0.send(&message::answer(&id, result));
            }
            Message::Notification { method, params } if method == "notifications/cancelled" => {
                if let Some(id) = params.get("requestId") {
                    self.0.cancel(id);
                }
            }
            Message::Notification { .. } | Message::Response | Message::Batch(_) => {}
        }
    }
}

impl Inner {
    fn send(&self, message: &Value) {
        let mut out = locked(&self.out);
        // A client that reads no more will close its end.
        let _ = writeln!(out, "{message}").and_then(|()| out.flush());
    }

    fn enqueue(&self, id: &Value, params: &Map<String, Value>) -> Result<(), Failure> {
        let name = params.get("name").and_then(Value::as_str).unwrap_or("");
        let Some(tool) = self.service.tools.iter().find(|tool| tool.name == name) else {
            return Err(Failure::new(PARAMS, format!("there is no tool `{name}`")));
        };
        let arguments = match params.get("arguments") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(arguments)) => arguments.clone(),
            Some(_) => return Err(Failure::new(PARAMS, "`arguments` is an object")),
        };
        let mut queue = locked(&self.queue);
        let key = id.to_string();
        if queue.pending.contains_key(&key) {
            return Err(Failure::new(INVALID, "a request with this id is still going on"));
        }
        let stop = Arc::new(AtomicBool::new(false));
        queue.pending.insert(key, stop.clone());
        queue.waiting.push_back(Call { id: id.clone(), tool, arguments, stop });
        self.changed.notify_all();
        Ok(())
    }

    /// Stops a call; a call that was stopped is not answered.
    fn cancel(&self, id: &Value) {
        if let Some(stop) = locked(&self.queue).pending.get(&id.to_string()) {
            stop.store(true, Ordering::Relaxed);
        }
    }

    /// Makes calls until there are no more.
    fn work(&self) {
        loop {
            let mut queue = locked(&self.queue);
            let next = loop {
                match queue.waiting.pop_front() {
                    Some(call) => break call,
                    None if queue.closed => return,
                    None => queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner),
                }
            };
            drop(queue);
            let stopped = || next.stop.load(Ordering::Relaxed);
            let result = if stopped() { Value::Null } else { self.call(&next) };
            // Removed first: with the answer its id is free.
            locked(&self.queue).pending.remove(&next.id.to_string());
            if !stopped() {
                self.send(&message::answer(&next.id, Ok(result)));
            }
            self.changed.notify_all();
        }
    }

    fn call(&self, call: &Call) -> Value {
        let made = catch_unwind(AssertUnwindSafe(|| (self.call)(call.tool, &call.arguments, &call.stop)));
        let failed = || ToolAnswer::error("the tool failed; this is a bug, please report it");
        made.unwrap_or_else(|_| failed()).value()
    }

    /// Lets calls end for a while, then stops them.
    fn close(&self) {
        let end = Instant::now() + GRACE;
        let mut queue = locked(&self.queue);
        queue.closed = true;
        self.changed.notify_all();
        while !queue.pending.is_empty() {
            let Some(left) = end.checked_duration_since(Instant::now()) else { break };
            queue = self.changed.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        queue.waiting.clear();
        for stop in queue.pending.values() {
            stop.store(true, Ordering::Relaxed);
        }
        drop(queue);
        let _ = locked(&self.out).flush();
    }
}

impl Service {
    fn initialized(&self, params: &Map<String, Value>) -> Value {
        let asked = params.get("protocolVersion").and_then(Value::as_str).unwrap_or("");
        let version = VERSIONS.iter().find(|version| **version == asked).unwrap_or(&VERSIONS[0]);
        json!({
            "protocolVersion": version,
            "capabilities": { "tools": { "listChanged": false } },
            "serverInfo": { "name": self.name, "title": self.title, "version": self.version },
            "instructions": self.instructions,
        })
    }
}

/// Reads to the end of a line, and keeps nothing.
fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let bytes = input.fill_buf()?;
        let (used, ended) = match bytes.iter().position(|byte| *byte == b'\n') {
            Some(at) => (at + 1, true),
            None => (bytes.len(), bytes.is_empty()),
        };
        input.consume(used);
        if ended {
            return Ok(());
        }
    }
}
