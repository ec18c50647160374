//! The command line: arguments in, text on stdout, an exit code.

mod answer;
mod args;
mod check;
pub(crate) mod compare;
mod explain;
mod generate;
mod ir;
mod list_limits;
mod list_settings;
mod mcp;
mod open;
mod process;
mod report;
mod run;
mod say;
mod settings;
mod shard;
mod sources;
mod trace;

use std::io;
use std::process::ExitCode;

use args::{Args, Command};
use clap::Parser;
use process::Exit;

/// Runs the command that the arguments ask for.
pub(crate) fn main() -> ExitCode {
    let args = Args::parse();
    let result = match args.command {
        Command::Check(check) => check::run(&check, false),
        Command::Races(check) => check::run(&check, true),
        Command::Trace(trace) => trace::run(&trace),
        Command::Report(report) => report::run(&report),
        Command::Ir(ir) => ir::run(&ir),
        Command::Compare(compare) => compare::run(&compare),
        Command::Run(run) => run::run(&run),
        Command::Explain { kind } => explain::run(kind.as_deref()),
        Command::Settings { schema, editor } => list_settings::run(schema, editor),
        Command::Limits { format } => list_limits::run(format),
        Command::Completions { shell } => generate::completions(shell),
        Command::Man { folder } => generate::man(folder.as_deref()),
        Command::Mcp { python } => mcp::run(python),
        Command::Lsp(_) => return crate::lsp::main(),
    };
    match result {
        Ok(exit) => exit.into(),
        // `fencepost check … | head` is no error of ours.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Clean.into(),
        Err(error) => {
            let _ = say::error(format_args!("the output cannot be written: {}", sources::plain(&error)));
            Exit::Trouble.into()
        }
    }
}
