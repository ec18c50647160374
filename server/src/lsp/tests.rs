//! The service with a disk that does not answer: whoever types is answered nevertheless.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tower_lsp::jsonrpc::Request;
use tower_lsp::{ClientSocket, LspService};
use tower_service::Service as _;
use transport::{LanguageService, Router};

use super::extensions::EXTENSIONS;
use super::runs::ActiveRuns;
use super::service::Service;
use workspace::{FileSystem, Stamp};

/// Longer than anything here takes on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

const KERNEL: &str = include_str!("../../../tests/kernels/gluon/sum_rows.py");
const HELPER: &str = include_str!("../../../tests/kernels/gluon/ring_tools.py");
const TTGIR: &str = include_str!("../../../tests/kernels/ring.ttgir");
const WAIT: &str = "        mbarrier.wait(free.index(slot), ((i // depth) & 1) ^ 1)\n";

/// Files in memory. While the disk is stuck every call waits, like one on a network that is down.
#[derive(Debug, Default)]
struct StuckDisk {
    state: Mutex<DiskState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct DiskState {
    files: BTreeMap<PathBuf, String>,
    stuck: bool,
    waiting: usize,
}

impl StuckDisk {
    fn lock(&self) -> MutexGuard<'_, DiskState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The files, once the disk answers.
    fn files(&self) -> MutexGuard<'_, DiskState> {
        let mut state = self.lock();
        state.waiting += 1;
        self.changed.notify_all();
        let mut state = self.changed.wait_while(state, |state| state.stuck).unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
        state
    }

    fn write(&self, path: &str, text: &str) {
        self.lock().files.insert(PathBuf::from(path), text.to_owned());
    }

    fn set_stuck(&self, stuck: bool) {
        self.lock().stuck = stuck;
        self.changed.notify_all();
    }

    /// Waits until somebody waits for the disk.
    fn wait_for_reader(&self) {
        let idle = |state: &mut DiskState| state.waiting == 0;
        let waited = self.changed.wait_timeout_while(self.lock(), TIMEOUT, idle);
        assert!(waited.is_ok_and(|(_, result)| !result.timed_out()), "nobody reads the disk");
    }
}

impl FileSystem for StuckDisk {
    fn stamp(&self, path: &Path) -> Option<Stamp> {
        let size = self.files().files.get(path)?.len() as u64;
        Some(Stamp { size, modified: None })
    }

    fn read(&self, path: &Path) -> io::Result<String> {
        self.files().files.get(path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn walk(&self, root: &Path) -> Box<dyn Iterator<Item = Option<PathBuf>> + '_> {
        let below: Vec<_> = self.files().files.keys().filter(|path| path.starts_with(root)).cloned().collect();
        Box::new(below.into_iter().map(Some))
    }
}

/// Lets the disk go on however the test ends, so that no worker waits for ever.
struct Unstuck(Arc<StuckDisk>);

impl Drop for Unstuck {
    fn drop(&mut self) {
        self.0.set_stuck(false);
    }
}

/// A session without a transport.
struct Session {
    service: LspService<Router>,
    /// Nothing comes: the client asks for diagnostics itself.
    _socket: ClientSocket,
    next_id: i64,
}

impl Session {
    async fn start(disk: Arc<dyn FileSystem>) -> Session {
        let make = Box::new(move |client| {
            Arc::new(Service::new(client, Arc::new(ActiveRuns::default()), disk)) as Arc<dyn LanguageService>
        });
        let (service, socket) = transport::build(make, &EXTENSIONS, Arc::new(AtomicBool::new(false)));
        let mut session = Session { service, _socket: socket, next_id: 0 };
        let capabilities = json!({ "textDocument": { "diagnostic": {} } });
        session.request("initialize", json!({ "rootUri": "file:///w", "capabilities": capabilities })).await;
        session.notify("initialized", json!({})).await;
        session
    }

    async fn notify(&mut self, method: &'static str, params: Value) {
        let sent = self.service.call(Request::build(method).params(params).finish());
        assert!(matches!(sent.await, Ok(None)), "{method} is not taken");
    }

    async fn request(&mut self, method: &'static str, params: Value) -> Value {
        self.next_id += 1;
        let answer = self.service.call(Request::build(method).params(params).id(self.next_id).finish());
        let answer = tokio::time::timeout(TIMEOUT, answer).await;
        let Ok(Ok(Some(answer))) = answer else { panic!("{method} is not answered") };
        answer.result().cloned().unwrap_or_else(|| panic!("{method}: {:?}", answer.error()))
    }

