//! `textDocument/inlayHint`: slot, phase and bytes behind what waits, arrives and expects; in Python also what is assumed
//! of a kernel, behind the line of its name.

use engine::instances::{Elaboration, KernelInstances};
use tower_lsp::ls_types::{InlayHint, InlayHintLabel, InlayHintTooltip, Range};

use crate::lsp::snapshot::Snapshot;

/// The hints in a range.
pub(crate) fn hints(snapshot: &Snapshot, range: Range) -> Vec<InlayHint> {
    let asked = snapshot.mapper().text_range(range);
    let hint = |inlay: ide::Inlay| new_hint(snapshot, inlay.offset, inlay.label, None);
    if let Some(document) = snapshot.source.ir() {
        return ide::inlays(document, asked).into_iter().map(hint).collect();
    }
    let Some(elaboration) = snapshot.elaboration_now() else { return Vec::new() };
    let mut hints: Vec<InlayHint> =
        elaboration.kernels.iter().filter_map(|kernel| assumed(snapshot, &elaboration, kernel, asked)).collect();
    hints.extend(ide::python::inlays(&elaboration, asked).into_iter().map(hint));
    hints
}

/// What was assumed of a kernel.
fn assumed(
    snapshot: &Snapshot,
    elaboration: &Elaboration,
    kernel: &KernelInstances,
    asked: base::TextRange,
) -> Option<InlayHint> {
    let (name, stale) = elaboration.module.place(kernel.entry.name_range);
    let rest = snapshot.source.text().get(name.end as usize..).unwrap_or("");
    let end = name.end + rest.lines().next().map_or(0, |line| line.trim_end().len()) as u32;
    let label = label(kernel);
    let shown = !stale && !label.is_empty() && asked.start <= end && name.start <= asked.end;
    shown.then(|| new_hint(snapshot, end, label, Some(tooltip(kernel))))
}

fn new_hint(snapshot: &Snapshot, offset: u32, label: String, tooltip: Option<String>) -> InlayHint {
    InlayHint {
        position: snapshot.mapper().position(offset),
        label: InlayHintLabel::String(label),
        kind: None,
        text_edits: None,
        tooltip: tooltip.map(InlayHintTooltip::String),
        padding_left: Some(true),
        padding_right: None,
        data: None,
    }
}

fn label(kernel: &KernelInstances) -> String {
    match kernel.instances.as_slice() {
        [] => "not analysed: nothing is known that it could be launched with".to_owned(),
        [one] => one.instance.hint.clone(),
        many => {
            let labels: Vec<&str> = many.iter().map(|elaborated| elaborated.instance.label.as_str()).take(3).collect();
            let more = if many.len() > 3 { " | …" } else { "" };
            format!("{} instances: {}{more}", many.len(), labels.join(" | "))
        }
    }
}

fn tooltip(kernel: &KernelInstances) -> String {
    let hints: Vec<&str> = kernel.instances.iter().map(|elaborated| elaborated.instance.hint.as_str()).collect();
    format!("fencepost analyses this kernel with\n{}", hints.join("\n"))
}
