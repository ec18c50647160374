//! Runs the real binary.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The binary under test.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_fencepost");

/// What a run left.
pub(crate) struct Output {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// The exit code.
    pub code: i32,
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A kernel of `tests/kernels`.
pub(crate) fn kernel(name: &str) -> String {
    root().join("tests/kernels").join(name).to_string_lossy().into_owned()
}

/// Runs with an empty stdin.
pub(crate) fn fencepost(args: &[&str]) -> Output {
    fencepost_with(args, b"")
}

/// Runs with this on stdin.
pub(crate) fn fencepost_with(args: &[&str], stdin: &[u8]) -> Output {
    let mut child = Command::new(BINARY)
        .args(args)
        .env_remove("CLICOLOR_FORCE")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    // It may end without reading its input.
    let _ = child.stdin.take().expect("stdin is piped").write_all(stdin);
    output(child)
}

/// Runs with an empty stdin, in the root of the repository.
pub(crate) fn fencepost_at_root(args: &[&str]) -> Output {
    let mut command = Command::new(BINARY);
    command.args(args).current_dir(root()).env_remove("CLICOLOR_FORCE").stdin(Stdio::null());
    output(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts"))
}

/// Runs with a stdout that is closed at once.
pub(crate) fn fencepost_unread(args: &[&str]) -> Output {
    let mut child = Command::new(BINARY)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    drop(child.stdout.take());
    output(child)
}

fn output(child: Child) -> Output {
    let output = child.wait_with_output().expect("the binary ends");
    Output {
        stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
        code: output.status.code().expect("it was not killed"),
    }
}

/// A folder for one test, removed at its end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// An empty folder; `name` is the test's own.
    pub(crate) fn new(name: &str) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("the folder can be made");
        Folder(path)
    }

    /// Its path.
    pub(crate) fn path(&self) -> String {
        self.0.to_string_lossy().into_owned()
    }

    /// Writes a file, folders included; gives its path.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().expect("it is in the folder")).expect("the folder can be made");
        std::fs::write(&path, bytes).expect("the file can be written");
        path.to_string_lossy().into_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
