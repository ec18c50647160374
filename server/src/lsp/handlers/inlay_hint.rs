//! `textDocument/inlayHint`: what is assumed of a kernel in Python, behind the line of its name.

use engine::instances::KernelInstances;
use tower_lsp::ls_types::{InlayHint, InlayHintLabel, InlayHintTooltip, Range};

use crate::lsp::snapshot::Snapshot;

/// What was assumed of each kernel in a range, behind the line of its name.
pub(crate) fn hints(snapshot: &Snapshot, range: Range) -> Vec<InlayHint> {
    let Some(elaboration) = snapshot.elaboration_now() else { return Vec::new() };
    let (mapper, asked) = (snapshot.mapper(), snapshot.mapper().text_range(range));
    let hint = |kernel: &KernelInstances| {
        let (name, stale) = elaboration.module.place(kernel.entry.name_range);
        let text = snapshot.source.text();
        let rest = text.get(name.end as usize..).unwrap_or("");
        let end = name.end + rest.lines().next().map_or(0, |line| line.trim_end().len()) as u32;
        let label = label(kernel);
        let shown = !stale && !label.is_empty() && asked.start <= end && name.start <= asked.end;
        shown.then(|| InlayHint {
            position: mapper.position(end),
            label: InlayHintLabel::String(label),
            kind: None,
            text_edits: None,
            tooltip: Some(InlayHintTooltip::String(tooltip(kernel))),
            padding_left: Some(true),
            padding_right: None,
            data: None,
        })
    };
    elaboration.kernels.iter().filter_map(hint).collect()
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
