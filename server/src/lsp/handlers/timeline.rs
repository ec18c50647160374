//! `fencepost/timeline`: the run of a kernel's first finding, or one in which nothing is wrong, drawn as text.

use base::{IrNames, Limits};
use engine::Source;
use findings::{Finding, KernelReport};
use ide::KernelPlace;
use lower::{Options, lower_with};
use report::timeline::{Timeline, of_finding, of_kernel};
use serde::{Deserialize, Serialize};
use tower_lsp::ls_types::{Position, Uri};

use super::code_lens::kernel_of;
use super::kernels;
use super::verdict::verdict_of;
use crate::lsp::snapshot::Snapshot;
use base::TextRange;
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
}

/// A run as text.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TimelineText {
    /// The drawing.
    pub(crate) text: String,
    /// The version of the document that it is about.
    pub(crate) version: i32,
}

/// The drawing; `None` where there is no such kernel.
pub(crate) fn timeline(snapshot: &Snapshot, params: &TimelineParams) -> Option<TimelineText> {
    let place = place_of(snapshot, params)?;
    let report = verdict_of(snapshot, place.range)?;
    let finding = report.findings.first();
    let run = match &*snapshot.source {
        Source::Ir(_) => of_ir(snapshot, place.section, place.range, finding),
        Source::Other(_) => None,
        Source::Python(_) => of_python(snapshot, place.range, finding),
    };
    let places = SourceText::new(snapshot.source.text());
    let drawing = TraceDrawing::new(run, heading(snapshot, report, finding, &places), &places, true);
    let width = params.width.unwrap_or(120).clamp(40, 1000) as usize;
    Some(TimelineText { text: text::draw(&drawing, width, Painter::plain()), version: snapshot.version })
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
        Some(finding) => TraceHeading::of_finding(&path, finding, 1, report.findings.len(), places),
        None => TraceHeading::of_kernel(&path, report, places),
    }
}

fn of_ir(snapshot: &Snapshot, section: usize, kernel: TextRange, finding: Option<&Finding>) -> Option<Timeline> {
    let section = snapshot.source.ir()?.sections().get(section)?;
    let offset = section.offset();
    let lowered = lower_with(section.tree(), Options::default());
    let lowered = lowered.into_iter().find(|lowered| lowered.map.kernel_range.start + offset == kernel.start)?;
    let run = match finding {
        Some(finding) => of_finding(&lowered, finding, &IrNames),
        None => Some(of_kernel(&lowered, &Limits::default(), &IrNames)),
    };
    run.map(|mut run| {
        run.shift(offset);
        run
    })
}

fn of_python(snapshot: &Snapshot, kernel: TextRange, finding: Option<&Finding>) -> Option<Timeline> {
    let elaboration = snapshot.elaboration_now()?;
    let is = |range: TextRange| elaboration.module.place(range).0 == kernel;
    let known = elaboration.kernels.iter().find(|known| is(known.entry.name_range))?;
    match finding {
        Some(finding) => known.instances.get(finding.instance)?.run_of(finding),
        None => known.instances.first()?.run(&Limits::default()),
    }
}
