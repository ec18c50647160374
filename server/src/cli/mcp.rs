//! `fencepost mcp`: the commands as tools of the Model Context Protocol, on standard input and output.
//!
//! A tool is the command of its name: its arguments are read by the command line's parser, its text is what the command
//! prints for people, its structured content the command's JSON document. Nothing that a tool does writes a file, and
//! nothing of a file is executed, unless the server was started with a Python of the user's.

mod arguments;
mod bound;
mod call;
mod message;
mod server;
mod tools;

use std::io;
use std::path::PathBuf;

use super::process::Exit;
use server::Server;

/// Characters of the text of an answer at most, where a call says nothing else.
const LIMIT: usize = 24_000;

/// Serves until standard input ends. With a Python, kernels in Python run as its Triton compiles them, and the `triton`
/// backend is served: both execute the files that they are given.
pub(crate) fn run(python: Option<PathBuf>) -> io::Result<Exit> {
    Server::new(Box::new(io::stdout()), python).serve(&mut io::stdin().lock())?;
    Ok(Exit::Clean)
}
