//! What a shell and `man` are told of the command line, made from its own declaration.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;

use super::args::Args;
use super::process::Exit;

/// Prints the script by which a shell completes commands, options and their values.
pub(crate) fn completions(shell: Shell) -> io::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "fencepost", &mut script);
    let mut out = io::stdout().lock();
    out.write_all(&script)?;
    out.flush()?;
    Ok(Exit::Clean)
}

/// Prints the page of `fencepost`, or writes it and those of its commands to a folder.
pub(crate) fn man(folder: Option<&Path>) -> io::Result<Exit> {
    match folder {
        Some(folder) => {
            fs::create_dir_all(folder)?;
            clap_mangen::generate_to(Args::command(), folder)?;
        }
        None => clap_mangen::Man::new(Args::command()).render(&mut io::stdout().lock())?,
    }
    Ok(Exit::Clean)
}
