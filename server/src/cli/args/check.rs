//! The arguments of `check` and `races`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use super::super::shard::Shard;
use super::shared::{Colour, Format, Python, Rules};

#[derive(Debug, clap::Args)]
pub(crate) struct Check {
    /// Files of any name, directories (searched for `*.ttgir` and for `*.py` with kernels,
    /// but for what is hidden or ignored by git), or `-` for stdin
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) paths: Vec<PathBuf>,
    /// Mend what fixes are known for, in the files, and print what is left; a fix is taken where the file that has it
    /// was analysed and is no worse
    #[arg(long, conflicts_with = "changed_since")]
    pub(crate) fix: bool,
    /// Print the changes that --fix would make, as a unified diff, and write nothing
    #[arg(long, conflicts_with_all = ["changed_since", "format", "explain_proof", "update_baseline"])]
    pub(crate) diff: bool,
    /// In directories look at hidden files and folders, `node_modules`, and what a `.gitignore` names, too
    #[arg(long)]
    pub(crate) no_ignore: bool,
    /// In directories leave out what this pattern matches, beside what `exclude` in `fencepost.toml` names: `*` is any part
    /// of a name, `**` any folders; it counts from the current folder, and may be given several times
    #[arg(long, value_name = "GLOB")]
    pub(crate) exclude: Vec<String>,
    /// Leave out what --exclude or `exclude` in `fencepost.toml` names also where it is named here, as a hook for commits does
    #[arg(long)]
    pub(crate) force_exclude: bool,
    /// What to print; lines and columns of json count from 0, in UTF-16 code units
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub(crate) format: Format,
    /// What `-` stands for: its language, settings and imports are those of a file with this path
    #[arg(long, value_name = "PATH")]
    pub(crate) stdin_name: Option<PathBuf>,
    /// Findings that are in this file are counted, and do not change the exit code; entries without a finding are said
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Write what is found now to the --baseline; the exit code is then 0, or 2
    #[arg(long, requires = "baseline", conflicts_with_all = ["changed_since", "shard"])]
    pub(crate) update_baseline: bool,
    /// Only kernels that a change since this revision of git concerns, in their own lines, in what they run or in what
    /// launches them; the others are said not to be looked at
    #[arg(long, value_name = "REV")]
    pub(crate) changed_since: Option<String>,
    /// Only the I-th of N parts of the files, chosen by their paths
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    /// Exit with 0 whatever is found; 2 stays for what could not be analysed
    #[arg(long)]
    pub(crate) exit_zero: bool,
    /// Accept kernels that could not be decided: they are shown and do not change the exit code
    #[arg(long)]
    pub(crate) allow_undecided: bool,
    /// Without effect: that an undecided kernel exits with 2 is the default
    #[arg(long, conflicts_with = "allow_undecided", hide = true)]
    pub(crate) strict: bool,
    /// Say of each kernel why its verdict is what it is: runs, loops closed, what was assumed
    ///
    /// Printed by the formats human and json.
    #[arg(long)]
    pub(crate) explain_proof: bool,
    /// Show findings that a `fencepost: ignore[…]` comment suppresses like all others
    #[arg(long)]
    pub(crate) no_suppress: bool,
    /// By whose rules to judge where versions of Triton's sanitizer differ; by default those that `fencepost.toml`
    /// names, or those of the released one
    #[arg(long, value_enum)]
    pub(crate) semantics: Option<Rules>,
    #[command(flatten)]
    pub(crate) python: Python,
    /// Also print the verdict of each kernel in directories, and every place that could not be followed
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Print errors, warnings and what is undecided, and nothing else; of the formats, human alone has more to leave out
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Files checked at a time; by default one a processor
    #[arg(short, long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// When to colour; NO_COLOR and CLICOLOR_FORCE are heeded
    #[arg(long, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    pub(crate) color: Colour,
}

fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "a number of files, 1 or more".to_owned())
}
