//! The client's process, whose end is ours. A client that is killed closes our input, but not where another process
//! has inherited it.

use std::time::Duration;

use serde_json::Value;

/// How often it is looked at.
const PERIOD: Duration = Duration::from_secs(2);

/// Somebody to wait for.
pub(crate) struct Watch {
    process: Option<Process>,
}

impl Watch {
    /// Nobody: it never ends.
    pub(crate) fn nobody() -> Watch {
        Watch { process: None }
    }

    /// The process that parameters of `initialize` name. A number that is nobody's here is not watched: the client
    /// lives in another container.
    pub(crate) fn client(params: Option<&Value>) -> Watch {
        let id = params.and_then(|params| params.get("processId")).and_then(Value::as_i64);
        Watch { process: id.and_then(|id| i32::try_from(id).ok()).and_then(Process::find) }
    }

    /// Waits until it is gone; whoever sends messages meanwhile is not.
    pub(crate) async fn ended(&self) {
        match &self.process {
            None => std::future::pending().await,
            Some(process) => {
                tokio::time::sleep(PERIOD).await;
                while process.lives() {
                    tokio::time::sleep(PERIOD).await;
                }
            }
        }
    }
}

/// A process that was there once.
struct Process {
    id: i32,
    /// When it began, where the system says so: numbers are used again.
    start: Option<String>,
}

impl Process {
    fn find(id: i32) -> Option<Process> {
        let mut process = Process { id, start: None };
        process.start = status(id).map(|(start, _)| start);
        (id > 0 && process.lives()).then_some(process)
    }

    fn lives(&self) -> bool {
        match (&self.start, status(self.id)) {
            (Some(start), Some((now, ended))) => *start == now && !ended,
            (Some(_), None) => false,
            (None, _) => exists(self.id),
        }
    }
}

/// When a process began, and whether it has ended and only waits to be asked how; `None` where Linux does not say so.
fn status(id: i32) -> Option<(String, bool)> {
    let text = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name of the program stands in parentheses and may hold anything.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    Some((fields.nth(18)?.to_owned(), matches!(state, "Z" | "X")))
}

#[cfg(unix)]
fn exists(id: i32) -> bool {
    let process = rustix::process::Pid::from_raw(id);
    process.is_some_and(|process| rustix::process::test_kill_process(process) != Err(rustix::io::Errno::SRCH))
}

#[cfg(not(unix))]
fn exists(_: i32) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_who_is_there_is_watched() {
        let me = std::process::id();
        assert!(Watch::client(Some(&json!({ "processId": me }))).process.is_some_and(|it| it.lives()));
        for params in [json!({}), json!({ "processId": null }), json!({ "processId": -1 }), json!({ "processId": 0 })] {
            assert!(Watch::client(Some(&params)).process.is_none(), "{params}");
        }
    }
}
