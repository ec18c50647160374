//! Runs that go wrong from outside: each ends with a clear message and leaves no process and no file behind.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::skip::skip;
use crate::support::{Server, binary, root};

/// Nothing here takes longer on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

const KERNEL: &str = "// fencepost-run: grid=1 out=f32[4]\nmodule attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32, \
                      ttg.target = \"cuda:90\", \"ttg.threads-per-warp\" = 32 : i32} {\n  tt.func public @k(%out: \
                      !tt.ptr<f32>) {\n    tt.return\n  }\n}\n";

/// What a run of the binary left.
struct Output {
    stdout: String,
    stderr: String,
    code: i32,
}

/// A folder of a test's own, with one for temporary files in it.
struct Room(PathBuf);

impl Room {
    fn new(name: &str) -> Room {
        let path = std::env::temp_dir().join(format!("fencepost-kill-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(path.join("tmp")).expect("the folder can be made");
        fs::write(path.join("k.ttgir"), KERNEL).expect("the kernel can be written");
        Room(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }

    /// A program that stands for Python and does this instead. It notes its process first.
    fn python(&self, does: &str) -> String {
        let path = self.0.join("bin/python");
        fs::create_dir_all(self.0.join("bin")).expect("the folder can be made");
        let text = format!("#!/bin/sh\necho $$ > '{}'\n{does}\n", self.path("pid"));
        fs::write(&path, text).expect("the program can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("the program can be made one");
        path.to_string_lossy().into_owned()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command.args(args).env("TMPDIR", self.0.join("tmp")).env_remove("CLICOLOR_FORCE").stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        let kernel = self.path("k.ttgir");
        let all: Vec<&str> = ["run", kernel.as_str()].into_iter().chain(args.iter().copied()).collect();
        let out = self.command(&all).output().expect("the binary runs");
        Output {
            stdout: String::from_utf8_lossy(&out.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&out.stderr).into_owned(),
            code: out.status.code().unwrap_or(-1),
        }
    }

    /// The process that stands for Python, once it runs.
    fn pid(&self) -> u32 {
        let until = Instant::now() + PATIENCE;
        loop {
            let text = fs::read_to_string(self.0.join("pid")).unwrap_or_default();
            if let Ok(pid) = text.trim().parse() {
                return pid;
            }
            assert!(Instant::now() < until, "the program does not start");
            std::thread::yield_now();
        }
    }

    /// Waits until nothing is left of a run.
    fn left_clean(&self, pid: u32) {
        let until = Instant::now() + PATIENCE;
        let files = || fs::read_dir(self.0.join("tmp")).map(Iterator::count).unwrap_or(0);
        while lives(pid) || files() > 0 {
            assert!(Instant::now() < until, "process lives: {}, files: {}", lives(pid), files());
            std::thread::yield_now();
        }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Whether a process runs; one that has ended and was not asked how does not.
fn lives(pid: u32) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

#[test]
fn python_is_missing() {
    let room = Room::new("missing");
    let out = room.run(&["--backend", "triton", "--python", "/no/such/python"]);
    assert_eq!((out.code, out.stdout.as_str()), (2, ""));
    assert!(out.stderr.contains("/no/such/python") && out.stderr.contains("--python"), "{}", out.stderr);
    room.left_clean(u32::MAX);
}

#[test]
fn triton_is_missing() {
    let room = Room::new("triton");
    let python = room.python("exec python3 -S -E \"$@\"");
    let out = room.run(&["--backend", "triton", "--python", &python]);
    assert_eq!(out.code, 2, "{}{}", out.stdout, out.stderr);
    assert!(out.stderr.contains("has no Triton"), "{}", out.stderr);
    room.left_clean(room.pid());
}

#[test]
fn a_gpu_is_missing() {
    let room = Room::new("gpu");
    let python = std::env::var("FENCEPOST_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    if Path::new("/dev/nvidiactl").exists() || Path::new("/dev/kfd").exists() {
        skip("a run without a GPU", "there is one");
        return;
    }
    let out = room.run(&["--backend", "triton", "--python", &python]);
    if out.stderr.contains("has no Triton") || out.stderr.contains("cannot be started") {
        skip("a run without a GPU", out.stderr.trim());
        return;
    }
    assert_eq!(out.code, 2, "{}{}", out.stdout, out.stderr);
    assert!(out.stderr.contains("GPU"), "{}", out.stderr);
    room.left_clean(u32::MAX);
}

#[test]
fn a_run_that_hangs_ends_at_its_time() {
    let room = Room::new("hang");
    let python = room.python("trap '' TERM; sleep 600 & wait; sleep 600");
    let begin = Instant::now();
    let out = room.run(&["--backend", "triton", "--python", &python, "--time", "1"]);
    assert!(begin.elapsed() < PATIENCE, "{:?}", begin.elapsed());
    assert!(out.code == 1 || out.code == 2, "{}{}", out.stdout, out.stderr);
    assert!(!format!("{}{}", out.stdout, out.stderr).trim().is_empty());
    room.left_clean(room.pid());
}

#[test]
fn a_flood_is_counted_and_dropped() {
    let room = Room::new("flood");
    let python = room.python("head -c 1000000000 /dev/zero | tr '\\0' 'x'; echo done >&2; exit 3");
    let out = room.run(&["--backend", "triton", "--python", &python, "--time", "100"]);
    assert!(out.code == 1 || out.code == 2, "{}", out.code);
    assert!(out.stdout.len() + out.stderr.len() < 1 << 16, "the flood is not passed on");
    room.left_clean(room.pid());
}

#[test]
fn a_command_that_is_killed_takes_its_run_along() {
    let room = Room::new("killed");
    // As the driver does: its standard input is open as long as who started it lives.
    let python = room.python("cat > /dev/null");
    let kernel = room.path("k.ttgir");
    let mut child =
        room.command(&["run", &kernel, "--backend", "triton", "--python", &python]).spawn().expect("the binary starts");
    let pid = room.pid();
    child.kill().expect("it can be killed");
    let _ = child.wait();
    let until = Instant::now() + PATIENCE;
    while lives(pid) {
        assert!(Instant::now() < until, "the run lives on");
        std::thread::yield_now();
    }
}

#[test]
fn a_run_that_hangs_goes_with_a_command_that_is_killed() {
    let room = Room::new("hung");
    let python = room.python("exec python3 \"$@\"");
    // A Triton that never comes back and cannot be asked to end, under the driver that every run has.
    let triton = room.0.join("lib/triton");
    fs::create_dir_all(&triton).expect("the folder can be made");
    let hang = "import os, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n\
                open(os.environ['PYTHONPATH'] + '/hangs', 'w').close()\ntime.sleep(600)\n";
    fs::write(triton.join("__init__.py"), hang).expect("a file can be written");
    let kernel = room.path("k.ttgir");
    let mut command = room.command(&["run", &kernel, "--backend", "triton", "--python", &python]);
    let mut child = command.env("PYTHONPATH", room.0.join("lib")).spawn().expect("the binary starts");
    let pid = room.pid();
    let until = Instant::now() + PATIENCE;
    while !room.0.join("lib/hangs").exists() {
        assert!(Instant::now() < until, "Triton is not imported");
        std::thread::yield_now();
    }
    child.kill().expect("it can be killed");
    let _ = child.wait();
    room.left_clean(pid);
}

#[test]
fn a_disk_that_is_full_is_said() {
    let room = Room::new("full");
    fs::create_dir_all(room.0.join("out")).expect("the folder can be made");
    std::os::unix::fs::symlink("/dev/full", room.0.join("out/out.npy")).expect("a link can be made");
    let out = room.run(&["--arg", "out=f32[65536]", "--output", &room.path("out")]);
    assert_eq!(out.code, 2, "{}{}", out.stdout, out.stderr);
    assert!(out.stderr.contains("cannot write to") && out.stderr.contains("space"), "{}", out.stderr);
    assert_eq!(fs::read_dir(room.0.join("out")).map(Iterator::count).ok(), Some(0), "no half of a file is left");
    let out =
        room.command(&["run", &room.path("k.ttgir"), "--backend", "triton"]).env("TMPDIR", "/no/such/folder").output();
    let said = out.map(|out| String::from_utf8_lossy(&out.stderr).into_owned()).unwrap_or_default();
    assert!(said.contains("TMPDIR"), "{said}");
}

/// A server with a Python file whose kernel is being compiled by a Python that never answers.
fn waiting(room: &Room, does: &str) -> (Server, u32) {
    let python = room.python(does);
    fs::create_dir_all(room.0.join("lib/python3.12/site-packages/triton")).expect("the folder can be made");
    fs::write(room.0.join("lib/python3.12/site-packages/triton/__init__.py"), "").expect("a file can be written");
    let text = fs::read_to_string(root().join("tests/kernels/gluon/sum_rows.py")).expect("the kernel is there");
    fs::write(room.0.join("k.py"), &text).expect("the kernel can be written");
    let uri = format!("file://{}", room.path("k.py"));
    let mut command = Command::new(binary());
    command.arg("lsp").env("TMPDIR", room.0.join("tmp"));
    let options = json!({ "trusted": true, "python": python });
    let mut server = Server::spawn_with(command, json!({}), options);
    server.open_as("python", &uri, &text);
    let order = json!({ "uri": uri, "backend": "cpu", "instrument": "consan" });
    let params = json!({ "command": "fencepost.runKernel", "arguments": [order] });
    server.request("workspace/executeCommand", params).expect("the command is taken");
    let question = server.event("window/showMessageRequest");
    server.respond(&question, json!({ "title": "Run" }));
    let pid = room.pid();
    (server, pid)
}

#[test]
fn a_document_that_is_closed_ends_its_run() {
    let room = Room::new("closed");
    let (mut server, pid) = waiting(&room, "sleep 600 & wait");
    let uri = format!("file://{}", room.path("k.py"));
    server.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    room.left_clean(pid);
    assert!(server.shutdown().success());
}

#[test]
fn a_client_that_is_gone_ends_all_runs() {
    let room = Room::new("gone");
    let (server, pid) = waiting(&room, "sleep 600 & wait");
    assert!(!server.close_stdin().success());
    room.left_clean(pid);
}

#[test]
fn a_session_that_ends_ends_all_runs() {
    let room = Room::new("session");
    let (server, pid) = waiting(&room, "sleep 600 & wait");
    assert!(server.shutdown().success());
    room.left_clean(pid);
}

#[test]
fn a_server_that_is_killed_takes_its_runs_along() {
    let room = Room::new("server");
    let (server, pid) = waiting(&room, "cat > /dev/null");
    // With the signal that cannot be caught.
    drop(server);
    room.left_clean(pid);
}
