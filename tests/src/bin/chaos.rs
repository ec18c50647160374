//! Random edits of twenty real files: `chaos COUNT [--pace N] [--seed N] [FILTER]` makes so many edits in all, compares the
//! whole analysis after each Nth, and prints the first difference of each file, cut down.

use std::process::ExitCode;
use std::time::Instant;

use fencepost_tests::chaos::{Pace, edit, files};

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let (mut count, mut pace, mut seed, mut filter) = (1000usize, 50, 1, String::new());
    while let Some(word) = words.next() {
        let mut number = || words.next().and_then(|word| word.parse().ok()).unwrap_or(1);
        match word.as_str() {
            "--pace" => pace = number(),
            "--seed" => seed = number() as u64,
            other => match other.parse() {
                Ok(number) => count = number,
                Err(_) => filter = other.to_owned(),
            },
        }
    }
    let files: Vec<_> = files().into_iter().filter(|(path, _)| path.contains(&filter)).collect();
    let share = count.div_ceil(files.len().max(1));
    let mut failed = 0;
    for (stream, (path, text)) in files.iter().enumerate() {
        let started = Instant::now();
        match edit(path, text, (seed, stream as u64), share, Pace(pace)) {
            Ok(()) => println!("{path}: {share} edits in {:.1?}", started.elapsed()),
            Err(found) => {
                failed += 1;
                println!("{path}: {found}");
            }
        }
    }
    println!("{} files, {} edits, {failed} with a difference", files.len(), share * files.len());
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
