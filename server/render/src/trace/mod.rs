//! A run as swim lanes, for people (text, SVG) and tools (JSON).

mod drawing;
pub mod html;
pub mod json;
pub(crate) mod narrow;
pub(crate) mod rounds;
pub mod states;
pub mod svg;
pub mod text;

pub use drawing::{TraceDrawing, TraceHeading};

use drawing::does;
use maud::Markup;
use report::timeline::{Stretch, Timeline};

use crate::report::ReportView;

/// A piece of a run's drawing in a page.
pub(crate) enum Piece {
    /// Shown, as SVG.
    Shown(String),
    /// What the signs mean, as HTML: below the drawing, and not as wide.
    Legend(Markup),
    /// The same run for where the drawing does not fit: how wide that is, in pixels, and the rows, as HTML.
    Narrow(usize, Markup),
    /// Steps that may be folded.
    Folded {
        /// Which they are.
        stretch: Stretch,
        /// What they do.
        does: String,
        /// Their drawing, or its first and its last part.
        parts: Vec<String>,
        /// How many lines are left out between the parts.
        left_out: usize,
    },
}

/// Steps of a long run.
const LONG: usize = 1000;
/// Lines at both ends of a fold that are drawn.
const ENDS: usize = 120;

/// The drawing of a report's run, for its page, from top to bottom; empty where there is none. Its ids begin with `id`,
/// and those of lines with `anchor`.
pub(crate) fn picture(view: &ReportView<'_>, id: &str, anchor: &str) -> Vec<Piece> {
    let Some(timeline) = &view.timeline else { return Vec::new() };
    let heading = TraceHeading::of_report(&view.report, view.finding);
    // Of a long run repetitions are one line even in what a reader opens.
    let long = timeline.steps.len() > LONG;
    let mut drawing = TraceDrawing::new(Some(timeline.clone()), heading, view.places, long);
    drawing.linked = true;
    drawing.titled = false;
    drawing.roles = timeline.lanes.iter().map(|lane| role(view, &lane.name)).collect();
    pieces(&drawing, timeline, id, anchor)
}

/// A drawing of this run in pieces, from top to bottom. Its ids begin with `id`, and those of lines with
/// `anchor`.
pub(crate) fn pieces(drawing: &TraceDrawing<'_>, timeline: &Timeline, id: &str, anchor: &str) -> Vec<Piece> {
    let page = svg::PageIds { id, anchor: Some(anchor) };
    let slices = svg::Slices::new(drawing, timeline, page);
    let mut pieces = vec![Piece::Shown(slices.head())];
    let mut next = 0;
    for stretch in timeline.stretches() {
        let (from, to) = (drawing.row(stretch.from).max(next), drawing.row(stretch.to) + 1);
        if from >= to {
            continue;
        }
        next = to;
        if !stretch.folded {
            pieces.push(Piece::Shown(slices.rows(from, to)));
            continue;
        }
        let mut parts = vec![slices.rows(from, to.min(from + ENDS))];
        if to - from > ENDS {
            parts.push(slices.rows((from + ENDS).max(to.saturating_sub(ENDS)), to));
        }
        let left_out = (to - from).saturating_sub(2 * ENDS);
        pieces.push(Piece::Folded { stretch, does: does(timeline, stretch), parts, left_out });
    }
    pieces.push(Piece::Shown(slices.foot()));
    pieces.push(Piece::Legend(svg::legend(drawing, page)));
    pieces.push(Piece::Narrow(slices.width(), narrow::draw(drawing, timeline, "The run, narrow", Some(anchor))));
    pieces
}

/// What a partition is for, without the names of what it works on.
fn role(view: &ReportView<'_>, lane: &str) -> String {
    let row = view.report.partitions.iter().find(|row| row.label == lane);
    let mut role = row.map_or_else(String::new, |row| row.role.clone());
    while let Some(from) = role.find(" (")
        && let Some(to) = role[from..].find(')')
    {
        role.replace_range(from..=from + to, "");
    }
    role
}
