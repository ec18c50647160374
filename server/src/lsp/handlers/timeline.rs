//! `fencepost/timeline`: the run of a kernel's first finding, or one in which nothing is wrong, drawn as text.

use findings::{Finding, KernelReport};
use ide::KernelPlace;
use serde::{Deserialize, Serialize};
use tower_lsp::ls_types::{Position, Uri};

use super::code_lens::kernel_of;
use super::kernels;
use super::run_steps::SteppedRun;
use super::timelines::timeline_of;
use super::verdict::verdict_of;
use crate::lsp::snapshot::Snapshot;
use render::SourceText;
use render::style::Painter;
use render::trace::{TraceDrawing, TraceHeading, text};

/// Which kernel: that which a lens names, or that around a position.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TimelineParams {
    /// The document.
    pub(crate) uri: Uri,
    /// The kernel's name.
    pub(crate) kernel: Option<String>,
    /// Its section, from 1.
    pub(crate) section: Option<usize>,
    /// A place in the kernel, where it is not named.
    pub(crate) position: Option<Position>,
    /// Columns that the drawing may take.
    pub(crate) width: Option<u32>,
    /// Whether the swim lanes are wanted as HTML.
    #[serde(default)]
    pub(crate) picture: bool,
}

/// A run of a kernel.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TimelineText {
    /// What it is: `kernel @f is proved`.
    title: String,
    /// What there is to say of it, one sentence.
    message: String,
    /// The drawing.
    text: String,
    #[serde(flatten)]
    run: SteppedRun,
}

/// The drawing; `None` where there is no such kernel.
pub(crate) fn timeline(snapshot: &Snapshot, params: &TimelineParams) -> Option<TimelineText> {
    let place = place_of(snapshot, params)?;
    let report = verdict_of(snapshot, place.range)?;
    let finding = report.drawn().next();
    let run = timeline_of(snapshot, place.range, finding);
    let places = SourceText::new(snapshot.source.text());
    let mut drawing = TraceDrawing::new(run, heading(snapshot, report, finding, &places), &places, true);
    drawing.titled = false;
    let width = params.width.unwrap_or(120).clamp(40, 1000) as usize;
    Some(TimelineText {
        title: drawing.heading.title.clone(),
        message: drawing.heading.message.clone(),
        text: text::draw(&drawing, width, Painter::plain()),
        run: SteppedRun::new(snapshot, &report.name, finding, &drawing, params.picture),
    })
}

fn place_of(snapshot: &Snapshot, params: &TimelineParams) -> Option<KernelPlace> {
    match (&params.kernel, params.position) {
        (Some(name), _) => kernel_of(snapshot, name, params.section.unwrap_or(1)),
        (None, position) => {
            let offset = snapshot.mapper().offset(position.unwrap_or_default());
            kernels::around(&kernels::kernels(snapshot), |kernel| kernel.range, offset).cloned()
        }
    }
}

fn heading<'a>(
    snapshot: &Snapshot,
    report: &KernelReport,
    finding: Option<&'a Finding>,
    places: &SourceText<'_>,
) -> TraceHeading<'a> {
    let path = snapshot.uri.path().as_str().rsplit('/').next().unwrap_or_default().to_owned();
    match finding {
        Some(finding) => TraceHeading::of_finding(&path, finding, 1, report.drawn().count(), places),
        None => TraceHeading::of_kernel(&path, report, places),
    }
}
