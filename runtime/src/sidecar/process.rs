//! The process, its pipes, and how long to wait for it.

use std::fmt;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use base::Cancel;

use crate::process::{end_group, lead_group};

use super::protocol::{CompileRequest, CompileResponse, CompileResult, Hello, NumberedRequest};

const PROGRAM: &str = include_str!("sidecar.py");

/// How often it is looked whether to stop.
const TICK: Duration = Duration::from_millis(50);

/// Bytes of the process's standard error that a message quotes.
const QUOTED: usize = 400;

/// Why there is no answer.
#[derive(Debug)]
pub enum SidecarError {
    /// The Python could not be started.
    Start(std::io::Error),
    /// That Python has no Triton with Gluon; its own words.
    NoTriton(String),
    /// It did not answer in time and was stopped.
    Late(Duration),
    /// It ended; what it last wrote.
    Ended(String),
    /// The caller no longer wants an answer; it was stopped.
    Cancelled,
    /// It answered with something else.
    Garbled(String),
    /// The file could not be imported; Python's words.
    File(String),
}

impl fmt::Display for SidecarError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SidecarError::Start(error) => write!(f, "Python cannot be started: {error}"),
            SidecarError::NoTriton(why) => write!(f, "this Python has no Triton with Gluon: {why}"),
            SidecarError::Late(after) => write!(f, "no answer within {} s, stopped", after.as_secs()),
            SidecarError::Cancelled => f.write_str("stopped on request"),
            SidecarError::Ended(last) if last.is_empty() => f.write_str("Python ended"),
            SidecarError::Ended(last) => write!(f, "Python ended: {last}"),
            SidecarError::Garbled(line) => write!(f, "not an answer: {line}"),
            SidecarError::File(why) => write!(f, "the file cannot be imported: {why}"),
        }
    }
}

impl std::error::Error for SidecarError {}

/// A running process. Dropping it stops the process.
#[derive(Debug)]
pub struct Sidecar {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    errors: Receiver<String>,
    hello: Hello,
    next: u64,
}

impl Sidecar {
    /// Starts `python` and waits until it has imported Triton, unless `cancel` says so before.
    pub fn start(python: &Path, patience: Duration, cancel: &Cancel<'_>) -> Result<Sidecar, SidecarError> {
        let mut command = Command::new(python);
        command.args(["-u", "-c", PROGRAM]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        lead_group(&mut command);
        let mut child = command.spawn().map_err(SidecarError::Start)?;
        let lines = follow(child.stdout.take());
        let errors = follow(child.stderr.take());
        let stdin = child.stdin.take();
        let hello = Hello { triton: None, python: String::new(), error: None };
        let mut sidecar = Sidecar { child, stdin, lines, errors, hello, next: 0 };
        let line = sidecar.line(Instant::now() + patience, patience, cancel)?;
        sidecar.hello = serde_json::from_str(&line).map_err(|_| SidecarError::Garbled(cut(&line)))?;
        match (&sidecar.hello.triton, &sidecar.hello.error) {
            (Some(_), _) => Ok(sidecar),
            (None, why) => Err(SidecarError::NoTriton(why.clone().unwrap_or_default())),
        }
    }

    /// What it said of itself.
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// Compiles, unless `cancel` says so before; one answer a kernel, in order. After an error of any kind but
    /// [`SidecarError::File`] the process is of no more use.
    pub fn compile(
        &mut self,
        request: &CompileRequest,
        patience: Duration,
        cancel: &Cancel<'_>,
    ) -> Result<Vec<CompileResult>, SidecarError> {
        self.next += 1;
        let id = self.next;
        let mut text = serde_json::to_string(&NumberedRequest { id, request }).unwrap_or_default();
        text.push('\n');
        let written = self.stdin.as_mut().map(|stdin| stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush()));
        if !matches!(written, Some(Ok(()))) {
            return Err(SidecarError::Ended(self.last_words()));
        }
        let until = Instant::now() + patience;
        loop {
            let line = self.line(until, patience, cancel)?;
            let answer: CompileResponse = serde_json::from_str(&line).map_err(|_| SidecarError::Garbled(cut(&line)))?;
            match answer.error {
                _ if answer.id != id => {}
                Some(why) => return Err(SidecarError::File(why)),
                None => return Ok(answer.results),
            }
        }
    }

    fn line(&mut self, until: Instant, patience: Duration, cancel: &Cancel<'_>) -> Result<String, SidecarError> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left.min(TICK)) {
                Ok(line) => return Ok(line),
                Err(RecvTimeoutError::Disconnected) => return Err(SidecarError::Ended(self.last_words())),
                Err(RecvTimeoutError::Timeout) if cancel.is_cancelled() => {
                    self.end();
                    return Err(SidecarError::Cancelled);
                }
                Err(RecvTimeoutError::Timeout) if left > TICK => {}
                Err(RecvTimeoutError::Timeout) => {
                    self.end();
                    return Err(SidecarError::Late(patience));
                }
            }
        }
    }

    /// Ends it, and what it started.
    fn end(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            end_group(&mut self.child, true);
        }
        let _ = self.child.kill();
    }

    /// The end of what it wrote to standard error.
    fn last_words(&self) -> String {
        let lines: Vec<String> = self.errors.try_iter().collect();
        let text = lines.join("\n");
        cut(text.trim())
    }
}

impl Drop for Sidecar {
    fn drop(&mut self) {
        self.stdin = None;
        self.end();
        let _ = self.child.wait();
    }
}

/// The lines of a pipe, read by a thread that ends with it.
fn follow(pipe: Option<impl std::io::Read + Send + 'static>) -> Receiver<String> {
    let (send, receive) = channel();
    if let Some(pipe) = pipe {
        thread::spawn(move || {
            for line in BufReader::new(pipe).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
    }
    receive
}

fn cut(text: &str) -> String {
    let skip = text.chars().count().saturating_sub(QUOTED);
    text.chars().skip(skip).collect()
}
