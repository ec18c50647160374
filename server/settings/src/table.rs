//! The table of settings: one row each.

use base::Limits;
use engine::instances::{Target, Version};
use findings::Kind;

use crate::Level;

/// What a setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// The name of a target.
    Target,
    /// A release of Triton.
    Release,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A number from the first to the second.
    Number(u64, u64),
    /// `true` or `false`.
    Switch,
    /// A text.
    Text,
    /// A list of texts; one alone may stand without brackets.
    Texts,
    /// A table with rows of its own.
    Rows(&'static [Setting]),
    /// A table from kinds of findings to levels.
    Kinds,
    /// A table from parameters of kernels to a value, or several.
    Values,
    /// A table from texts to texts.
    Map,
    /// A table from kernels to recipes.
    Recipes,
}

/// Who may say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// `fencepost.toml` and editors.
    Anywhere,
    /// Editors alone: a file that came with a repository must not say which program is started.
    Editor,
}

/// A setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its key in `fencepost.toml`; editors write it in camel case.
    pub name: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// Who may say it.
    pub said: Said,
    /// What it does, as sentences.
    pub documentation: &'static str,
    /// An example of a value, in TOML.
    pub example: &'static str,
}

const fn row(name: &'static str, takes: Takes, documentation: &'static str, example: &'static str) -> Setting {
    Setting { name, takes, said: Said::Anywhere, documentation, example }
}

const fn editor(name: &'static str, takes: Takes, documentation: &'static str, example: &'static str) -> Setting {
    Setting { said: Said::Editor, ..row(name, takes, documentation, example) }
}

/// Targets that are offered; others are taken too.
pub const TARGETS: &[&str] = &["sm_80", "sm_90", "sm_100", "sm_120", "gfx942", "gfx950", "gfx1250"];

/// The target of this name, where Gluon runs on it.
pub fn target(name: &str) -> Option<Target> {
    Target::known(name)
}

/// Limits of the analysis: rows of the table `limits`.
const LIMITS: &[Setting] = &[
    row("run_steps", Takes::Number(1_000, 100_000_000), "Machine steps of one run of a kernel.", "150_000"),
    row(
        "total_steps",
        Takes::Number(1_000, 10_000_000_000),
        "Machine steps over all runs and explorations of a kernel. Steps are counted rather than time, so that an answer depends on no computer.",
        "500_000",
    ),
    row("states", Takes::Number(1, 100_000_000), "States that an exploration of schedules may hold.", "20_000"),
    row("valuations", Takes::Number(1, 100_000), "Input valuations that are tried.", "64"),
    row("findings", Takes::Number(1, 100_000), "Findings that are reported of one kernel.", "64"),
    row(
        "semantics",
        Takes::Word(&["release", "fork"]),
        "By whose rules kernels are judged where versions of Triton's concurrency sanitizer differ: those of the released one, or those of the facebookexperimental fork.",
        "\"release\"",
    ),
];

