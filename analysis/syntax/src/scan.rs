//! The lexemes of a Python text, for what is asked while it is being typed: nothing has to be closed.
//!
//! Deviations: what stands in an f-string is part of the string; a string in single quotes ends with its line.

use base::TextRange;

/// What a lexeme is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LexemeKind {
    /// A name or a keyword.
    Name,
    /// A number.
    Number,
    /// A string with its prefix and quotes, as far as it goes.
    Str {
        /// Whether its end stands in the text.
        closed: bool,
    },
    /// `# …` to the end of its line.
    Comment,
    /// One character of punctuation.
    Punct(u8),
    /// The end of a line, also inside of brackets.
    LineEnd,
}

/// A lexeme and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lexeme {
    /// What it is.
    pub kind: LexemeKind,
    /// Where it stands.
    pub range: TextRange,
}

/// The lexemes of `text`, in order; blanks have none.
pub fn lexemes(text: &str) -> Vec<Lexeme> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(text.len() / 5);
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        let kind = match byte {
            b' ' | b'\t' | b'\r' | 0x0c => {
                at += 1;
                continue;
            }
            b'\n' => {
                at += 1;
                LexemeKind::LineEnd
            }
            b'\\' if matches!(bytes.get(at + 1), Some(b'\n' | b'\r')) => {
                at += if bytes.get(at + 2) == Some(&b'\n') && bytes.get(at + 1) == Some(&b'\r') { 3 } else { 2 };
                continue;
            }
            b'#' => {
                at += memchr::memchr(b'\n', bytes.get(at..).unwrap_or(&[])).unwrap_or(bytes.len() - at);
                LexemeKind::Comment
            }
            b'"' | b'\'' => {
                let (end, closed) = string_end(bytes, at, false);
                at = end;
                LexemeKind::Str { closed }
            }
            b'0'..=b'9' => {
                at = run(bytes, at, |b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.'));
                LexemeKind::Number
            }
            b if is_name(b) => {
                at = run(bytes, at, is_name);
                let prefix = bytes.get(start..at).unwrap_or(&[]);
                let quoted = matches!(bytes.get(at), Some(b'"' | b'\''));
                if quoted && prefix.len() <= 2 && prefix.iter().all(|b| b"rRbBuUfFtT".contains(b)) {
                    let raw = prefix.iter().any(|b| b"rR".contains(b));
                    let (end, closed) = string_end(bytes, at, raw);
                    at = end;
                    LexemeKind::Str { closed }
                } else {
                    LexemeKind::Name
                }
            }
            b => {
                at += 1;
                LexemeKind::Punct(b)
            }
        };
        out.push(Lexeme { kind, range: TextRange::new(start as u32, at as u32) });
    }
    out
}

/// Whether a line says nothing.
pub fn is_blank_or_comment(line: &str) -> bool {
    let line = line.trim_start_matches([' ', '\t']);
    line.is_empty() || line.starts_with('#')
}

/// Whether a byte belongs to a name; letters of other scripts do.
pub fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn run(bytes: &[u8], at: usize, takes: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(at..).unwrap_or(&[]);
    at + rest.iter().position(|&b| !takes(b)).unwrap_or(rest.len())
}

/// The end of a string whose first quote is at `at`, and whether it is closed there.
fn string_end(bytes: &[u8], at: usize, raw: bool) -> (usize, bool) {
    let quote = bytes.get(at).copied().unwrap_or(b'"');
    let triple = bytes.get(at + 1) == Some(&quote) && bytes.get(at + 2) == Some(&quote);
    let mut at = at + if triple { 3 } else { 1 };
    while let Some(&byte) = bytes.get(at) {
        match byte {
            // Also in a raw string a backslash keeps a quote from ending it.
            b'\\' if !raw || bytes.get(at + 1).is_some_and(|b| *b == quote || *b == b'\\') => at += 2,
            b'\n' if !triple => return (at, false),
            b if b == quote && !triple => return (at + 1, true),
            b if b == quote && bytes.get(at + 1) == Some(&quote) && bytes.get(at + 2) == Some(&quote) => {
                return (at + 3, true);
            }
            _ => at += 1,
        }
    }
    (bytes.len(), false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        lexemes(text).iter().map(|lexeme| lexeme.range.of(text)).collect()
    }

    #[test]
    fn strings_comments_and_names() {
        let text = "x = rb'\\'' + f\"{a}\" # b\n\"\"\"c\n'd\"\"\" é.f(1_0.5)\n";
        let expected = [
            "x",
            "=",
            "rb'\\''",
            "+",
            "f\"{a}\"",
            "# b",
            "\n",
            "\"\"\"c\n'd\"\"\"",
            "é",
            ".",
            "f",
            "(",
            "1_0.5",
            ")",
            "\n",
        ];
        assert_eq!(words(text), expected);
    }

    #[test]
    fn nothing_has_to_be_closed() {
        assert_eq!(words("a('b\nc"), ["a", "(", "'b", "\n", "c"]);
        assert_eq!(lexemes("'''a").last().map(|it| it.kind), Some(LexemeKind::Str { closed: false }));
        for text in ["\\", "'\\", "\"\"\"\\", "#", "\\\r\n", "r'\\"] {
            assert!(lexemes(text).iter().all(|it| it.range.end as usize <= text.len()), "{text:?}");
        }
    }
}
