//! Files that change on disk: a client says that it has saved one, or that its watcher has seen one change.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Server, kernel};

/// A folder of a test's own, with the kernel and its helper.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("fencepost-files-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("the folder can be made");
        let folder = Folder(fs::canonicalize(&path).expect("the folder is there"));
        folder.write("sum_rows.py", &kernel("gluon/sum_rows.py"));
        folder.write("ring_tools.py", &kernel("gluon/ring_tools.py"));
        folder
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).expect("the file can be written");
    }

    fn uri(&self, name: &str) -> String {
        uri(&self.0.join(name))
    }

    /// The helper, with nobody who hands the slots back any more.
    fn break_helper(&self) {
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
fn started(folder: &Folder, capabilities: Value) -> Server {
    let mut server = Server::start(capabilities);
    server.open_as("python", &folder.uri("sum_rows.py"), &kernel("gluon/sum_rows.py"));
    server
}

fn has_deadlock(diagnostics: &[Value]) -> bool {
    diagnostics.iter().any(|it| it["code"] == json!("deadlock"))
}

fn watched(folder: &Folder, name: &str, kind: u32) -> Value {
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
    let found = server.diagnostics(&kernel, 1);
    assert!(found.iter().any(|it| it["code"] == json!("configuration")), "{found:?}");
}