/// All settings.
pub const SETTINGS: &[Setting] = &[
    row(
        "target",
        Takes::Target,
        "What kernels in Python are compiled for, where neither a directive nor a launch says so.",
        "\"sm_100\"",
    ),
    row(
        "triton",
        Takes::Release,
        "The release of Triton that kernels are written for. Without it the one counts that is installed beside the file, else the newest that is known.",
        "\"3.9\"",
    ),
    row(
        "values",
        Takes::Values,
        "Parameters of kernels in Python, and what they are given where neither a directive nor a launch nor a default says so. A list gives several values, each an instance.",
        "{ num_buffers = [2, 3], a_desc = \"fp16[128,64]\" }",
    ),
    row(
        "kinds",
        Takes::Kinds,
        "How findings are shown, by their kind. What is `off` is not shown; the verdict still says how many there are. A finding that its run makes weaker than its kind stays weaker.",
        "{ lapped-wait = \"error\", uninitialised-read = \"off\" }",
    ),
    row(
        "limits",
        Takes::Rows(LIMITS),
        "How much work one kernel may cost, and by whose rules it is judged. A limit that is met is said in the verdict.",
        "{ total_steps = 6_000_000 }",
    ),
    row(
        "paths",
        Takes::Map,
        "Prefixes of paths in logs that are replayed and in locations of TTGIR, and what stands there on this machine; relative ones count from the folder of `fencepost.toml`.",
        "{ \"/build/src\" = \"src\" }",
    ),
    row(
        "recipes",
        Takes::Recipes,
        "How kernels are run, by their name, where no comment in the file says so.",
        "{ gemm = \"grid=(4,4) a_ptr=f16[256,64]:normal M=256\" }",
    ),
    row(
        "exclude",
        Takes::Texts,
        "Files that are left out where folders are searched, as patterns from the folder of `fencepost.toml` on: `*` is any part of a name, `**` any folders.",
        "[\"third_party/**\", \"*_generated.py\"]",
    ),
    row(
        "watch",
        Takes::Texts,
        "Folders in which Triton leaves compiled kernels: its cache, or dumps. What appears there is analysed, and what was compiled of a kernel is an instance of it. `~` is the home folder.",
        "[\"~/.triton/cache\", \"dumps\"]",
    ),
    editor(
        "compile_on_save",
        Takes::Switch,
        "Whether the kernels of a Python file are compiled by your own Triton when it is saved, and judged as compiled beside. It imports the file, so it works in a trusted workspace alone.",
        "true",
    ),
    editor("python", Takes::Text, "The Python whose Triton compiles and runs kernels.", "\"/opt/venv/bin/python\""),
];

impl Setting {
    /// `runSteps` for `run_steps`.
    pub fn editor_name(&self) -> String {
        let mut out = String::new();
        for (at, part) in self.name.split('_').enumerate() {
            let mut letters = part.chars();
            match letters.next() {
                Some(first) if at > 0 => out.extend(first.to_uppercase()),
                first => out.extend(first),
            }
            out.extend(letters);
        }
        out
    }

    /// What it is where nobody says it, in TOML; nothing where that depends on other things.
    pub fn usual(&self) -> Option<String> {
        let limits = Limits::default();
        Some(match self.name {
            "run_steps" => limits.run_steps.to_string(),
            "total_steps" => limits.total_steps.to_string(),
            "states" => limits.states.to_string(),
            "valuations" => limits.valuations.to_string(),
            "findings" => limits.findings.to_string(),
            "semantics" => "\"release\"".to_owned(),
            "compile_on_save" => "false".to_owned(),
            _ => return None,
        })
    }

    /// What it takes, in words.
    pub fn takes_words(&self) -> String {
        match self.takes {
            Takes::Target => "a target, as `\"sm_100\"` or `\"gfx950\"`".to_owned(),
            Takes::Release => {
                let Version(major, minor) = Version::default();
                format!("a release of Triton with Gluon, up to `\"{major}.{minor}\"`")
            }
            Takes::Word(words) => words.iter().map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>().join(" or "),
            Takes::Number(least, most) => format!("a number from {least} to {most}"),
            Takes::Switch => "`true` or `false`".to_owned(),
            Takes::Text => "a text".to_owned(),
            Takes::Texts => "a list of texts".to_owned(),
            Takes::Rows(rows) => {
                let names: Vec<String> = rows.iter().map(|row| format!("`{}`", row.name)).collect();
                format!("a table with {}", names.join(", "))
            }
            Takes::Kinds => "a table from kinds of findings to levels".to_owned(),
            Takes::Values => "a table from parameters to values".to_owned(),
            Takes::Map => "a table from texts to texts".to_owned(),
            Takes::Recipes => "a table from kernels to recipes".to_owned(),
        }
    }

    /// Whether it is a table in TOML.
    pub fn is_table(&self) -> bool {
        matches!(self.takes, Takes::Rows(_) | Takes::Kinds | Takes::Values | Takes::Map | Takes::Recipes)
    }
}

/// The setting of a name among rows.
pub fn named<'a>(rows: &'a [Setting], name: &str) -> Option<&'a Setting> {
    rows.iter().find(|row| row.name == name)
}

/// Names of the kinds that can be set.
pub fn kinds() -> impl Iterator<Item = &'static str> {
    Kind::ALL.iter().map(|kind| kind.name())
}

/// Names of the levels.
pub fn levels() -> impl Iterator<Item = &'static str> {
    Level::ALL.into_iter().map(Level::name)
}