    async fn open(&mut self, language: &str, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": language, "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document })).await;
    }

    async fn change(&mut self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "version": 2 });
        let params = json!({ "textDocument": document, "contentChanges": [{ "text": text }] });
        self.notify("textDocument/didChange", params).await;
    }

    /// The codes of a document's diagnostics.
    async fn diagnostics(&mut self, uri: &str) -> Vec<String> {
        let report = self.request("textDocument/diagnostic", json!({ "textDocument": { "uri": uri } })).await;
        let items = report["items"].as_array().cloned().unwrap_or_default();
        items.iter().map(|item| item["code"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Whether there is a hover on the first place of `what`.
    async fn has_hover(&mut self, uri: &str, text: &str, what: &str) -> bool {
        let before = text.find(what).and_then(|at| text.get(..at)).unwrap_or_default();
        let (line, column) = (before.matches('\n').count(), before.lines().last().map_or(0, str::len));
        let position = json!({ "line": line, "character": column + 1 });
        let params = json!({ "textDocument": { "uri": uri }, "position": position });
        self.request("textDocument/hover", params).await["contents"].is_object()
    }
}

#[test]
fn who_types_is_answered_while_the_disk_is_stuck() {
    let runtime = transport::runtime().unwrap_or_else(|error| panic!("there is no runtime: {error}"));
    runtime.block_on(type_while_the_disk_is_stuck());
}

async fn type_while_the_disk_is_stuck() {
    let (python, ttgir) = ("file:///w/sum_rows.py", "file:///w/ring.ttgir");
    let disk = Arc::new(StuckDisk::default());
    disk.write("/w/ring_tools.py", HELPER);
    let unstuck = Unstuck(disk.clone());
    let mut session = Session::start(disk.clone()).await;
    session.open("python", python, KERNEL).await;
    session.open("ttgir", ttgir, TTGIR).await;
    assert_eq!((session.diagnostics(python).await.len(), session.diagnostics(ttgir).await.len()), (0, 0));

    disk.set_stuck(true);
    // More documents that need files than analyses may run, and a client that says that files have changed.
    let late = |at: usize| format!("file:///w/late_{at}.py");
    let documents = 1 + std::thread::available_parallelism().map_or(2, |cores| cores.get());
    for at in 0..documents {
        session.open("python", &late(at), &KERNEL.replace("ring_tools", &format!("tools_{at}"))).await;
    }
    disk.wait_for_reader();
    let change = json!({ "uri": "file:///w/ring_tools.py", "type": 2 });
    session.notify("workspace/didChangeWatchedFiles", json!({ "changes": [change] })).await;

    let racy = KERNEL.replace(WAIT, "");
    session.change(python, &racy).await;
    assert!(session.has_hover(python, &racy, "ready.index(slot), (i").await);
    let found = session.diagnostics(python).await;
    assert!(found.contains(&"missing-backward-barrier".to_owned()), "{found:?}");
    let torn = TTGIR.replacen("ttng.wait_barrier", "ttng.wait_barier", 1);
    session.change(ttgir, &torn).await;
    assert!(session.has_hover(ttgir, &torn, "%3 = ttg").await);
    assert!(!session.diagnostics(ttgir).await.is_empty());
    assert!(disk.lock().stuck && disk.lock().waiting > 0, "the disk was stuck all the time");

    // What has changed meanwhile counts when the disk answers: a helper that hands no slot back.
    session.change(python, KERNEL).await;
    assert_eq!(session.diagnostics(python).await.len(), 0);
    disk.write("/w/ring_tools.py", &HELPER.replace("mbarrier.arrive(barriers.index(slot), count=1)", "pass"));
    drop(unstuck);
    let deadlock = async {
        while !session.diagnostics(python).await.contains(&"deadlock".to_owned()) {
            tokio::task::yield_now().await;
        }
    };
    assert!(tokio::time::timeout(TIMEOUT, deadlock).await.is_ok(), "the new helper is not looked at");
    for at in 0..documents {
        assert!(!session.diagnostics(&late(at)).await.is_empty(), "the helper of late_{at} is missing");
    }
}
