//! `textDocument/codeLens`: above each kernel its verdict, its report, its runs and its timeline.

use ide::KernelPlace;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tower_lsp::ls_types::{CodeLens, Command, Uri};

use super::{kernels, run_action, verdict};
use crate::lsp::client_config::{SHOW_IR, SHOW_LINKED, SHOW_REPORT, SHOW_TIMELINE, SHOW_VERDICT};
use crate::lsp::snapshot::Snapshot;

/// The argument of the command of a lens.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct KernelLens {
    /// The document.
    pub(crate) uri: Uri,
    /// The kernel's name.
    pub(crate) kernel: String,
    /// Its section, from 1.
    pub(crate) section: usize,
}

/// The lenses of a document: those whose command the client or the server has.
pub(crate) fn lenses(snapshot: &Snapshot) -> Vec<CodeLens> {
    let client = &snapshot.client;
    let mut lenses = Vec::new();
    for kernel in kernels::kernels(snapshot) {
        let argument =
            KernelLens { uri: snapshot.uri.clone(), kernel: kernel.name.clone(), section: kernel.section + 1 };
        let mut add = |title: String, command: &str| {
            let command = Command { title, command: command.to_owned(), arguments: Some(vec![json!(argument)]) };
            lenses.push(CodeLens { range: snapshot.mapper().range(kernel.range), command: Some(command), data: None });
        };
        add(title(snapshot, &kernel), SHOW_VERDICT);
        if client.report_lenses {
            add("Show barrier report".to_owned(), SHOW_REPORT);
        }
        if client.timeline_lenses {
            add("Show timeline".to_owned(), SHOW_TIMELINE);
        }
        if client.ir_lenses && snapshot.source.python().is_some() {
            add("Show ops".to_owned(), SHOW_IR);
        }
        if client.program_lenses && names_a_program(snapshot, &kernel) {
            let range = snapshot.mapper().range(kernel.range);
            let argument = json!({ "uri": snapshot.uri, "position": range.start });
            let title = "Show program beside".to_owned();
            let command = Command { title, command: SHOW_LINKED.to_owned(), arguments: Some(vec![argument]) };
            lenses.push(CodeLens { range, command: Some(command), data: None });
        }
    }
    lenses.extend(run_action::lenses(snapshot));
    lenses
}

/// Whether a kernel in TTGIR says which lines of a program it comes from.
fn names_a_program(snapshot: &Snapshot, kernel: &KernelPlace) -> bool {
    let document = snapshot.source.ir();
    document.is_some_and(|document| !ide::source_places(document, kernel.range.start).is_empty())
}

/// The verdict as far as it is known of this very text.
fn title(snapshot: &Snapshot, kernel: &KernelPlace) -> String {
    match (verdict::verdict_of(snapshot, kernel.range), &snapshot.analysis) {
        (Some(report), _) => format!("fencepost: {}", verdict::label(report)),
        (None, None) => "fencepost: not analysed yet".to_owned(),
        (None, Some(_)) => "fencepost: not analysed".to_owned(),
    }
}

/// The kernel of a name, in a section (from 1) if there are several.
pub(crate) fn kernel_of(snapshot: &Snapshot, name: &str, section: usize) -> Option<KernelPlace> {
    let number = section.saturating_sub(1);
    let mut named = kernels::kernels(snapshot).into_iter().filter(|place| place.name == name);
    let first = named.next()?;
    if first.section == number { Some(first) } else { named.find(|place| place.section == number).or(Some(first)) }
}

/// The verdict in full.
pub(crate) fn verdict_in_full(snapshot: &Snapshot, lens: &KernelLens) -> Option<String> {
    let kernel = kernel_of(snapshot, &lens.kernel, lens.section)?;
    Some(verdict::sentence(snapshot, kernel.range).replace('`', ""))
}
