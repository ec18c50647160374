//! Output that a terminal shows and does not obey: names of files, and strings of a text, may hold escape sequences.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, StdoutLock, Write};

/// Standard output.
pub fn stdout() -> Printable<StdoutLock<'static>> {
    Printable { out: io::stdout().lock(), held: Vec::new() }
}

/// What is written passes on with its control characters drawn; only our colours stay.
pub struct Printable<W: Write> {
    out: W,
    /// The start of a character or of a sequence, until the rest comes.
    held: Vec<u8>,
}

/// No sequence of ours is longer.
const LONGEST: usize = 32;

impl<W: Write> Write for Printable<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.held.extend_from_slice(bytes);
        let end = self.held.len() - open(&self.held);
        let whole: Vec<u8> = self.held.drain(..end).collect();
        self.out.write_all(printable(&String::from_utf8_lossy(&whole)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.held);
        self.out.write_all(printable(&String::from_utf8_lossy(&rest)).as_bytes())?;
        self.out.flush()
    }
}

/// How many bytes at the end are not whole yet.
fn open(bytes: &[u8]) -> usize {
    let tail = bytes.get(bytes.len().saturating_sub(LONGEST)..).unwrap_or(bytes);
    if let Some(at) = tail.iter().rposition(|byte| *byte == 0x1b)
        && let Some(rest) = tail.get(at..)
        && rest.iter().skip(1).all(|byte| matches!(byte, b'[' | b';' | b'0'..=b'9'))
    {
        return rest.len();
    }
    match std::str::from_utf8(tail) {
        Err(error) if error.error_len().is_none() => tail.len() - error.valid_up_to(),
        _ => 0,
    }
}

/// A text in which control characters are drawn, and those that turn the direction of a line, but for ends of lines,
/// tabs and colours.
pub fn printable(text: &str) -> Cow<'_, str> {
    let is_bad = |c: char| (c.is_control() && !matches!(c, '\n' | '\t' | '\r')) || is_turn(c);
    if !text.contains(is_bad) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(is_bad) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let colour = colour(from);
        if colour > 0 {
            out.push_str(from.get(..colour).unwrap_or_default());
            rest = from.get(colour..).unwrap_or_default();
            continue;
        }
        let mut chars = from.chars();
        match chars.next() {
            Some('\u{7f}') => out.push('\u{2421}'),
            Some(c) if c < ' ' => out.extend(char::from_u32(0x2400 + c as u32)),
            // Writing to a `String` cannot fail.
            Some(c) => drop(write!(out, "<U+{:04X}>", c as u32)),
            None => {}
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Whether it turns the direction in which a line is read.
fn is_turn(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The length of a colour at the start of a text, 0 if there is none.
fn colour(text: &str) -> usize {
    let Some(inner) = text.strip_prefix("\u{1b}[") else { return 0 };
    let digits = inner.bytes().take_while(|byte| matches!(byte, b';' | b'0'..=b'9')).count();
    let is_colour = inner.as_bytes().get(digits) == Some(&b'm') && digits + 3 <= LONGEST;
    if is_colour { digits + 3 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_drawn() {
        assert_eq!(printable("plain é\n\tx\r\n"), "plain é\n\tx\r\n");
        assert_eq!(printable("\u{1b}[1;31mred\u{1b}[0m"), "\u{1b}[1;31mred\u{1b}[0m");
        assert_eq!(printable("a\u{1b}[2Jb\u{1b}]0;t\u{7}c\0\u{7f}\u{9b}"), "a␛[2Jb␛]0;t␇c␀␡<U+009B>");
        assert_eq!(printable("a\u{202e}b"), "a<U+202E>b");
    }

    #[test]
    fn it_does_not_matter_how_it_is_cut() {
        let text = "é\u{1b}[31mred\u{1b}[0m \u{1b}[2J \u{202e}ü\u{1b}";
        for size in 1..9 {
            let mut out = Printable { out: Vec::new(), held: Vec::new() };
            for part in text.as_bytes().chunks(size) {
                out.write_all(part).expect("a vector takes all");
            }
            out.flush().expect("a vector takes all");
            assert_eq!(String::from_utf8_lossy(&out.out), printable(text), "in parts of {size}");
        }
    }
}
