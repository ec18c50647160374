//! Where the type of a value is defined: the aliases that its type and encoding are written with.

use base::TextRange;
use ttgir::Document;
use ttgir::queries::spot::Spot;
use ttgir::queries::words::word_at;
use ttgir::{TokenKind, Tokens};

/// The definitions of the aliases in the type of the value at an offset, or of the results of the op there: types first,
/// then encodings, in the order in which the type names them. At an alias, those that it is written with.
pub fn type_definition(document: &Document, offset: u32) -> Vec<TextRange> {
    let Some(spot) = Spot::at(document, offset) else { return Vec::new() };
    let tree = spot.tree();
    let mut texts: Vec<&str> = Vec::new();
    if let Some((value, _)) = tree.value_at(spot.offset) {
        texts.extend(tree.value_type(value).map(|ty| tree.type_text(ty)));
    } else if let Some(word) = word_at(tree, spot.offset) {
        texts.extend(tree.alias_text(word.range.of(tree.text())));
    } else if let Some(op) = tree.op_at(spot.offset) {
        texts.extend(tree.results(op).iter().filter_map(|value| tree.value_type(*value)).map(|ty| tree.type_text(ty)));
    }
    let mut found: Vec<TextRange> = Vec::new();
    for text in texts {
        let names = Tokens::new(text).filter(|token| matches!(token.kind, TokenKind::Attr | TokenKind::Type));
        for range in names.filter_map(|token| tree.alias_range(token.range.of(text))) {
            let range = spot.lift(range);
            if !found.contains(&range) {
                found.push(range);
            }
        }
    }
    found
}
