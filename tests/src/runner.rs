//! A test runner for cases that are data: the same words and closing line as cargo's own.
//!
//! Takes cargo's arguments as far as they make sense here: filters, `--exact`, `--skip NAME`,
//! `--list`, `--ignored` and `--include-ignored`; others are ignored.

use std::process::ExitCode;

/// A named case; the error is what is printed for it.
pub struct Trial {
    /// Its name, `page.md: heading`.
    pub name: String,
    /// Runs it.
    pub run: Box<dyn FnOnce() -> Result<(), String>>,
}

/// Runs the trials that the command line asks for.
pub fn main(trials: Vec<Trial>) -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    run(trials, &args)
}

fn run(trials: Vec<Trial>, args: &[String]) -> ExitCode {
    let mut filters: Vec<&str> = Vec::new();
    let mut skips: Vec<&str> = Vec::new();
    let (mut exact, mut list, mut ignored, mut quiet) = (false, false, false, false);
    let mut words = args.iter().map(String::as_str);
    while let Some(word) = words.next() {
        match word {
            "--exact" => exact = true,
            "--list" => list = true,
            "--ignored" => ignored = true,
            "--quiet" | "-q" => quiet = true,
            "--skip" => skips.extend(words.next()),
            "--test-threads" | "--color" | "--format" | "--logfile" | "-Z" => drop(words.next()),
            word if word.starts_with('-') => {}
            word => filters.push(word),
        }
    }
    let hits = |name: &str, filter: &str| if exact { name == filter } else { name.contains(filter) };
    let total = trials.len();
    let chosen: Vec<Trial> = trials
        .into_iter()
        .filter(|trial| !ignored && (filters.is_empty() || filters.iter().any(|filter| hits(&trial.name, filter))))
        .filter(|trial| !skips.iter().any(|skip| hits(&trial.name, skip)))
        .collect();
    if list {
        chosen.iter().for_each(|trial| println!("{}: test", trial.name));
        return ExitCode::SUCCESS;
    }
    let filtered = total - chosen.len();
    println!("\nrunning {} tests", chosen.len());
    let mut passed = 0;
    let mut failures: Vec<(String, String)> = Vec::new();
    for trial in chosen {
        let outcome = (trial.run)();
        if !quiet || outcome.is_err() {
            println!("test {} ... {}", trial.name, if outcome.is_ok() { "ok" } else { "FAILED" });
        }
        match outcome {
            Ok(()) => passed += 1,
            Err(message) => failures.push((trial.name, message)),
        }
    }
    if !failures.is_empty() {
        println!("\nfailures:\n");
        failures.iter().for_each(|(name, message)| println!("---- {name} ----\n{message}\n"));
        println!("failures:");
        failures.iter().for_each(|(name, _)| println!("    {name}"));
    }
    let (word, failed) = (if failures.is_empty() { "ok" } else { "FAILED" }, failures.len());
    println!(
        "\ntest result: {word}. {passed} passed; {failed} failed; 0 ignored; 0 measured; {filtered} filtered out\n"
    );
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
