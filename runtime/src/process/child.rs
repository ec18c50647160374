//! Starting the child, reading what it writes, and ending it.

use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::group::{end_group, lead_group};
use super::pause::pause;
use crate::limits::process::{GRACE, LINE, LINGER, TAIL};
use asserts::AssertLog;
use base::Cancel;

/// How often it is looked whether to stop.
const TICK: Duration = Duration::from_millis(20);

/// A program to be started, and what it may use up.
#[derive(Clone, Debug)]
pub(crate) struct ChildCommand<'a> {
    /// The program, found along `PATH` unless it is a path.
    pub(crate) program: &'a Path,
    /// The arguments of the program.
    pub(crate) arguments: Vec<OsString>,
    /// Its working folder.
    pub(crate) folder: PathBuf,
    /// All that it sees of an environment.
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// How long it may run.
    pub(crate) time: Duration,
    /// Bytes that it may write; what follows is counted and dropped, except that asserts are still counted.
    pub(crate) output: u64,
}

/// How a child ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ExitCause {
    /// By itself, with this code; `None`: by a signal.
    Code(Option<i32>),
    /// At its time limit.
    Late,
    /// Because `cancel` asked for it.
    Cancelled,
}

/// What a child wrote to standard error.
#[derive(Clone, Debug, Default)]
pub(crate) struct StderrLog {
    /// The asserts among it.
    pub(crate) log: AssertLog,
    /// The last bytes of it, [`TAIL`] at most.
    pub(crate) tail: Vec<u8>,
}

impl StderrLog {
    /// The last lines that say something, for a message.
    pub(crate) fn last_lines(&self, lines: usize) -> String {
        let text = String::from_utf8_lossy(&self.tail);
        let said: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.trim().is_empty()).collect();
        said[said.len().saturating_sub(lines)..].join("\n")
    }

    fn take(&mut self, bytes: &[u8]) {
        self.log.feed(bytes);
        let kept = &bytes[bytes.len().saturating_sub(TAIL)..];
        let over = (self.tail.len() + kept.len()).saturating_sub(TAIL);
        self.tail.drain(..over.min(self.tail.len()));
        self.tail.extend_from_slice(kept);
    }
}

/// How a child ended, and what it wrote.
#[derive(Clone, Debug)]
pub(crate) struct ChildOutcome {
    /// How it ended.
    pub(crate) ended: ExitCause,
    /// What it wrote to standard error.
    pub(crate) errors: StderrLog,
    /// Bytes of standard output that were dropped.
    pub(crate) dropped: u64,
    /// How long it ran.
    pub(crate) seconds: f64,
    /// It could not be ended: the system does not let go of it (a driver that hangs).
    pub(crate) unkillable: bool,
}

/// A child and its group, ended with the value.
struct ProcessGroup {
    child: Child,
    /// Closed when this value goes, in whatever way.
    _lifeline: Option<ChildStdin>,
    ended: bool,
}

/// Runs a job to its end. `line` gets each line of its standard output.
///
/// # Errors
///
/// Where it cannot be started.
pub(crate) fn run(job: &ChildCommand<'_>, line: &mut dyn FnMut(&str), cancel: &Cancel<'_>) -> io::Result<ChildOutcome> {
    let start = Instant::now();
    let mut command = Command::new(job.program);
    command.args(&job.arguments).current_dir(&job.folder).env_clear();
    command.envs(job.environment.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    lead_group(&mut command);
    let mut child = command.spawn()?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let lifeline = child.stdin.take();
    let mut group = ProcessGroup { child, _lifeline: lifeline, ended: false };
    let dropped = Arc::new(AtomicU64::new(0));
    let lines = follow_lines(out, job.output, Arc::clone(&dropped));
    let errors = Arc::new(Mutex::new(StderrLog::default()));
    let done = follow_errors(err, Arc::clone(&errors));
    let ended = watch(&mut group, start, job.time, &lines, line, cancel)?;
    let unkillable = !group.end();
    drain(&lines, line, Instant::now() + LINGER);
    let _ = done.recv_timeout(LINGER);
    let mut errors = errors.lock().map(|errors| errors.clone()).unwrap_or_default();
    errors.log.end();
    let seconds = start.elapsed().as_secs_f64();
    Ok(ChildOutcome { ended, errors, dropped: dropped.load(Ordering::Relaxed), seconds, unkillable })
}

fn watch(
    group: &mut ProcessGroup,
    start: Instant,
    time: Duration,
    lines: &Receiver<String>,
    line: &mut dyn FnMut(&str),
    cancel: &Cancel<'_>,
) -> io::Result<ExitCause> {
    loop {
        match lines.recv_timeout(TICK) {
            Ok(text) => line(&text),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => pause(TICK),
        }
        if let Some(status) = group.child.try_wait()? {
            group.ended = true;
            return Ok(ExitCause::Code(status.code()));
        }
        if cancel.is_cancelled() {
            return Ok(ExitCause::Cancelled);
        }
        if start.elapsed() >= time {
            return Ok(ExitCause::Late);
        }
    }
}

/// Hands on the lines that are left, until a moment.
fn drain(lines: &Receiver<String>, line: &mut dyn FnMut(&str), until: Instant) {
    while let Ok(text) = lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
        line(&text);
    }
}

