//! The op around a place as far as it is typed: its tokens up to the place, and the word that is being typed.

use base::TextRange;
use ttgir::{TokenKind, Tokens};

/// Lines above a place that an op is looked for in.
const LINES: usize = 40;

/// A token that is no blank, with its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece<'t> {
    pub kind: TokenKind,
    pub text: &'t str,
    pub start: u32,
}

/// What is typed of an op before a place.
#[derive(Clone, Debug)]
pub(super) struct Typed<'t> {
    /// The op's tokens before the word at the place.
    pub pieces: Vec<Piece<'t>>,
    /// The part of the word at the place that stands before it; empty between words.
    pub prefix: &'t str,
    /// The word at the place, whole.
    pub word: TextRange,
    /// Where the op starts.
    pub start: u32,
    /// Whether the place is in a comment or a string.
    pub inert: Option<Inert>,
}

/// Text that is not code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inert {
    Comment,
    Str,
}

/// What is typed before `at`.
pub(super) fn typed(text: &str, at: u32) -> Option<Typed<'_>> {
    let before = text.get(..at as usize)?;
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    let start = op_start(before, line_start);
    let blank = before.get(start..)?.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let start = start + blank;
    let mut typed =
        Typed { pieces: Vec::new(), prefix: "", word: TextRange::empty(at), start: start as u32, inert: None };
    let rest = text.get(line_start..)?;
    let line_end = line_start + rest.find('\n').unwrap_or(rest.len());
    // Tokens of the whole line, so that the word at the place is known to its end.
    for token in Tokens::new(text.get(start..line_end)?) {
        let range = TextRange::new(token.range.start + start as u32, token.range.end + start as u32);
        if range.start >= at {
            break;
        }
        if range.end < at || (range.end == at && !is_word(token.kind, range.of(text))) {
            if token.kind == TokenKind::Comment && range.end == at {
                typed.inert = Some(Inert::Comment);
            }
            if token.kind == TokenKind::String && range.end == at && !is_closed(range.of(text)) {
                typed.inert = Some(Inert::Str);
            }
            if !matches!(token.kind, TokenKind::Space | TokenKind::Comment) {
                typed.pieces.push(Piece { kind: token.kind, text: range.of(text), start: range.start });
            }
            continue;
        }
        match token.kind {
            TokenKind::Comment => typed.inert = Some(Inert::Comment),
            TokenKind::String => typed.inert = Some(Inert::Str),
            TokenKind::Space => {}
            _ => {
                typed.prefix = text.get(range.start as usize..at as usize)?;
                typed.word = range;
            }
        }
    }
    Some(typed)
}

/// Whether a token that ends at the place is still being typed.
fn is_word(kind: TokenKind, text: &str) -> bool {
    match kind {
        TokenKind::Punct => matches!(text, "%" | "#" | "!" | "@" | "^"),
        TokenKind::Word | TokenKind::Value | TokenKind::Label | TokenKind::Symbol => true,
        TokenKind::Attr | TokenKind::Type => true,
        _ => false,
    }
}

fn is_closed(text: &str) -> bool {
    text.len() > 1 && text.ends_with('"') && !text.ends_with("\\\"")
}

/// Where the op starts that goes on in the line at `line_start`: lines above belong to it as long as a bracket of
/// theirs is open.
fn op_start(text: &str, line_start: usize) -> usize {
    let mut start = line_start;
    let mut best = line_start;
    for _ in 0..LINES {
        if start == 0 {
            break;
        }
        let above = text.get(..start - 1).and_then(|text| text.rfind('\n')).map_or(0, |end| end + 1);
        let Some(line) = text.get(above..start) else { break };
        start = above;
        if !starts_op(line) {
            if line.trim().is_empty() {
                break;
            }
            continue;
        }
        if text.get(start..line_start).is_some_and(is_open) {
            best = start;
        }
        break;
    }
    best
}

/// Whether a line begins an op.
fn starts_op(line: &str) -> bool {
    let line = line.trim_start();
    if line.starts_with('%') {
        return line.contains('=');
    }
    let word = line.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).next().unwrap_or("");
    word.contains('.') || word == "module" || line.starts_with('"')
}

/// Whether brackets are open at the end of a text; a brace that ends its line opens a region.
fn is_open(text: &str) -> bool {
    let mut depth = 0i32;
    for line in text.split('\n') {
        let tokens: Vec<&str> = Tokens::new(line)
            .filter(|token| !matches!(token.kind, TokenKind::Space | TokenKind::Comment))
            .map(|token| token.range.of(line))
            .collect();
        for (at, token) in tokens.iter().enumerate() {
            match *token {
                "{" if at + 1 == tokens.len() => {}
                "(" | "[" | "<" | "{" => depth += 1,
                ")" | "]" | ">" | "}" => depth -= 1,
                _ => {}
            }
        }
    }
    depth > 0
}

/// The op's name among the tokens of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head<'t, 'p> {
    /// Whether results stand in front.
    pub results: bool,
    /// The name, if it is typed.
    pub op: Option<Piece<'t>>,
    /// What stands behind it.
    pub rest: &'p [Piece<'t>],
}

/// Splits the tokens of an op; `None` where they are no op.
pub(super) fn head<'t, 'p>(pieces: &'p [Piece<'t>]) -> Option<Head<'t, 'p>> {
    // `} else {`, `default {`: what closes a region and names the next stands in front.
    let skipped = pieces.iter().take_while(|piece| matches!(piece.text, "}" | "{")).count();
    let mut rest = pieces.get(skipped..)?;
    let mut results = false;
    if rest.first().is_some_and(|piece| piece.kind == TokenKind::Value) {
        let equals = rest.iter().position(|piece| piece.text == "=")?;
        let named = rest.get(..equals)?;
        let plain = |piece: &Piece<'_>| {
            matches!(piece.kind, TokenKind::Value | TokenKind::Number) || matches!(piece.text, "," | ":")
        };
        if !named.iter().all(plain) {
            return None;
        }
        results = true;
        rest = rest.get(equals + 1..)?;
    }
    match rest.first() {
        None => Some(Head { results, op: None, rest: &[] }),
        Some(op) if matches!(op.kind, TokenKind::Word | TokenKind::String) => {
            Some(Head { results, op: Some(*op), rest: rest.get(1..)? })
        }
        Some(_) => None,
    }
}
