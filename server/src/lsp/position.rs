//! LSP positions to byte offsets and back, in the encoding agreed with the client.
//!
//! A position that does not exist is brought to the nearest one before it: a column past the end
//! of its line to the end, a line past the end of the text to the end, a column inside a
//! character to its start. Lines end at `\n`, `\r\n` and `\r`, as the protocol says.

use base::TextRange;
use ropey::{Rope, RopeSlice};
use tower_lsp::ls_types::{Position, PositionEncodingKind, Range};

/// What a column counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units, the default of the protocol.
    #[default]
    Utf16,
    /// Characters.
    Utf32,
}

impl Encoding {
    /// The first of UTF-8, UTF-32, UTF-16 that the client offers: bytes cost nothing to convert.
    pub(crate) fn negotiate(offered: &[PositionEncodingKind]) -> Encoding {
        if offered.contains(&PositionEncodingKind::UTF8) {
            Encoding::Utf8
        } else if offered.contains(&PositionEncodingKind::UTF32) {
            Encoding::Utf32
        } else {
            Encoding::Utf16
        }
    }

    /// Its name in the protocol.
    pub(crate) fn kind(self) -> PositionEncodingKind {
        match self {
            Encoding::Utf8 => PositionEncodingKind::UTF8,
            Encoding::Utf16 => PositionEncodingKind::UTF16,
            Encoding::Utf32 => PositionEncodingKind::UTF32,
        }
    }
}

/// Converts places of one text.
#[derive(Clone, Copy)]
pub(crate) struct Mapper<'a> {
    rope: &'a Rope,
    encoding: Encoding,
}

