//! SourceText in a file as the command line prints them.
//!
//! People count lines and columns from 1, and a column is a character. The JSON document and
//! SARIF count UTF-16 code units, which is what an LSP client expects unless told otherwise.
//! Lines end at `\n`; a `\r` before it belongs to no column.

use base::{LineIndex, TextRange};

/// A text with its lines.
pub struct SourceText<'a> {
    text: &'a str,
    lines: LineIndex,
}

impl<'a> SourceText<'a> {
    /// Scans `text` once.
    pub fn new(text: &'a str) -> SourceText<'a> {
        SourceText { text, lines: LineIndex::new(text) }
    }

    /// The text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Line of an offset, from 1.
    pub fn line(&self, offset: u32) -> u32 {
        self.lines.line_col(offset).line + 1
    }

    /// Line and character column, both from 1.
    pub fn line_column(&self, offset: u32) -> (u32, u32) {
        (self.line(offset), self.before(offset).chars().count() as u32 + 1)
    }

    /// Line and UTF-16 column, both from 0.
    pub fn utf16(&self, offset: u32) -> (u32, u32) {
        (self.line(offset) - 1, self.before(offset).encode_utf16().count() as u32)
    }

    /// The whole lines that `range` touches, and how many lines stand before them.
    pub fn lines_around(&self, range: TextRange) -> (TextRange, u32) {
        let first = self.lines.line_col(range.start).line;
        let last = self.lines.line_col(range.end).line;
        (TextRange::new(self.lines.line_start(first), self.lines.line_start(last + 1)), first)
    }

    /// What stands before `offset` on its line.
    fn before(&self, offset: u32) -> &'a str {
        let place = self.lines.line_col(offset);
        let start = self.lines.line_start(place.line);
        let line = TextRange::new(start, self.lines.line_start(place.line + 1)).of(self.text);
        let mut end = (place.col as usize).min(line.len());
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        line.get(..end).unwrap_or(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_what_they_say() {
        let places = SourceText::new("a\r\n\t𝒳é%x\r\n");
        let at = places.text().find('%').unwrap_or_default() as u32;
        assert_eq!(places.line_column(at), (2, 4));
        assert_eq!(places.utf16(at), (1, 4));
        assert_eq!(places.line(u32::MAX), 3);
    }

    #[test]
    fn the_lines_of_a_range_are_whole() {
        let places = SourceText::new("one\ntwo\nthree\nfour");
        let (range, before) = places.lines_around(TextRange::new(5, 9));
        assert_eq!((range.of(places.text()), before), ("two\nthree\n", 1));
    }
}
