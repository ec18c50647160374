//! Symbols, folds and names in the protocol's form.

use base::TextRange;
use engine::ide::{Symbol, SymbolKind as Kind};
use engine::instances as gluon;
use tower_lsp::ls_types::{
    DocumentHighlight, DocumentHighlightKind, DocumentSymbol, DocumentSymbolResponse, FoldingRange, FoldingRangeKind,
    GotoDefinitionResponse, Location, Position, Range, SymbolInformation, SymbolKind,
};

use super::document::Snapshot;
use super::{from_proto, python, to_proto};

/// The outline; a flat list for clients that take no tree.
pub fn symbols(snapshot: &Snapshot) -> DocumentSymbolResponse {
    let symbols = match snapshot.source.ir() {
        Some(document) => engine::ide::symbols(document),
        None => python::elaboration(snapshot).map_or_else(Vec::new, |of| gluon::symbols(&of)),
    };
    if snapshot.facts.symbol_tree {
        return DocumentSymbolResponse::Nested(symbols.iter().map(|symbol| nested(snapshot, symbol)).collect());
    }
    let mut flat = Vec::new();
    flatten(snapshot, &symbols, None, &mut flat);
    DocumentSymbolResponse::Flat(flat)
}

fn kind(kind: Kind) -> SymbolKind {
    match kind {
        Kind::Section => SymbolKind::MODULE,
        Kind::Function => SymbolKind::FUNCTION,
        Kind::Partition => SymbolKind::NAMESPACE,
        Kind::Loop => SymbolKind::OPERATOR,
        Kind::Barrier => SymbolKind::EVENT,
        Kind::Buffer => SymbolKind::ARRAY,
    }
}

#[allow(deprecated, reason = "the field must be written; `tags` says the same")]
fn nested(snapshot: &Snapshot, symbol: &Symbol) -> DocumentSymbol {
    let mapper = snapshot.mapper();
    let children: Vec<DocumentSymbol> = symbol.children.iter().map(|child| nested(snapshot, child)).collect();
    DocumentSymbol {
        // The protocol forbids an empty name.
        name: if symbol.name.is_empty() { "?".to_owned() } else { symbol.name.clone() },
        detail: (!symbol.detail.is_empty()).then(|| symbol.detail.clone()),
        kind: kind(symbol.kind),
        tags: None,
        deprecated: None,
        range: mapper.range(symbol.range.cover(symbol.selection)),
        selection_range: mapper.range(symbol.selection),
        children: (!children.is_empty()).then_some(children),
    }
}

#[allow(deprecated, reason = "the field must be written; `tags` says the same")]
fn flatten(snapshot: &Snapshot, symbols: &[Symbol], container: Option<&str>, flat: &mut Vec<SymbolInformation>) {
    for symbol in symbols {
        flat.push(SymbolInformation {
            name: symbol.name.clone(),
            kind: kind(symbol.kind),
            tags: None,
            deprecated: None,
            location: to_proto::location(snapshot, symbol.range),
            container_name: container.map(str::to_owned),
        });
        flatten(snapshot, &symbol.children, Some(&symbol.name), flat);
    }
}

/// Folds of whole lines: the last line, which holds the closing brace, stays visible.
pub fn folds(snapshot: &Snapshot) -> Vec<FoldingRange> {
    let Some(document) = snapshot.source.ir() else { return Vec::new() };
    let mapper = snapshot.mapper();
    let fold = |range: TextRange| {
        let Range { start, end } = mapper.range(range);
        let closed = range.of(document.text()).ends_with('}') || end.character == 0;
        let end_line = end.line.saturating_sub(u32::from(closed));
        (end_line > start.line).then_some(FoldingRange {
            start_line: start.line,
            end_line,
            kind: Some(FoldingRangeKind::Region),
            ..FoldingRange::default()
        })
    };
    engine::ide::folds(document).into_iter().filter_map(fold).collect()
}

/// Where the name at a position is defined.
pub fn definition(snapshot: &Snapshot, position: Position) -> Option<GotoDefinitionResponse> {
    // Where a name of Python is defined others say.
    let range = engine::ide::definition(snapshot.source.ir()?, from_proto::offset(snapshot, position))?;
    Some(GotoDefinitionResponse::Scalar(to_proto::location(snapshot, range)))
}

/// The places of the value at a position; in Python, what uses the barrier or buffer.
fn occurrences(snapshot: &Snapshot, position: Position) -> Vec<engine::ide::Occurrence> {
    let offset = from_proto::offset(snapshot, position);
    match snapshot.source.ir() {
        Some(document) => engine::ide::occurrences(document, offset),
        None => python::elaboration(snapshot).map_or_else(Vec::new, |of| gluon::occurrences(&of, offset)),
    }
}

/// Where the name at a position is used, and defined if `declaration` asks for it.
pub fn references(snapshot: &Snapshot, position: Position, declaration: bool) -> Vec<Location> {
    let found = occurrences(snapshot, position);
    let found = found.into_iter().filter(|occurrence| declaration || !occurrence.definition);
    found.map(|occurrence| to_proto::location(snapshot, occurrence.range)).collect()
}

/// The same for this document alone: a definition writes, a use reads.
pub fn highlights(snapshot: &Snapshot, position: Position) -> Vec<DocumentHighlight> {
    let found = occurrences(snapshot, position);
    let mapper = snapshot.mapper();
    let highlight = |occurrence: engine::ide::Occurrence| DocumentHighlight {
        range: mapper.range(occurrence.range),
        kind: Some(if occurrence.definition { DocumentHighlightKind::WRITE } else { DocumentHighlightKind::READ }),
    };
    found.into_iter().map(highlight).collect()
}
