//! Code actions that mend all findings of a kind, or all there are, by one change that is judged as a whole.

use base::{Cancel, Cancelled};
use findings::Kind;
use tower_lsp::ls_types::{CodeActionKind, CodeActionParams, CodeActionTriggerKind};

use super::deferred::{Change, Offer};
use super::fixes::many;
use crate::lsp::snapshot::Snapshot;

/// All findings that have a fix. It is offered to who asks for it by name, as editors do when they save.
pub(crate) const KIND: CodeActionKind = CodeActionKind::new("source.fixAll.fencepost");

/// "Fix all of this kind", where there are several and a change passes. Who only moves the cursor is not offered it,
/// since it costs an analysis of the whole text.
pub(crate) fn of_kind(
    snapshot: &Snapshot,
    params: &CodeActionParams,
    kind: Kind,
    cancel: &Cancel<'_>,
) -> Result<Option<Offer>, Cancelled> {
    let Some(known) = &snapshot.analysis else { return Ok(None) };
    let all = known.analysis.kernels.iter().flat_map(|report| &report.findings);
    if params.context.trigger_kind == Some(CodeActionTriggerKind::AUTOMATIC)
        || all.filter(|finding| finding.kind == kind).count() < 2
    {
        return Ok(None);
    }
    let change = many(snapshot, Some(kind), cancel)?.filter(|change| change.findings > 1);
    Ok(change.map(|change| Offer {
        title: format!("Fix all `{}` in this file ({} findings)", kind.name(), change.findings),
        kind: CodeActionKind::QUICKFIX,
        diagnostic: None,
        change: Change::Many { kind: Some(kind.name().to_owned()) },
        preferred: false,
    }))
}

/// All findings that have a fix, for who asks for that.
pub(crate) fn of_all(
    snapshot: &Snapshot,
    params: &CodeActionParams,
    cancel: &Cancel<'_>,
) -> Result<Option<Offer>, Cancelled> {
    let asks = |only: &CodeActionKind| only.as_str() == "source" || only.as_str().starts_with("source.fixAll");
    if !params.context.only.iter().flatten().any(asks) {
        return Ok(None);
    }
    Ok(many(snapshot, None, cancel)?.map(|change| Offer {
        title: format!("Fix all that can be fixed ({})", counted(change.findings)),
        kind: KIND,
        diagnostic: None,
        change: Change::Many { kind: None },
        preferred: false,
    }))
}

fn counted(findings: usize) -> String {
    if findings == 1 { "1 finding".to_owned() } else { format!("{findings} findings") }
}
