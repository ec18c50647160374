//! Where the parts of the picture stand.

use report::timeline::Timeline;

use crate::trace::drawing::TraceDrawing;

/// Height of a line.
pub(super) const ROW: usize = 18;
/// Distance of bands.
pub(super) const PITCH: usize = 24;
/// Width of the words beside the lanes.
pub(super) const WORDS: usize = 560;
/// Margin.
pub(super) const EDGE: usize = 16;
/// Room for step and line numbers.
pub(super) const NUMBERS: usize = 96;
/// Between two CTAs.
pub(super) const APART: usize = 18;

/// Where things stand.
pub(super) struct SvgLayout<'a> {
    pub drawing: &'a TraceDrawing<'a>,
    pub timeline: &'a Timeline,
    pub lane: usize,
    pub top: usize,
    pub lines: Vec<String>,
}

impl SvgLayout<'_> {
    /// The middle of a lane.
    pub(super) fn lane(&self, lane: usize) -> usize {
        let cta = |at: usize| self.timeline.lanes.get(at).map_or(0, |lane| lane.cta);
        let gaps = (1..=lane).filter(|&at| cta(at) != cta(at - 1)).count();
        EDGE + NUMBERS + lane * self.lane + self.lane / 2 + gaps * APART
    }

    /// The right end of the lanes.
    pub(super) fn lanes(&self) -> usize {
        self.lane(self.timeline.lanes.len().saturating_sub(1)) + self.lane / 2 + 8
    }

    /// The middle of a band.
    pub(super) fn band(&self, position: usize) -> usize {
        self.lanes() + position * PITCH + PITCH / 2
    }

    /// The left end of the columns of memory.
    pub(super) fn slots(&self) -> usize {
        self.lanes() + self.drawing.bands.len() * PITCH + if self.drawing.slots.is_empty() { 0 } else { 10 }
    }

    /// The left end of the words.
    pub(super) fn words(&self) -> usize {
        self.slots() + self.drawing.slots.len() * PITCH + 12
    }

    pub(super) fn width(&self) -> usize {
        self.words() + WORDS + EDGE
    }

    /// The middle of a step's line.
    pub(super) fn y(&self, step: u32) -> usize {
        self.row(self.drawing.row(step))
    }

    pub(super) fn row(&self, row: usize) -> usize {
        self.top + row * ROW + ROW / 2
    }

    pub(super) fn bottom(&self) -> usize {
        self.top + self.drawing.rows.len() * ROW
    }
}
