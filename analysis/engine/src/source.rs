//! What is analysed: the text of a TTGIR file, or that of a Python file with Gluon kernels; and texts beside them.

use crate::Engine;
use crate::analysis::Analysis;
use crate::instances::{Elaborator, PythonFile};
use base::{Cancel, Cancelled, TextRange};
use findings::Proof;
use python::syntax::Sources;
use std::sync::Arc;
use ttgir::Document;

/// A text of either language, or of neither.
#[derive(Clone, Debug)]
pub enum Source {
    /// Triton's GPU-level MLIR.
    Ir(Document),
    /// Python.
    Python(PythonFile),
    /// What holds no kernels: settings.
    Other(Arc<str>),
}

impl Source {
    /// The text of a file; `path` tells the language, and names a Python file as its [`Sources`] spell it.
    pub fn new(path: &str, text: impl Into<Arc<str>>) -> Source {
        if is_python(path) { Source::Python(PythonFile::new(path, text)) } else { Source::Ir(Document::new(text)) }
    }

    /// The text.
    pub fn text(&self) -> &str {
        match self {
            Source::Ir(document) => document.text(),
            Source::Python(file) => file.text(),
            Source::Other(text) => text,
        }
    }

    /// The same with a range of its text replaced; what did not change is kept.
    pub fn edit(&self, range: TextRange, with: &str) -> Source {
        match self {
            Source::Ir(document) => Source::Ir(document.edit(range, with)),
            Source::Python(file) => Source::Python(file.edit(range, with)),
            Source::Other(text) => {
                let mut text = text.to_string();
                if text.get(range.start as usize..range.end as usize).is_some() {
                    text.replace_range(range.start as usize..range.end as usize, with);
                }
                Source::Other(text.into())
            }
        }
    }

    /// The same with a range of the end of a line replaced, where all that an analysis says of it stays at its lines and columns;
    /// `None` where that is not certain ([`PythonFile::edit_line_end`]).
    pub fn edit_line_end(&self, range: TextRange, with: &str) -> Option<Source> {
        match self {
            Source::Python(file) => file.edit_line_end(range, with).map(Source::Python),
            Source::Ir(_) | Source::Other(_) => None,
        }
    }

    /// The document, where it is TTGIR.
    pub fn ir(&self) -> Option<&Document> {
        match self {
            Source::Ir(document) => Some(document),
            Source::Python(_) | Source::Other(_) => None,
        }
    }

    /// The file, where it is Python.
    pub fn python(&self) -> Option<&PythonFile> {
        match self {
            Source::Ir(_) | Source::Other(_) => None,
            Source::Python(file) => Some(file),
        }
    }
}

/// Whether a path is that of a Python file.
pub fn is_python(path: &str) -> bool {
    path.ends_with(".py")
}

impl Engine {
    /// Analyses a text of either language; `elaborator` is that of the file.
    ///
    /// # Errors
    ///
    /// Where `cancel` says so.
    pub fn analyse_source(
        &mut self,
        source: &Source,
        elaborator: &mut Elaborator,
        sources: &dyn Sources,
        cancel: &Cancel<'_>,
    ) -> Result<Analysis, Cancelled> {
        match source {
            Source::Ir(document) => self.analyse(document, cancel),
            Source::Python(file) => {
                let elaboration = elaborator.elaborate(file, sources, cancel)?;
                self.analyse_python(&Arc::new(elaboration), sources, cancel)
            }
            Source::Other(_) => Ok(Analysis::default()),
        }
    }

    /// Why each kernel's verdict is what it is, in the order of the analysis.
    ///
    /// # Errors
    ///
    /// Where `cancel` says so.
    pub fn explain_source(
        &mut self,
        source: &Source,
        analysis: &Analysis,
        cancel: &Cancel<'_>,
    ) -> Result<Vec<Proof>, Cancelled> {
        match (source, &analysis.gluon) {
            (Source::Ir(document), _) => self.explain(document, cancel),
            (Source::Python(_), Some(elaboration)) => self.explain_python(elaboration, cancel),
            (Source::Python(_), None) | (Source::Other(_), _) => Ok(Vec::new()),
        }
    }
}
