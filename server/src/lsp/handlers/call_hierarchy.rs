//! Call hierarchy: who calls whom, and which partition signals which.
//!
//! Of a partition, incoming calls come from those whose arrivals it waits for, and outgoing ones go to those that wait
//! for what it arrives on; of a barrier, from those that arrive on it, and to those that wait for it. The ranges are
//! the operations that arrive.

use std::path::Path;
use std::sync::Arc;

use base::TextRange;
use engine::Source;
use engine::instances::Elaboration;
use ide::python::navigate::{self, PythonParty, PythonTie};
use ide::{Party, PartyKind, Tie};
use python::syntax::{Module, Sources};
use serde_json::{Value, json};
use tower_lsp::ls_types::{
    CallHierarchyIncomingCall, CallHierarchyItem, CallHierarchyOutgoingCall, Position, Range, SymbolKind, Uri,
};

use crate::lsp::session_snapshot::{SessionFiles, SessionSnapshot, path_of};
use crate::lsp::snapshot::Snapshot;
use workspace::TritonSources;

/// The kernel, helper, partition or barrier at a position.
pub(crate) fn prepare(
    snapshot: &Snapshot,
    files: &SessionFiles<'_>,
    position: Position,
) -> Option<Vec<CallHierarchyItem>> {
    let offset = snapshot.mapper().offset(position);
    let item = match &*snapshot.source {
        Source::Other(_) => return None,
        Source::Ir(document) => of_party(snapshot, ide::party_at(document, offset)?, &[]),
        Source::Python(script) => {
            let module = script.module();
            let sources = TritonSources::new(&files.sources, Path::new(module.path()));
            let elaboration = snapshot.elaboration_now();
            let party = navigate::party_at(module, elaboration.as_deref(), offset, &sources)?;
            of_python(files, &snapshot.uri, &party, &[])?
        }
    };
    Some(vec![item])
}

/// The document at which the hierarchy of an item began.
pub(crate) fn root(item: &CallHierarchyItem) -> Uri {
    let named = item.data.as_ref().and_then(|data| data["root"].as_str()?.parse().ok());
    named.unwrap_or_else(|| item.uri.clone())
}

/// Who calls or signals an item.
pub(crate) fn incoming(
    root: &Snapshot,
    session: &SessionSnapshot,
    files: &SessionFiles<'_>,
    item: &CallHierarchyItem,
) -> Vec<CallHierarchyIncomingCall> {
    let ties = ties(root, session, files, item, false).into_iter();
    ties.map(|(from, from_ranges)| CallHierarchyIncomingCall { from, from_ranges }).collect()
}

/// Whom an item calls or signals.
pub(crate) fn outgoing(
    root: &Snapshot,
    session: &SessionSnapshot,
    files: &SessionFiles<'_>,
    item: &CallHierarchyItem,
) -> Vec<CallHierarchyOutgoingCall> {
    let ties = ties(root, session, files, item, true).into_iter();
    ties.map(|(to, from_ranges)| CallHierarchyOutgoingCall { to, from_ranges }).collect()
}

fn ties(
    root: &Snapshot,
    session: &SessionSnapshot,
    files: &SessionFiles<'_>,
    item: &CallHierarchyItem,
    out: bool,
) -> Vec<(CallHierarchyItem, Vec<Range>)> {
    let position = item.selection_range.start;
    match &*root.source {
        Source::Other(_) => Vec::new(),
        Source::Ir(document) => {
            let mapper = root.mapper();
            let ranges = |tie: &Tie| tie.ranges.iter().map(|range| mapper.range(*range)).collect();
            let ties = ide::ties(document, mapper.offset(position), out).into_iter();
            ties.map(|tie| (of_party(root, tie.party.clone(), &tie.over), ranges(&tie))).collect()
        }
        Source::Python(script) => {
            let sources = TritonSources::new(&files.sources, Path::new(script.module().path()));
            let elaboration = root.elaboration_now();
            of_item(root, session, files, item, elaboration.as_ref(), &sources, out).unwrap_or_default()
        }
    }
}

/// The ties of a function or barrier of Python, which may stand in another file than the one at which one began.
fn of_item(
    root: &Snapshot,
    session: &SessionSnapshot,
    files: &SessionFiles<'_>,
    item: &CallHierarchyItem,
    elaboration: Option<&Arc<Elaboration>>,
    sources: &dyn Sources,
    out: bool,
) -> Option<Vec<(CallHierarchyItem, Vec<Range>)>> {
    let path = path_of(&item.uri)?;
    let file = files.text(&path)?;
    let offset = file.mapper(&session.client).offset(item.selection_range.start);
    let module = module_of(session, sources, &path)?;
    let ties = navigate::ties(&module, elaboration.map(|of| &**of), offset, out, sources);
    let own = root.source.python().map(|script| script.module().path().to_owned()).unwrap_or_default();
    let tie = |tie: PythonTie| {
        // Where it arrives is in the kernel's file, where it is called in the caller's.
        let place = match (tie.over.is_empty(), out) {
            (false, _) => own.clone(),
            (true, true) => module.path().to_owned(),
            (true, false) => tie.party.place.module.path().to_owned(),
        };
        let text = files.text(Path::new(&place))?;
        let mapper = text.mapper(&session.client);
        let ranges = tie.ranges.iter().map(|range| mapper.range(*range)).collect();
        Some((of_python(files, &root.uri, &tie.party, &tie.over)?, ranges))
    };
    Some(ties.into_iter().filter_map(tie).collect())
}

/// A file as the session has it.
fn module_of(session: &SessionSnapshot, sources: &dyn Sources, path: &Path) -> Option<Arc<Module>> {
    let open = session.documents.iter().find(|open| path_of(&open.uri).as_deref() == Some(path));
    if let Some(script) = open.and_then(|open| open.source.python()) {
        return Some(script.module().clone());
    }
    let path = path.to_string_lossy();
    sources.file(&path, &path)
}

fn kind(kind: PartyKind) -> SymbolKind {
    match kind {
        PartyKind::Function => SymbolKind::FUNCTION,
        PartyKind::Partition => SymbolKind::NAMESPACE,
        PartyKind::Barrier => SymbolKind::EVENT,
    }
}

/// `through %bar, %full`, behind where it is.
fn detail(container: &str, over: &[String]) -> Option<String> {
    let through = if over.is_empty() { String::new() } else { format!("through {}", over.join(", ")) };
    let parts: Vec<&str> = [container, &through].into_iter().filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn data(root: &Uri) -> Option<Value> {
    Some(json!({ "root": root.as_str() }))
}

fn of_party(snapshot: &Snapshot, party: Party, over: &[String]) -> CallHierarchyItem {
    let mapper = snapshot.mapper();
    CallHierarchyItem {
        name: party.name,
        kind: kind(party.kind),
        tags: None,
        detail: detail(&party.container, over),
        uri: snapshot.uri.clone(),
        range: mapper.range(party.range.cover(party.selection)),
        selection_range: mapper.range(party.selection),
        data: data(&snapshot.uri),
    }
}

fn of_python(files: &SessionFiles<'_>, root: &Uri, party: &PythonParty, over: &[String]) -> Option<CallHierarchyItem> {
    let path = Path::new(party.place.module.path());
    let whole: TextRange = party.range.cover(party.place.range);
    let selection = files.location(path, party.place.range)?;
    let range = files.location(path, whole)?.range;
    let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Some(CallHierarchyItem {
        name: party.name.clone(),
        kind: kind(party.kind),
        tags: None,
        detail: detail(&file, over),
        uri: selection.uri,
        range,
        selection_range: selection.range,
        data: data(root),
    })
}
