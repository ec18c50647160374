//! `cargo xtask mutate`: how many slips in the corpus's clean kernels the analysis finds.

use fencepost_tests::mutate::{Choice, campaign, report, write};
use fencepost_tests::sources::root;
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask mutate [--kernel GLOB]... [--sample N] [--out DIR] [--format text|json|md]

  --kernel GLOB   only kernels of this name, `ws_*` or `sm_90/*`
  --sample N      at most N mutants, spread over kernels and mutations
  --out DIR       also writes the mutants and a manifest.json there
  --format        text (default), json or md

Ends with 1 where a survivor is unknown or a line of survivors.txt is stale.";

struct Asked {
    choice: Choice,
    out: Option<PathBuf>,
    format: String,
}

fn asked(mut words: impl Iterator<Item = String>) -> Option<Asked> {
    let mut asked = Asked { choice: Choice::default(), out: None, format: "text".into() };
    while let Some(word) = words.next() {
        match word.as_str() {
            "--kernel" => asked.choice.kernels.push(words.next()?),
            "--sample" => asked.choice.sample = Some(words.next()?.parse().ok()?),
            "--out" => asked.out = Some(words.next()?.into()),
            "--format" => asked.format = words.next().filter(|f| ["text", "json", "md"].contains(&f.as_str()))?,
            _ => return None,
        }
    }
    Some(asked)
}

fn main() -> ExitCode {
    let Some(asked) = asked(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(&asked) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn run(asked: &Asked) -> Result<ExitCode, String> {
    let campaign = campaign::run(&root().join("corpus"), &asked.choice)?;
    if let Some(folder) = &asked.out {
        let count = write::write(&campaign, folder)?;
        eprintln!("{count} mutants in {}", folder.display());
    }
    match asked.format.as_str() {
        "json" => println!("{}", report::json(&campaign)),
        "md" => print!("{}", report::markdown(&campaign)),
        _ => print!("{}", report::text(&campaign)),
    }
    let unknown = report::total(&campaign).unknown;
    Ok(if unknown == 0 && campaign.stale.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
