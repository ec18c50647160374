//! Files that change on disk: a client says that it has saved one, or that its watcher has seen one change.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Server, kernel};

/// A folder of a test's own, with the kernel and its helper.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("fencepost-files-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("the folder can be made");
        let folder = Folder(fs::canonicalize(&path).expect("the folder is there"));
        folder.write("sum_rows.py", &kernel("gluon/sum_rows.py"));
        folder.write("ring_tools.py", &kernel("gluon/ring_tools.py"));
        folder
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).expect("the file can be written");
    }

    pub(crate) fn uri(&self, name: &str) -> String {
        uri(&self.0.join(name))
    }

    /// The helper, with nobody who hands the slots back any more.
    pub(crate) fn break_helper(&self) {
        let broken = kernel("gluon/ring_tools.py").replace("mbarrier.arrive(barriers.index(slot), count=1)", "pass");
        self.write("ring_tools.py", &broken);
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// A server in which the kernel is open and clean.
pub(crate) fn started(folder: &Folder, capabilities: Value) -> Server {
    let mut server = Server::start(capabilities);
    server.open_as("python", &folder.uri("sum_rows.py"), &kernel("gluon/sum_rows.py"));
    server
}

pub(crate) fn has_deadlock(diagnostics: &[Value]) -> bool {
    diagnostics.iter().any(|it| it["code"] == json!("deadlock"))
}

pub(crate) fn watched(folder: &Folder, name: &str, kind: u32) -> Value {
    json!({ "changes": [{ "uri": folder.uri(name), "type": kind }] })
}

#[test]
fn a_saved_helper_counts_at_once() {
    let folder = Folder::new("save");
    let mut server = started(&folder, json!({}));
    let kernel = folder.uri("sum_rows.py");
    assert_eq!(server.diagnostics(&kernel, 1), [Value::Null; 0]);
    folder.break_helper();
    let helper = folder.uri("ring_tools.py");
    server.notify("textDocument/didSave", json!({ "textDocument": { "uri": helper } }));
    let found = server.diagnostics(&kernel, 1);
    assert!(has_deadlock(&found), "{found:?}");
    assert!(server.shutdown().success());
}

#[test]
fn a_saved_file_that_is_no_python_changes_nothing() {
    let folder = Folder::new("other");
    let mut server = started(&folder, json!({}));
    let kernel = folder.uri("sum_rows.py");
    server.diagnostics(&kernel, 1);
    server.notify("textDocument/didSave", json!({ "textDocument": { "uri": folder.uri("notes.txt") } }));
    let document = json!({ "textDocument": { "uri": kernel } });
    server.request("textDocument/documentSymbol", document).expect("symbols");
    assert_eq!(server.pending("textDocument/publishDiagnostics"), [Value::Null; 0]);
}

#[test]
fn a_watched_helper_comes_and_goes() {
    let folder = Folder::new("watch");
    let mut server = started(&folder, json!({ "textDocument": { "diagnostic": {} } }));
    let kernel = json!({ "textDocument": { "uri": folder.uri("sum_rows.py") } });
    let pull = |server: &mut Server| {
        let report = server.request("textDocument/diagnostic", kernel.clone()).expect("diagnostics");
        report["items"].as_array().cloned().unwrap_or_default()
    };
    assert_eq!(pull(&mut server), [Value::Null; 0]);
    // A client that asks right after its watcher has seen the change gets the answer for the new file.
    folder.break_helper();
    server.notify("workspace/didChangeWatchedFiles", watched(&folder, "ring_tools.py", 2));
    let found = pull(&mut server);
    assert!(has_deadlock(&found), "{found:?}");
    fs::remove_file(folder.0.join("ring_tools.py")).expect("the file can be removed");
    server.notify("workspace/didChangeWatchedFiles", watched(&folder, "ring_tools.py", 3));
    let found = pull(&mut server);
    assert!(!has_deadlock(&found) && !found.is_empty(), "{found:?}");
    folder.write("ring_tools.py", &crate::support::kernel("gluon/ring_tools.py"));
    server.notify("workspace/didChangeWatchedFiles", watched(&folder, "ring_tools.py", 1));
    assert_eq!(pull(&mut server), [Value::Null; 0]);
}

#[test]
fn a_configuration_counts_when_it_is_saved() {
    let folder = Folder::new("configuration");
    let mut server = started(&folder, json!({}));
    let kernel = folder.uri("sum_rows.py");
    assert_eq!(server.diagnostics(&kernel, 1), [Value::Null; 0]);
    folder.write("fencepost.toml", "nonsense = 1\n");
    server.notify("workspace/didChangeWatchedFiles", watched(&folder, "fencepost.toml", 1));
    // It is pushed where it stands, which is no open document and has no version.
    let pushed = |server: &mut Server, uri: &str| loop {
        let told = server.event("textDocument/publishDiagnostics");
        if told["params"]["uri"] == json!(uri) {
            return told["params"].clone();
        }
    };
    let settings = folder.uri("fencepost.toml");
    let told = pushed(&mut server, &settings);
    assert_eq!((&told["version"], &told["diagnostics"][0]["code"]), (&Value::Null, &json!("configuration")), "{told}");
    assert_eq!(told["diagnostics"][0]["range"]["end"], json!({ "line": 0, "character": 8 }), "{told}");
    assert!(server.pending("textDocument/publishDiagnostics").iter().all(|it| {
        let all = it["params"]["diagnostics"].as_array().cloned().unwrap_or_default();
        it["params"]["uri"] != json!(kernel) || all.iter().all(|it| it["code"] != json!("configuration"))
    }));
    // Open, it is a document; closed, it is what lies on the disk.
    server.open_as("toml", &settings, "[kinds]\n");
    assert_eq!(server.diagnostics(&settings, 1), [Value::Null; 0]);
    server.notify("textDocument/didClose", json!({ "textDocument": { "uri": settings } }));
    while pushed(&mut server, &settings)["diagnostics"] == json!([]) {}
    folder.write("fencepost.toml", "[kinds]\n");
    server.notify("workspace/didChangeWatchedFiles", watched(&folder, "fencepost.toml", 2));
    assert_eq!(pushed(&mut server, &settings)["diagnostics"], json!([]));
}

/// A client that asks for diagnostics itself, and asks again where it is told to.
pub(crate) fn pulls() -> Value {
    let workspace = json!({ "diagnostics": { "refreshSupport": true }, "workspaceFolders": true });
    json!({ "textDocument": { "diagnostic": {} }, "workspace": workspace })
}

pub(crate) fn pull(server: &mut Server, uri: &str) -> Vec<Value> {
    let report = server.request("textDocument/diagnostic", json!({ "textDocument": { "uri": uri } }));
    report.expect("diagnostics")["items"].as_array().cloned().unwrap_or_default()
}

/// Waits until the client is told to ask again.
pub(crate) fn refreshed(server: &mut Server) {
    let asked = server.event("workspace/diagnostic/refresh");
    server.respond(&asked, Value::Null);
}

/// Asks until the answer is as it should be, and again only when told to: an answer that will be another one is
/// followed by a word to ask again.
pub(crate) fn pulled_until(server: &mut Server, uri: &str, holds: impl Fn(&[Value]) -> bool) {
    while !holds(&pull(server, uri)) {
        refreshed(server);
    }
}

#[test]
fn who_asks_for_diagnostics_is_told_when_a_helper_changes() {
    let folder = Folder::new("refresh");
    let mut server = started(&folder, pulls());
    assert_eq!(server.info["capabilities"]["diagnosticProvider"]["interFileDependencies"], json!(true));
    let kernel = folder.uri("sum_rows.py");
    assert_eq!(pull(&mut server, &kernel), [Value::Null; 0]);
    // On disk.
    folder.break_helper();
    server.notify("workspace/didChangeWatchedFiles", watched(&folder, "ring_tools.py", 2));
    refreshed(&mut server);
    assert!(has_deadlock(&pull(&mut server, &kernel)));
    // In the editor, where it is whole.
    let helper = folder.uri("ring_tools.py");
    server.open_as("python", &helper, &crate::support::kernel("gluon/ring_tools.py"));
    refreshed(&mut server);
    assert_eq!(pull(&mut server, &kernel), [Value::Null; 0]);
    // And closed again, so that what is on disk counts.
    server.notify("textDocument/didClose", json!({ "textDocument": { "uri": helper } }));
    refreshed(&mut server);
    assert!(has_deadlock(&pull(&mut server, &kernel)));
}

#[test]
fn only_what_depends_on_a_file_is_analysed_again() {
    let folder = Folder::new("dependents");
    folder.write("other.py", "x = 1\n");
    // A client that watches, so that the server does not.
    let watches = json!({ "didChangeWatchedFiles": { "dynamicRegistration": true } });
    let mut server = started(&folder, json!({ "workspace": watches }));
    let (kernel, ring) = (folder.uri("sum_rows.py"), folder.uri("ring.ttgir"));
    server.open(&ring, &crate::support::kernel("ring.ttgir"));
    server.diagnostics(&kernel, 1);
    server.diagnostics(&ring, 1);
    folder.write("other.py", "x = 2\n");
    folder.write("new.py", "y = 3\n");
    server.notify("textDocument/didSave", json!({ "textDocument": { "uri": folder.uri("other.py") } }));
    server.notify("workspace/didChangeWatchedFiles", watched(&folder, "new.py", 1));
    // The loader takes one change after the other, so that this one comes last.
    folder.break_helper();
    server.notify("workspace/didChangeWatchedFiles", watched(&folder, "ring_tools.py", 2));
    assert!(has_deadlock(&server.diagnostics(&kernel, 1)));
    assert_eq!(server.pending("textDocument/publishDiagnostics"), [Value::Null; 0]);
}

#[test]
fn a_helper_in_a_folder_that_comes_and_goes() {
    let (folder, tools) = (Folder::new("folder"), Folder::new("folder-tools"));
    fs::remove_file(folder.0.join("ring_tools.py")).expect("the file can be removed");
    let mut server = started(&folder, pulls());
    assert_eq!(
        server.info["capabilities"]["workspace"]["workspaceFolders"],
        json!({ "supported": true, "changeNotifications": true })
    );
    let kernel = folder.uri("sum_rows.py");
    // The helper is missing.
    pulled_until(&mut server, &kernel, |found| !found.is_empty());
    let named = json!([{ "uri": uri(&tools.0), "name": "tools" }]);
    let change = |added: &Value, removed: &Value| json!({ "event": { "added": added, "removed": removed } });
    server.notify("workspace/didChangeWorkspaceFolders", change(&named, &json!([])));
    pulled_until(&mut server, &kernel, <[Value]>::is_empty);
    server.notify("workspace/didChangeWorkspaceFolders", change(&json!([]), &named));
    pulled_until(&mut server, &kernel, |found| !found.is_empty());
}
