//! Profile-guided optimisation of what is handed out: a build that counts which ways through it are taken, a training
//! with the kernels of this repository, and the compiler's file of what was counted.
//!
//! Rust's own `llvm-profdata` merges the counts (`rustup component add llvm-tools`), since a profile is read by the
//! compiler that it was made for. What is never run in training is compiled for size: so the training has all that
//! takes time, the checks of the command line, runs on the CPU and editing over the wire.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::steps::{Outcome, execute};
use crate::target;

/// The flag that takes the place of what the environment says of rustc's.
pub(crate) const FLAGS: &str = "RUSTFLAGS";

/// Builds what is handed out.
pub(crate) fn build() -> Command {
    let mut command = Command::new("cargo");
    command.args(["build", "--profile", "dist", "--package", "fencepost", "--features", "jemalloc"]);
    command
}

/// What is run, each in the root; a kernel that has findings is no failure of the training.
const TRAINING: [&[&str]; 4] = [
    &["check", "--quiet", "--exit-zero", "tests/kernels", "tests/corpus", "tests/races"],
    &["report", "tests/kernels/gluon"],
    &["run", "tests/kernels/attention.ttgir"],
    &["run", "tests/kernels/ring.ttgir"],
];

/// A build that is trained, and where its profile comes to lie.
pub(crate) struct Training {
    /// A folder of cargo's, beside the others: flags of rustc would build all of them anew.
    built: PathBuf,
    /// Where the program writes its counts.
    counts: PathBuf,
}

impl Training {
    pub(crate) fn new(root: &Path) -> Training {
        let folder = target(root).join("profile");
        Training { built: folder.join("target"), counts: folder.join("counts") }
    }

    /// The profile, once all steps have passed.
    pub(crate) fn profile(&self) -> PathBuf {
        self.counts.join("merged.profdata")
    }

    /// The flags for a build that knows the profile, with those of the environment.
    pub(crate) fn flags(&self) -> OsString {
        with_own("-Cprofile-use=", &self.profile())
    }

    /// Builds the program that counts.
    pub(crate) fn build(&self, root: &Path) -> Outcome {
        let mut command = build();
        command.env("CARGO_TARGET_DIR", &self.built).env(FLAGS, with_own("-Cprofile-generate=", &self.counts));
        execute(root, &mut command)
    }

    /// Runs it.
    pub(crate) fn train(&self, root: &Path) -> Outcome {
        // Programs that build others have counted too.
        if self.counts.is_dir() && fs::remove_dir_all(&self.counts).is_err() {
            return Outcome::Failed;
        }
        let program = self.built.join("dist").join(format!("fencepost{}", std::env::consts::EXE_SUFFIX));
        for arguments in TRAINING {
            let mut command = Command::new(&program);
            command.args(arguments).current_dir(root).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            if let Err(error) = command.status() {
                eprintln!("error: {}: {error}", program.display());
                return Outcome::Failed;
            }
        }
        let mut editing = Command::new("cargo");
        editing.args(["bench", "--quiet", "--package", "fencepost-tests", "--bench", "lsp", "--"]);
        editing.args(["--case", "edits", "--places", "1", "--server"]);
        let mut server = OsString::from("counting=");
        server.push(&program);
        execute(root, editing.arg(server).stdout(Stdio::null()))
    }

    /// Merges what was counted.
    pub(crate) fn merge(&self, host: &str) -> Outcome {
        let counts = fs::read_dir(&self.counts).into_iter().flatten().flatten().map(|entry| entry.path());
        let counts: Vec<PathBuf> = counts.filter(|path| path.extension().is_some_and(|end| end == "profraw")).collect();
        if counts.is_empty() {
            eprintln!("error: no counts in {}", self.counts.display());
            return Outcome::Failed;
        }
        let mut command = Command::new(merger(host));
        execute(&self.counts, command.args(["merge", "--output"]).arg(self.profile()).args(counts))
    }
}

/// Whether this machine's Rust can merge profiles.
pub(crate) fn is_possible(host: &str) -> bool {
    merger(host).is_file()
}

fn merger(host: &str) -> PathBuf {
    let said = Command::new("rustc").args(["--print", "sysroot"]).output().map(|out| out.stdout).unwrap_or_default();
    let root = PathBuf::from(String::from_utf8_lossy(&said).trim());
    let tools = root.join("lib").join("rustlib").join(host).join("bin");
    tools.join(format!("llvm-profdata{}", std::env::consts::EXE_SUFFIX))
}

fn with_own(flag: &str, value: &Path) -> OsString {
    let mut flags = std::env::var_os(FLAGS).unwrap_or_default();
    if !flags.is_empty() {
        flags.push(" ");
    }
    flags.push(flag);
    flags.push(value);
    flags
}
