//! Arguments that several commands have.

use base::Semantics;
use clap::ValueEnum;
use engine::instances::{Config, Target, Version, VersionSource, given, version};

/// With what kernels in Python are analysed.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Python {
    /// Of kernels in Python: give a parameter a value; `desc=fp16[128,64]` is a descriptor, `p=*fp16` a pointer
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    pub(crate) set: Vec<(String, String)>,
    /// Of kernels in Python: what they are compiled for: sm_80, sm_90, sm_100, sm_120, gfx942, gfx950, gfx1250
    #[arg(long, value_parser = target)]
    pub(crate) target: Option<Target>,
    /// Of kernels in Python: the release of Triton that they are written for, such as 3.8; by default the one that
    /// `fencepost.toml` names, or that is installed beside the file, or the newest
    #[arg(long, value_name = "RELEASE", value_parser = release)]
    pub(crate) triton: Option<Version>,
}

impl Python {
    /// Overlays a configuration.
    pub(crate) fn over(&self, mut config: Config) -> Config {
        config.set.clone_from(&self.set);
        config.target = self.target.or(config.target);
        config.target_commanded = self.target.is_some();
        if let Some(version) = self.triton {
            (config.version, config.version_from) = (version, VersionSource::Command);
        }
        config
    }
}

fn setting(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE")?;
    let (name, value) = (name.trim(), value.trim());
    if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return Err(format!("`{name}` is no parameter's name"));
    }
    given(value)?;
    Ok((name.to_owned(), value.to_owned()))
}

fn target(text: &str) -> Result<Target, String> {
    let list = settings::table::TARGETS;
    settings::table::target(text).ok_or_else(|| match settings::nearest(text, list.iter().copied()) {
        Some(near) => format!("did you mean {near}? There are {}", list.join(", ")),
        None => format!("there are {}", list.join(", ")),
    })
}

fn release(text: &str) -> Result<Version, String> {
    version(text).ok_or_else(|| "a release of Triton, 3.2 or later, such as 3.8".to_owned())
}

/// Whose rules hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Rules {
    /// Those of PyPI triton 3.9: a TMA copy has to see the one before it complete
    Release,
    /// Those of the facebookexperimental fork: TMA copies of one partition are in order
    Fork,
}

impl From<Rules> for Semantics {
    fn from(rules: Rules) -> Semantics {
        match rules {
            Rules::Release => Semantics::Release,
            Rules::Fork => Semantics::Fork,
        }
    }
}

/// What `check` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Source excerpts, numbered places and the run
    Human,
    /// A line for each finding: `kernels.py:21:9: error[deadlock] …`
    Concise,
    /// One JSON document (schema 1)
    Json,
    /// SARIF 2.1.0
    Sarif,
    /// Annotations for GitHub Actions
    Github,
}

/// When to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub(crate) enum Colour {
    Auto,
    Always,
    Never,
}
