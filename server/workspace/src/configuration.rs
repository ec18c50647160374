//! Where the settings of a file come from: the `fencepost.toml` nearest above it, as it is open or as it lies on the
//! disk, over what the editor says; and the Triton that is installed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::{LineIndex, TextRange};
use engine::instances::{Config, VersionSource};
use findings::{Edit, Fix, Severity, TextProblem};
use runtime::launch::{LaunchOrigin, LaunchSpec, recipe};
use settings::{FILE, SettingError, Settings};

use super::installed::{InstalledTriton, installed};
use super::snapshot::{FileProvider, WorkspaceSources};

/// The settings of a file.
#[derive(Clone, Debug, Default)]
pub struct Configuration {
    /// All of them.
    pub settings: Settings,
    /// What of them reaches specialisations.
    pub config: Config,
    /// What is wrong with the file that they stand in, unless that is open: then it is said there.
    pub problems: Vec<TextProblem>,
    /// The text of that file, where something is wrong with it.
    pub wrong: Option<Arc<str>>,
    /// The folder of that file, or that which the editor has open: paths count from there.
    pub folder: Option<PathBuf>,
}

impl Configuration {
    /// Prefixes of paths in logs, and what stands there on this machine, from the root on.
    pub fn path_maps(&self) -> Vec<(String, String)> {
        let here = |to: &String| match &self.folder {
            Some(folder) => folder.join(to).to_string_lossy().into_owned(),
            None => to.clone(),
        };
        self.settings.paths.iter().map(|(from, to)| (from.clone(), here(to))).collect()
    }

    /// The folders in which Triton leaves kernels, from the root on.
    pub fn watched(&self) -> Vec<PathBuf> {
        let home = std::env::home_dir();
        let folder = self.folder.as_deref().unwrap_or(Path::new(""));
        let place = |text: &String| match (text.strip_prefix("~/"), &home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => folder.join(text),
        };
        self.settings.watch.iter().map(place).filter(|path| path.is_absolute()).collect()
    }

    /// The recipes of the settings; what is wrong with one is said where it stands.
    pub fn recipes(&self, python: bool) -> Vec<LaunchSpec> {
        let folder = self.folder.as_deref().unwrap_or(Path::new(""));
        let parse = |(kernel, text): &(String, String)| {
            let (mut launch, errors) = recipe::parse(text, python, folder);
            launch.kernel = Some(kernel.clone());
            launch.origin = LaunchOrigin::Settings;
            errors.is_empty().then_some(launch)
        };
        self.settings.recipes.iter().filter_map(parse).collect()
    }

    /// Whether a file is left out where folders are searched.
    pub fn excludes(&self, file: &Path) -> bool {
        let below = self.folder.as_deref().and_then(|folder| file.strip_prefix(folder).ok()).unwrap_or(file);
        matches_any(&self.settings.exclude, below)
    }
}

/// Whether one of some patterns, written as the setting `exclude` is, matches a path that counts from their folder.
pub fn matches_any(patterns: &[String], below: &Path) -> bool {
    let parts: Vec<_> = below.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    let path = parts.join("/");
    patterns.iter().any(|pattern| settings::matches(pattern, &path))
}

impl<P: FileProvider> WorkspaceSources<P> {
    /// The settings that hold for a file.
    pub fn configuration(&self, file: &Path) -> Configuration {
        let mut made = self.settings_of(file);
        made.config = self.with_installed(made.settings.config(), file);
        let folders = made.watched();
        made.config.recipes = folders.iter().flat_map(|folder| self.compiled(folder, file)).collect();
        made
    }

    /// The same without what reaches specialisations: what matters of a file that is not Python.
    pub fn settings_of(&self, file: &Path) -> Configuration {
        let found = file.ancestors().skip(1).find_map(|folder| {
            let path = folder.join(FILE);
            let text = match self.settings_text(&path) {
                Some(text) => Ok(text),
                None => Err(self.unreadable_settings(&path)?),
            };
            Some((folder.to_path_buf(), path, text))
        });
        let editor = self.editor_settings();
        let Some((folder, path, text)) = found else {
            // What an editor says counts from the folder that it has open.
            let paths = [&editor.watch, &editor.exclude].iter().any(|list| !list.is_empty());
            let paths = paths || !editor.paths.is_empty() || !editor.recipes.is_empty();
            let folder = paths.then(|| self.root_of(file));
            return Configuration { settings: editor.clone(), folder, ..Configuration::default() };
        };
        let text = match text {
            Ok(text) => text,
            Err(why) => {
                let message = format!("{FILE} cannot be read, and nothing of it holds: {why}");
                let problems = vec![wrong(message, path.display().to_string())];
                return Configuration {
                    settings: editor.clone(),
                    config: Config::default(),
                    problems,
                    wrong: None,
                    folder: Some(folder),
                };
            }
        };
        let (settings, errors) = settings::read(&text);
        let settings = settings.over(editor);
        let lines = LineIndex::new(&text);
        let problem = |error: SettingError| {
            let line = lines.line_col(error.range.start).line + 1;
            wrong(format!("{FILE}, line {line}: {}", error.message), format!("{}:{line}", path.display()))
        };
        let shown = !self.is_open_settings(&path);
        let problems: Vec<TextProblem> = errors.into_iter().filter(|_| shown).map(problem).collect();
        let wrong = (!problems.is_empty()).then_some(text);
        Configuration { settings, config: Config::default(), problems, wrong, folder: Some(folder) }
    }

    /// The Triton that is installed for a file.
    pub fn installed(&self, file: &Path) -> Option<InstalledTriton> {
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

/// What is wrong with settings that are not the file itself, and where they stand.
fn wrong(message: String, source: String) -> TextProblem {
    let (severity, range) = (Severity::Warning, TextRange::empty(0));
    TextProblem { code: CODE, severity, message, range, source: Some(source), fix: None }
}

/// The code of what is wrong with settings.
pub const CODE: &str = "configuration";

/// What is wrong with a text of settings, at its places.
pub fn problems(text: &str) -> Vec<TextProblem> {
    let problem = |error: SettingError| {
        let replace = |instead: String| {
            let quoted = error.range.of(text).starts_with(['"', '\'']);
            let with = if quoted { format!("\"{instead}\"") } else { instead.clone() };
            Fix { title: format!("Replace by `{instead}`"), edits: vec![Edit { range: error.range, text: with }] }
        };
        TextProblem {
            code: CODE,
            severity: if error.syntax { Severity::Error } else { Severity::Warning },
            fix: error.instead.clone().map(replace),
            message: error.message,
            range: error.range,
            source: None,
        }
    };
    settings::read(text).1.into_iter().map(problem).collect()
}
