//! A run as swim lanes, for people (text, SVG) and tools (JSON).

mod drawing;
pub mod json;
pub mod svg;
pub mod text;

pub use drawing::{TraceDrawing, TraceHeading};

use crate::report::ReportView;

/// The drawing of a report's run, for its page; empty where there is none. Its ids begin with `id`,
/// and those of lines with `anchor`.
pub(crate) fn picture(view: &ReportView<'_>, id: &str, anchor: &str) -> String {
    let Some(timeline) = &view.timeline else { return String::new() };
    let heading = TraceHeading::of_report(&view.report, view.finding);
    let drawing = TraceDrawing::new(Some(timeline.clone()), heading, view.places, true);
    svg::draw(&drawing, Some(svg::PageIds { id, anchor }))
}
