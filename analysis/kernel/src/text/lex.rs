//! A line of the text form as tokens.

use base::TextRange;

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// `%name`
    Var,
    /// `$name`
    Buffer,
    /// `@3`
    Site,
    /// A word or a number.
    Word,
    /// One of `=(),:[]`.
    Punct,
}

/// A token; `text` is without its sigil.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    pub(super) range: TextRange,
}

/// Splits a line that starts at `offset`; the comment is dropped. `Err` is a bad character's range.
pub(super) fn tokens(line: &str, offset: u32) -> Result<Vec<Token<'_>>, TextRange> {
    let line = line.split("//").next().unwrap_or("");
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(first) = line[at..].chars().next() {
        let start = at;
        at += first.len_utf8();
        let kind = match first {
            _ if first.is_whitespace() => continue,
            '%' => Kind::Var,
            '$' => Kind::Buffer,
            '@' => Kind::Site,
            '=' | '(' | ')' | ',' | ':' | '[' | ']' => Kind::Punct,
            _ if is_word(first) => Kind::Word,
            _ => return Err(TextRange::new(offset + start as u32, offset + at as u32)),
        };
        if kind != Kind::Punct {
            at += line[at..].find(|c| !is_word(c)).unwrap_or(line.len() - at);
        }
        let text = match kind {
            Kind::Var | Kind::Buffer | Kind::Site => &line[start + 1..at],
            Kind::Word | Kind::Punct => &line[start..at],
        };
        out.push(Token { kind, text, range: TextRange::new(offset + start as u32, offset + at as u32) });
    }
    Ok(out)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '#')
}
