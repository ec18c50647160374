//! `textDocument/inlayHint`: slot, phase and bytes behind what waits, arrives and expects; in Python also what is assumed
//! of a kernel, behind the line of its name.

use engine::instances::{Elaboration, KernelInstances};
use tower_lsp::ls_types::{InlayHint, InlayHintLabel, InlayHintTooltip, Range};

use crate::lsp::snapshot::Snapshot;

/// The hints in a range.
pub(crate) fn hints(snapshot: &Snapshot, range: Range) -> Vec<InlayHint> {
    let asked = snapshot.mapper().text_range(range);
    let hint = |inlay: ide::Inlay| {
        let instances = Some(inlay.instances).filter(|said| !said.is_empty());
        new_hint(snapshot, inlay.offset, inlay.label, instances)
    };
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

fn new_hint(snapshot: &Snapshot, offset: u32, whole: String, tooltip: Option<String>) -> InlayHint {
    let label = short(&whole);
    let tooltip = tooltip.or_else(|| (label != whole).then_some(whole));
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

/// Characters of a label; the rest of what there is to say stands in the tooltip.
const LABEL: usize = 80;

/// A label cut where one of its parts ends.
fn short(label: &str) -> String {
    let Some((end, _)) = label.char_indices().nth(LABEL) else { return label.to_owned() };
    let room: usize = label.char_indices().nth(LABEL - 2).map_or(end, |(at, _)| at);
    let head = label.get(..room).unwrap_or(label);
    let parts = [", ", " · ", " | "].iter().filter_map(|part| head.rfind(part)).max();
    format!("{} …", parts.and_then(|at| head.get(..at)).unwrap_or(head).trim_end())
}

fn label(kernel: &KernelInstances) -> String {
    match kernel.instances.as_slice() {
        [] => "not analysed: nothing is known that it could be launched with".to_owned(),
        [one] => one.instance.hint.clone(),
        many => {
            let labels: Vec<&str> = many.iter().map(|elaborated| elaborated.instance.label.as_str()).collect();
            let labels: Vec<String> = differing(&labels).into_iter().take(3).collect();
            let more = if many.len() > 3 { " | …" } else { "" };
            format!("{} instances: {}{more}", many.len(), labels.join(" | "))
        }
    }
}

/// The parts of labels that not all of them have.
fn differing(labels: &[&str]) -> Vec<String> {
    let parts: Vec<Vec<&str>> = labels.iter().map(|label| label.split(", ").collect()).collect();
    let own = |all: &Vec<&str>| {
        let own = all.iter().filter(|part| !parts.iter().all(|other| other.contains(part)));
        own.copied().collect::<Vec<_>>().join(", ")
    };
    parts.iter().map(own).collect()
}

fn tooltip(kernel: &KernelInstances) -> String {
    let hints: Vec<&str> = kernel.instances.iter().map(|elaborated| elaborated.instance.hint.as_str()).collect();
    format!("fencepost analyses this kernel with\n{}", hints.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_label_ends_with_one_of_its_parts() {
        assert_eq!(short("num_warps=4, n=i32 (chosen)"), "num_warps=4, n=i32 (chosen)");
        let long = (0..40).map(|at| format!("BLOCK_{at}=64")).collect::<Vec<_>>().join(", ");
        let label = short(&long);
        assert!(label.chars().count() <= LABEL && label.ends_with("=64 …"), "{label}");
        assert_eq!(differing(&["a=fp16[1, 2], b=1", "a=fp16[1, 2], b=2"]), ["b=1", "b=2"]);
        assert!(short(&"x".repeat(200)).chars().count() <= LABEL);
    }
}
