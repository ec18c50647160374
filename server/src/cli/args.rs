//! The arguments.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use analysis::base::Semantics;
use analysis::gluon::{Config, Target, given};
use clap::{Parser, Subcommand, ValueEnum};

/// Finds GPU barrier bugs in TTGIR and in Gluon kernels: races, deadlocks, phase mismatches, uninitialised reads.
#[derive(Debug, Parser)]
#[command(name = "fencepost", version)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check files and directories
    ///
    /// Exit code: 0 without findings, 1 with a finding that is an error or a warning, 2 when
    /// something could not be analysed (a file that cannot be read, a syntax error), whatever
    /// else was found. A kernel that the analysis cannot decide is shown and does not change the
    /// exit code, unless --strict is given.
    #[command(verbatim_doc_comment)]
    Check(Check),
    /// Draw the run that leads to each finding, or where there is none the run of each kernel
    Trace(Trace),
    /// Print the barrier report of each kernel: who waits for whom, and which overwrite nothing orders
    ///
    /// Of a dump with many modules it lists the sections; --section chooses.
    ///
    /// Exit code: 0 without findings, 1 with a MISSING row in a coverage table or a finding that is
    /// an error or a warning, 2 when something could not be analysed (a file that cannot be read, a
    /// syntax error, a section or kernel that is not there), whatever else was found. With --diff
    /// the newer report decides.
    #[command(verbatim_doc_comment)]
    Report(Report),
    /// Print the TTGIR as which the kernels of a Python file are analysed
    ///
    /// It is what Triton's front end would make of them before its passes, with the line of Python
    /// behind each op. Exit code: 2 where a kernel could not be elaborated whole, else 0.
    #[command(verbatim_doc_comment)]
    Ir(Ir),
    /// Compile the kernels of a Python file with your own Triton, with no GPU, and compare the verdicts
    ///
    /// This imports the file, that is, it runs it. Exit code: 0 where both readings agree, 1 where they
    /// differ, which is a defect of fencepost, 2 where something could not be compiled.
    #[command(verbatim_doc_comment)]
    Compare(Compare),
    /// Explain a kind of finding; without one, list them all
    Explain {
        /// Name of the kind, for example `deadlock`
        kind: Option<String>,
    },
    /// Serve the Language Server Protocol on stdin and stdout
    Lsp(Lsp),
}

#[derive(Debug, clap::Args)]
pub struct Check {
    /// Files of any name, directories (searched for `*.ttgir` and for `*.py` with Gluon kernels), or `-` for stdin
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// What to print; lines and columns of json count from 0, in UTF-16 code units
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    /// Treat a kernel that could not be decided as one that could not be analysed (exit code 2)
    #[arg(long)]
    pub strict: bool,
    /// Say of each kernel why its verdict is what it is: runs, loops closed, what was assumed
    ///
    /// Printed by the formats human and json.
    #[arg(long)]
    pub explain_proof: bool,
    /// By whose rules to judge where versions of Triton's sanitizer differ
    #[arg(long, value_enum, default_value_t = Rules::Release)]
    pub semantics: Rules,
    #[command(flatten)]
    pub python: Python,
    /// Also print the verdict of each kernel in directories
    #[arg(short, long)]
    pub verbose: bool,
    /// Files checked at a time; by default one a processor
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// When to colour; NO_COLOR and CLICOLOR_FORCE are heeded
    #[arg(long, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    pub color: Colour,
}

#[derive(Debug, clap::Args)]
pub struct Trace {
    /// A file, or `-` for stdin
    pub path: PathBuf,
    /// Only this kernel
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,
    /// Only this finding, counted from 1 among those of the kernels that are shown
    #[arg(long, value_name = "N")]
    pub finding: Option<NonZeroUsize>,
    /// What to draw
    #[arg(long, value_enum, default_value_t = TraceFormat::Text)]
    pub format: TraceFormat,
    /// Where to write it; by default to stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Draw repeated iterations of a long run too
    #[arg(long)]
    pub all_steps: bool,
    /// By whose rules to judge where versions of Triton's sanitizer differ
    #[arg(long, value_enum, default_value_t = Rules::Release)]
    pub semantics: Rules,
    #[command(flatten)]
    pub python: Python,
    /// Width of text; by default that of the terminal
    #[arg(long, value_name = "COLUMNS")]
    pub width: Option<usize>,
    /// When to colour; NO_COLOR and CLICOLOR_FORCE are heeded
    #[arg(long, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    pub color: Colour,
}

