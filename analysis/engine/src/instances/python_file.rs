//! The text of a Python file.

use std::sync::Arc;

use base::TextRange;
use python::syntax::{Module, mentions_kernels};

/// A Python file as it is now, with the last good text of what is broken in it. One that can hold no
/// kernel is not even parsed.
#[derive(Clone, Debug)]
pub struct PythonFile {
    text: Arc<str>,
    module: Arc<Module>,
}

impl PythonFile {
    /// A file; `path` is how [`python::syntax::Sources`] spell it.
    pub fn new(path: impl Into<String>, text: impl Into<Arc<str>>) -> PythonFile {
        PythonFile::after(path.into(), text.into(), None)
    }

    fn after(path: String, text: Arc<str>, before: Option<&Module>) -> PythonFile {
        let parsed: Arc<str> = if mentions_kernels(&text) { text.clone() } else { "".into() };
        PythonFile { text, module: Arc::new(Module::parse(path, parsed, before)) }
    }

    /// The same file with a range of its text replaced.
    pub fn edit(&self, range: TextRange, with: &str) -> PythonFile {
        let (start, end) = (range.start as usize, range.end as usize);
        match (self.text.get(..start), self.text.get(end..)) {
            (Some(before), Some(after)) => self.with_text([before, with, after].concat()),
            _ => self.clone(),
        }
    }

    /// The same file with another text.
    pub fn with_text(&self, text: impl Into<Arc<str>>) -> PythonFile {
        PythonFile::after(self.module.path().to_owned(), text.into(), Some(&self.module))
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The tree; that of an empty file where the text can hold no kernel.
    pub fn module(&self) -> &Arc<Module> {
        &self.module
    }

    /// Whether it can hold kernels.
    pub fn mentions_kernels(&self) -> bool {
        !self.module.text().is_empty()
    }
}
