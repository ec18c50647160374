//! The arguments.

mod check;
mod shared;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use runtime::launch::{LaunchArgument, recipe};
use runtime::run::Instrument;

pub(crate) use check::Check;
use execution::recipes::argument;
pub(crate) use shared::{Colour, Format, Python, Rules};

/// What is printed behind the commands.
const BEGIN: &str = "Begin with `fencepost check FILE`, for a file with kernels of Gluon or Triton, or a `.ttgir` of Triton's cache.\n\
    `fencepost explain KIND` says what a finding means, `fencepost trace FILE` draws the run that leads to it.";

/// Finds GPU barrier bugs in Gluon kernels and TTGIR (races, deadlocks, phase mismatches, uninitialised reads), and races
/// between the programs of Triton kernels.
#[derive(Debug, Parser)]
#[command(name = "fencepost", version = env!("FENCEPOST_VERSION"), after_help = BEGIN)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check files and directories
    ///
    /// Exit code: 0 without findings, 1 with a finding that is an error or a warning, 2 when
    /// something could not be analysed (a file that cannot be read, a syntax error, a kernel that
    /// is undecided), whatever else was found. With --allow-undecided a kernel that is undecided is
    /// shown and does not change the exit code; with --exit-zero findings do not. Findings that a
    /// comment suppresses, or that are in the --baseline, are counted and do not change it either.
    #[command(verbatim_doc_comment)]
    Check(Box<Check>),
    /// Check global memory alone: races between the programs of a launch, in TTIR, TTGIR, Gluon and plain Triton
    Races(Box<Check>),
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
    /// Run a kernel under instrumentation, and say of each assert where it is
    ///
    /// How it is launched is said by the options, by a comment in the file
    /// (`// fencepost-run: grid=(4,4) a_ptr=f16[256,64]:normal M=256`, `#` in Python), by what was kept in
    /// .fencepost/launches.toml, or by what is found in the file; --dry-run shows it. A file of Python is run by
    /// its own Python: run only what you trust.
    ///
    /// Exit code: 0 where nothing asserted, 1 where something did, the kernel hung, schedules
    /// disagree or outputs are not as expected, 2 where it could not be run. What the run does not
    /// decide (an op that is not followed) is said and does not change the exit code, unless
    /// --strict is given.
    #[command(verbatim_doc_comment)]
    Run(Box<Run>),
    /// Explain a kind of finding or another code that is printed; without one, list them all
    Explain {
        /// Name of the kind, for example `deadlock`
        kind: Option<String>,
    },
    /// List the settings of `fencepost.toml` and of editors
    Settings {
        /// Print the JSON schema of `fencepost.toml` instead
        #[arg(long, conflicts_with = "editor")]
        schema: bool,
        /// Print the settings of VS Code instead, as its `contributes.configuration`
        #[arg(long)]
        editor: bool,
    },
    /// List the limits of time, memory and work: how much each is, and what happens when it is met
    Limits {
        /// What to print
        #[arg(long, value_enum, default_value_t = LimitsFormat::Human)]
        format: LimitsFormat,
    },
    /// Print the script by which a shell completes this command line
    ///
    /// For instance `source <(fencepost completions bash)`, or, once and for all, into the folder that the shell reads
    /// such scripts from.
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write it and those of all commands to a folder
    Man {
        /// The folder, which is made where there is none
        #[arg(value_name = "FOLDER")]
        folder: Option<PathBuf>,
    },
    /// Serve the Model Context Protocol on stdin and stdout: check, report, trace, explain and run as tools of an agent
    ///
    /// docs/agents.md says how to set it up and how to use the tools. No file is written, and nothing of a
    /// file is executed, unless --python is given.
    Mcp {
        /// Kernels in Python run as the Triton of this Python compiles them, and `triton` is a backend of the
        /// tool `run`: both execute the files that an agent names
        #[arg(long, value_name = "PATH")]
        python: Option<PathBuf>,
    },
    /// Serve the Language Server Protocol on stdin and stdout
    Lsp(Lsp),
}