impl ProcessGroup {
    /// Ends all of it, which may first end by itself. Whether it has ended.
    fn end(&mut self) -> bool {
        if !self.ended {
            end_group(&mut self.child, false);
            self.wait(GRACE);
        }
        // Also after its own end: what it started may go on.
        end_group(&mut self.child, true);
        self.wait(LINGER)
    }

    fn wait(&mut self, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        while !self.ended {
            self.ended = !matches!(self.child.try_wait(), Ok(None));
            if Instant::now() >= until {
                break;
            }
            pause(TICK / 4);
        }
        self.ended
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if !self.ended {
            end_group(&mut self.child, true);
            self.wait(LINGER);
        }
    }
}

/// Standard output, line by line, up to a limit.
fn follow_lines(pipe: Option<impl Read + Send + 'static>, limit: u64, dropped: Arc<AtomicU64>) -> Receiver<String> {
    let (send, receive) = sync_channel(1024);
    let Some(mut pipe) = pipe else { return receive };
    thread::spawn(move || {
        let mut buffer = vec![0; 64 << 10];
        let mut line = Vec::new();
        let mut read = 0u64;
        while let Some(bytes) = next(&mut pipe, &mut buffer) {
            read += bytes.len() as u64;
            if read > limit {
                dropped.fetch_add(bytes.len() as u64, Ordering::Relaxed);
                continue;
            }
            for part in bytes.split_inclusive(|byte| *byte == b'\n') {
                let room = LINE.saturating_sub(line.len());
                line.extend_from_slice(&part[..part.len().min(room)]);
                dropped.fetch_add(part.len().saturating_sub(room) as u64, Ordering::Relaxed);
                if part.ends_with(b"\n") && !flush(&send, &mut line) {
                    return;
                }
            }
        }
        flush(&send, &mut line);
    });
    receive
}

/// Hands on a line; whether anybody listens.
fn flush(send: &SyncSender<String>, line: &mut Vec<u8>) -> bool {
    let text = String::from_utf8_lossy(line).trim_end_matches(['\r', '\n']).to_owned();
    line.clear();
    text.is_empty() || send.send(text).is_ok()
}

/// Standard error, of which only the asserts and the end are kept: it is always read, so that nobody blocks.
fn follow_errors(pipe: Option<impl Read + Send + 'static>, errors: Arc<Mutex<StderrLog>>) -> Receiver<()> {
    let (send, receive) = sync_channel(1);
    let Some(mut pipe) = pipe else { return receive };
    thread::spawn(move || {
        let mut buffer = vec![0; 256 << 10];
        while let Some(bytes) = next(&mut pipe, &mut buffer) {
            if let Ok(mut errors) = errors.lock() {
                errors.take(bytes);
            }
        }
        let _ = send.send(());
    });
    receive
}

fn next<'b>(pipe: &mut impl Read, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
    loop {
        match pipe.read(buffer) {
            Ok(0) => return None,
            Ok(read) => return buffer.get(..read),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}
