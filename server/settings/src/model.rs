//! Settings as plain data, and which of two sources counts.

use std::collections::BTreeMap;

use base::{Limits, Semantics};
use engine::instances::{Config, Target, Version, VersionSource};
use findings::{Kind, Severity};

/// How findings of a kind are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Not at all; the verdict says how many there are.
    Off,
    /// As this.
    As(Severity),
}

impl Level {
    /// All of them, the quietest first.
    pub const ALL: [Level; 5] = [
        Level::Off,
        Level::As(Severity::Hint),
        Level::As(Severity::Information),
        Level::As(Severity::Warning),
        Level::As(Severity::Error),
    ];

    /// `off`, or the name of a severity.
    pub fn name(self) -> &'static str {
        match self {
            Level::Off => "off",
            Level::As(severity) => severity.name(),
        }
    }

    /// The level of this name.
    pub fn named(name: &str) -> Option<Level> {
        Level::ALL.into_iter().find(|level| level.name() == name)
    }
}

/// What one source says; what it does not say is empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// What kernels in Python are compiled for.
    pub target: Option<Target>,
    /// The release of Triton that they are written for.
    pub triton: Option<Version>,
    /// Parameters of kernels, and what they are given where nobody else says; several rows of one name are several
    /// values.
    pub values: Vec<(String, String)>,
    /// How findings are shown, by their kind.
    pub kinds: BTreeMap<Kind, Level>,
    /// Limits of the analysis, by the name of the field of [`Limits`].
    pub limits: BTreeMap<&'static str, u64>,
    /// By whose rules kernels are judged.
    pub semantics: Option<Semantics>,
    /// Prefixes of paths in logs and locations, and what stands there on this machine.
    pub paths: Vec<(String, String)>,
    /// How kernels are run: a kernel, and a recipe as a line of text.
    pub recipes: Vec<(String, String)>,
    /// Patterns of files that are left out.
    pub exclude: Vec<String>,
    /// Folders in which Triton leaves kernels.
    pub watch: Vec<String>,
    /// Whether the user's own Triton compiles what is saved.
    pub compile_on_save: Option<bool>,
    /// The Python that has Triton.
    pub python: Option<String>,
}

impl Settings {
    /// These settings, and where they say nothing the weaker ones. Tables are taken row by row, lists as a whole.
    pub fn over(mut self, weaker: &Settings) -> Settings {
        self.target = self.target.or(weaker.target);
        self.triton = self.triton.or(weaker.triton);
        self.semantics = self.semantics.or(weaker.semantics);
        self.compile_on_save = self.compile_on_save.or(weaker.compile_on_save);
        self.python = self.python.or_else(|| weaker.python.clone());
        for rows in
            [(&mut self.values, &weaker.values), (&mut self.paths, &weaker.paths), (&mut self.recipes, &weaker.recipes)]
        {
            let (own, weaker) = rows;
            let missing = |name: &str| !own.iter().any(|(known, _)| known == name);
            let more: Vec<_> = weaker.iter().filter(|(name, _)| missing(name)).cloned().collect();
            own.extend(more);
        }
        for (kind, level) in &weaker.kinds {
            self.kinds.entry(*kind).or_insert(*level);
        }
        for (name, limit) in &weaker.limits {
            self.limits.entry(name).or_insert(*limit);
        }
        for (own, weaker) in [(&mut self.exclude, &weaker.exclude), (&mut self.watch, &weaker.watch)] {
            if own.is_empty() {
                own.clone_from(weaker);
            }
        }
        self
    }

    /// What of it reaches specialisations.
    pub fn config(&self) -> Config {
        let said = self.triton.map(|version| (version, VersionSource::Configuration));
        let (version, version_from) = said.unwrap_or_default();
        Config { target: self.target, version, version_from, values: self.values.clone(), ..Config::default() }
    }

    /// The limits of the analysis.
    pub fn limits(&self) -> Limits {
        let usual = Limits::default();
        let of = |name: &str, usual: u64| self.limits.get(name).copied().unwrap_or(usual);
        let count = |name: &str, usual: usize| usize::try_from(of(name, usual as u64)).unwrap_or(usize::MAX);
        Limits {
            run_steps: of("run_steps", usual.run_steps),
            total_steps: of("total_steps", usual.total_steps),
            states: count("states", usual.states),
            valuations: count("valuations", usual.valuations),
            findings: count("findings", usual.findings),
            semantics: self.semantics.unwrap_or(usual.semantics),
        }
    }

    /// A path of a log or a location as this machine knows it: the longest prefix that is mapped counts.
    pub fn local_path(&self, path: &str) -> Option<String> {
        let inside = |from: &str| {
            path.strip_prefix(from)
                .filter(|rest| rest.is_empty() || rest.starts_with(['/', '\\']) || from.ends_with('/'))
        };
        let mapped = self.paths.iter().filter_map(|(from, to)| Some((from.len(), inside(from)?, to)));
        let (_, rest, to) = mapped.max_by_key(|(length, ..)| *length)?;
        let to = to.trim_end_matches('/');
        Some(format!("{to}/{}", rest.trim_start_matches(['/', '\\'])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stronger_source_counts_row_by_row() {
        let rows = |rows: &[(&str, &str)]| rows.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        let strong = Settings { values: rows(&[("n", "1")]), exclude: vec!["a".to_owned()], ..Settings::default() };
        let weak = Settings {
            values: rows(&[("n", "2"), ("n", "3"), ("m", "4")]),
            exclude: vec!["b".to_owned()],
            target: Some(Target::Gfx950),
            ..Settings::default()
        };
        let both = strong.over(&weak);
        assert_eq!(both.values, rows(&[("n", "1"), ("m", "4")]) as Vec<(String, String)>);
        assert_eq!((both.exclude, both.target), (vec!["a".to_owned()], Some(Target::Gfx950)));
    }

    #[test]
    fn the_longest_prefix_of_a_path_is_mapped() {
        let paths = vec![("/ci".to_owned(), "/home/me".to_owned()), ("/ci/build".to_owned(), "out/".to_owned())];
        let settings = Settings { paths, ..Settings::default() };
        let local = |path: &str| settings.local_path(path);
        assert_eq!(local("/ci/k.py").as_deref(), Some("/home/me/k.py"));
        assert_eq!(local("/ci/build/k.py").as_deref(), Some("out/k.py"));
        assert_eq!(local("/city/k.py"), None);
    }
}
