//! Where the settings of a Python file come from: the `fencepost.toml` nearest above it.

use std::path::Path;

use base::{LineIndex, TextRange};
use engine::instances::Config;
use findings::{Problem, Severity};

use super::snapshot::{FileProvider, WorkspaceSources};

/// The configuration's name.
const FILE: &str = "fencepost.toml";

impl<P: FileProvider> WorkspaceSources<P> {
    /// The configuration that holds for a file, and what is wrong with it.
    pub(crate) fn configuration(&self, file: &Path) -> (Config, Vec<Problem>) {
        let found = file.ancestors().skip(1).find_map(|folder| {
            let path = folder.join(FILE);
            self.on_disk(&path).map(|found| (path, found))
        });
        let Some((path, found)) = found else { return (Config::default(), Vec::new()) };
        let (config, errors) = Config::read(found.text());
        let lines = LineIndex::new(found.text());
        let problem = |(range, message): (TextRange, String)| {
            let line = lines.line_col(range.start).line + 1;
            Problem {
                code: "configuration",
                severity: Severity::Warning,
                message: format!("{FILE}, line {line}: {message}"),
                range: TextRange::empty(0),
                source: Some(format!("{}:{line}", path.display())),
                fix: None,
            }
        };
        (config, errors.into_iter().map(problem).collect())
    }
}
