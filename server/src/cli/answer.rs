//! What a command says, before it is printed: the command line prints it, an agent is given it.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use super::process::Exit;

/// What a command says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// What was asked for, once for each format that it was asked for in.
    pub(crate) documents: Vec<String>,
    /// What stands apart from that: what was wrong, what else there is to know.
    pub(crate) problems: Vec<String>,
    /// How the process ends.
    pub(crate) exit: Exit,
}

impl Answer {
    /// An answer that nothing came of.
    pub(crate) fn trouble(problem: impl Into<String>) -> Answer {
        Answer { documents: Vec::new(), problems: vec![problem.into()], exit: Exit::Trouble }
    }

    /// Writes the documents to a file or to standard output, and the rest to standard error.
    pub(crate) fn print(self, output: Option<&Path>) -> io::Result<Exit> {
        for problem in &self.problems {
            writeln!(io::stderr(), "fencepost: {problem}")?;
        }
        let document = self.documents.concat();
        match output {
            _ if document.is_empty() => {}
            Some(path) => {
                if let Err(error) = fs::write(path, document) {
                    writeln!(io::stderr(), "fencepost: {}: cannot be written: {error}", path.display())?;
                    return Ok(Exit::Trouble);
                }
            }
            None => {
                let mut out = io::stdout().lock();
                out.write_all(document.as_bytes())?;
                out.flush()?;
            }
        }
        Ok(self.exit)
    }
}
