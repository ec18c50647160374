//! Instructions by callgrind: the same on a busy machine. They are compared with those of the last run that was accepted,
//! printed as ratios, and never asserted: compilers change them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Report, file, installed};

/// Commands, each a file of this repository behind it.
const COMMANDS: &[(&str, &str)] = &[
    ("check", "corpus/ttgir/sm_90/ws_gemm.ttgir"),
    ("check", "corpus/ttgir/sm_90/ws_gemm.released_too_early.ttgir"),
    ("check", "corpus/ttgir/sm_100/tc05_attention.ttgir"),
    ("check", "corpus/gluon/ws_gemm.py"),
    ("races", "corpus/gluon/softmax_two_pass.py"),
    ("report", "corpus/ttgir/sm_90/ws_gemm.ttgir"),
];

/// Where the accepted counts stand.
const LAST: &str = "benches/instructions.txt";

/// Counts those of all commands.
pub fn count(report: &mut Report, binary: &Path, accept: bool) {
    let Some(valgrind) = installed("valgrind") else {
        report.skip("instruction counts", "valgrind is not on the PATH (Debian: apt-get install valgrind)");
        return;
    };
    let known = std::fs::read_to_string(file(LAST)).unwrap_or_default();
    let last = |what: &str| {
        let line = known.lines().find_map(|line| line.strip_prefix(what)?.strip_prefix(": "))?;
        line.trim().parse().ok()
    };
    let mut accepted =
        "# Instructions of `fencepost`, a release build, as `cargo xtask bench --accept` left them.\n".to_owned();
    for (command, path) in COMMANDS {
        let what = format!("{command} tests/{path}");
        let input = file(path);
        if !input.is_file() {
            report.skip(&what, "the file is not there");
            continue;
        }
        let Some(now) = instructions(&valgrind, binary, command, input) else {
            report.skip(&what, "callgrind gave no count");
            continue;
        };
        report.instructions(what.clone(), now, last(&what));
        accepted.push_str(&format!("{what}: {now}\n"));
    }
    if accept && let Err(why) = std::fs::write(file(LAST), accepted) {
        eprintln!("tests/{LAST}: {why}");
    }
}

/// What callgrind counts of one command; one thread judges, so that little depends on the scheduler.
fn instructions(valgrind: &Path, binary: &Path, command: &str, input: PathBuf) -> Option<u64> {
    let mut run = Command::new(valgrind);
    run.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(binary).arg(command);
    if command != "report" {
        run.args(["--jobs", "1"]);
    }
    let output = run.arg(input).stdin(Stdio::null()).output().ok()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said.lines().find_map(|line| line.split_once("Collected : "))?;
    line.1.trim().parse().ok()
}