/// How limits are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LimitsFormat {
    /// A line each
    Human,
    /// One JSON document
    Json,
    /// Tables of Markdown
    Markdown,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Trace {
    /// A file, or `-` for stdin
    pub(crate) path: PathBuf,
    /// Only this kernel
    #[arg(long, value_name = "NAME")]
    pub(crate) kernel: Option<String>,
    /// Only this finding, counted from 1 among those of the kernels that are shown
    #[arg(long, value_name = "N")]
    pub(crate) finding: Option<NonZeroUsize>,
    /// What to draw; text by default
    #[arg(long, value_enum)]
    pub(crate) format: Option<TraceFormat>,
    /// Where to write it; by default to stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Show it in the browser: as html where no other format is named, from a new file where none is named
    #[arg(long)]
    pub(crate) open: bool,
    /// Draw repeated iterations of a long run too
    #[arg(long)]
    pub(crate) all_steps: bool,
    /// By whose rules to judge where versions of Triton's sanitizer differ
    #[arg(long, value_enum, default_value_t = Rules::Release)]
    pub(crate) semantics: Rules,
    #[command(flatten)]
    pub(crate) python: Python,
    /// Width of text; by default that of the terminal
    #[arg(long, value_name = "COLUMNS")]
    pub(crate) width: Option<usize>,
    /// When to colour; NO_COLOR and CLICOLOR_FORCE are heeded
    #[arg(long, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    pub(crate) color: Colour,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Report {
    /// Files, or `-` for stdin
    #[arg(required = true, value_name = "FILE")]
    pub(crate) paths: Vec<PathBuf>,
    /// Only this kernel
    #[arg(long, value_name = "NAME")]
    pub(crate) kernel: Option<String>,
    /// Sections of a dump (of a Python file: instances of its kernels): a number, a part of a pass's name, or `all`; with --diff two, as `X..Y`
    #[arg(long, value_name = "N|PASS")]
    pub(crate) section: Option<String>,
    /// What a pass added, removed or changed: of two files, or of two sections of one (`--section X..Y`)
    ///
    /// With `--section all` each section is compared with the one before it.
    #[arg(long)]
    pub(crate) diff: bool,
    /// What to print, text by default; lines and columns of json count from 0, in UTF-16 code units
    #[arg(long, value_enum)]
    pub(crate) format: Option<ReportFormat>,
    /// Where to write it; by default to stdout
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
    /// Show it in the browser: as html where no other format is named, from a new file where none is named
    #[arg(long)]
    pub(crate) open: bool,
    /// By whose rules to judge where versions of Triton's sanitizer differ
    #[arg(long, value_enum, default_value_t = Rules::Release)]
    pub(crate) semantics: Rules,
    /// Of text from before code partitioning: which buffers the channels to come order as one
    #[arg(long, value_enum, default_value_t = Channels::Own)]
    pub(crate) channels: Channels,
    #[command(flatten)]
    pub(crate) python: Python,
    /// Width of text; by default that of the terminal
    #[arg(long, value_name = "COLUMNS")]
    pub(crate) width: Option<usize>,
    /// When to colour; NO_COLOR and CLICOLOR_FORCE are heeded
    #[arg(long, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    pub(crate) color: Colour,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Ir {
    /// A Python file
    pub(crate) path: PathBuf,
    /// Only this kernel
    #[arg(long, value_name = "NAME")]
    pub(crate) kernel: Option<String>,
    /// All instances of a kernel, not only the first
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) python: Python,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Compare {
    /// A Python file
    pub(crate) path: PathBuf,
    /// The Python that has Triton; by default that of the active environment
    #[arg(long, value_name = "PATH")]
    pub(crate) python: Option<PathBuf>,
    /// Where they differ, write both kernels to files in this folder, for a report of the defect
    #[arg(long, value_name = "FOLDER")]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) settings: Python,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    /// A TTGIR or Python file, or `-` for stdin
    #[arg(value_name = "FILE")]
    pub(crate) path: PathBuf,
    /// What executes it
    #[arg(long, value_enum, default_value_t = Backend::Cpu)]
    pub(crate) backend: Backend,
    /// Who watches it; by default both on the cpu, ConSan elsewhere
    #[arg(long, value_enum)]
    pub(crate) instrument: Option<Watcher>,
    /// Reads of a byte that GSan keeps until it is written, chosen by the seed; on the cpu all of them by default, in Triton four
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) gsan_reads: Option<u32>,
    /// Releases of a thread that GSan keeps, the newest; on the cpu all of them by default, in Triton 1024
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) gsan_ring: Option<u32>,
    /// Only this kernel
    #[arg(long, value_name = "NAME")]
    pub(crate) kernel: Option<String>,
    /// Programs along x, y, z: `4`, `4,4`
    #[arg(long, value_name = "SIZES", value_parser = recipe::grid)]
    pub(crate) grid: Option<[u32; 3]>,
    /// An argument: `M=256`, `x=f16[256,64]:uniform(-1,1)`, `x=file(x.npy)`; may be given many times
    #[arg(long = "arg", value_name = "NAME=VALUE", value_parser = argument)]
    pub(crate) arguments: Vec<LaunchArgument>,
    /// Recipes from a file (TOML: kernel, grid, and a table `arguments`)
    #[arg(long, value_name = "FILE")]
    pub(crate) launch: Option<PathBuf>,
    /// Keep the recipe in .fencepost/launches.toml of the workspace
    #[arg(long)]
    pub(crate) keep: bool,
    /// Seed of random inputs and of the schedule
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// So many schedules on the same inputs: outputs that differ are the sign of a race
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) seeds: u32,
    /// Seconds until the kernel counts as hung
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) time: Option<f64>,
    /// Memory that the cpu backend may hold: `512M`, `4G`
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub(crate) memory: Option<u64>,
    /// Steps that the cpu backend may take
    #[arg(long, value_name = "N")]
    pub(crate) steps: Option<u64>,
    /// Write the tensors as they are after the run to this folder, one .npy file each
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: Option<PathBuf>,
    /// Compare tensors after the run with those of a .npz file, or NAME=FILE.npy
    #[arg(long, value_name = "FILE")]
    pub(crate) expect: Option<String>,
    /// Relative error that --expect tolerates; by default that of the element type
    #[arg(long, value_name = "X", requires = "expect")]
    pub(crate) tolerance: Option<f64>,
    /// The log that --backend replay reads
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// The Python that has Triton; by default that of the active environment
    #[arg(long, value_name = "PATH")]
    pub(crate) python: Option<PathBuf>,
    /// Where a path that asserts name lies here: `/container/src=src`; may be given many times
    #[arg(long, value_name = "FROM=TO", value_parser = pair)]
    pub(crate) map: Vec<(String, String)>,
    /// What to print; lines and columns of json count from 0, in UTF-16 code units
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub(crate) format: Format,
    /// Treat a run that decides nothing as one that failed (exit code 2)
    #[arg(long)]
    pub(crate) strict: bool,
    /// Show how it would be launched, and launch nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) settings: Python,
    /// When to colour; NO_COLOR and CLICOLOR_FORCE are heeded
    #[arg(long, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    pub(crate) color: Colour,
}

