//! The whole corpus, typed into: all broken twins in both languages, by servers that work side by side.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::client::Server;
use super::typing::{IN_PYTHON, IN_TTGIR, Typed, middle, told_of_status, type_line};
use crate::corpus::{Row, manifest, specs};
use crate::gluon::long::directed;
use crate::parallel;
use crate::sources::root;

/// What became of one file.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Its name, and its slip's.
    pub name: String,
    /// How many findings there were, which stayed where they were; or the first key after which one did not.
    pub stayed: Result<usize, String>,
}

/// Types a line into the middle of each broken twin whose name has `filter` in it.
///
/// # Errors
///
/// Where the corpus cannot be read.
pub fn type_into_all(program: &Path, jobs: usize, filter: &str) -> Result<Vec<Outcome>, String> {
    let all: Vec<(String, Typed)> = documents()?.into_iter().filter(|(name, _)| name.contains(filter)).collect();
    let stayed = parallel::each(jobs, &all, |(_, typed)| {
        let mut command = Command::new(program);
        command.arg("lsp").stderr(Stdio::null());
        // What is refused depends on the release, which is not to be one that happens to be installed.
        let mut server = Server::spawn_with(command, told_of_status(), json!({ "triton": "3.9" }));
        let stayed = type_line(&mut server, typed)?;
        server.shutdown();
        Ok(stayed)
    });
    let named = all.into_iter().zip(stayed);
    Ok(named.map(|((name, _), stayed)| Outcome { name, stayed: stayed.unwrap_or_else(Err) }).collect())
}

fn documents() -> Result<Vec<(String, Typed)>, String> {
    let folder = root().join("corpus");
    let specs = specs(&folder)?;
    let mut all = Vec::new();
    for (number, row) in manifest(&folder)?.iter().enumerate().filter(|(_, row)| row.bug.is_some()) {
        all.extend(in_ttgir(&folder, row, number)?);
        // Its Python is one, whatever stages were kept.
        if row.stage == "ttgir" {
            all.extend(in_python(&folder, row, &specs, number)?);
        }
    }
    Ok(all)
}

fn read(path: PathBuf) -> Result<String, String> {
    std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
}

fn in_ttgir(folder: &Path, row: &Row, number: usize) -> Result<Option<(String, Typed)>, String> {
    let text = read(folder.join(&row.file))?;
    let op = |line: &str| {
        line.starts_with("    ") && [" ttng.", " ttg.", " amdg.", " tt."].iter().any(|dialect| line.contains(dialect))
    };
    let Some((at, indent)) = middle(&text, op) else { return Ok(None) };
    let uri = format!("file:///typed-{number}.ttgir");
    let typed = Typed { language: "ttgir", uri, text, at, line: format!("{indent}{IN_TTGIR}") };
    Ok(Some((row.file.clone(), typed)))
}

fn in_python(folder: &Path, row: &Row, specs: &Value, number: usize) -> Result<Option<(String, Typed)>, String> {
    let code = read(folder.join(&row.source))?;
    let Some(given) = specs.get(&row.spec) else { return Ok(None) };
    let bug = row.bug.as_deref().unwrap_or_default();
    let text = directed(&code, &row.kernel, given, &row.arch).replacen("BUG=''", &format!("BUG='{bug}'"), 1);
    let kernel = text.split("\nCORPUS = [").next().unwrap_or(&text);
    // A call is a statement where no bracket is open, and the lines of the corpus leave none open before one.
    let call = |line: &str| {
        let calls = ["mbarrier.", "tma.", "tdm.", "async_copy.", "tcgen05_", "gl.store(", "cluster.", "for ", "if "];
        line.starts_with("    ") && calls.iter().any(|call| line.trim_start().starts_with(call))
    };
    let Some((at, indent)) = middle(kernel, call) else { return Ok(None) };
    let uri = format!("file:///typed-{number}.py");
    let name = format!("{} {} {bug}", row.source, row.kernel);
    let typed = Typed { language: "python", uri, text, at, line: format!("{indent}{IN_PYTHON}") };
    Ok(Some((name, typed)))
}
