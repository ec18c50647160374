//! What the commands share of the process: its exit code, its stack, its terminal.

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use super::args::Colour;
pub(crate) use crate::limits::command::STACK as STACK_BYTES;
use render::style::Painter;

/// What a terminal has at least.
const WIDTH: usize = 100;

/// What the process says by its exit code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Nothing to complain about.
    #[default]
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

/// `COLUMNS` is exported by few shells, so this is often the default.
pub(crate) fn terminal_width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    columns.filter(|_| io::stdout().is_terminal()).unwrap_or(WIDTH)
}

/// Colours what is written to stdout, or does not. `NO_COLOR` and `CLICOLOR_FORCE` count when set to anything.
pub(crate) fn painter(choice: Colour) -> Painter {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    Painter::new(match choice {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto if set("NO_COLOR") => false,
        Colour::Auto if set("CLICOLOR_FORCE") => true,
        Colour::Auto => io::stdout().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb"),
    })
}
