//! What a command says, before it is printed: the command line prints it, an agent is given it.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use super::process::Exit;
use super::say;
use super::sources::plain;

/// What a command says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// What was asked for, once for each format that it was asked for in.
    pub(crate) documents: Vec<String>,
    /// What was wrong, which stands apart from that.
    pub(crate) problems: Vec<String>,
    /// What else there is to know.
    pub(crate) notes: Vec<String>,
    /// How the process ends.
    pub(crate) exit: Exit,
}

impl Answer {
    /// An answer that nothing came of.
    pub(crate) fn trouble(problem: impl Into<String>) -> Answer {
        Answer { problems: vec![problem.into()], exit: Exit::Trouble, ..Answer::default() }
    }

    /// Writes the documents to a file or to standard output, and the rest to standard error.
    pub(crate) fn print(self, output: Option<&Path>) -> io::Result<Exit> {
        self.print_remarks()?;
        let document = self.documents.concat();
        match output {
            _ if document.is_empty() => {}
            Some(path) => {
                if let Err(error) = fs::write(path, document) {
                    say::error(format_args!("{}: cannot be written: {}", path.display(), plain(&error)))?;
                    return Ok(Exit::Trouble);
                }
            }
            None => {
                let mut out = render::printable::stdout();
                out.write_all(document.as_bytes())?;
                out.flush()?;
            }
        }
        Ok(self.exit)
    }

    /// Writes what stands apart from the documents to standard error.
    pub(crate) fn print_remarks(&self) -> io::Result<()> {
        self.problems.iter().try_for_each(say::error)?;
        self.notes.iter().try_for_each(say::note)
    }
}
