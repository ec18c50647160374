//! Benchmarks against peers, in one run: JSON, Markdown and plots. `cargo xtask bench` builds and starts it.
//!
//! `--out FOLDER` (target/bench), `--accept`: the counts of instructions become those that the next run compares with.
//! `--no-suites` leaves the benchmarks of `tests/benches` out. Peers are looked for on the `PATH`, and in the Python that
//! `FENCEPOST_PYTHON` names; each that is missing is said as skipped. Prints, asserts nothing.

use std::path::PathBuf;
use std::process::ExitCode;

use fencepost_tests::bench::{Report, against_peers, instructions, suites};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| words.iter().any(|word| word == name);
    let after = |name: &str| words.iter().position(|word| word == name).and_then(|at| words.get(at + 1));
    let folder = after("--out").map_or_else(|| PathBuf::from("target/bench"), PathBuf::from);
    if let Err(why) = std::fs::create_dir_all(&folder) {
        eprintln!("{}: {why}", folder.display());
        return ExitCode::FAILURE;
    }
    let Some(binary) = fencepost_tests::bench::binary() else {
        eprintln!("no release build of fencepost beside this program: `cargo xtask bench` makes it");
        return ExitCode::FAILURE;
    };
    let mut report = Report::new();
    against_peers::parse(&mut report);
    against_peers::commands(&mut report, &binary);
    instructions::count(&mut report, &binary, has("--accept"));
    if !has("--no-suites") {
        suites::run(&mut report);
    }
    match report.write(&folder) {
        Ok(files) => {
            files.iter().for_each(|file| println!("wrote {}", file.display()));
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
