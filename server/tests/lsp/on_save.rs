//! Python that is compiled by the user's own Triton when it is saved. A stand-in for that Triton answers what a file
//! says.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::files::{Folder, pulls};
use crate::support::{Server, binary, kernel};

/// The IR that the kernel is analysed as.
fn ir(folder: &Folder) -> String {
    let out = Command::new(binary()).arg("ir").arg(folder.0.join("sum_rows.py")).output().expect("the binary runs");
    String::from_utf8_lossy(&out.stdout).into_owned()
}

/// Says what the stand-in answers next: of each instance the same.
fn answers(folder: &Folder, result: &Value) {
    let answer = json!({ "id": 1, "error": null, "results": vec![result; 8] });
    folder.write("answer.json", &format!("{answer}\n"));
}

#[cfg(unix)]
fn stand_in(folder: &Folder) -> String {
    use std::os::unix::fs::PermissionsExt;
    let hello = json!({ "triton": "3.9.0", "python": "3.12.0", "error": null });
    let at = folder.0.join("answer.json").display().to_string();
    let runs = folder.0.join("runs").display().to_string();
    folder.write("python", &format!("#!/bin/sh\necho run >> '{runs}'\necho '{hello}'\nread line\ncat '{at}'\n"));
    let path = folder.0.join("python");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it can be made a program");
    path.display().to_string()
}

/// What was said last of what Triton compiles: line, code and severity of each mark.
fn marks(diagnostics: &[Value]) -> Vec<(i64, String, i64, String)> {
    let own = diagnostics.iter().filter(|it| it["source"] == json!("fencepost (Triton)"));
    own.map(|it| {
        let text = |key: &str| it[key].as_str().unwrap_or_default().to_owned();
        let line = it["range"]["start"]["line"].as_i64().unwrap_or(-1);
        (line, text("code"), it["severity"].as_i64().unwrap_or(0), text("message"))
    })
    .collect()
}

/// A session with the kernel open, compiled on save.
#[cfg(unix)]
fn session(folder: &Folder, trusted: bool) -> (Server, String) {
    let python = stand_in(folder);
    let mut command = Command::new(binary());
    command.arg("lsp");
    let options = json!({ "trusted": trusted, "python": python, "compileOnSave": true });
    let mut server = Server::spawn_with(command, pulls(), options);
    let uri = folder.uri("sum_rows.py");
    server.open_as("python", &uri, &kernel("gluon/sum_rows.py"));
    (server, uri)
}

fn save(server: &mut Server, uri: &str) {
    server.notify("textDocument/didSave", json!({ "textDocument": { "uri": uri } }));
}

#[test]
#[cfg(unix)]
fn a_saved_kernel_is_compiled_and_a_difference_is_named() {
    let folder = Folder::new("on-save");
    let (mut server, uri) = session(&folder, true);
    let whole = ir(&folder);
    // Triton's kernel lacks an arrival: one is said to differ, and what is found there alone is at its line.
    let broken: String = whole
        .lines()
        .filter(|line| !line.contains("ttng.arrive_barrier"))
        .fold(String::new(), |all, line| all + line + "\n");
    assert!(broken.len() < whole.len());
    answers(&folder, &json!({ "ttgir": broken, "error": null, "ms": 1.0 }));
    save(&mut server, &uri);
    let said = marks(&server.diagnostics(&uri, 1));
    assert!(
        said.iter().any(|(_, code, severity, text)| code == "disagreement"
            && *severity == 2
            && text.contains("Triton 3.9.0")
            && text.contains("deadlock")),
        "{said:?}"
    );
    assert!(said.iter().any(|(_, code, severity, _)| code == "deadlock" && *severity == 1), "{said:?}");
    // It is not compiled: why is said, and is no error.
    answers(&folder, &json!({ "ttgir": null, "error": "a layout that no one knows", "ms": 1.0 }));
    save(&mut server, &uri);
    let said = marks(&server.diagnostics(&uri, 1));
    assert!(
        !said.is_empty() && said.iter().all(|(_, code, severity, _)| code == "compiled" && *severity == 3),
        "{said:?}"
    );
    assert!(said.iter().any(|(.., text)| text.contains("a layout that no one knows")), "{said:?}");
    // Edited marks are of an earlier text; the same kernel has none.
    server.change(&uri, 2, Some(crate::support::range((0, 0), (0, 0))), "# one line more\n");
    let old = marks(&server.diagnostics(&uri, 2));
    assert!(
        old.iter().all(|(.., severity, text)| *severity == 4 && text.starts_with("compiled from an earlier text")),
        "{old:?}"
    );
    folder.write("sum_rows.py", &format!("# one line more\n{}", kernel("gluon/sum_rows.py")));
    answers(&folder, &json!({ "ttgir": whole, "error": null, "ms": 1.0 }));
    save(&mut server, &uri);
    assert_eq!(marks(&server.diagnostics(&uri, 2)), []);
    assert!(server.shutdown().success());
}

#[test]
#[cfg(unix)]
fn nothing_is_compiled_where_nothing_is_trusted_or_asked_for() {
    let folder = Folder::new("on-save-untrusted");
    answers(&folder, &json!({ "ttgir": null, "error": "it ran", "ms": 1.0 }));
    let (mut server, uri) = session(&folder, false);
    save(&mut server, &uri);
    let told = server.event("window/showMessage");
    assert!(told["params"]["message"].as_str().is_some_and(|text| text.contains("nothing is compiled")), "{told}");
    // A file that came with the project cannot ask for it.
    folder.write("fencepost.toml", "compile_on_save = true\n");
    let mut command = Command::new(binary());
    command.arg("lsp");
    let python = folder.0.join("python").display().to_string();
    let mut quiet = Server::spawn_with(command, pulls(), json!({ "trusted": true, "python": python }));
    quiet.open_as("python", &uri, &kernel("gluon/sum_rows.py"));
    save(&mut quiet, &uri);
    quiet.request("textDocument/diagnostic", json!({ "textDocument": { "uri": uri } })).expect("diagnostics");
    // The editor can, and then it is compiled once.
    let settings = json!({ "fencepost": { "compileOnSave": true } });
    quiet.notify("workspace/didChangeConfiguration", json!({ "settings": settings }));
    save(&mut quiet, &uri);
    let said = marks(&quiet.diagnostics(&uri, 1));
    assert!(said.iter().any(|(.., text)| text.contains("it ran")), "{said:?}");
    let runs = fs::read_to_string(folder.0.join("runs")).expect("it ran");
    assert_eq!(runs.lines().count(), 1);
}
