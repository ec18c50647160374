//! What the command line and the server share about Python files: where their settings come from.

use std::fs;
use std::path::Path;

use base::{LineIndex, TextRange};
use engine::instances::Config;
use findings::{Problem, Severity};

/// The configuration's name.
const FILE: &str = "fencepost.toml";

/// The configuration nearest above a file, and what is wrong with it.
pub fn configuration(file: &Path) -> (Config, Vec<Problem>) {
    let found = file.ancestors().skip(1).find_map(|folder| {
        let path = folder.join(FILE);
        fs::read_to_string(&path).ok().map(|text| (path, text))
    });
    let Some((path, text)) = found else { return (Config::default(), Vec::new()) };
    let (config, errors) = Config::read(&text);
    let lines = LineIndex::new(&text);
    let problem = |(range, message): (TextRange, String)| Problem {
        code: "configuration",
        severity: Severity::Warning,
        message: format!("{FILE}, line {}: {message}", lines.line_col(range.start).line + 1),
        range: TextRange::empty(0),
        source: Some(format!("{}:{}", path.display(), lines.line_col(range.start).line + 1)),
        fix: None,
    };
    (config, errors.into_iter().map(problem).collect())
}
