//! `textDocument/documentSymbol`: the outline.

use ide::{Symbol, SymbolKind as Kind};
use tower_lsp::ls_types::{DocumentSymbol, DocumentSymbolResponse, SymbolInformation, SymbolKind};

use crate::lsp::snapshot::Snapshot;
use crate::lsp::to_proto;

/// The outline; a flat list for clients that take no tree.
pub(crate) fn symbols(snapshot: &Snapshot) -> DocumentSymbolResponse {
    let symbols = match snapshot.source.ir() {
        Some(document) => ide::symbols(document),
        None => snapshot.elaboration_now().map_or_else(Vec::new, |of| ide::python::symbols(&of)),
    };
    if snapshot.client.symbol_tree {
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
