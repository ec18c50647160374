//! The tokens of a text, for those who paint or count them. The parser reads bytes itself.
//!
//! Every byte belongs to exactly one token, also in text that is no IR.

use base::TextRange;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// Blanks and line ends.
    Space,
    /// `// …` to the end of its line.
    Comment,
    /// `"…"`, or what is there of it in its line.
    String,
    /// `1`, `-2.5e3`, `0xFF`; in `128x64xf16` each number by itself.
    Number,
    /// A keyword, an operation's name, a builtin type.
    Word,
    /// `%value`, with its `#n`.
    Value,
    /// A block label, `^name`.
    Label,
    /// A symbol reference, `@name`.
    Symbol,
    /// An attribute or its alias, `#name`.
    Attr,
    /// A type or its alias, `!name`.
    Type,
    /// `->`, `::` and single characters.
    Punct,
    /// A character that no IR holds.
    Unknown,
}

/// A token and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where the token stands in the text.
    pub range: TextRange,
}

/// The tokens of a text, in order.
#[derive(Clone, Debug)]
pub struct Tokens<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Tokens<'t> {
    /// The tokens of `text`.
    pub fn new(text: &'t str) -> Tokens<'t> {
        Tokens { text, at: 0 }
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    /// The end of the bytes from `at` that `f` takes.
    fn run(&self, at: usize, f: impl Fn(u8) -> bool) -> usize {
        let rest = self.text.as_bytes().get(at..).unwrap_or(&[]);
        at + rest.iter().position(|&b| !f(b)).unwrap_or(rest.len())
    }

    fn string_end(&self, start: usize) -> usize {
        let mut at = start + 1;
        loop {
            match self.byte(at) {
                b'"' => return at + 1,
                b'\\' if self.byte(at + 1) != b'\n' && at + 1 < self.text.len() => at += 2,
                b'\n' => return at,
                _ if at >= self.text.len() => return at,
                _ => at += 1,
            }
        }
    }

    fn number_end(&self, start: usize) -> usize {
        let digits = start + usize::from(self.byte(start) == b'-');
        if self.byte(digits) == b'0' && self.byte(digits + 1) == b'x' && self.byte(digits + 2).is_ascii_hexdigit() {
            return self.run(digits + 2, |b| b.is_ascii_hexdigit());
        }
        let mut end = self.run(digits, |b| b.is_ascii_digit());
        if self.byte(end) == b'.' {
            end = self.run(end + 1, |b| b.is_ascii_digit());
            let sign = usize::from(matches!(self.byte(end + 1), b'+' | b'-'));
            if matches!(self.byte(end), b'e' | b'E') && self.byte(end + 1 + sign).is_ascii_digit() {
                end = self.run(end + 1 + sign, |b| b.is_ascii_digit());
            }
        }
        end
    }

    fn sigil(&self, start: usize, kind: TokenKind) -> (TokenKind, usize) {
        let word = |b: u8| b.is_ascii_alphanumeric() || b"_$.-".contains(&b);
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"_$.".contains(&b);
        let mut end = match kind {
            TokenKind::Attr | TokenKind::Type => self.run(start + 1, plain),
            TokenKind::Symbol if self.byte(start + 1) == b'"' => self.string_end(start + 1),
            _ => self.run(start + 1, word),
        };
        if kind == TokenKind::Value && self.byte(end) == b'#' && self.byte(end + 1).is_ascii_digit() {
            end = self.run(end + 1, |b| b.is_ascii_digit());
        }
        if end == start + 1 { (TokenKind::Punct, end) } else { (kind, end) }
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let start = self.at;
        if start >= self.text.len() {
            return None;
        }
        let (kind, mut end) = match self.byte(start) {
            b' ' | b'\t' | b'\r' | b'\n' => {
                (TokenKind::Space, self.run(start, |b| matches!(b, b' ' | b'\t' | b'\r' | b'\n')))
            }
            // A byte order mark says how a file is written, and nothing of what it holds.
            0xef if start == 0 && self.text.starts_with('\u{feff}') => (TokenKind::Space, '\u{feff}'.len_utf8()),
            b'/' if self.byte(start + 1) == b'/' => (TokenKind::Comment, self.run(start, |b| b != b'\n')),
            b'"' => (TokenKind::String, self.string_end(start)),
            b'%' => self.sigil(start, TokenKind::Value),
            b'^' => self.sigil(start, TokenKind::Label),
            b'@' => self.sigil(start, TokenKind::Symbol),
            b'#' => self.sigil(start, TokenKind::Attr),
            b'!' => self.sigil(start, TokenKind::Type),
            b'-' if self.byte(start + 1) == b'>' => (TokenKind::Punct, start + 2),
            b':' if self.byte(start + 1) == b':' => (TokenKind::Punct, start + 2),
            b'-' if self.byte(start + 1).is_ascii_digit() => (TokenKind::Number, self.number_end(start)),
            b'0'..=b'9' => (TokenKind::Number, self.number_end(start)),
            b if b.is_ascii_alphabetic() || b == b'_' => {
                (TokenKind::Word, self.run(start, |b| b.is_ascii_alphanumeric() || b"_$.".contains(&b)))
            }
            b if b.is_ascii_punctuation() => (TokenKind::Punct, start + 1),
            _ => (TokenKind::Unknown, start + 1),
        };
        while !self.text.is_char_boundary(end) {
            end += 1;
        }
        self.at = end;
        Some(Token { kind, range: TextRange::new(start as u32, end as u32) })
    }
}
