//! Code actions that write down what a kernel in Python is analysed with, as directives above it.

use base::TextRange;
use findings::Edit;
use tower_lsp::ls_types::{CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams};

use crate::lsp::capabilities::wants_action;
use crate::lsp::snapshot::Snapshot;
use crate::lsp::to_proto;

/// Instances that get an action of their own.
const OWN: usize = 6;

/// Actions that write down what a kernel is analysed with, on the lines of its head.
pub(crate) fn actions(snapshot: &Snapshot, params: &CodeActionParams) -> Vec<CodeActionOrCommand> {
    let Some(elaboration) = snapshot.elaboration_now() else { return Vec::new() };
    let kind = CodeActionKind::REFACTOR_REWRITE;
    if !wants_action(&kind, params) {
        return Vec::new();
    }
    let asked = snapshot.mapper().text_range(params.range);
    let mut actions = Vec::new();
    for kernel in &elaboration.kernels {
        let (whole, stale) = elaboration.module.place(kernel.entry.range);
        let (name, _) = elaboration.module.place(kernel.entry.name_range);
        let head = TextRange::new(whole.start, name.end);
        if stale || asked.start > head.end || head.start > asked.end {
            continue;
        }
        let text = snapshot.source.text();
        if let Some(template) = kernel.pin() {
            let names: Vec<String> = template.open.iter().map(|name| format!("`{name}`")).collect();
            let title = format!("Pin what `{}` is launched with: {}", kernel.entry.name, names.join(", "));
            actions.push(pin(snapshot, &kind, title, head, &[&template.line]));
        }
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
