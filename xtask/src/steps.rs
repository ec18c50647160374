//! Steps of a command: what each came to, how long it took, and what its tests say of themselves.
//!
//! A test that cannot run on a machine prints `skipped: NAME: why` on a line, past the harness' capture
//! (`writeln!(std::io::stderr(), …)`); such lines are gathered here, with the closing lines of
//! cargo's test binaries and of Node's.

use std::fmt;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a step came to.
pub(crate) enum Outcome {
    Passed,
    Failed,
    /// Why it cannot run here.
    Skipped(&'static str),
}

/// Counts of tests.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    /// Marked as ignored.
    pub(crate) ignored: usize,
    /// `NAME: why` of those that found out that they cannot run.
    pub(crate) skipped: Vec<String>,
}

impl Tally {
    /// Takes in a line of output.
    fn read(&mut self, line: &str) {
        if let Some((_, counts)) = line.split_once("test result: ") {
            // `ok. 3 passed; 0 failed; 0 ignored; …`
            let counts = counts.split_once(". ").map_or("", |(_, counts)| counts);
            for (number, word) in counts.split("; ").filter_map(|part| part.split_once(' ')) {
                let number: usize = number.parse().unwrap_or(0);
                match word {
                    "passed" => self.passed += number,
                    "failed" => self.failed += number,
                    "ignored" => self.ignored += number,
                    _ => {}
                }
            }
        } else if let Some((_, skipped)) = line.split_once("skipped: ") {
            self.skipped.push(skipped.trim_end().to_owned());
        } else if let Some((word, number)) = line.trim_start_matches(['#', 'ℹ', ' ']).trim_end().split_once(' ')
            && line.starts_with(['#', 'ℹ'])
            && let Ok(number) = number.parse::<usize>()
        {
            // Node's: `# pass 3` in a pipe, `ℹ pass 3` from Node 23 on.
            match word {
                "pass" => self.passed += number,
                "fail" => self.failed += number,
                _ => {}
            }
        }
    }
}

/// What was run, in order.
#[derive(Default)]
pub(crate) struct Steps {
    done: Vec<(&'static str, Outcome, Duration)>,
    tally: Tally,
}

impl Steps {
    /// Runs a step.
    pub(crate) fn run(&mut self, name: &'static str, step: impl FnOnce(&mut Tally) -> Outcome) {
        println!("\n── {name}");
        let start = Instant::now();
        let outcome = step(&mut self.tally);
        self.done.push((name, outcome, start.elapsed()));
    }

    pub(crate) fn failed(&self) -> bool {
        self.done.iter().any(|(_, outcome, _)| matches!(outcome, Outcome::Failed))
    }
}

/// Each step with its time, each skip with its reason; the last line is `N passed, N failed, N skipped`, where the
/// tests count and the steps beside them.
impl fmt::Display for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n── summary")?;
        let &Tally { mut passed, mut failed, ignored, ref skipped } = &self.tally;
        let mut left_out = ignored + skipped.len();
        for (name, outcome, time) in &self.done {
            let seconds = time.as_secs_f64();
            match outcome {
                Outcome::Passed => {
                    passed += 1;
                    writeln!(f, "   passed   {seconds:7.1} s  {name}")?;
                }
                Outcome::Failed => {
                    failed += 1;
                    writeln!(f, "   FAILED   {seconds:7.1} s  {name}")?;
                }
                Outcome::Skipped(why) => {
                    left_out += 1;
                    writeln!(f, "   skipped             {name}: {why}")?;
                }
            }
        }
        for test in skipped {
            writeln!(f, "   skipped             {test}")?;
        }
        if ignored > 0 {
            writeln!(f, "   skipped             {ignored} tests that are marked as ignored: `--slow` runs them")?;
        }
        writeln!(f, "\n{passed} passed, {failed} failed, {left_out} skipped")
    }
}

/// Runs a command in a folder and passes its output on.
pub(crate) fn execute(folder: &Path, command: &mut Command) -> Outcome {
    let status = command.current_dir(folder).stdin(Stdio::null()).status();
    finish(command, status.map(|status| status.success()))
}

/// Runs a command that runs tests, passes its output on and counts.
pub(crate) fn execute_tests(folder: &Path, command: &mut Command, tally: &mut Tally) -> Outcome {
    let failed = tally.failed;
    let done = command_output(folder, command, |line| tally.read(line));
    let outcome = finish(command, done);
    // A step that fails is a failure itself: of tests that failed in it, it counts for one.
    if matches!(outcome, Outcome::Failed) && tally.failed > failed {
        tally.failed -= 1;
    }
    outcome
}

/// Both outputs come by one pipe, so that their lines stay in order.
fn command_output(folder: &Path, command: &mut Command, mut each: impl FnMut(&str)) -> std::io::Result<bool> {
    let (reader, writer) = std::io::pipe()?;
    command.current_dir(folder).stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn()?;
    // The command holds the writing ends until they are replaced; the reader would wait for ever.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut reader = BufReader::new(reader);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        std::io::stdout().write_all(&line)?;
        each(&String::from_utf8_lossy(&line));
        line.clear();
    }
    Ok(child.wait()?.success())
}

fn finish(command: &Command, done: std::io::Result<bool>) -> Outcome {
    match done {
        Ok(true) => Outcome::Passed,
        Ok(false) => Outcome::Failed,
        Err(error) => {
            eprintln!("{}: {error}", command.get_program().to_string_lossy());
            Outcome::Failed
        }
    }
}

/// Whether a program can be started and says that all is well.
pub(crate) fn answers(program: &str, args: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_and_skips_are_counted() {
        let mut tally = Tally::default();
        tally.read("test result: ok. 12 passed; 0 failed; 3 ignored; 0 measured; 4 filtered out; finished in 0.1s\n");
        tally.read("test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n");
        tally.read("test a ... skipped: a: no browser\n");
        tally.read("test b ... ok\n");
        tally.read("# pass 3\n");
        tally.read("ℹ fail 1\n");
        tally.read("# Subtest: pass 4\n");
        assert_eq!(tally, Tally { passed: 16, failed: 3, ignored: 3, skipped: vec!["a: no browser".to_owned()] });
    }

    #[test]
    fn the_summary_names_each_step_and_skip() {
        let mut steps = Steps::default();
        steps.run("format", |_| Outcome::Passed);
        steps.run("clippy", |_| Outcome::Skipped("it is not installed"));
        steps.run("cargo tests", |tally| {
            tally.read("test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured\n");
            tally.read("skipped: the browser: there is none\n");
            Outcome::Passed
        });
        let text = steps.to_string();
        assert!(!steps.failed() && text.ends_with("\n7 passed, 0 failed, 3 skipped\n"), "{text}");
        assert!(text.contains("clippy: it is not installed") && text.contains("the browser: there is none"), "{text}");
        steps.run("python", |_| Outcome::Failed);
        assert!(steps.failed() && steps.to_string().ends_with("\n7 passed, 1 failed, 3 skipped\n"));
    }
}
