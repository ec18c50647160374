//! What only Python files have: hints of what was assumed of a kernel, and actions that pin it.

use std::sync::Arc;

use base::{Cancel, TextRange};
use engine::instances::{Elaboration, KernelInstances};
use findings::Edit;
use tower_lsp::ls_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, InlayHint, InlayHintLabel, InlayHintTooltip,
    Range,
};

use super::document::Snapshot;
use super::{actions, diagnostics, from_proto, to_proto};

/// Findings at one place for which a fix is looked for.
const FIXES: usize = 3;

/// Instances that get an action of their own.
const OWN: usize = 6;

/// The kernels of a snapshot of Python; judging them may take longer than anybody waits for a hover.
pub fn elaboration(snapshot: &Snapshot) -> Option<Arc<Elaboration>> {
    let stop = || snapshot.desk.is_outdated();
    snapshot.elaboration(&Cancel::when(&stop)).ok().flatten()
}

/// What was assumed of each kernel in a range, behind the line of its name.
pub fn hints(snapshot: &Snapshot, range: Range) -> Vec<InlayHint> {
    let Some(elaboration) = elaboration(snapshot) else { return Vec::new() };
    let (mapper, asked) = (snapshot.mapper(), from_proto::text_range(snapshot, range));
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

/// Actions that write down what a kernel is analysed with, on the lines of its head.
pub fn pins(snapshot: &Snapshot, params: &CodeActionParams) -> Vec<CodeActionOrCommand> {
    let Some(elaboration) = elaboration(snapshot) else { return Vec::new() };
    let kind = CodeActionKind::REFACTOR_REWRITE;
    let takes = |only: &CodeActionKind| {
        let only = only.as_str();
        only.is_empty() || kind.as_str() == only || kind.as_str().starts_with(&format!("{only}."))
    };
    if params.context.only.as_ref().is_some_and(|only| !only.iter().any(takes)) {
        return Vec::new();
    }
    let asked = from_proto::text_range(snapshot, params.range);
    let mut actions = Vec::new();
    for kernel in &elaboration.kernels {
        let (whole, stale) = elaboration.module.place(kernel.entry.range);
        let (name, _) = elaboration.module.place(kernel.entry.name_range);
        let head = TextRange::new(whole.start, name.end);
        if stale || asked.start > head.end || head.start > asked.end {
            continue;
        }
        let text = snapshot.source.text();
        let lines: Vec<&str> =
            kernel.instances.iter().map(|elaborated| elaborated.instance.directive.as_str()).collect();
        let open: Vec<&str> = lines.into_iter().filter(|line| !line.is_empty() && !written(text, head, line)).collect();
        if open.is_empty() {
            continue;
        }
        let all = format!("Pin these values of `{}`", kernel.entry.name);
        actions.push(pin(snapshot, &kind, all, head, &open));
        if open.len() > 1 && open.len() <= OWN {
            let own =
                kernel.instances.iter().filter(|elaborated| open.contains(&elaborated.instance.directive.as_str()));
            actions.extend(own.map(|elaborated| {
                let title = format!("Pin {}", elaborated.instance.label);
                pin(snapshot, &kind, title, head, &[elaborated.instance.directive.as_str()])
            }));
        }
    }
    actions
}

/// Fixes of findings that touch a range, looked for now.
pub fn fixes(snapshot: &Snapshot, asked: TextRange) -> Vec<CodeActionOrCommand> {
    let (Some(checked), Some(elaboration)) = (&snapshot.checked, elaboration(snapshot)) else { return Vec::new() };
    let stop = || snapshot.desk.is_outdated();
    let cancel = Cancel::when(&stop);
    let mut actions = Vec::new();
    for (at, report) in checked.analysis.kernels.iter().enumerate() {
        let touched = report.findings.iter().filter(|it| it.range.start <= asked.end && asked.start <= it.range.end);
        for finding in touched.take(FIXES) {
            let mut engine = snapshot.desk.engine.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let found = engine.fix_python(&elaboration, at, finding, &*snapshot.workspace, &cancel);
            drop(engine);
            if let Ok(Some(found)) = found {
                let diagnostic = diagnostics::diagnostic(snapshot, finding);
                actions.push(actions::fix(snapshot, found.title, &found.edits, diagnostic));
            }
        }
    }
    actions
}

/// Whether a directive stands above a statement.
fn written(text: &str, head: TextRange, line: &str) -> bool {
    let above = text.get(..head.end as usize).unwrap_or("");
    above.lines().rev().take(64).any(|above| above.trim() == line.trim())
}

fn pin(
    snapshot: &Snapshot,
    kind: &CodeActionKind,
    title: String,
    head: TextRange,
    lines: &[&str],
) -> CodeActionOrCommand {
    let text = snapshot.source.text();
    let before = text.get(..head.start as usize).unwrap_or("");
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let indent = before.get(start..).unwrap_or("");
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let written: String = lines.iter().map(|line| format!("{indent}{line}{end}")).collect();
    let edit = Edit { range: TextRange::empty(start as u32), text: written };
    let edits = vec![to_proto::text_edit(snapshot.mapper(), &edit)];
    CodeActionOrCommand::CodeAction(CodeAction {
        title,
        kind: Some(kind.clone()),
        edit: Some(to_proto::workspace_edit(snapshot, edits)),
        ..CodeAction::default()
    })
}