#[derive(Debug, clap::Args)]
pub struct Report {
    /// Files, or `-` for stdin
    #[arg(required = true, value_name = "FILE")]
    pub paths: Vec<PathBuf>,
    /// Only this kernel
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,
    /// Sections of a dump (of a Python file: instances of its kernels): a number, a part of a pass's name, or `all`; with --diff two, as `X..Y`
    #[arg(long, value_name = "N|PASS")]
    pub section: Option<String>,
    /// What a pass added, removed or changed: of two files, or of two sections of one (`--section X..Y`)
    ///
    /// With `--section all` each section is compared with the one before it.
    #[arg(long)]
    pub diff: bool,
    /// What to print; lines and columns of json count from 0, in UTF-16 code units
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub format: ReportFormat,
    /// Where to write it; by default to stdout
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// By whose rules to judge where versions of Triton's sanitizer differ
    #[arg(long, value_enum, default_value_t = Rules::Release)]
    pub semantics: Rules,
    /// Of text from before code partitioning: which buffers the channels to come order as one
    #[arg(long, value_enum, default_value_t = Channels::Own)]
    pub channels: Channels,
    #[command(flatten)]
    pub python: Python,
    /// Width of text; by default that of the terminal
    #[arg(long, value_name = "COLUMNS")]
    pub width: Option<usize>,
    /// When to colour; NO_COLOR and CLICOLOR_FORCE are heeded
    #[arg(long, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    pub color: Colour,
}

/// With what kernels in Python are analysed.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Python {
    /// Of Gluon kernels: give a parameter a value; `desc=fp16[128,64]` is a descriptor, `p=*fp16` a pointer
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    pub set: Vec<(String, String)>,
    /// Of Gluon kernels: what they are compiled for: sm_80, sm_90, sm_100, gfx942, gfx950, gfx1250
    #[arg(long, value_parser = target)]
    pub target: Option<Target>,
}

impl Python {
    /// Overlays a configuration.
    pub fn over(&self, mut config: Config) -> Config {
        config.set.clone_from(&self.set);
        config.target = self.target.or(config.target);
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
    Target::named(text).ok_or_else(|| "there are sm_80, sm_90, sm_100, gfx942, gfx950 and gfx1250".to_owned())
}

#[derive(Debug, clap::Args)]
pub struct Ir {
    /// A Python file
    pub path: PathBuf,
    /// Only this kernel
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,
    /// All instances of a kernel, not only the first
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub python: Python,
}

#[derive(Debug, clap::Args)]
pub struct Compare {
    /// A Python file
    pub path: PathBuf,
    /// The Python that has Triton; by default that of the active environment
    #[arg(long, value_name = "PATH")]
    pub python: Option<PathBuf>,
    /// Where they differ, write both kernels to files in this folder, for a report of the defect
    #[arg(long, value_name = "FOLDER")]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub settings: Python,
}

#[derive(Debug, clap::Args)]
pub struct Lsp {
    /// Accepted because many clients pass it; there is no other transport
    #[arg(long)]
    pub stdio: bool,
    /// Accepted because VS Code passes it; a closed stdin ends the server
    #[arg(long = "clientProcessId", hide = true, value_name = "PID")]
    pub client_process_id: Option<u32>,
}

/// Whose rules hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Rules {
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
pub enum Format {
    /// Source excerpts, numbered places and the run
    Human,
    /// One JSON document (schema 1)
    Json,
    /// SARIF 2.1.0
    Sarif,
    /// Annotations for GitHub Actions
    Github,
}

/// What `trace` draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TraceFormat {
    /// Swim lanes for a terminal
    Text,
    /// One JSON document (schema 1)
    Json,
    /// One run as a picture for a browser
    Svg,
}

/// What `report` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For a terminal
    Text,
    /// Markdown with tables
    Md,
    /// One JSON document (schema 1, docs/report.schema.json)
    Json,
    /// One page for a browser, with the graph and a run as pictures
    Html,
}

/// When to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub enum Colour {
    Auto,
    Always,
    Never,
}

/// What is assumed of channels that are not in the text yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Channels {
    /// Each buffer by itself: shows what code partitioning still has to order
    Own,
    /// Those of one `buffer.id` that overlap, as the rules for reuse promise
    Groups,
}

impl From<Channels> for analysis::lower::Options {
    fn from(channels: Channels) -> analysis::lower::Options {
        let channels = match channels {
            Channels::Own => analysis::lower::Channels::Own,
            Channels::Groups => analysis::lower::Channels::Groups,
        };
        analysis::lower::Options { channels }
    }
}
