//! Where the settings of a Python file come from: the `fencepost.toml` nearest above it, and the Triton that is installed.

use std::path::Path;

use base::{LineIndex, TextRange};
use engine::instances::{Config, VersionSource};
use findings::{Problem, Severity};

use super::installed::{InstalledTriton, installed};
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
        let Some((path, found)) = found else { return (self.with_installed(Config::default(), file), Vec::new()) };
        let (config, errors) = Config::read(found.text());
        let config = self.with_installed(config, file);
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

    /// The Triton that is installed for a file.
    pub(crate) fn installed(&self, file: &Path) -> Option<InstalledTriton> {
        installed(file, &self.root_of(file))
    }

    /// The release of Triton that is installed for the file, where the configuration names none.
    fn with_installed(&self, config: Config, file: &Path) -> Config {
        if config.version_from != VersionSource::Newest {
            return config;
        }
        match self.installed(file) {
            Some(found) => Config { version: found.version, version_from: VersionSource::Installed, ..config },
            None => config,
        }
    }
}
