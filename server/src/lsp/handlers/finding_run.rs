//! `fencepost/run`: the run of the finding at a position.

use base::TextRange;
use findings::{Finding, KernelReport};
use serde::{Deserialize, Serialize};
use tower_lsp::ls_types::{Position, Range, TextDocumentIdentifier};

use super::kernels;
use super::run_steps::SteppedRun;
use super::timelines::timeline_of;
use crate::lsp::snapshot::Snapshot;
use render::trace::{TraceDrawing, TraceHeading};
use render::{SourceText, lanes};

/// Parameters of the request.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FindingRunParams {
    /// The document.
    pub(crate) text_document: TextDocumentIdentifier,
    /// A place on the finding or one of its sites.
    pub(crate) position: Position,
    /// Only a finding of this kind.
    pub(crate) kind: Option<String>,
    /// Columns that the drawing may take.
    pub(crate) width: Option<u32>,
    /// Where the position is on no finding: that of its kernel which is nearest.
    #[serde(default)]
    pub(crate) nearest: bool,
    /// Whether the swim lanes are wanted as HTML.
    #[serde(default)]
    pub(crate) picture: bool,
}

/// The run of a finding.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct FindingRun {
    /// Name of the kind.
    kind: &'static str,
    /// The finding's message, with the inputs.
    message: String,
    /// Where the finding is drawn.
    range: Range,
    /// The run as swim lanes.
    text: String,
    #[serde(flatten)]
    run: SteppedRun,
}

/// The run of the finding whose range, or else one of whose sites, touches the position; the
/// first of them in the text. If asked for, that of the nearest in the kernel around it.
pub(crate) fn run(snapshot: &Snapshot, params: &FindingRunParams) -> Option<FindingRun> {
    let (report, finding) = finding_at(snapshot, params)?;
    let with = lanes::inputs(&finding.inputs);
    let message = if with.is_empty() { finding.message.clone() } else { format!("{} ({with})", finding.message) };
    let width = params.width.unwrap_or(120).clamp(40, 1000) as usize;
    let places = SourceText::new(snapshot.source.text());
    let text = lanes::draw(finding, &places, width);
    let heading = TraceHeading {
        title: finding.kind.name().to_owned(),
        message: String::new(),
        place: String::new(),
        with: String::new(),
        finding: Some(finding),
    };
    let mut drawing = TraceDrawing::new(timeline_of(snapshot, report.range, Some(finding)), heading, &places, true);
    drawing.titled = false;
    Some(FindingRun {
        kind: finding.kind.name(),
        message,
        range: snapshot.mapper().range(finding.range),
        text,
        run: SteppedRun::new(snapshot, &report.name, Some(finding), &drawing, params.picture),
    })
}

fn finding_at<'a>(snapshot: &'a Snapshot, params: &FindingRunParams) -> Option<(&'a KernelReport, &'a Finding)> {
    let known = snapshot.analysis.as_ref()?;
    let offset = snapshot.mapper().offset(params.position);
    let is_wanted = |finding: &Finding| params.kind.as_ref().is_none_or(|kind| kind == finding.kind.name());
    let all = || known.analysis.kernels.iter().flat_map(|of| of.findings.iter().map(move |finding| (of, finding)));
    let wanted = || all().filter(|(_, it)| is_wanted(it));
    let touches = |range: TextRange| range.touches(offset);
    let nearest = || nearest(snapshot, &known.analysis.kernels, offset, &is_wanted);
    wanted()
        .find(|(_, finding)| touches(finding.range))
        .or_else(|| wanted().find(|(_, finding)| finding.sites.iter().any(|site| touches(site.range))))
        .or_else(|| if params.nearest { nearest() } else { None })
}

/// The finding with the fewest lines between it and the offset, of those wanted in the kernel that the offset is in.
fn nearest<'a>(
    snapshot: &Snapshot,
    kernels: &'a [KernelReport],
    offset: u32,
    is_wanted: &dyn Fn(&Finding) -> bool,
) -> Option<(&'a KernelReport, &'a Finding)> {
    let line = |offset: u32| snapshot.mapper().position(offset).line;
    let distance = |range: TextRange| {
        line(range.start).saturating_sub(line(offset)) + line(offset).saturating_sub(line(range.end))
    };
    let kernel = kernels::around(kernels, |kernel| kernel.range, offset)?;
    let wanted = kernel.drawn().filter(|finding| is_wanted(finding));
    Some((kernel, wanted.min_by_key(|finding| distance(finding.range))?))
}
