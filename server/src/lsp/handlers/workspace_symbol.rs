//! `workspace/symbol`: kernels, helpers and barriers of the open documents and of the workspace's Python files.

use std::path::Path;

use base::TextRange;
use ide::Symbol;
use ide::python::navigate::{NameKind, outline, rank};
use ropey::Rope;
use tower_lsp::ls_types::{Location, SymbolInformation, SymbolKind, Uri, WorkspaceSymbolResponse};

use crate::limits::shown::SYMBOLS as MOST;
use crate::lsp::position::Mapper;
use crate::lsp::session_snapshot::{SessionFiles, SessionSnapshot, path_of};
use crate::lsp::snapshot::Snapshot;

/// A symbol that answers, and how well.
struct Candidate {
    rank: u32,
    name: String,
    kind: SymbolKind,
    container: String,
    place: Place,
}

/// Where it is.
enum Place {
    Open(Location),
    /// In a file of the workspace, by its number; its text is read for positions when it is among the best.
    File(usize, TextRange),
}

/// The symbols whose names have the letters of `query` in order, the best first.
pub(crate) fn symbols(session: &SessionSnapshot, files: &SessionFiles<'_>, query: &str) -> WorkspaceSymbolResponse {
    let mut found = Vec::new();
    for open in &session.documents {
        if let Some(document) = open.source.ir() {
            of_document(open, &ide::symbols(document), "", query, &mut found);
        }
    }
    let texts = files.sources.kernel_texts();
    for (number, (_, text)) in texts.iter().enumerate() {
        for name in outline(text) {
            let Some(rank) = rank(&name.name, query) else { continue };
            let kind = match name.kind {
                NameKind::Function => SymbolKind::FUNCTION,
                NameKind::Class => SymbolKind::CLASS,
                NameKind::Barrier => SymbolKind::EVENT,
            };
            let place = Place::File(number, name.range);
            found.push(Candidate { rank, name: name.name, kind, container: name.container, place });
        }
    }
    found.sort_by(|a, b| (a.rank, &a.name).cmp(&(b.rank, &b.name)));
    found.truncate(MOST);
    let mut ropes: std::collections::BTreeMap<usize, (Option<Uri>, Rope)> = std::collections::BTreeMap::new();
    let mut answers = Vec::with_capacity(found.len());
    for candidate in found {
        let location = match candidate.place {
            Place::Open(location) => location,
            Place::File(number, range) => {
                let Some((path, text)) = texts.get(number) else { continue };
                let (uri, rope) = ropes.entry(number).or_insert_with(|| (uri(session, path), Rope::from_str(text)));
                let Some(uri) = uri else { continue };
                Location::new(uri.clone(), Mapper::new(rope, session.client.encoding).range(range))
            }
        };
        #[allow(deprecated, reason = "the field must be written; `tags` says the same")]
        answers.push(SymbolInformation {
            name: candidate.name,
            kind: candidate.kind,
            tags: None,
            deprecated: None,
            location,
            container_name: (!candidate.container.is_empty()).then_some(candidate.container),
        });
    }
    WorkspaceSymbolResponse::Flat(answers)
}

/// The name of a file as the client has it.
fn uri(session: &SessionSnapshot, path: &Path) -> Option<Uri> {
    let open = session.documents.iter().find(|open| path_of(&open.uri).as_deref() == Some(path));
    open.map(|open| open.uri.clone()).or_else(|| Uri::from_file_path(path))
}

fn of_document(open: &Snapshot, symbols: &[Symbol], container: &str, query: &str, found: &mut Vec<Candidate>) {
    for symbol in symbols {
        let kind = match symbol.kind {
            ide::SymbolKind::Function => Some(SymbolKind::FUNCTION),
            ide::SymbolKind::Barrier => Some(SymbolKind::EVENT),
            _ => None,
        };
        // The sigil is no letter that anybody types.
        let bare = symbol.name.trim_start_matches(['@', '%']);
        if let (Some(kind), Some(rank)) = (kind, rank(bare, query.trim_start_matches(['@', '%']))) {
            let place = Place::Open(Location::new(open.uri.clone(), open.mapper().range(symbol.selection)));
            found.push(Candidate { rank, name: symbol.name.clone(), kind, container: container.to_owned(), place });
        }
        of_document(open, &symbol.children, &symbol.name, query, found);
    }
}
