//! The one test command.
//!
//! Cheap checks first, `cargo test` last, so that the closing lines are the test runner's own. A
//! step that the machine has no tool for is skipped and says why; a failed step does not keep the
//! others from running, but fails the command.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// How much is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Formatting, tidy and the cargo tests.
    Fast,
    /// All that a pull request needs.
    Normal,
    /// The ignored tests too.
    Slow,
}

enum Outcome {
    Passed,
    Failed,
    Skipped(&'static str),
}

/// Runs everything in `scope`.
pub fn run(root: &Path, scope: Scope) -> ExitCode {
    let mut steps: Vec<(&str, Outcome)> = Vec::new();
    steps.push(("format", format(root)));
    steps.push(("tidy", tidy(root)));
    if scope != Scope::Fast {
        steps.push(("analysis has no serde", no_serde(root)));
        steps.push(("analysis is pure (wasm32)", wasm(root)));
        steps.push(("clippy", clippy(root)));
        steps.push(("python", python(root)));
    }
    let mut tests = vec!["test", "--workspace", "--no-fail-fast"];
    if scope == Scope::Slow {
        tests.extend(["--", "--include-ignored"]);
    }
    if scope != Scope::Fast {
        steps.push(("vs code extension", vscode(root)));
    }
    println!("\n── summary before the cargo tests");
    for (name, outcome) in &steps {
        match outcome {
            Outcome::Passed => println!("   passed   {name}"),
            Outcome::Failed => println!("   FAILED   {name}"),
            Outcome::Skipped(why) => println!("   skipped  {name}: {why}"),
        }
    }
    let tests = cargo(root, "cargo tests", &tests);
    let failed: Vec<&str> = steps
        .iter()
        .chain([&("cargo tests", tests)])
        .filter(|(_, outcome)| matches!(outcome, Outcome::Failed))
        .map(|(name, _)| *name)
        .collect();
    if failed.is_empty() {
        return ExitCode::SUCCESS;
    }
    eprintln!("\nxtask test: FAILED: {}", failed.join(", "));
    ExitCode::FAILURE
}

/// Rewrites the fixtures' outputs; `what` is the value of `UPDATE_EXPECT`.
pub fn update_fixtures(root: &Path, what: &str) -> ExitCode {
    let suites: [(&str, &[&str]); 2] = [
        ("fixtures", &["test", "--package", "fencepost-tests", "--test", "fixtures"]),
        ("readme", &["test", "--package", "fencepost", "--test", "cli", "--", "readme::"]),
    ];
    for (name, args) in suites {
        let mut command = Command::new("cargo");
        if let Outcome::Failed = execute(root, name, command.args(args).env("UPDATE_EXPECT", what)) {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn format(root: &Path) -> Outcome {
    if !answers("cargo", &["fmt", "--version"]) {
        return Outcome::Skipped("rustfmt is not installed (rustup component add rustfmt)");
    }
    cargo(root, "format", &["fmt", "--all", "--check"])
}

fn tidy(root: &Path) -> Outcome {
    println!("\n── tidy");
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
    cargo(root, "clippy", &["clippy", "--workspace", "--all-targets", "--quiet", "--", "--deny", "warnings"])
}

/// The crate that holds the analysis must not even be able to write JSON.
fn no_serde(root: &Path) -> Outcome {
    println!("\n── analysis has no serde");
    let tree = Command::new("cargo")
        .args(["tree", "--package", "fencepost-analysis", "--edges", "normal,build", "--prefix", "none"])
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

/// A target without an operating system is the proof that the analysis needs none.
fn wasm(root: &Path) -> Outcome {
    let target = "wasm32-unknown-unknown";
    let installed = Command::new("rustc")
        .args(["--print", "target-libdir", "--target", target])
        .output()
        .is_ok_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir());
    if !installed {
        return Outcome::Skipped("the target is not installed (rustup target add wasm32-unknown-unknown)");
    }
    cargo(root, "wasm32", &["check", "--quiet", "--package", "fencepost-analysis", "--target", target])
}

fn vscode(root: &Path) -> Outcome {
    let folder = root.join("editors").join("vscode");
    if !folder.join("package.json").is_file() {
        return Outcome::Skipped("not in this tree");
    }
    if !answers("npm", &["--version"]) {
        return Outcome::Skipped("npm is not installed");
    }
    let install = execute(&folder, "vs code: npm ci", Command::new("npm").args(["ci", "--no-audit", "--no-fund"]));
    if let Outcome::Failed = install {
        return install;
    }
    execute(&folder, "vs code: npm test", Command::new("npm").arg("test"))
}

fn python(root: &Path) -> Outcome {
    let folder = root.join("tests").join("python");
    if !folder.is_dir() {
        return Outcome::Skipped("no Python tests in this tree");
    }
    if !answers("python3", &["--version"]) {
        return Outcome::Skipped("python3 is not installed");
    }
    let mut command = Command::new("python3");
    command.args(["-m", "unittest", "discover", "--start-directory"]).arg(&folder);
    execute(root, "python", &mut command)
}

fn cargo(root: &Path, name: &str, args: &[&str]) -> Outcome {
    execute(root, name, Command::new("cargo").args(args))
}

fn execute(folder: &Path, name: &str, command: &mut Command) -> Outcome {
    println!("\n── {name}");
    match command.current_dir(folder).stdin(Stdio::null()).status() {
        Ok(status) if status.success() => Outcome::Passed,
        Ok(_) => Outcome::Failed,
        Err(error) => {
            eprintln!("{name}: {error}");
            Outcome::Failed
        }
    }
}

fn answers(program: &str, args: &[&str]) -> bool {
    Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
