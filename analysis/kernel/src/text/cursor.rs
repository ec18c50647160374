//! Lines of tokens, and reading along one.

use super::lex::{Kind, Token, tokens};
use super::ops;
use base::TextRange;
use std::fmt;

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// Line, from 1.
    pub line: u32,
    /// The token at which reading stopped.
    pub range: TextRange,
    /// What was expected.
    pub message: String,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// A line with its tokens.
pub(super) struct Line<'a> {
    /// Line number, counted from 1.
    pub(super) number: u32,
    pub(super) range: TextRange,
    pub(super) tokens: Vec<Token<'a>>,
}

pub(super) fn split(text: &str) -> Result<Vec<Line<'_>>, TextError> {
    let mut lines = Vec::new();
    let mut offset = 0u32;
    for (number, raw) in text.split_inclusive('\n').enumerate() {
        let number = number as u32 + 1;
        let error = |range| TextError { line: number, range, message: "unexpected character".to_owned() };
        let tokens = tokens(raw, offset).map_err(error)?;
        if let (Some(first), Some(last)) = (tokens.first(), tokens.last()) {
            let range = TextRange::new(first.range.start, last.range.end);
            lines.push(Line { number, range, tokens });
        }
        offset += raw.len() as u32;
    }
    Ok(lines)
}

/// Reads the tokens of one line.
pub(super) struct Cursor<'a, 't> {
    pub(super) tokens: &'t [Token<'a>],
    pub(super) at: usize,
    pub(super) line: &'t Line<'a>,
}

impl<'a> Cursor<'a, '_> {
    pub(super) fn error<T>(&self, message: impl Into<String>) -> Result<T, TextError> {
        let end = TextRange::empty(self.line.range.end);
        let range = self.tokens.get(self.at).map_or(end, |token| token.range);
        Err(TextError { line: self.line.number, range, message: message.into() })
    }

    pub(super) fn peek(&self) -> Option<Token<'a>> {
        self.tokens.get(self.at).copied()
    }

    pub(super) fn token(&mut self, kind: Kind, what: &str) -> Result<Token<'a>, TextError> {
        match self.peek() {
            Some(token) if token.kind == kind => {
                self.at += 1;
                Ok(token)
            }
            _ => self.error(format!("expected {what}")),
        }
    }

    pub(super) fn accept(&mut self, text: &str) -> bool {
        let found =
            self.peek().is_some_and(|token| matches!(token.kind, Kind::Punct | Kind::Word) && token.text == text);
        self.at += usize::from(found);
        found
    }

    pub(super) fn expect(&mut self, text: &str) -> Result<(), TextError> {
        if self.accept(text) { Ok(()) } else { self.error(format!("expected `{text}`")) }
    }

    pub(super) fn number<T: std::str::FromStr>(&mut self) -> Result<T, TextError> {
        let word = self.peek().filter(|token| token.kind == Kind::Word);
        match word.and_then(|token| token.text.parse().ok()) {
            Some(value) => {
                self.at += 1;
                Ok(value)
            }
            None => self.error("expected a number"),
        }
    }

    /// `name=NUMBER`
    pub(super) fn field<T: std::str::FromStr>(&mut self, name: &str) -> Result<T, TextError> {
        self.expect(name)?;
        self.expect("=")?;
        self.number()
    }

    pub(super) fn word<T: Copy>(&mut self, words: ops::Words<T>) -> Result<T, TextError> {
        match self.peek().and_then(|token| ops::value(words, token.text)) {
            Some(value) => {
                self.at += 1;
                Ok(value)
            }
            None => {
                let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
                self.error(format!("expected one of {}", known.join(", ")))
            }
        }
    }

    /// The texts from here on, a site left out.
    pub(super) fn words(&self) -> impl Iterator<Item = &'a str> {
        let site = usize::from(self.peek().is_some_and(|token| token.kind == Kind::Site));
        self.tokens.get(self.at + site..).unwrap_or(&[]).iter().map(|token| token.text)
    }

    pub(super) fn skip(&mut self) {
        self.at += 1;
    }

    pub(super) fn end(&self) -> Result<(), TextError> {
        if self.at == self.tokens.len() { Ok(()) } else { self.error("unexpected text") }
    }
}
