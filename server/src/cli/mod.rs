//! The command line: arguments in, text on stdout, an exit code.

mod args;
mod check;
pub(crate) mod compare;
mod explain;
mod ir;
mod report;
mod run;
mod sources;
mod trace;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use args::{Args, Colour, Command};
use clap::Parser;
use render::style::Painter;

/// Deep enough for a parser that recurses; only touched pages cost memory.
const STACK_BYTES: usize = 64 << 20;

/// What a terminal has at least.
const WIDTH: usize = 100;

/// What the process says by its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Nothing to complain about.
    Clean,
    /// At least one finding that is an error or a warning.
    Findings,
    /// Something could not be analysed.
    Trouble,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// Runs the command that the arguments ask for.
pub(crate) fn main() -> ExitCode {
    let args = Args::parse();
    let result = match args.command {
        Command::Check(check) => check::run(&check),
        Command::Trace(trace) => trace::run(&trace),
        Command::Report(report) => report::run(&report),
        Command::Ir(ir) => ir::run(&ir),
        Command::Compare(compare) => compare::run(&compare),
        Command::Run(run) => run::run(&run),
        Command::Explain { kind } => explain::run(kind.as_deref()),
        Command::Lsp(_) => return crate::lsp::main(),
    };
    match result {
        Ok(exit) => exit.into(),
        // `fencepost check … | head` is no error of ours.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Clean.into(),
        Err(error) => {
            let _ = writeln!(io::stderr(), "fencepost: cannot write the output: {error}");
            Exit::Trouble.into()
        }
    }
}

/// `COLUMNS` is exported by few shells, so this is often the default.
fn terminal_width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    columns.filter(|_| io::stdout().is_terminal()).unwrap_or(WIDTH)
}

/// Colours what is written to stdout, or does not. `NO_COLOR` and `CLICOLOR_FORCE` count when set to anything.
fn painter(choice: Colour) -> Painter {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    Painter::new(match choice {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto if set("NO_COLOR") => false,
        Colour::Auto if set("CLICOLOR_FORCE") => true,
        Colour::Auto => io::stdout().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb"),
    })
}
