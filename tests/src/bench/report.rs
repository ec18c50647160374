//! What was measured: rows of figures beside a peer's, counts of instructions, outputs of the suites, and what was skipped.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::machine;
use crate::plot::{Line, Plot};

/// One figure beside a peer's, both in milliseconds of processor time.
struct Row {
    what: String,
    ours: f64,
    peer: String,
    theirs: f64,
}

/// A count of instructions, and that of the last run.
struct Count {
    what: String,
    now: u64,
    last: Option<u64>,
}

/// All that was measured.
#[derive(Default)]
pub struct Report {
    rows: Vec<Row>,
    counts: Vec<Count>,
    suites: Vec<(String, String)>,
    skipped: Vec<(String, String)>,
}

impl Report {
    /// Nothing yet.
    pub fn new() -> Report {
        println!("{}", machine::name());
        Report::default()
    }

    /// What is not measured here, and why.
    pub(super) fn skip(&mut self, what: &str, why: impl Into<String>) {
        let why = why.into();
        eprintln!("skipped: {what}: {why}");
        self.skipped.push((what.to_owned(), why));
    }

    pub(super) fn beside(&mut self, what: String, ours: f64, peer: &str, theirs: f64) {
        println!("{what}: {ours:.2} ms, {peer} {theirs:.2} ms: {:.1} times", theirs / ours);
        self.rows.push(Row { what, ours, peer: peer.to_owned(), theirs });
    }

    pub(super) fn instructions(&mut self, what: String, now: u64, last: Option<u64>) {
        let ratio = last.map_or_else(String::new, |last| format!(", {:.3} of the last", now as f64 / last as f64));
        println!("{what}: {now} instructions{ratio}");
        self.counts.push(Count { what, now, last });
    }

    pub(super) fn suite(&mut self, name: &str, output: String) {
        self.suites.push((name.to_owned(), output));
    }

    /// Writes `bench.json`, `bench.md` and plots into a folder; gives their paths.
    ///
    /// # Errors
    /// Which file cannot be written, and why.
    pub fn write(&self, folder: &Path) -> Result<Vec<PathBuf>, String> {
        let mut written = Vec::new();
        let mut write = |name: &str, text: String| {
            let path = folder.join(name);
            std::fs::write(&path, text).map_err(|why| format!("{}: {why}", path.display()))?;
            written.push(path);
            Ok::<(), String>(())
        };
        write("bench.json", format!("{:#}\n", self.json()))?;
        write("bench.md", self.markdown())?;
        let points = |of: &dyn Fn(&Row) -> f64| {
            (1..).zip(&self.rows).map(|(at, row)| (f64::from(at), of(row))).collect::<Vec<_>>()
        };
        if !self.rows.is_empty() {
            let line = |name: &str, points| Line { name: name.to_owned(), points };
            let lines = vec![line("fencepost", points(&|row| row.ours)), line("peer", points(&|row| row.theirs))];
            let plot = Plot {
                title: "Processor time beside peers, in the order of the table".to_owned(),
                x: "row".to_owned(),
                y: "ms".to_owned(),
                lines,
                logarithmic: true,
            };
            write("peers.svg", plot.svg()?)?;
        }
        Ok(written)
    }

    fn json(&self) -> Value {
        let rows = self.rows.iter().map(|row| {
            json!({ "what": row.what, "fencepost_ms": row.ours, "peer": row.peer, "peer_ms": row.theirs,
                    "ratio": row.theirs / row.ours })
        });
        let counts = self.counts.iter().map(|count| {
            json!({ "what": count.what, "instructions": count.now, "last": count.last,
                    "ratio": count.last.map(|last| count.now as f64 / last as f64) })
        });
        let suites = self.suites.iter().map(|(name, output)| json!({ "name": name, "output": output }));
        let skipped = self.skipped.iter().map(|(what, why)| json!({ "what": what, "why": why }));
        json!({
            "machine": machine::name(), "processor_time": rows.collect::<Vec<_>>(),
            "instructions": counts.collect::<Vec<_>>(), "suites": suites.collect::<Vec<_>>(),
            "skipped": skipped.collect::<Vec<_>>(),
        })
    }

    fn markdown(&self) -> String {
        let mut out = format!("{}.\n", machine::name());
        if !self.rows.is_empty() {
            out.push_str("\n| what | Fencepost, ms | peer | its ms | ratio |\n| --- | --: | --- | --: | --: |\n");
        }
        for Row { what, ours, peer, theirs } in &self.rows {
            let _ = writeln!(out, "| {what} | {ours:.2} | {peer} | {theirs:.2} | {:.1} |", theirs / ours);
        }
        if !self.counts.is_empty() {
            out.push_str("\n| command | instructions, millions | of the last |\n| --- | --: | --: |\n");
        }
        for Count { what, now, last } in &self.counts {
            let ratio = last.map_or_else(|| "-".to_owned(), |last| format!("{:.3}", *now as f64 / last as f64));
            let _ = writeln!(out, "| {what} | {:.1} | {ratio} |", *now as f64 / 1e6);
        }
        if !self.skipped.is_empty() {
            out.push_str("\nSkipped:\n\n");
        }
        for (what, why) in &self.skipped {
            let _ = writeln!(out, "- {what}: {why}");
        }
        for (name, output) in &self.suites {
            let _ = write!(out, "\n`{name}`:\n\n```text\n{}\n```\n", output.trim_end());
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_ratios_and_what_is_missing_are_written() {
        let mut report = Report::default();
        report.beside("parse".to_owned(), 2.0, "libtriton", 9.0);
        report.instructions("check".to_owned(), 1_100, Some(1_000));
        report.skip("ty", "not on the PATH");
        report.suite("scale", "1 2 3\n".to_owned());
        let text = report.markdown();
        for part in ["| parse | 2.00 | libtriton | 9.00 | 4.5 |", "| 1.100 |", "- ty: not on the PATH", "1 2 3"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let json = report.json();
        assert_eq!(
            (json["processor_time"][0]["ratio"].as_f64(), json["skipped"][0]["what"].as_str()),
            (Some(4.5), Some("ty"))
        );
    }
}