/// What executes a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Backend {
    /// Fencepost itself: no GPU; Triton compiles a kernel in Python where there is one
    Cpu,
    /// Your own Python, Triton and GPU
    Triton,
    /// Nobody: a saved log is read (--log)
    Replay,
}

/// Who watches a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Watcher {
    /// Triton's concurrency sanitizer: shared and tensor memory, barriers
    Consan,
    /// Sanitizer of global memory: races between programs
    Gsan,
    /// Both of them; on the cpu only
    Both,
    /// Nobody
    None,
}

impl From<Watcher> for Instrument {
    fn from(watcher: Watcher) -> Instrument {
        match watcher {
            Watcher::Consan => Instrument::ConSan,
            Watcher::Gsan => Instrument::GSan,
            Watcher::Both => Instrument::Both,
            Watcher::None => Instrument::Plain,
        }
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds: &f64| (0.001..=1e6).contains(seconds));
    seconds.ok_or_else(|| "a number of seconds".to_owned())
}

fn bytes(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.trim_end_matches(['B', 'b', 'i']) {
        text if text.ends_with(['k', 'K']) => (&text[..text.len() - 1], 10),
        text if text.ends_with(['m', 'M']) => (&text[..text.len() - 1], 20),
        text if text.ends_with(['g', 'G']) => (&text[..text.len() - 1], 30),
        text => (text, 0),
    };
    let number = digits.parse::<u64>().ok().filter(|number| *number < 1 << 32);
    number.map(|number| number << shift).ok_or_else(|| "a number of bytes, such as 512M or 4G".to_owned())
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (from, to) = text.split_once('=').ok_or("write FROM=TO")?;
    Ok((from.to_owned(), to.to_owned()))
}

#[derive(Debug, clap::Args)]
pub(crate) struct Lsp {
    /// Accepted because many clients pass it; there is no other transport
    #[arg(long)]
    pub(crate) stdio: bool,
    /// Accepted because VS Code passes it; a closed stdin ends the server
    #[arg(long = "clientProcessId", hide = true, value_name = "PID")]
    pub(crate) client_process_id: Option<u32>,
}

/// What `trace` draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TraceFormat {
    /// Swim lanes for a terminal
    Text,
    /// One JSON document (schema 1)
    Json,
    /// One run as a picture for a browser
    Svg,
    /// All runs as pictures in one page for a browser
    Html,
}

/// What `report` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For a terminal
    Text,
    /// Markdown with tables
    Md,
    /// One JSON document (schema 1, docs/report.schema.json)
    Json,
    /// One page for a browser, with the graph and a run as pictures
    Html,
}

/// What is assumed of channels that are not in the text yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Channels {
    /// Each buffer by itself: shows what code partitioning still has to order
    Own,
    /// Those of one `buffer.id` that overlap, as the rules for reuse promise
    Groups,
}

impl From<Channels> for lower::LoweringOptions {
    fn from(channels: Channels) -> lower::LoweringOptions {
        let channels = match channels {
            Channels::Own => lower::ChannelGrouping::Own,
            Channels::Groups => lower::ChannelGrouping::Groups,
        };
        lower::LoweringOptions { channels }
    }
}
