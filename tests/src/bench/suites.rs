//! The benchmarks of `tests/benches`, each as it is run by itself.

use std::process::{Command, Stdio};

use super::Report;

/// Their names, and what they are told: in this run they are to take minutes, not hours.
const SUITES: &[(&str, &[&str])] = &[
    ("check", &[]),
    ("parse", &[]),
    ("scale", &[]),
    ("report", &[]),
    ("run", &[]),
    ("gluon", &[]),
    ("z3", &[]),
    ("lsp", &["--case", "edits", "--case", "memory", "--places", "1"]),
];

/// Runs them one after the other.
pub fn run(report: &mut Report) {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    for (name, arguments) in SUITES {
        println!("\n== {name}");
        let mut command = Command::new(&cargo);
        command.args(["bench", "--quiet", "-p", "fencepost-tests", "--bench", name, "--"]).args(*arguments);
        let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
        match output {
            Ok(output) if output.status.success() => {
                let text = String::from_utf8_lossy(&output.stdout).into_owned();
                print!("{text}");
                report.suite(name, text);
            }
            Ok(output) => report.skip(name, format!("ended with {}", output.status)),
            Err(why) => report.skip(name, why.to_string()),
        }
    }
}
