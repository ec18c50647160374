//! `--open`: a picture or page in the browser.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::answer::Answer;
use super::process::Exit;
use super::say;

/// Writes an answer to a file, that of the arguments or a new one below the folder for such files, and opens it.
pub(crate) fn show(mut answer: Answer, name: &str, output: Option<&Path>) -> io::Result<Exit> {
    let document = answer.documents.concat();
    if document.is_empty() {
        return answer.print(output);
    }
    let path = match output {
        Some(path) => path.to_path_buf(),
        None => new_file(name)?,
    };
    answer.notes.push(format!("{} is opened in the browser", path.display()));
    let exit = answer.print(Some(&path))?;
    // A browser needs more than a path from where we are.
    let whole = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
    match open::that_detached(&whole) {
        Ok(()) => Ok(exit),
        Err(error) => {
            say::error(format_args!("{}: no browser could be started: {error}", path.display()))?;
            Ok(Exit::Trouble)
        }
    }
}

/// A file that nobody else has, for a browser that reads it later: it is left where it is.
fn new_file(name: &str) -> io::Result<PathBuf> {
    let folder = tempfile::Builder::new().prefix("fencepost-").tempdir()?;
    Ok(folder.keep().join(name))
}
