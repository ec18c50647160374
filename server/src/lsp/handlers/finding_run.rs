//! `fencepost/run`: the run of the finding at a position.

use base::TextRange;
use findings::{Finding, KernelReport};
use serde::{Deserialize, Serialize};
use tower_lsp::ls_types::{Location, Position, TextDocumentIdentifier};

use super::kernels;
use crate::lsp::snapshot::Snapshot;
use crate::lsp::to_proto;
use render::SourceText;
use render::lanes;

/// Parameters of the request.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FindingRunParams {
    /// The document.
    pub(crate) text_document: TextDocumentIdentifier,
    /// A place on the finding or one of its sites.
    pub(crate) position: Position,
    /// Columns that the drawing may take.
    pub(crate) width: Option<u32>,
    /// Where the position is on no finding: that of its kernel which is nearest.
    #[serde(default)]
    pub(crate) nearest: bool,
}

/// The run of a finding.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct FindingRun {
    /// Name of the kind.
    pub(crate) kind: &'static str,
    /// The finding's message, with the inputs.
    pub(crate) message: String,
    /// The run as swim lanes.
    pub(crate) text: String,
    /// Its steps.
    pub(crate) steps: Vec<FindingRunStep>,
}

/// One step of it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct FindingRunStep {
    /// The partition that acts.
    pub(crate) partition: String,
    /// The op.
    pub(crate) location: Location,
    /// What happens.
    pub(crate) text: String,
}

/// The run of the finding whose range, or else one of whose sites, touches the position; the
/// first of them in the text. If asked for, that of the nearest in the kernel around it.
pub(crate) fn run(snapshot: &Snapshot, params: &FindingRunParams) -> Option<FindingRun> {
    let known = snapshot.analysis.as_ref()?;
    let offset = snapshot.mapper().offset(params.position);
    let findings = || known.analysis.kernels.iter().flat_map(|kernel| &kernel.findings);
    let touches = |range: TextRange| range.touches(offset);
    let finding = findings()
        .find(|finding| touches(finding.range))
        .or_else(|| findings().find(|finding| finding.sites.iter().any(|site| touches(site.range))))
        .or_else(|| if params.nearest { nearest(snapshot, &known.analysis.kernels, offset) } else { None })?;
    let with = lanes::inputs(&finding.inputs);
    let message = if with.is_empty() { finding.message.clone() } else { format!("{} ({with})", finding.message) };
    let width = params.width.unwrap_or(120).clamp(40, 1000) as usize;
    let text = lanes::draw(finding, &SourceText::new(snapshot.source.text()), width);
    let steps = finding.run.iter().map(|step| FindingRunStep {
        partition: step.partition.clone(),
        location: to_proto::location(snapshot, step.range),
        text: step.text.clone(),
    });
    Some(FindingRun { kind: finding.kind.name(), message, text, steps: steps.collect() })
}

/// The finding with the fewest lines between it and the offset, of the kernel that the offset is in.
fn nearest<'a>(snapshot: &Snapshot, kernels: &'a [KernelReport], offset: u32) -> Option<&'a Finding> {
    let line = |offset: u32| snapshot.mapper().position(offset).line;
    let distance = |range: TextRange| {
        line(range.start).saturating_sub(line(offset)) + line(offset).saturating_sub(line(range.end))
    };
    let kernel = kernels::around(kernels, |kernel| kernel.range, offset)?;
    kernel.findings.iter().min_by_key(|finding| distance(finding.range))
}
