//! `textDocument/codeLens`: the report of a kernel, and its runs.

use engine::ide::KernelPlace;
use serde::Serialize;
use serde_json::json;
use tower_lsp::ls_types::{CodeLens, Command, Uri};

use super::{kernels, run_action};
use crate::lsp::client_config::SHOW_REPORT;
use crate::lsp::snapshot::Snapshot;

/// The argument of the command of a lens.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ReportLens<'a> {
    uri: &'a Uri,
    kernel: &'a str,
    section: usize,
}

/// The lenses of a document: the client shows reports only if it has a command for it.
pub(crate) fn lenses(snapshot: &Snapshot) -> Vec<CodeLens> {
    let mut lenses = if snapshot.client.report_lenses { report_lenses(snapshot) } else { Vec::new() };
    lenses.extend(run_action::lenses(snapshot));
    lenses
}

fn report_lenses(snapshot: &Snapshot) -> Vec<CodeLens> {
    let lens = |kernel: KernelPlace| {
        let argument = ReportLens { uri: &snapshot.uri, kernel: &kernel.name, section: kernel.section + 1 };
        CodeLens {
            range: snapshot.mapper().range(kernel.range),
            command: Some(Command {
                title: "Show barrier report".to_owned(),
                command: SHOW_REPORT.to_owned(),
                arguments: Some(vec![json!(argument)]),
            }),
            data: None,
        }
    };
    kernels::kernels(snapshot).into_iter().map(lens).collect()
}
