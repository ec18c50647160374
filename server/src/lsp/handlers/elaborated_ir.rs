//! `fencepost/ir`: the ops as which a kernel in Python is analysed, and the Python of each.

use std::fmt::Write as _;

use base::{Cancel, Cancelled, TextRange};
use engine::instances::KernelInstances;
use ide::python::elaborated_text;
use serde::{Deserialize, Serialize};
use tower_lsp::ls_types::{Position, Range, TextDocumentIdentifier};

use super::kernels;
use crate::lsp::snapshot::Snapshot;

/// Parameters of the request.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ElaboratedIrParams {
    /// The document.
    pub(crate) text_document: TextDocumentIdentifier,
    /// The kernel around this place.
    pub(crate) position: Option<Position>,
    /// The kernel of this name.
    pub(crate) kernel: Option<String>,
    /// Which of its instances, from 0.
    #[serde(default)]
    pub(crate) instance: usize,
}

/// The ops of one instance of a kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct ElaboratedIr {
    /// The version of the Python.
    version: i32,
    kernel: String,
    /// Which of the instances it is.
    instance: usize,
    /// What tells each instance from the others.
    instances: Vec<String>,
    /// What it is, then the ops.
    text: String,
    /// Lines of the text, and the Python that each comes from.
    links: Vec<Link>,
}

/// A line that comes from somewhere.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Link {
    line: u32,
    range: Range,
    /// Where the op itself stands, if that is in another file.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
}

/// What is said above the ops.
const WHAT: [&str; 2] = [
    "// What Fencepost analyses: the ops that the Python says, before any pass of Triton. Tensors have no layout here.",
    "// It is no compiler's output; `fencepost compare` sets it beside what your Triton compiles.",
];

/// The ops of a kernel; nothing where the document is no Python or has no such kernel.
pub(crate) fn elaborated_ir(
    snapshot: &Snapshot,
    params: &ElaboratedIrParams,
    cancel: &Cancel<'_>,
) -> Result<Option<ElaboratedIr>, Cancelled> {
    let Some(elaboration) = snapshot.elaboration(cancel)? else { return Ok(None) };
    let name = |kernel: &KernelInstances| elaboration.module.place(kernel.entry.name_range).0;
    let found = match (&params.kernel, params.position) {
        (Some(wanted), _) => elaboration.kernels.iter().find(|kernel| kernel.entry.name == *wanted),
        (None, Some(at)) => kernels::around(&elaboration.kernels, name, snapshot.mapper().offset(at)),
        (None, None) => elaboration.kernels.first(),
    };
    Ok(found.and_then(|kernel| of_kernel(snapshot, kernel, params.instance)))
}

fn of_kernel(snapshot: &Snapshot, kernel: &KernelInstances, number: usize) -> Option<ElaboratedIr> {
    let elaborated = kernel.instances.get(number)?;
    let ops = elaborated_text(elaborated);
    let mapper = snapshot.mapper();
    let line = |range: TextRange| mapper.range(range).start.line + 1;
    let (name, count) = (&kernel.entry.name, kernel.instances.len());
    let mut text = format!("// {name}: {}\n", elaborated.instance.hint);
    if count > 1 {
        let _ = writeln!(text, "// instance {} of {count}: {}", number + 1, elaborated.instance.label);
    }
    WHAT.iter().for_each(|said| text.extend([*said, "\n"]));
    for (range, remark) in &ops.remarks {
        let _ = writeln!(text, "// line {}: {}", line(*range), remark.replace('\n', " "));
    }
    let first = text.matches('\n').count();
    let links = ops.lines.iter().enumerate().filter_map(|(at, place)| {
        let place = place.as_ref().filter(|place| !place.stale)?;
        let range = mapper.range(place.range);
        Some(Link { line: u32::try_from(first + at).ok()?, range, source: place.source.clone() })
    });
    let links = links.collect();
    text.push_str(&ops.text);
    Some(ElaboratedIr {
        version: snapshot.version,
        kernel: name.clone(),
        instance: number,
        instances: kernel.instances.iter().map(|instance| instance.instance.label.clone()).collect(),
        text,
        links,
    })
}
