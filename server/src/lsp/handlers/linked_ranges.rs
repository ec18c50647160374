//! `fencepost/linkedRanges`: the Python of an op, and the ops of a line of Python.

use std::path::{Path, PathBuf};

use base::TextRange;
use engine::Source;
use ide::python::navigate;
use serde::{Deserialize, Serialize};
use tower_lsp::ls_types::{Position, Range, TextDocumentIdentifier, Uri};
use ttgir::Document;

use super::definition::python_location;
use crate::lsp::session_snapshot::{SessionFiles, SessionSnapshot, path_of};
use crate::lsp::snapshot::Snapshot;

/// Names that compiled kernels have beside their Python.
const NEIGHBOURS: [&str; 3] = ["ttgir", "ttir", "mlir"];

/// Where to look.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LinkedRangesParams {
    /// The document.
    pub(crate) text_document: TextDocumentIdentifier,
    /// The op, or the line of Python.
    pub(crate) position: Position,
}

/// What belongs together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct LinkedRanges {
    /// What was asked about: the op's name, or the calls of the line.
    ranges: Vec<Range>,
    /// The other side.
    linked: Vec<Linked>,
    /// Of Python, the ops of kernels as they are elaborated, which no file has.
    elaborated: Vec<ElaboratedOps>,
}

/// Ranges of one file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Linked {
    /// The file.
    uri: Uri,
    /// In the order of the text; of Python, the innermost call first.
    ranges: Vec<Range>,
}

/// Ops of one kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct ElaboratedOps {
    kernel: String,
    instance: String,
    ops: Vec<String>,
}

/// What belongs to a position.
pub(crate) fn linked_ranges(
    snapshot: &Snapshot,
    session: &SessionSnapshot,
    files: &SessionFiles<'_>,
    position: Position,
) -> Option<LinkedRanges> {
    let mapper = snapshot.mapper();
    match &*snapshot.source {
        Source::Other(_) => None,
        Source::Ir(document) => {
            let offset = mapper.offset(position);
            let mut linked: Vec<Linked> = Vec::new();
            for place in ide::source_places(document, offset) {
                let Some(found) = python_location(files, &snapshot.uri, &place) else { continue };
                match linked.iter_mut().find(|linked| linked.uri == found.uri) {
                    Some(linked) => linked.ranges.push(found.range),
                    None => linked.push(Linked { uri: found.uri, ranges: vec![found.range] }),
                }
            }
            let own = ide::op_name_at(document, offset).map(|range| mapper.range(range));
            Some(LinkedRanges { ranges: own.into_iter().collect(), linked, elaborated: Vec::new() })
        }
        Source::Python(script) => {
            let path = PathBuf::from(script.module().path());
            let elaboration = snapshot.elaboration_now();
            let line =
                mapper.text_range(Range::new(Position::new(position.line, 0), Position::new(position.line, u32::MAX)));
            let ops = elaboration.map_or_else(Vec::new, |of| navigate::linked_ops(&of, line));
            let mut ranges: Vec<TextRange> = ops.iter().flat_map(|of| &of.ranges).copied().collect();
            ranges.sort();
            ranges.dedup();
            let elaborated =
                ops.into_iter().map(|of| ElaboratedOps { kernel: of.kernel, instance: of.instance, ops: of.ops });
            Some(LinkedRanges {
                ranges: ranges.into_iter().map(|range| mapper.range(range)).collect(),
                linked: ops_of_line(session, files, &path, position.line + 1),
                elaborated: elaborated.collect(),
            })
        }
    }
}

/// The ops of a line of a Python file in TTGIR documents: those that are open, and the one beside the file.
pub(super) fn ops_of_line(session: &SessionSnapshot, files: &SessionFiles<'_>, path: &Path, line: u32) -> Vec<Linked> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let ops = |document: &Document, uri: &Uri| {
        let known = std::cell::RefCell::new(std::collections::BTreeMap::<String, bool>::new());
        let is_file = |file: &str| {
            let mut known = known.borrow_mut();
            let same = || file.ends_with(&name) && files.source(file, uri).as_deref() == Some(path);
            *known.entry(file.to_owned()).or_insert_with(same)
        };
        ide::ops_of_line(document, &is_file, line)
    };
    let mut linked = Vec::new();
    for open in &session.documents {
        let Some(document) = open.source.ir() else { continue };
        let found = ops(document, &open.uri);
        if !found.is_empty() {
            let ranges = found.into_iter().map(|range| open.mapper().range(range)).collect();
            linked.push(Linked { uri: open.uri.clone(), ranges });
        }
    }
    for neighbour in NEIGHBOURS.map(|extension| path.with_extension(extension)) {
        let is_open = session.documents.iter().any(|open| path_of(&open.uri).as_ref() == Some(&neighbour));
        if is_open || !neighbour.is_file() {
            continue;
        }
        let Some(file) = files.text(&neighbour) else { continue };
        let found = ops(&Document::new(file.text()), &file.uri);
        if !found.is_empty() {
            let mapper = file.mapper(&session.client);
            let ranges = found.into_iter().map(|range| mapper.range(range)).collect();
            linked.push(Linked { uri: file.uri.clone(), ranges });
        }
    }
    linked
}

impl Linked {
    /// The places one by one.
    pub(super) fn locations(self) -> impl Iterator<Item = tower_lsp::ls_types::Location> {
        let Linked { uri, ranges } = self;
        ranges.into_iter().map(move |range| tower_lsp::ls_types::Location::new(uri.clone(), range))
    }
}
