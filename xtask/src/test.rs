//! The one test command.
//!
//! Cheap checks first. A step that the machine has no tool for is skipped and says why; a failed step does not
//! keep the others from running, but fails the command. The summary ends in `N passed, N failed, N skipped`.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::steps::{Outcome, Steps, Tally, answers, execute, execute_tests};
use crate::target;

/// How much is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestScope {
    /// Formatting, tidy and the cargo tests.
    Fast,
    /// All that a pull request needs.
    Normal,
    /// The ignored tests too.
    Slow,
    /// The extensions of VS Code, in a real window as well, and of Zed, alone.
    Editors,
}

/// Runs everything in `scope`.
pub fn run(root: &Path, scope: TestScope) -> ExitCode {
    let mut steps = Steps::default();
    if scope == TestScope::Editors {
        steps.run("server", |_| cargo(root, &["build", "--package", "fencepost"]));
        steps.run("vs code extension", |tally| vscode(root, tally));
        steps.run("vs code in a browser", |tally| window(root, tally));
        steps.run("zed extension", |tally| zed(root, tally));
        print!("{steps}");
        return if steps.failed() { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    }
    steps.run("format", |_| format(root));
    steps.run("tidy", |_| tidy(root));
    if scope != TestScope::Fast {
        steps.run("analysis has no serde", |_| no_serde(root));
        steps.run("analysis is pure (wasm32)", |_| match scope {
            TestScope::Slow => wasm(root),
            _ => Outcome::Skipped(
                "it compiles the analysis once more: `--slow` does; clippy refuses what it must not call",
            ),
        });
        steps.run("clippy", |_| clippy(root));
        steps.run("licences and sources of crates", |_| deny(root));
    }
    steps.run("cargo tests", |tally| {
        let mut command = Command::new("cargo");
        command.args(["test", "--workspace", "--no-fail-fast"]);
        if scope == TestScope::Slow {
            command.args(["--", "--include-ignored"]);
        }
        if scope != TestScope::Fast {
            build_once(&mut command);
        }
        execute_tests(root, &mut command, tally)
    });
    if scope != TestScope::Fast {
        // Its tests start the server that the cargo tests have built.
        steps.run("vs code extension", |tally| vscode(root, tally));
        steps.run("zed extension", |tally| match scope {
            TestScope::Slow => zed(root, tally),
            _ => {
                Outcome::Skipped("it is compiled for WebAssembly, with what Zed gives it: `--editors` and `--slow` do")
            }
        });
    }
    print!("{steps}");
    if steps.failed() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Rewrites the fixtures' outputs, and what is made from the table of settings; `what` is the value of `UPDATE_EXPECT`.
pub fn update_fixtures(root: &Path, what: &str) -> ExitCode {
    let suites: [&[&str]; 2] = [
        &["test", "--package", "fencepost-tests", "--test", "data"],
        &["test", "--package", "fencepost", "--test", "cli", "--", "readme::", "settings::"],
    ];
    for args in suites {
        let mut command = Command::new("cargo");
        if let Outcome::Failed = execute(root, command.args(args).env("UPDATE_EXPECT", what)) {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn format(root: &Path) -> Outcome {
    if !answers("cargo", &["fmt", "--version"]) {
        return Outcome::Skipped("rustfmt is not installed (rustup component add rustfmt)");
    }
    cargo(root, &["fmt", "--all", "--check"])
}

fn tidy(root: &Path) -> Outcome {
    let problems = crate::tidy::run(root);
    for problem in &problems {
        eprintln!("{problem}");
    }
    if problems.is_empty() { Outcome::Passed } else { Outcome::Failed }
}

fn clippy(root: &Path) -> Outcome {
    if !answers("cargo", &["clippy", "--version"]) {
        return Outcome::Skipped("clippy is not installed (rustup component add clippy)");
    }
    let mut command = Command::new("cargo");
    command.args(["clippy", "--workspace", "--all-targets", "--quiet", "--", "--deny", "warnings"]);
    execute(root, build_once(&mut command))
}

/// What `deny.toml` says of the crates that this one is made of; nothing is asked of the network.
fn deny(root: &Path) -> Outcome {
    if !answers("cargo", &["deny", "--version"]) {
        return Outcome::Skipped("cargo-deny is not installed (cargo install cargo-deny)");
    }
    cargo(root, &["deny", "--offline", "--log-level", "error", "check", "licenses", "bans", "sources"])
}

/// The crates that hold the analysis and what editors show of it must not even be able to write JSON.
fn no_serde(root: &Path) -> Outcome {
    let tree = Command::new("cargo")
        .args([
            "tree",
            "--package",
            "fencepost-analysis",
            "--package",
            "fencepost-ide",
            "--edges",
            "normal,build",
            "--prefix",
            "none",
        ])
        .current_dir(root)
        .output();
    match tree {
        Ok(output) if output.status.success() => {
            let tree = String::from_utf8_lossy(&output.stdout).into_owned();
            let found = tree.lines().find(|line| line.starts_with("serde") || line.starts_with("lsp-types"));
            match found {
                None => Outcome::Passed,
                Some(line) => {
                    eprintln!("the analysis depends on {line}");
                    Outcome::Failed
                }
            }
        }
        _ => Outcome::Failed,
    }
}

/// A target without an operating system.
const WASM: &str = "wasm32-unknown-unknown";

/// Where that is not installed.
const NO_WASM: Outcome = Outcome::Skipped("the target is not installed (rustup target add wasm32-unknown-unknown)");

fn has_wasm() -> bool {
    let folder = Command::new("rustc").args(["--print", "target-libdir", "--target", WASM]).output();
    folder.is_ok_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
}

/// A target without an operating system is the proof that the analysis needs none.
fn wasm(root: &Path) -> Outcome {
    if !has_wasm() {
        return NO_WASM;
    }
    let mut command = Command::new("cargo");
    command.args(["check", "--quiet", "--package", "fencepost-analysis", "--package", "fencepost-ide"]);
    execute(root, build_once(command.args(["--target", WASM])))
}

/// The extension in a real VS Code, where its web build and a browser are; the test says which of them is missing.
fn window(root: &Path, tally: &mut Tally) -> Outcome {
    let folder = root.join("editors").join("vscode");
    if !folder.join("node_modules").join("playwright-core").is_dir() {
        return Outcome::Skipped("the extension's packages are not installed");
    }
    let mut command = Command::new("npm");
    command.args(["run", "--silent", "window"]).env("FENCEPOST_SERVER_PATH", server(root));
    execute_tests(&folder, &mut command, tally)
}

fn vscode(root: &Path, tally: &mut Tally) -> Outcome {
    let folder = root.join("editors").join("vscode");
    if !folder.join("package.json").is_file() {
        return Outcome::Skipped("not in this tree");
    }
    if !answers("npm", &["--version"]) {
        return Outcome::Skipped("npm is not installed");
    }
    // The flag that the tests are run with; what they are built for, and their packages, ask for no more.
    if !answers("node", &["--test-force-exit", "--version"]) {
        return Outcome::Skipped("this Node is older than 20.14, which its tests need");
    }
    let install = execute(&folder, Command::new("npm").args(["ci", "--no-audit", "--no-fund"]));
    if let Outcome::Failed = install {
        return install;
    }
    let mut command = Command::new("npm");
    command.arg("test");
    // A test looks for it in `target` itself where nothing else is named.
    let server = server(root);
    if server.is_file() && std::env::var_os("FENCEPOST_SERVER_PATH").is_none() {
        command.env("FENCEPOST_SERVER_PATH", server);
    }
    execute_tests(&folder, &mut command, tally)
}

/// The extension for Zed as WebAssembly, in a host that answers what it asks of Zed.
fn zed(root: &Path, tally: &mut Tally) -> Outcome {
    if !has_wasm() {
        return NO_WASM;
    }
    // The host's iterators and sets are of Node 20.
    if !answers("npm", &["--version"]) || !answers("node", &["--test-force-exit", "--version"]) {
        return Outcome::Skipped("its host needs npm and Node 20.14 or newer");
    }
    let folder = root.join("editors").join("zed");
    let built = target(root).join("zed");
    let mut build = Command::new("cargo");
    build.args(["build", "--quiet", "--release", "--locked", "--target", WASM, "--target-dir"]).arg(&built);
    if let Outcome::Failed = execute(&folder, build_once(&mut build)) {
        return Outcome::Failed;
    }
    let tests = folder.join("tests");
    if let Outcome::Failed = execute(&tests, Command::new("npm").args(["ci", "--no-audit", "--no-fund"])) {
        return Outcome::Failed;
    }
    let mut command = Command::new("npm");
    command.args(["test", "--silent"]);
    command.env("FENCEPOST_ZED_MODULE", built.join(WASM).join("release").join("fencepost_zed.wasm"));
    let server = server(root);
    if server.is_file() && std::env::var_os("FENCEPOST_SERVER_PATH").is_none() {
        command.env("FENCEPOST_SERVER_PATH", server);
    }
    execute_tests(&tests, &mut command, tally)
}

/// The server that the cargo tests build.
fn server(root: &Path) -> PathBuf {
    target(root).join("debug").join(format!("fencepost{}", std::env::consts::EXE_SUFFIX))
}

/// Without what makes the next build of a crate cheaper, which costs a tenth of this one: who edits and tests takes
/// `--fast`, or `cargo test` itself.
fn build_once(command: &mut Command) -> &mut Command {
    match std::env::var_os("CARGO_INCREMENTAL") {
        Some(_) => command,
        None => command.env("CARGO_INCREMENTAL", "0"),
    }
}

fn cargo(root: &Path, args: &[&str]) -> Outcome {
    execute(root, Command::new("cargo").args(args))
}
