//! What is measured: servers, clients, files.

use std::path::{Path, PathBuf};

use crate::client::{CLIENTS, Client};

/// A case of the benchmark.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Case {
    Edits,
    Memory,
    Typing,
    Dump,
    Hour,
    Pace,
    Many,
}

/// A language server.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) name: String,
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    /// Whether it is ours: others are given Python alone.
    pub(crate) own: bool,
}

pub(crate) struct Arguments {
    pub(crate) servers: Vec<Server>,
    pub(crate) clients: Vec<Client>,
    /// Whether each file is given to each of the clients.
    pub(crate) each: bool,
    pub(crate) cases: Vec<Case>,
    pub(crate) places: usize,
    pub(crate) dump_bytes: usize,
    pub(crate) hour_edits: usize,
    pub(crate) pace_seconds: usize,
    pub(crate) plots: Option<PathBuf>,
    pub(crate) json: Option<PathBuf>,
    glob: Option<String>,
    only_given: bool,
    pub(crate) given: Vec<PathBuf>,
}

impl Arguments {
    pub(crate) fn read(words: impl Iterator<Item = String>) -> Result<Arguments, String> {
        let mut arguments = Arguments {
            servers: Vec::new(),
            clients: Vec::new(),
            each: false,
            cases: Vec::new(),
            places: 3,
            dump_bytes: 62_000_000,
            hour_edits: 36_000,
            pace_seconds: 3_600,
            plots: None,
            json: None,
            glob: None,
            only_given: false,
            given: Vec::new(),
        };
        let mut names: Vec<&str> = CLIENTS.to_vec();
        let mut words = words;
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} wants a value"));
            match word.as_str() {
                "--bench" => {}
                "--files" => arguments.glob = Some(value()?),
                "--only-given" => arguments.only_given = true,
                "--json" => arguments.json = Some(value()?.into()),
                "--places" => arguments.places = number(&value()?)?,
                "--dump-bytes" => arguments.dump_bytes = number(&value()?)?,
                "--hour-edits" => arguments.hour_edits = number(&value()?)?,
                "--pace-seconds" => arguments.pace_seconds = number(&value()?)?,
                "--plots" => arguments.plots = Some(value()?.into()),
                "--server" => {
                    let value = value()?;
                    let (name, program) = value.split_once('=').ok_or("--server wants NAME=PATH")?;
                    arguments.servers.push(own(name, program.into()));
                }
                "--client" => {
                    let value = value()?;
                    arguments.each = value == "all";
                    if let Some(name) = CLIENTS.iter().find(|name| **name == value) {
                        names = vec![name];
                    } else if !arguments.each {
                        return Err(format!("no client `{value}`; there are {}", CLIENTS.join(", ")));
                    }
                }
                "--case" => arguments.cases.push(match value()?.as_str() {
                    "edits" => Case::Edits,
                    "memory" => Case::Memory,
                    "typing" => Case::Typing,
                    "dump" => Case::Dump,
                    "hour" => Case::Hour,
                    "pace" => Case::Pace,
                    "many" => Case::Many,
                    other => {
                        return Err(format!(
                            "no case `{other}`; there are edits, memory, typing, dump, hour, pace, many"
                        ));
                    }
                }),
                flag if flag.starts_with("--") => return Err(format!("unknown option {flag}")),
                path => arguments.given.push(path.into()),
            }
        }
        if arguments.cases.is_empty() {
            arguments.cases = vec![Case::Edits, Case::Memory, Case::Typing, Case::Dump];
        }
        for name in names {
            arguments.clients.push(Client::read(name)?);
        }
        if arguments.servers.is_empty() {
            let built =
                release_build().ok_or("no release build: cargo build --release -p fencepost --features jemalloc")?;
            arguments.servers.push(own("fencepost", built));
        }
        for (name, words) in [("ruff", "server"), ("ty", "server")] {
            if let Some(program) = installed(name) {
                let arguments_of = vec![words.to_owned()];
                arguments.servers.push(Server { name: name.to_owned(), program, arguments: arguments_of, own: false });
            }
        }
        Ok(arguments)
    }

    /// The servers that are ours.
    pub(crate) fn own(&self) -> impl Iterator<Item = &Server> {
        self.servers.iter().filter(|server| server.own)
    }

    /// All files to measure with, in order.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut folders: Vec<PathBuf> = self.given.clone();
        if !self.only_given {
            folders.extend([root.join("corpus/gluon"), root.join("corpus/ttgir"), root.join("kernels")]);
        }
        let mut files = Vec::new();
        folders.iter().for_each(|folder| collect(folder, &mut files));
        let wanted = |path: &PathBuf| self.glob.as_deref().is_none_or(|glob| matches(glob, &path.to_string_lossy()));
        files.retain(wanted);
        files.sort();
        files.dedup();
        files
    }
}

fn number(word: &str) -> Result<usize, String> {
    word.replace(['_', ','], "").parse().map_err(|_| format!("`{word}` is no number"))
}

fn own(name: &str, program: PathBuf) -> Server {
    Server { name: name.to_owned(), program, arguments: vec!["lsp".to_owned()], own: true }
}

/// The binary beside this one.
fn release_build() -> Option<PathBuf> {
    let this = std::env::current_exe().ok()?;
    let profile = this.parent()?.parent()?;
    let beside = [profile.to_path_buf(), profile.with_file_name("release")];
    beside.iter().map(|folder| folder.join("fencepost")).find(|path| path.is_file())
}

fn installed(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file())
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_dir() {
        let Ok(entries) = std::fs::read_dir(path) else { return };
        entries.flatten().for_each(|entry| collect(&entry.path(), files));
    } else if path.extension().is_some_and(|ending| ending == "py" || ending == "ttgir") {
        files.push(path.canonicalize().unwrap_or_else(|_| path.to_path_buf()));
    }
}

/// Whether `glob` stands for `path` or for its end.
fn matches(glob: &str, path: &str) -> bool {
    let mut rest = path;
    let mut parts = glob.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    true
}
