//! What a selection grows by in TTGIR: token, what stands in brackets, operand group, header of an op, op, block,
//! region, function, module, section, file.

use crate::limits::selection::LONG;
use base::TextRange;
use ttgir::queries::spot::{Spot, around};
use ttgir::{Document, OpId, TokenKind, Tokens, Tree};

/// The ranges around an offset, the innermost first, each inside of the next.
pub fn selection(document: &Document, offset: u32) -> Vec<TextRange> {
    let mut found = vec![TextRange::new(0, document.text().len() as u32)];
    let Some(spot) = Spot::at(document, offset) else { return nested(found, offset) };
    let tree = spot.tree();
    let mut inner = vec![TextRange::new(0, tree.text().len() as u32)];
    match tree.op_at(spot.offset) {
        Some(op) => of_op(tree, op, spot.offset, &mut inner),
        None => line(tree.text(), spot.offset, &mut inner),
    }
    found.extend(inner.into_iter().map(|range| spot.lift(range)));
    nested(found, offset)
}

/// Of the ranges that touch an offset those that lie in one another, the innermost first.
pub(super) fn nested(mut ranges: Vec<TextRange>, offset: u32) -> Vec<TextRange> {
    ranges.retain(|range| range.touches(offset) && !range.is_empty());
    // Of two that only touch in the offset the one behind it counts: it begins where the cursor stands.
    ranges.sort_by_key(|range| (range.len(), range.end == offset));
    let mut out: Vec<TextRange> = Vec::new();
    for range in ranges {
        if out.last().is_none_or(|last| range.contains(*last) && range != *last) {
            out.push(range);
        }
    }
    if out.is_empty() {
        out.push(TextRange::empty(offset));
    }
    out
}

fn of_op(tree: &Tree, op: OpId, at: u32, out: &mut Vec<TextRange>) {
    let header = tree.op_header_range(op);
    out.extend([header, tree.op_range(op)]);
    if header.touches(at) {
        parts(tree.text(), header, at, out);
        groups(tree, op, out);
    } else {
        line(tree.text(), at, out);
    }
    let chain = std::iter::once(op).chain(around(tree, op).map(|(outer, _)| outer));
    for op in chain {
        out.push(tree.op_range(op));
        for &region in tree.regions(op) {
            let range = tree.region_range(region);
            if !range.touches(at) {
                continue;
            }
            out.push(range);
            let text = range.of(tree.text());
            if text.len() > 2 && text.starts_with('{') && text.ends_with('}') {
                out.push(TextRange::new(range.start + 1, range.end - 1));
            }
            for &block in tree.blocks(region) {
                let ops = tree.block_ops(block);
                if let (Some(&first), Some(&last)) = (ops.first(), ops.last()) {
                    out.push(tree.op_range(first).cover(tree.op_range(last)));
                }
            }
        }
    }
}

/// Each operand group with all its operands.
fn groups(tree: &Tree, op: OpId, out: &mut Vec<TextRange>) {
    let Some(code) = tree.code(op) else { return };
    let table = dialects::table();
    let Some(syntax) = table.find(code.decl().name).map(|row| table.row(row)) else { return };
    for group in &syntax.operands {
        let Some((first, len)) = tree.group_span(op, group.name) else { continue };
        let ranges = (first..first + len).map(|operand| tree.operand_range(op, operand));
        out.extend(ranges.reduce(TextRange::cover));
    }
    let all = 0..tree.operands(op).len();
    out.extend(all.map(|operand| tree.operand_range(op, operand)).reduce(TextRange::cover));
}

/// The line of a place outside of any op's header, and what stands in it.
fn line(text: &str, at: u32, out: &mut Vec<TextRange>) {
    let (before, after) = text.split_at_checked(at as usize).unwrap_or((text, ""));
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let end = at as usize + after.find('\n').unwrap_or(after.len());
    let whole = text.get(start..end).unwrap_or("");
    let skipped = whole.len() - whole.trim_start().len();
    let range = TextRange::new((start + skipped) as u32, (start + whole.trim_end().len().max(skipped)) as u32);
    out.push(range);
    parts(text, range, at, out);
}

/// The token at a place and the brackets around it, with and without them and with the type in front.
fn parts(text: &str, range: TextRange, at: u32, out: &mut Vec<TextRange>) {
    if range.len() > LONG {
        return;
    }
    let mut open: Vec<(u32, u32, u8)> = Vec::new();
    let mut before: Option<(TokenKind, TextRange)> = None;
    for token in Tokens::new(range.of(text)) {
        let here = TextRange::new(token.range.start + range.start, token.range.end + range.start);
        if token.kind == TokenKind::Space {
            before = None;
            continue;
        }
        if here.touches(at) {
            out.push(here);
        }
        let byte = here.of(text).bytes().next().unwrap_or(0);
        match (token.kind, byte) {
            (TokenKind::Punct, b'(' | b'[' | b'{' | b'<') => {
                let named = before.filter(|(kind, _)| {
                    matches!(kind, TokenKind::Word | TokenKind::Type | TokenKind::Attr | TokenKind::Symbol)
                });
                open.push((here.start, named.map_or(here.start, |(_, range)| range.start), closer(byte)));
            }
            (TokenKind::Punct, b')' | b']' | b'}' | b'>') if here.len() == 1 => {
                if let Some(mate) = open.iter().rposition(|(_, _, close)| *close == byte)
                    && let Some(&(start, named, _)) = open.get(mate)
                {
                    open.truncate(mate);
                    out.push(TextRange::new(named, here.end));
                    out.push(TextRange::new(start, here.end));
                    out.push(TextRange::new(start + 1, here.start));
                }
            }
            _ => {}
        }
        before = Some((token.kind, here));
    }
}

fn closer(open: u8) -> u8 {
    match open {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        _ => b'>',
    }
}
