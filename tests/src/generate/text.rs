//! Python that is written line by line.

use std::fmt::Write;

/// A kernel as text, and how it is run.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The Python file.
    pub text: String,
    /// The recipe of its launch.
    pub recipe: String,
}

/// Lines with their indentation.
#[derive(Debug, Default)]
pub(super) struct Text {
    out: String,
    depth: usize,
}

impl Text {
    /// A line.
    pub(super) fn line(&mut self, line: impl AsRef<str>) {
        let line = line.as_ref();
        let indent = if line.is_empty() { 0 } else { 4 * self.depth };
        // Writing to a `String` cannot fail.
        let _ = writeln!(self.out, "{:indent$}{line}", "");
    }

    /// Some lines.
    pub(super) fn lines(&mut self, lines: impl IntoIterator<Item = String>) {
        lines.into_iter().for_each(|line| self.line(line));
    }

    /// A line that opens a block, and the block.
    pub(super) fn block(&mut self, head: impl AsRef<str>, body: impl FnOnce(&mut Text)) {
        self.line(head);
        self.depth += 1;
        body(self);
        self.depth -= 1;
    }

    /// The text.
    pub(super) fn finish(self) -> String {
        self.out
    }
}
