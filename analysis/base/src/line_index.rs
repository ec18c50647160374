//! Byte offsets to lines and columns, for people; LSP positions are the server's matter.

/// A place as people count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineCol {
    /// Line, from 0.
    pub line: u32,
    /// Byte column, from 0.
    pub col: u32,
}

/// Where the lines of a text start. `\n` ends a line; a `\r` before it belongs to the line.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<u32>,
    len: u32,
}

impl LineIndex {
    /// Scans `text` once.
    pub fn new(text: &str) -> LineIndex {
        let mut starts = vec![0];
        starts.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at as u32 + 1));
        LineIndex { starts, len: text.len() as u32 }
    }

    /// The place of a byte offset; past the end gives the end.
    pub fn line_col(&self, offset: u32) -> LineCol {
        let offset = offset.min(self.len);
        let line = self.starts.partition_point(|&start| start <= offset) - 1;
        LineCol { line: line as u32, col: offset - self.starts[line] }
    }

    /// Offset of the first byte of a line, the text's length for a line it does not have.
    pub fn line_start(&self, line: u32) -> u32 {
        self.starts.get(line as usize).copied().unwrap_or(self.len)
    }

    /// How many lines there are; an empty text has one.
    pub fn lines(&self) -> u32 {
        self.starts.len() as u32
    }
}
