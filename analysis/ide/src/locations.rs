//! The places in Python that TTGIR comes from, and the ops that come from one.

use super::EAGER_SECTIONS;
use crate::limits::dumps::SECTIONS;
use base::TextRange;
use ttgir::queries::spot::{Spot, lift, walk};
use ttgir::queries::words::line_tokens;
use ttgir::{Document, Section, SourceLoc, Token, TokenKind, Tree};

/// The places in Python that an offset is about, the innermost call first: those of the location that is written
/// there, else those of the op around it.
pub fn source_places(document: &Document, offset: u32) -> Vec<SourceLoc> {
    let Some(spot) = Spot::at(document, offset) else { return Vec::new() };
    let tree = spot.tree();
    if let Some(text) = location_at(tree, spot.offset) {
        return tree.locs_of(text);
    }
    tree.op_at(spot.offset).map_or_else(Vec::new, |op| tree.loc(op))
}

/// Whether an offset stands in a location, or on the name of an op: then its definition is a line of Python.
pub fn leads_to_source(document: &Document, offset: u32) -> bool {
    let Some(spot) = Spot::at(document, offset) else { return false };
    let tree = spot.tree();
    let on_name = tree.op_at(spot.offset).is_some_and(|op| tree.op_name_range(op).touches(spot.offset));
    on_name || location_at(tree, spot.offset).is_some()
}

/// The name of the op around an offset.
pub fn op_name_at(document: &Document, offset: u32) -> Option<TextRange> {
    let spot = Spot::at(document, offset)?;
    let op = spot.tree().op_at(spot.offset)?;
    Some(spot.lift(spot.tree().op_name_range(op)))
}

/// The text of the location at an offset: a file's place of its own, else all inside the innermost `loc(…)`.
fn location_at(tree: &Tree, offset: u32) -> Option<&str> {
    let tokens: Vec<Token> = line_tokens(tree, offset).filter(|token| token.kind != TokenKind::Space).collect();
    let text = |token: &Token| token.range.of(tree.text());
    let mut inside: Option<TextRange> = None;
    for (at, token) in tokens.iter().enumerate() {
        let opens = text(token) == "loc" && tokens.get(at + 1).is_some_and(|next| text(next) == "(");
        if !opens {
            continue;
        }
        let mut depth = 0usize;
        let end = tokens.get(at + 1..)?.iter().find(|token| {
            match text(token) {
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let Some(end) = end else { continue };
        // `#loc3 = loc(…)` is about the location as a whole, its name too.
        let defines = at >= 2 && tokens.get(at - 1).is_some_and(|sign| text(sign) == "=");
        let from = tokens.get(at - 2 * usize::from(defines)).map_or(token.range.start, |first| first.range.start);
        if TextRange::new(from, end.range.end).touches(offset) {
            inside = Some(TextRange::new(tokens.get(at + 1)?.range.end, end.range.start));
        }
    }
    let inside = inside?;
    let file = tokens.windows(5).find(|parts| {
        let [name, _, line, _, column] = parts else { return false };
        let numbers = line.kind == TokenKind::Number && column.kind == TokenKind::Number;
        name.kind == TokenKind::String && numbers && TextRange::new(name.range.start, column.range.end).touches(offset)
    });
    let range = file.and_then(|parts| Some(TextRange::new(parts.first()?.range.start, parts.last()?.range.end)));
    Some(range.filter(|range| inside.contains(*range)).unwrap_or(inside).of(tree.text()))
}

/// The ops of a document that come from a line of a file, at their names, in the order of the text. `is_file` says
/// whether a location's file is the one; `line` counts from 1. Of a dump only sections that mention the line are read.
pub fn ops_of_line(document: &Document, is_file: &dyn Fn(&str) -> bool, line: u32) -> Vec<TextRange> {
    let mention = format!("\":{line}:");
    let finder = memchr::memmem::Finder::new(mention.as_bytes());
    let mentions = |section: &&Section| finder.find(section.text().as_bytes()).is_some();
    let mut found = Vec::new();
    let most = if document.sections().len() > EAGER_SECTIONS { SECTIONS } else { EAGER_SECTIONS };
    for section in document.sections().iter().filter(mentions).take(most) {
        let tree = section.tree();
        walk(tree, tree.top(), &mut |op| {
            // The function and the module begin at lines too, but are no ops of them.
            let holder = tree.op_name(op).ends_with(".func") || tree.op_name(op) == "builtin.module";
            if !holder && tree.loc(op).iter().any(|loc| loc.line == line && is_file(&loc.file)) {
                found.push(lift(section, tree.op_name_range(op)));
            }
        });
    }
    found
}