impl<'a> Mapper<'a> {
    /// Converts places of `rope`.
    pub(crate) fn new(rope: &'a Rope, encoding: Encoding) -> Mapper<'a> {
        Mapper { rope, encoding }
    }

    /// The byte offset of a position.
    pub(crate) fn offset(self, position: Position) -> u32 {
        let line = position.line as usize;
        if line >= self.rope.len_lines() {
            return self.rope.len_bytes() as u32;
        }
        let column = position.character as usize;
        let text = content(self.rope.line(line));
        let within = match self.encoding {
            Encoding::Utf8 => text.char_to_byte(text.byte_to_char(column.min(text.len_bytes()))),
            Encoding::Utf32 => text.char_to_byte(column.min(text.len_chars())),
            Encoding::Utf16 => text.char_to_byte(text.utf16_cu_to_char(column.min(text.len_utf16_cu()))),
        };
        (self.rope.line_to_byte(line) + within) as u32
    }

    /// The byte range of a range that the client changes. A column past the end of its line is that end, as the
    /// protocol says, and the line after the last one is the end of the text.
    ///
    /// # Errors
    ///
    /// What is wrong with a range that the text does not have: the client's text is another one.
    pub(crate) fn existing_range(self, range: Range) -> Result<TextRange, String> {
        // All of the text, as some write it who do not count its lines.
        if range.start == Position::default() && range.end.line as usize > self.rope.len_lines() {
            return Ok(TextRange::new(0, self.rope.len_bytes() as u32));
        }
        if range.start > range.end {
            return Err(format!("a change ends before it begins, in line {}", range.end.line + 1));
        }
        for position in [range.start, range.end] {
            let lines = self.rope.len_lines();
            if position.line as usize > lines || (position.line as usize == lines && position.character > 0) {
                return Err(format!("a change is in line {} of {lines}", position.line + 1));
            }
            if !self.is_between_characters(position) {
                return Err(format!("a change cuts a character in line {}", position.line + 1));
            }
        }
        Ok(self.text_range(range))
    }

    /// Whether a position is not inside a character.
    fn is_between_characters(self, position: Position) -> bool {
        let Some(line) = self.rope.get_line(position.line as usize) else { return true };
        let column = position.character as usize;
        match self.encoding {
            Encoding::Utf32 => true,
            Encoding::Utf8 => column >= line.len_bytes() || line.char_to_byte(line.byte_to_char(column)) == column,
            Encoding::Utf16 => {
                column >= line.len_utf16_cu() || line.char_to_utf16_cu(line.utf16_cu_to_char(column)) == column
            }
        }
    }

    /// The position of a byte offset.
    pub(crate) fn position(self, offset: u32) -> Position {
        let offset = (offset as usize).min(self.rope.len_bytes());
        self.position_in_chunk(offset).unwrap_or_else(|| self.position_in_line(offset))
    }

    /// The same, found in the piece of the rope that the offset is in; `None` where its line begins before that.
    fn position_in_chunk(self, offset: usize) -> Option<Position> {
        let (chunk, start, _, first_line) = self.rope.chunk_at_byte(offset);
        let bytes = chunk.as_bytes();
        let ends_line = |at: usize| match bytes.get(at) {
            Some(b'\n') => true,
            Some(b'\r') => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        };
        let within = chunk.floor_char_boundary(offset - start);
        let mut ends = (0..within).rev().filter(|at| ends_line(*at));
        let line_start = ends.next()? + 1;
        let line = first_line + 1 + ends.count();
        let before = chunk.get(line_start..within)?;
        let column = match self.encoding {
            Encoding::Utf8 => before.len(),
            Encoding::Utf32 => before.chars().count(),
            Encoding::Utf16 => before.chars().map(char::len_utf16).sum(),
        };
        Some(Position::new(line as u32, column as u32))
    }

    /// The same, found in its line.
    fn position_in_line(self, offset: usize) -> Position {
        let line = self.rope.byte_to_line(offset);
        let start = self.rope.line_to_byte(line);
        let text = self.rope.line(line);
        let chars = text.byte_to_char((offset - start).min(text.len_bytes()));
        let column = match self.encoding {
            Encoding::Utf8 => text.char_to_byte(chars),
            Encoding::Utf32 => chars,
            Encoding::Utf16 => text.char_to_utf16_cu(chars),
        };
        Position::new(line as u32, column as u32)
    }

    /// The byte range of a range; an inverted one is empty.
    pub(crate) fn text_range(self, range: Range) -> TextRange {
        TextRange::new(self.offset(range.start), self.offset(range.end))
    }

    /// The range of a byte range.
    pub(crate) fn range(self, range: TextRange) -> Range {
        Range::new(self.position(range.start), self.position(range.end))
    }
}

/// A line without its ending.
fn content(line: RopeSlice<'_>) -> RopeSlice<'_> {
    let mut end = line.len_chars();
    while end > 0 && matches!(line.get_char(end - 1), Some('\n' | '\r')) {
        end -= 1;
    }
    line.slice(..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a\r\n\t𝒳é%x\r\nlast";

    fn at(encoding: Encoding, line: u32, character: u32) -> u32 {
        Mapper::new(&Rope::from_str(TEXT), encoding).offset(Position::new(line, character))
    }

    #[test]
    fn the_encoding_with_the_cheapest_columns_is_taken() {
        let offered = [PositionEncodingKind::UTF16, PositionEncodingKind::UTF32];
        assert_eq!(Encoding::negotiate(&offered), Encoding::Utf32);
        assert_eq!(Encoding::negotiate(&[]), Encoding::Utf16);
    }

    #[test]
    fn a_place_is_the_same_in_each_encoding() {
        let percent = TEXT.find('%').map(|at| at as u32);
        for (encoding, column) in [(Encoding::Utf8, 7), (Encoding::Utf16, 4), (Encoding::Utf32, 3)] {
            assert_eq!(Some(at(encoding, 1, column)), percent);
            let rope = Rope::from_str(TEXT);
            let back = Mapper::new(&rope, encoding).position(percent.unwrap_or(0));
            assert_eq!(back, Position::new(1, column));
        }
    }

    #[test]
    fn every_boundary_survives_the_round_trip() {
        let rope = Rope::from_str(TEXT);
        for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
            let mapper = Mapper::new(&rope, encoding);
            for (offset, c) in TEXT.char_indices().filter(|(_, c)| *c != '\n') {
                assert_eq!(mapper.offset(mapper.position(offset as u32)), offset as u32, "{encoding:?} {c:?}");
            }
        }
    }

    #[test]
    fn a_place_is_the_same_in_its_chunk_and_in_its_line() {
        let rope = Rope::from_str(&format!("{TEXT}\r\rb\n\n{}\n", "x".repeat(2000)).repeat(20));
        for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
            let mapper = Mapper::new(&rope, encoding);
            let (mut found, mut lines) = (0, 0);
            for offset in 0..=rope.len_bytes() {
                let slow = mapper.position_in_line(offset);
                assert_eq!(mapper.position(offset as u32), slow, "{encoding:?} {offset}");
                found += u32::from(mapper.position_in_chunk(offset).is_some());
                lines = lines.max(slow.line);
            }
            assert!(found > 1000 && lines == 140, "{found} {lines}");
        }
    }

    #[test]
    fn a_change_is_only_where_text_is() {
        let rope = Rope::from_str(TEXT);
        let check = |encoding, start: (u32, u32), end: (u32, u32)| {
            let range = Range::new(Position::new(start.0, start.1), Position::new(end.0, end.1));
            Mapper::new(&rope, encoding).existing_range(range)
        };
        for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
            // Past the end of a line, past the last line: editors send both.
            assert_eq!(check(encoding, (0, 1), (0, 99)), Ok(TextRange::new(1, 1)));
            assert_eq!(check(encoding, (2, 0), (3, 0)), Ok(TextRange::new(14, TEXT.len() as u32)));
            assert_eq!(check(encoding, (0, 0), (99, 0)), Ok(TextRange::new(0, TEXT.len() as u32)));
            assert!(check(encoding, (2, 0), (3, 1)).is_err());
            assert!(check(encoding, (2, 0), (4, 0)).is_err());
            assert!(check(encoding, (1, 0), (0, 0)).is_err());
        }
        assert!(check(Encoding::Utf16, (1, 2), (1, 3)).is_err());
        assert!(check(Encoding::Utf8, (1, 1), (1, 6)).is_err());
        assert!(check(Encoding::Utf8, (1, 1), (1, 5)).is_ok());
    }

    #[test]
    fn places_that_do_not_exist_are_clamped() {
        assert_eq!(at(Encoding::Utf16, 0, 99), 1);
        assert_eq!(at(Encoding::Utf16, 99, 0), TEXT.len() as u32);
        // Inside the surrogate pair, inside the four bytes.
        assert_eq!(at(Encoding::Utf16, 1, 2), 4);
        assert_eq!(at(Encoding::Utf8, 1, 3), 4);
        let rope = Rope::from_str("");
        assert_eq!(Mapper::new(&rope, Encoding::Utf8).offset(Position::new(0, 5)), 0);
    }
}
