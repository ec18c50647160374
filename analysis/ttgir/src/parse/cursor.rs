//! Reading bytes: white space, words, names, numbers, strings.

use super::{Parsed, Parser};

/// Bytes of bare words.
pub(super) fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'$' || b == b'.'
}

/// Bytes of names behind `%`, `^`, `#`, `!` and `@`.
pub(super) fn is_name(b: u8) -> bool {
    is_word(b) || b == b'-'
}

impl<'t> Parser<'t> {
    /// The byte at `at`, 0 past the end.
    pub(super) fn byte(&self, at: usize) -> u8 {
        self.src.get(at).copied().unwrap_or(0)
    }

    /// The next token's first byte, 0 at the end.
    pub(super) fn peek(&self) -> u8 {
        self.byte(self.pos)
    }

    /// Whether nothing is left.
    pub(super) fn at_end(&self) -> bool {
        self.pos >= self.src.len()
    }

    /// Takes `len` bytes as a token and skips what follows it.
    pub(super) fn bump(&mut self, len: usize) {
        self.pos = (self.pos + len).min(self.src.len());
        self.last_end = self.pos;
        self.newline = false;
        self.trivia();
    }

    /// Skips white space and comments.
    pub(super) fn trivia(&mut self) {
        loop {
            match self.byte(self.pos) {
                b' ' | b'\t' | b'\r' => self.pos += 1,
                b'\n' => {
                    self.newline = true;
                    self.pos += 1;
                }
                b'/' if self.byte(self.pos + 1) == b'/' => {
                    let rest = &self.src[self.pos..];
                    self.pos += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    /// The offset behind white space and comments from `at`.
    pub(super) fn skip_trivia(&self, mut at: usize) -> usize {
        loop {
            match self.byte(at) {
                b' ' | b'\t' | b'\r' | b'\n' => at += 1,
                b'/' if self.byte(at + 1) == b'/' => {
                    let rest = &self.src[at..];
                    at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                }
                _ => return at,
            }
        }
    }

    /// Takes one byte of punctuation if it is next.
    pub(super) fn eat(&mut self, b: u8) -> bool {
        let found = self.peek() == b && !self.at_end();
        if found {
            self.bump(1);
        }
        found
    }

    /// Takes `->` if it is next.
    pub(super) fn eat_arrow(&mut self) -> bool {
        let found = self.peek() == b'-' && self.byte(self.pos + 1) == b'>';
        if found {
            self.bump(2);
        }
        found
    }

    /// Takes one byte of punctuation or records that it was expected.
    pub(super) fn expect(&mut self, b: u8) -> Parsed {
        if self.eat(b) { Ok(()) } else { Err(self.expected(&format!("`{}`", b as char))) }
    }

    /// The end of the bare word at `at`; `at` where there is none.
    pub(super) fn word_end(&self, at: usize) -> usize {
        let first = self.byte(at);
        if !(first.is_ascii_alphabetic() || first == b'_') {
            return at;
        }
        self.run(at + 1, is_word)
    }

    /// The end of the bytes from `at` that `f` takes.
    pub(super) fn run(&self, at: usize, f: impl Fn(u8) -> bool) -> usize {
        let rest = self.src.get(at..).unwrap_or(&[]);
        at + rest.iter().position(|&b| !f(b)).unwrap_or(rest.len())
    }

    /// The bare word that is next, empty where there is none.
    pub(super) fn peek_word(&self) -> &'t str {
        self.slice(self.pos, self.word_end(self.pos))
    }

    /// Takes `word` if it is the whole next word.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.src[self.pos..].starts_with(word.as_bytes()) && !is_word(self.byte(self.pos + word.len()));
        if found {
            self.bump(word.len());
        }
        found
    }

    /// Takes `word` or records that it was expected.
    pub(super) fn expect_word(&mut self, word: &str) -> Parsed {
        if self.eat_word(word) { Ok(()) } else { Err(self.expected(&format!("`{word}`"))) }
    }

    /// The end of the name behind the sigil at `at`: digits, or letters and more.
    pub(super) fn name_end(&self, at: usize) -> usize {
        let start = at + 1;
        let first = self.byte(start);
        if first.is_ascii_digit() {
            self.run(start, |b| b.is_ascii_digit())
        } else if is_name(first) {
            self.run(start, is_name)
        } else {
            start
        }
    }

    /// The end of the string at `at`, without error; a string ends with its line at the latest.
    pub(super) fn string_end(&self, at: usize) -> Option<usize> {
        let mut from = at + 1;
        loop {
            let rest = self.src.get(from..)?;
            from += memchr::memchr3(b'"', b'\\', b'\n', rest)?;
            match self.src[from] {
                b'"' => return Some(from + 1),
                b'\\' => from += 2,
                _ => return None,
            }
        }
    }

    /// Takes a string.
    pub(super) fn string(&mut self) -> Parsed<&'t str> {
        if self.peek() != b'"' {
            return Err(self.expected("a string"));
        }
        let start = self.pos;
        match self.string_end(start) {
            Some(end) => {
                self.bump(end - start);
                Ok(self.slice(start + 1, end - 1))
            }
            None => {
                let range = base::TextRange::new(start as u32, self.run(start, |b| b != b'\n') as u32);
                Err(self.error(super::SyntaxError::new(range, "syntax", "this string has no end")))
            }
        }
    }

    /// The end of the number at `at`, `at` where there is none: `-1`, `0x1F`, `1.5e-3`.
    pub(super) fn number_end(&self, at: usize) -> usize {
        let digits = if self.byte(at) == b'-' { at + 1 } else { at };
        if !self.byte(digits).is_ascii_digit() {
            return at;
        }
        if self.byte(digits) == b'0' && self.byte(digits + 1) == b'x' && self.byte(digits + 2).is_ascii_hexdigit() {
            return self.run(digits + 2, |b| b.is_ascii_hexdigit());
        }
        let mut end = self.run(digits, |b| b.is_ascii_digit());
        if self.byte(end) == b'.' {
            end = self.run(end + 1, |b| b.is_ascii_digit());
            if matches!(self.byte(end), b'e' | b'E') {
                let sign = usize::from(matches!(self.byte(end + 1), b'+' | b'-'));
                if self.byte(end + 1 + sign).is_ascii_digit() {
                    end = self.run(end + 1 + sign, |b| b.is_ascii_digit());
                }
            }
        }
        end
    }
}
