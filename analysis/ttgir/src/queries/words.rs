//! Names with a sigil that are no values: aliases (`#a`, `!a`, `#loc3`) and symbols (`@f`).

use super::spot::walk;
use crate::{Token, TokenKind, Tree};
use base::TextRange;

/// Whether tokens of a kind are such names.
fn is_word(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Attr | TokenKind::Type | TokenKind::Symbol)
}

/// The tokens of the line around an offset, at their places in the whole text: neither strings nor comments go over
/// the end of a line.
pub fn line_tokens(tree: &Tree, offset: u32) -> impl Iterator<Item = Token> {
    tree.tokens_in(TextRange::empty(offset))
}

/// The alias or symbol whose name is written at an offset.
pub fn word_at(tree: &Tree, offset: u32) -> Option<Token> {
    line_tokens(tree, offset).find(|token| is_word(token.kind) && token.range.touches(offset))
}

/// Every place where a name with its sigil stands, in the order of the text, strings and comments left out.
pub fn places(tree: &Tree, word: &str) -> Vec<TextRange> {
    let text = tree.text();
    let mut found = Vec::new();
    let mut after = 0;
    for at in memchr::memmem::find_iter(text.as_bytes(), word.as_bytes()) {
        if at < after {
            continue;
        }
        // Once a line has been read, all of it has been.
        after = text.get(at..).and_then(|rest| rest.find('\n')).map_or(text.len(), |end| at + end);
        let tokens = line_tokens(tree, at as u32).filter(|token| is_word(token.kind));
        found.extend(tokens.map(|token| token.range).filter(|range| range.of(text) == word));
    }
    found
}

impl Tree {
    /// Where an alias is defined, by its name with the sigil.
    pub fn alias_range(&self, name: &str) -> Option<TextRange> {
        let sym = self.store.names.find(name)?;
        let start = self.store.alias(sym)?.start;
        Some(TextRange::new(start, start + name.len() as u32))
    }

    /// Where the functions and other symbols of a name are defined; the name has its sigil.
    pub fn symbol_ranges(&self, name: &str) -> Vec<TextRange> {
        let mut found = Vec::new();
        walk(self, self.top(), &mut |op| {
            let Some(attr) = self.attr(op, "sym_name") else { return };
            let range = self.attr_range(attr);
            if range.of(self.text()) == name {
                found.push(range);
            }
        });
        found
    }
}
