//! Mutated input: `fuzz [TARGET] [--seconds N] [--seed N] [--out FOLDER]` reads mutations of our own files with each
//! target, or one, and prints how many inputs were read, the slowest, and what panicked or took longer than a second.
//! What goes wrong is written to the folder; the input at hand is there too, for what ends the process. `fuzz TARGET
//! --input FILE` reads one input.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use base::Cancel;
use fencepost_tests::fuzz::{Until, fuzz, targets};

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let (mut seconds, mut seed, mut only) = (60u64, 1u64, String::new());
    let mut input: Option<PathBuf> = None;
    let mut out = std::env::temp_dir().join("fencepost-fuzz");
    while let Some(word) = words.next() {
        match word.as_str() {
            "--seconds" => seconds = words.next().and_then(|word| word.parse().ok()).unwrap_or(seconds),
            "--seed" => seed = words.next().and_then(|word| word.parse().ok()).unwrap_or(seed),
            "--input" => input = words.next().map(PathBuf::from),
            "--out" => out = words.next().map(PathBuf::from).unwrap_or(out),
            other => only = other.to_owned(),
        }
    }
    if let Err(error) = std::fs::create_dir_all(&out) {
        eprintln!("{}: {error}", out.display());
        return ExitCode::from(2);
    }
    let all = targets();
    if !only.is_empty() && all.iter().all(|target| target.name != only) {
        let names: Vec<&str> = all.iter().map(|target| target.name).collect();
        eprintln!("there is no target {only}; there are {}", names.join(", "));
        return ExitCode::from(2);
    }
    if let Some(path) = input {
        let Ok(bytes) = std::fs::read(&path) else {
            eprintln!("{}: it cannot be read", path.display());
            return ExitCode::from(2);
        };
        for target in all.iter().filter(|target| target.name == only) {
            let begun = Instant::now();
            (target.read)(&bytes, &Cancel::never());
            println!("{}: {:.1?}", target.name, begun.elapsed());
        }
        return ExitCode::SUCCESS;
    }
    let mut troubles = 0;
    for target in all.iter().filter(|target| only.is_empty() || target.name == only) {
        let now = out.join(format!("{}.now", target.name));
        let mut keep = |input: &[u8]| drop(std::fs::write(&now, input));
        let done = fuzz(target, seed, Until::Time(Duration::from_secs(seconds)), &mut keep);
        println!(
            "{}: {} inputs, the slowest {:.0?}, {} troubles",
            target.name,
            done.inputs,
            done.slowest,
            done.troubles.len()
        );
        for (at, trouble) in done.troubles.iter().enumerate() {
            let path = out.join(format!("{}-{seed}-{at}", target.name));
            println!("  {}: {}", path.display(), trouble.what);
            let _ = std::fs::write(&path, &trouble.input);
        }
        troubles += done.troubles.len();
    }
    if troubles == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
