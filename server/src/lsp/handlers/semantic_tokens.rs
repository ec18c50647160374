//! `textDocument/semanticTokens/…`: full, as the difference to an earlier answer, and for a range.

use base::TextRange;
use engine::Source;
use ide::tokens::{Modifiers, SemanticKind, SemanticToken};
use tower_lsp::ls_types::{
    Range, SemanticToken as Token, SemanticTokenModifier, SemanticTokenType, SemanticTokens, SemanticTokensDelta,
    SemanticTokensEdit, SemanticTokensFullDeltaResult, SemanticTokensFullOptions, SemanticTokensLegend,
    SemanticTokensOptions, SemanticTokensRangeResult, SemanticTokensResult,
};

use crate::lsp::position::Encoding;
use crate::lsp::snapshot::Snapshot;

/// What is announced.
pub(crate) fn options() -> SemanticTokensOptions {
    SemanticTokensOptions {
        legend: SemanticTokensLegend {
            token_types: SemanticKind::NAMES.iter().map(|name| SemanticTokenType::new(name)).collect(),
            token_modifiers: Modifiers::NAMES.iter().map(|name| SemanticTokenModifier::new(name)).collect(),
        },
        range: Some(true),
        full: Some(SemanticTokensFullOptions::Delta { delta: Some(true) }),
        ..SemanticTokensOptions::default()
    }
}

/// All tokens; nothing for a text that is too long to be painted at once, or that we know nothing of.
pub(crate) fn full(snapshot: &Snapshot) -> Option<SemanticTokensResult> {
    let data = encoded(snapshot, found(snapshot, None)?);
    let mut last = snapshot.cache.last_tokens();
    let result_id = Some(last.replace(data.clone()));
    Some(SemanticTokensResult::Tokens(SemanticTokens { result_id, data }))
}

/// What has changed since an earlier answer, by its name; all tokens where that is not the last one.
pub(crate) fn delta(snapshot: &Snapshot, previous: &str) -> Option<SemanticTokensFullDeltaResult> {
    let data = encoded(snapshot, found(snapshot, None)?);
    let mut last = snapshot.cache.last_tokens();
    if last.name() != previous {
        let result_id = Some(last.replace(data.clone()));
        return Some(SemanticTokensFullDeltaResult::Tokens(SemanticTokens { result_id, data }));
    }
    let edits = difference(&last.data, &data).into_iter().collect();
    let result_id = Some(last.replace(data));
    Some(SemanticTokensFullDeltaResult::TokensDelta(SemanticTokensDelta { result_id, edits }))
}

/// The tokens of a range.
pub(crate) fn range(snapshot: &Snapshot, range: Range) -> Option<SemanticTokensRangeResult> {
    let range = snapshot.mapper().text_range(range);
    let data = encoded(snapshot, found(snapshot, Some(range))?);
    Some(SemanticTokensRangeResult::Tokens(SemanticTokens { result_id: None, data }))
}

fn found(snapshot: &Snapshot, range: Option<TextRange>) -> Option<Vec<SemanticToken>> {
    match &*snapshot.source {
        Source::Ir(document) => ide::tokens::tokens(document, range),
        Source::Python(file) => snapshot.with_python_setting(|setting| ide::python::tokens(file, setting, range)),
        Source::Other(_) => None,
    }
}

/// The tokens as the protocol counts them, each from the one before.
fn encoded(snapshot: &Snapshot, tokens: Vec<SemanticToken>) -> Vec<Token> {
    let text = snapshot.source.text();
    let encoding = snapshot.client.encoding;
    let (mut line_start, mut line) = match tokens.first() {
        Some(first) => {
            let place = snapshot.mapper().position(first.range.start);
            let before = text.get(..first.range.start as usize).unwrap_or("");
            (before.rfind(['\n', '\r']).map_or(0, |end| end + 1), place.line)
        }
        None => return Vec::new(),
    };
    let (mut last_line, mut last_column) = (0, 0);
    let mut at = line_start;
    let mut out = Vec::with_capacity(tokens.len());
    for token in tokens {
        let start = token.range.start as usize;
        // From the token before to this one: lines end as the protocol says.
        let bytes = text.as_bytes();
        while at < start {
            let ends = match bytes.get(at) {
                Some(b'\n') => true,
                Some(b'\r') => bytes.get(at + 1) != Some(&b'\n'),
                _ => false,
            };
            at += 1;
            if ends {
                line += 1;
                line_start = at;
            }
        }
        let column = length(text.get(line_start..start).unwrap_or(""), encoding);
        let length = length(token.range.of(text), encoding);
        let same_line = line == last_line && !out.is_empty();
        out.push(Token {
            delta_line: if out.is_empty() { line } else { line - last_line },
            delta_start: if same_line { column - last_column } else { column },
            length,
            token_type: token.kind.number(),
            token_modifiers_bitset: token.modifiers.0,
        });
        (last_line, last_column) = (line, column);
    }
    out
}

/// The length of a piece of a line in the units of an encoding.
fn length(text: &str, encoding: Encoding) -> u32 {
    let count = match encoding {
        Encoding::Utf8 => text.len(),
        _ if text.is_ascii() => text.len(),
        Encoding::Utf16 => text.encode_utf16().count(),
        Encoding::Utf32 => text.chars().count(),
    };
    count as u32
}

/// The one replacement that makes old tokens into new ones; none where they are equal.
fn difference(old: &[Token], new: &[Token]) -> Option<SemanticTokensEdit> {
    let front = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    if front == old.len() && front == new.len() {
        return None;
    }
    let rest = old.len().min(new.len()) - front;
    let back = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(old, new)| old == new).count();
    let data = new.get(front..new.len() - back).unwrap_or(&[]).to_vec();
    Some(SemanticTokensEdit {
        start: front as u32 * NUMBERS,
        delete_count: (old.len() - back - front) as u32 * NUMBERS,
        data: (!data.is_empty()).then_some(data),
    })
}

/// Numbers of one token.
const NUMBERS: u32 = 5;

#[cfg(test)]
mod tests {
    use super::*;

    fn token(length: u32) -> Token {
        Token { delta_line: 1, delta_start: 0, length, token_type: 0, token_modifiers_bitset: 0 }
    }

    #[test]
    fn a_difference_makes_the_old_tokens_into_the_new_ones() {
        let lists: [&[u32]; 6] = [&[], &[1], &[1, 2, 3], &[1, 3], &[1, 1, 1], &[2, 2]];
        for old in lists {
            for new in lists {
                let made = |lengths: &[u32]| lengths.iter().map(|length| token(*length)).collect::<Vec<_>>();
                let (mut old, new) = (made(old), made(new));
                if let Some(edit) = difference(&old, &new) {
                    let (start, count) = (edit.start / NUMBERS, edit.delete_count / NUMBERS);
                    let range = start as usize..(start + count) as usize;
                    old.splice(range, edit.data.unwrap_or_default());
                }
                assert_eq!(old, new);
            }
        }
    }
}
