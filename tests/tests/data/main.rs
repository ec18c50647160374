//! The suites whose cases are data: the pages, the corpus in both languages, kernels that are run, kernels of
//! plain Triton with slips, and texts that are being typed. Each case is a test of its own, `suite/case`; they run in parallel, and a panic is its case's.
//!
//! `cargo test -p fencepost-tests --test data -- pages/tma` runs the cases whose name holds the words.

mod agreement;
mod corpus;
mod gsan;
mod pages;
mod races;
mod runs;
mod typing;

use std::panic::catch_unwind;
use std::process::ExitCode;

use fencepost_tests::known::Case;
use libtest_mimic::{Arguments, Trial};

type List = fn() -> Result<Vec<Case>, String>;

const SUITES: [(&str, List); 7] = [
    ("pages", pages::cases),
    ("corpus", corpus::cases),
    ("agreement", agreement::cases),
    ("runs", runs::cases),
    ("gsan", gsan::cases),
    ("races", races::cases),
    ("typing", typing::cases),
];

fn main() -> ExitCode {
    if let Some(done) = pages::update() {
        return done;
    }
    let trials = SUITES.into_iter().flat_map(|(suite, list)| trials(suite, list)).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// The tests of a suite; one that fails where the cases cannot be listed.
fn trials(suite: &str, list: List) -> Vec<Trial> {
    let cases = match catch_unwind(list) {
        Ok(Ok(cases)) if !cases.is_empty() => cases,
        Ok(Ok(_)) => vec![Case::new("cases", || Err("there are none".to_owned()))],
        Ok(Err(message)) => vec![Case::new("cases", || Err(message))],
        Err(_) => vec![Case::new("cases", || Err("listing them panics".to_owned()))],
    };
    let trial = |case: Case| Trial::test(format!("{suite}/{}", case.name), || (case.check)().map_err(Into::into));
    cases.into_iter().map(trial).collect()
}
