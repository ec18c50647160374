//! How fast the server answers editors: real LSP traffic over stdio, beside other servers of Python where they are
//! installed. Prints tables, asserts nothing.
//!
//! `cargo build --release -p fencepost --features jemalloc && cargo bench -p fencepost-tests --bench lsp -- [OPTIONS] [FILE or FOLDER …]`
//!
//! - Without a file or a folder: the kernels of `tests/corpus` and `tests/kernels`; with some, those of them beside.
//! - `--files GLOB`: only files whose path this matches (`*` stands for anything).
//! - `--only-given`: nothing of this repository.
//! - `--server NAME=PATH`: a binary of Fencepost, again for further ones; else the release build. The first is what the
//!   ratios are to.
//! - `--client vscode|neovim|helix|eglot|all`: who asks; else each file is given to the next of them.
//! - `--places N`: how many places of a file each edit is made at (3).
//! - `--case edits|memory|typing|dump|hour|pace|many`: one of the cases, again for further ones; else all but the last three.
//! - `--dump-bytes N` (62,000,000), `--hour-edits N` (36,000), `--pace-seconds N` (3,600).
//! - `--json FILE`: writes all figures; `--plots FOLDER`: draws those of `pace`.

#![allow(clippy::disallowed_methods, reason = "a benchmark waits for memory to be given back")]

mod arguments;
mod client;
mod dump;
mod edits;
mod figures;
mod hour;
mod many;
mod memory;
mod mirror;
mod pace;
mod per_file;
mod process;
mod script;
mod session;
mod typing;

use arguments::{Arguments, Case};
use serde_json::{Map, Value, json};

fn main() {
    let arguments = match Arguments::read(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(why) => {
            eprintln!("{why}");
            return;
        }
    };
    let files = arguments.files();
    if files.is_empty() && !arguments.given.is_empty() {
        // Cargo runs a benchmark in the folder of its package.
        eprintln!("none of the paths has a file to measure with; they are read from {}", here());
        std::process::exit(2);
    }
    println!("{} files; {}", files.len(), process::machine());
    let mut all = Map::new();
    all.insert("machine".to_owned(), json!(process::machine()));
    for case in &arguments.cases {
        let (name, figures): (&str, Value) = match case {
            Case::Edits => ("edits", per_file::run(&arguments, &files)),
            Case::Memory => ("memory", memory::run(&arguments, &files)),
            Case::Typing => ("typing", typing::run(&arguments, &files)),
            Case::Dump => ("dump", dump::run(&arguments)),
            Case::Many => ("many", many::run(&arguments)),
            Case::Hour => ("hour", hour::run(&arguments, &files)),
            Case::Pace => ("pace", pace::run(&arguments, &files)),
        };
        all.insert(name.to_owned(), figures);
        if let Some(path) = &arguments.json
            && let Err(error) = std::fs::write(path, format!("{:#}\n", Value::Object(all.clone())))
        {
            eprintln!("{} cannot be written: {error}", path.display());
        }
    }
}

fn here() -> String {
    std::env::current_dir().map_or_else(|error| error.to_string(), |folder| folder.display().to_string())
}
