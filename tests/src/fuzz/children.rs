//! All targets, each in a process of its own: what ends a process is noted like any other trouble, and the target goes
//! on with other inputs until its time is over.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::parallel;

/// After so many troubles a target is left alone.
pub const TROUBLES: usize = 8;

/// What is to be done.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The program that reads one target's inputs: this one.
    pub program: PathBuf,
    /// The targets, by name.
    pub targets: Vec<String>,
    /// The time of each.
    pub time: Duration,
    /// What makes inputs others than those of another plan.
    pub seed: u64,
    /// Processes at once.
    pub jobs: usize,
    /// Where inputs are left that are not read as they should be.
    pub out: PathBuf,
    /// Arguments of each process beside these.
    pub arguments: Vec<String>,
}

/// What a target came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// The target.
    pub target: String,
    /// Inputs that were read.
    pub inputs: u64,
    /// Milliseconds of the slowest.
    pub slowest: u64,
    /// The most MiB that a process had.
    pub peak: u64,
    /// What went wrong, each with its file.
    pub troubles: Vec<String>,
}

impl Row {
    /// As one process prints it for another: a line, then a line for each trouble.
    pub fn line(&self) -> String {
        let mut out = format!("row {} {} {} {}\n", self.target, self.inputs, self.slowest, self.peak);
        self.troubles.iter().for_each(|trouble| out.push_str(&format!("trouble {}\n", trouble.replace('\n', " | "))));
        out
    }

    /// Reads [`Row::line`]; `None` where a process has not come to print it.
    fn read(text: &str) -> Option<Row> {
        let line = text.lines().find_map(|line| line.strip_prefix("row "))?;
        let mut words = line.split(' ');
        let target = words.next()?.to_owned();
        let mut number = || words.next()?.parse::<u64>().ok();
        let (inputs, slowest, peak) = (number()?, number()?, number()?);
        let troubles = text.lines().filter_map(|line| line.strip_prefix("trouble ")).map(str::to_owned).collect();
        Some(Row { target, inputs, slowest, peak, troubles })
    }

    fn add(&mut self, other: Row) {
        self.inputs += other.inputs;
        self.slowest = self.slowest.max(other.slowest);
        self.peak = self.peak.max(other.peak);
        self.troubles.extend(other.troubles);
    }
}

/// Reads mutated inputs of all targets of a plan.
pub fn all(plan: &Plan) -> Vec<Row> {
    let rows = parallel::each(plan.jobs, &plan.targets, |target| one(plan, target));
    let named = rows.into_iter().zip(&plan.targets);
    named
        .map(|(row, target)| {
            row.unwrap_or_else(|why| Row { target: target.clone(), troubles: vec![why], ..Row::default() })
        })
        .collect()
}

fn one(plan: &Plan, target: &str) -> Row {
    let begun = Instant::now();
    let mut row = Row { target: target.to_owned(), ..Row::default() };
    let mut seed = plan.seed;
    while row.troubles.len() < TROUBLES {
        let left = plan.time.saturating_sub(begun.elapsed());
        if left < Duration::from_secs(1) {
            break;
        }
        let mut command = Command::new(&plan.program);
        command.args([target, "--child", "--seed", &seed.to_string(), "--seconds", &left.as_secs().to_string()]);
        command.arg("--out").arg(&plan.out).args(&plan.arguments).stdin(Stdio::null());
        let output = match command.output() {
            Ok(output) => output,
            Err(error) => {
                row.troubles.push(format!("{}: {error}", plan.program.display()));
                break;
            }
        };
        match Row::read(&String::from_utf8_lossy(&output.stdout)) {
            Some(part) => row.add(part),
            // The input at hand has ended it.
            None => {
                let name = plan.out.join(format!("{target}-{seed}-end"));
                let _ = std::fs::copy(at_hand(&plan.out, target), &name);
                let said = String::from_utf8_lossy(&output.stderr);
                let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
                row.troubles.push(format!("{}: the process ends, {}: {last}", name.display(), output.status));
            }
        }
        // What comes next has not been read before.
        seed = seed.wrapping_add(1_000_003);
    }
    row
}

/// Where a process keeps the input that it reads.
fn at_hand(out: &Path, target: &str) -> PathBuf {
    out.join(format!("{target}.now"))
}

/// The rows as a table in Markdown, and what went wrong below it.
pub fn table(rows: &[Row]) -> String {
    let mut out = String::from(
        "| target | inputs | slowest, ms | most memory, MiB | troubles |\n| --- | ---: | ---: | ---: | ---: |\n",
    );
    for row in rows {
        let Row { target, inputs, slowest, peak, troubles } = row;
        out.push_str(&format!("| {target} | {inputs} | {slowest} | {peak} | {} |\n", troubles.len()));
    }
    let troubles = rows.iter().flat_map(|row| row.troubles.iter());
    troubles.for_each(|trouble| out.push_str(&format!("\n{trouble}")));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_as_it_was_printed() {
        let troubles = vec!["a: takes 2 s".to_owned(), "b: panics: c".to_owned()];
        let row = Row { target: "npy".to_owned(), inputs: 7, slowest: 12, peak: 30, troubles };
        assert_eq!(Row::read(&format!("noise\n{}", row.line())), Some(row));
        assert_eq!(Row::read("noise\n"), None);
    }
}
