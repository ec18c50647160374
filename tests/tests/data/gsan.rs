//! Races in global memory, by what a run on the CPU says of them: `tests/runs/gsan/` holds kernels and their clean twins.
//!
//! A file begins with its recipe and with what has to be said (`// race: LINE: TEXT`, a line of the Python that it was
//! compiled from, or `any`) and what some schedules say too (`// maybe:`). Nothing else may be said; of a file without
//! either nothing at all.

use std::fs;
use std::path::{Path, PathBuf};

use fencepost_tests::known::Case;
use fencepost_tests::runs::{self, Runnable};
use runtime::run::{Instrument, RunEnd};

/// Schedules of each kernel.
const SEEDS: u64 = 4;

pub(crate) fn cases() -> Result<Vec<Case>, String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("runs/gsan/ir");
    let entries = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths.into_iter().map(case).collect())
}

fn case(path: PathBuf) -> Case {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Case::new(name.clone(), move || check(&name, &path))
}

/// What is said: a line of the source, or `any`, and how the text goes on after it.
struct Expected {
    line: String,
    text: String,
}

impl Expected {
    fn read(text: &str, word: &str) -> Vec<Expected> {
        let lines = text.lines().take_while(|line| line.starts_with("//"));
        let rest = lines.filter_map(|line| line.strip_prefix("// ")?.strip_prefix(word)?.strip_prefix(": "));
        let pairs = rest.filter_map(|rest| rest.split_once(": "));
        pairs.map(|(line, text)| Expected { line: line.to_owned(), text: text.to_owned() }).collect()
    }

    fn fits(&self, line: &str, message: &str) -> bool {
        (self.line == "any" || self.line == line) && message.contains(&self.text)
    }
}

fn check(name: &str, path: &Path) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let recipe = text.lines().next().and_then(|line| line.strip_prefix("// fencepost-run:")).ok_or("no recipe")?;
    let launch = runs::read(name, recipe);
    let (race, maybe) = (Expected::read(&text, "race"), Expected::read(&text, "maybe"));
    let kernel = Runnable { stem: name.to_owned(), path: path.to_owned(), text: text.into(), launch };
    for seed in 0..SEEDS {
        let report = runs::run(&kernel, Instrument::Both, seed);
        let said: Vec<(String, String)> = report
            .kernels
            .iter()
            .flat_map(|kernel| &kernel.findings)
            .map(|finding| {
                let source = finding.sites.first().and_then(|site| site.source.as_deref()).unwrap_or("");
                (source.rsplit(':').next().unwrap_or("").to_owned(), finding.message.clone())
            })
            .collect();
        let all = said.iter().map(|(line, message)| format!("  {line}: {message}")).collect::<Vec<_>>().join("\n");
        let ends = if race.is_empty() { report.end == RunEnd::Passed } else { report.end == RunEnd::Asserted };
        if !ends {
            return Err(format!("seed {seed}: it ends with {:?}\n{all}", report.end));
        }
        if let Some(missing) = race.iter().find(|one| !said.iter().any(|(line, message)| one.fits(line, message))) {
            return Err(format!("seed {seed}: `{}` is not said at line {}\n{all}", missing.text, missing.line));
        }
        let known = |line: &str, message: &str| {
            race.iter().chain(&maybe).any(|one| one.line != "any" && one.fits(line, message))
        };
        if let Some((line, message)) = said.iter().find(|(line, message)| !known(line, message)) {
            return Err(format!("seed {seed}: line {line}: {message} is said as well\n{all}"));
        }
        if let Some(one) = report.kernels.iter().flat_map(|kernel| &kernel.findings).find(|one| one.sites.len() < 2)
            && one.message.contains("race detected")
        {
            return Err(format!("seed {seed}: a race has one side: {}", one.message));
        }
    }
    Ok(())
}
