//! Requests of our own.

use base::TextRange;
use findings::Kind;
use serde::{Deserialize, Serialize};
use tower_lsp::ls_types::{Location, Position, TextDocumentIdentifier};

use super::document::Snapshot;
use super::{from_proto, to_proto};
use render::SourceText;
use render::lanes;

/// `fencepost/run`: the run of the finding at a position.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunParams {
    /// The document.
    pub text_document: TextDocumentIdentifier,
    /// A place on the finding or one of its sites.
    pub position: Position,
    /// Columns that the drawing may take.
    pub width: Option<u32>,
}

/// A run.
#[derive(Clone, Debug, Serialize)]
pub struct RunAnswer {
    /// Name of the kind.
    pub kind: &'static str,
    /// The finding's message, with the inputs.
    pub message: String,
    /// The run as swim lanes.
    pub text: String,
    /// Its steps.
    pub steps: Vec<StepAnswer>,
}

/// A step of a run.
#[derive(Clone, Debug, Serialize)]
pub struct StepAnswer {
    /// Who acts.
    pub partition: String,
    /// Where.
    pub location: Location,
    /// What happens.
    pub text: String,
}

/// `fencepost/explain`: the page of a kind.
#[derive(Clone, Debug, Deserialize)]
pub struct ExplainParams {
    /// Name of the kind.
    pub kind: String,
}

/// The run of the finding whose range, or else one of whose sites, touches the position; the
/// first of them in the text.
pub fn run(snapshot: &Snapshot, params: &RunParams) -> Option<RunAnswer> {
    let checked = snapshot.checked.as_ref()?;
    let offset = from_proto::offset(snapshot, params.position);
    let findings = || checked.analysis.kernels.iter().flat_map(|kernel| &kernel.findings);
    let touches = |range: TextRange| range.touches(offset);
    let finding = findings()
        .find(|finding| touches(finding.range))
        .or_else(|| findings().find(|finding| finding.sites.iter().any(|site| touches(site.range))))?;
    let with = lanes::inputs(&finding.inputs);
    let message = if with.is_empty() { finding.message.clone() } else { format!("{} ({with})", finding.message) };
    let width = params.width.unwrap_or(120).clamp(40, 1000) as usize;
    let text = lanes::draw(finding, &SourceText::new(snapshot.source.text()), width);
    let steps = finding.run.iter().map(|step| StepAnswer {
        partition: step.partition.clone(),
        location: to_proto::location(snapshot, step.range),
        text: step.text.clone(),
    });
    Some(RunAnswer { kind: finding.kind.name(), message, text, steps: steps.collect() })
}

/// The page of a kind, in Markdown.
pub fn explain(params: &ExplainParams) -> Option<&'static str> {
    Kind::from_name(&params.kind).map(Kind::page)
}
