//! `fencepost mcp`: the commands as tools of the Model Context Protocol, on standard input and output.
//!
//! A tool is the command of its name: its arguments are read by the command line's parser, its text is what the command
//! prints for people, its structured content the command's JSON document. Nothing that a tool does writes a file, and
//! nothing of a file is executed, unless the server was started with a Python of the user's.

mod call;
mod tools;

use std::io;
use std::path::PathBuf;

use mcp::{Server, Service};

use super::process::{Exit, STACK_BYTES};
use call::Shared;

const SERVICE: Service = Service {
    name: "fencepost",
    title: "Fencepost",
    version: env!("CARGO_PKG_VERSION"),
    instructions: "Fencepost finds GPU barrier bugs in Gluon, Triton and TTGIR. Loop: `check` the file, read the first \
                   finding with its sites and run, `trace` it where the run is not clear, `explain` its kind, edit, \
                   `check` again. Only `proved` and `clean` are good; `undecided` means that something was not followed, \
                   and is not clean; a suppressed finding is still found.",
    tools: tools::TOOLS,
    stack: STACK_BYTES,
};

/// Serves until standard input ends. With a Python, kernels in Python run as its Triton compiles them, and the `triton`
/// backend is served: both execute the files that they are given.
pub(crate) fn run(python: Option<PathBuf>) -> io::Result<Exit> {
    let shared = Shared { python, ..Shared::default() };
    let call = Box::new(move |tool: &_, arguments: &_, stop: &_| call::call(tool, arguments, &shared, stop));
    Server::new(SERVICE, Box::new(io::stdout()), call).serve(&mut io::stdin().lock())?;
    Ok(Exit::Clean)
}
