//! Where the parts of the picture stand.

use report::timeline::{Missing, Step, Stretch, Timeline};

use crate::trace::drawing::{TraceDrawing, words};

/// Height of a line.
pub(super) const ROW: usize = 18;
/// Distance of bands.
const PITCH: usize = 24;
/// The same where there are many.
const CLOSE: usize = 17;
/// From so many on they are many.
const MANY: usize = 24;
/// Width of a character of the words, in tenths of a pixel.
const LETTER: usize = 67;
/// Least width of all words.
const LEAST_WORDS: usize = 200;
/// Margin.
pub(super) const EDGE: usize = 16;
/// Room for step and line numbers.
pub(super) const NUMBERS: usize = 96;
/// Characters of the words of a step; in a page, where they can be pointed at, fewer.
const CHARACTERS: (usize, usize) = (88, 54);
/// What is said of an access that comes too early.
pub(crate) const LATE: &str = "nothing says that (1) is over";
/// Width of the legend.
const LEGEND: usize = 900;
/// Between two CTAs.
pub(super) const APART: usize = 18;

/// Where things stand.
pub(super) struct SvgLayout<'a> {
    pub drawing: &'a TraceDrawing<'a>,
    pub timeline: &'a Timeline,
    /// No part of a page, so that the legend is a part of it.
    pub alone: bool,
    pub lane: usize,
    /// Distance of bands.
    pub pitch: usize,
    /// The column of each band.
    pub columns: Vec<usize>,
    /// Width of the words beside the lanes.
    pub wide: usize,
    /// How far the names of bands lean out.
    pub lean: usize,
    /// What each lane is for, in rows.
    pub roles: Vec<Vec<String>>,
    pub top: usize,
    pub lines: Vec<String>,
}

/// The distance of so many bands and slots.
pub(super) fn pitch(columns: usize) -> usize {
    if columns > MANY { CLOSE } else { PITCH }
}

/// The words of a step as they are drawn.
pub(super) fn brief(drawing: &TraceDrawing<'_>, step: &Step) -> String {
    let words = words(step);
    let most = if drawing.linked { CHARACTERS.1 } else { CHARACTERS.0 };
    if words.chars().count() > most { words.chars().take(most - 1).chain(['…']).collect() } else { words }
}

/// Width of the longest words.
pub(super) fn words_width(drawing: &TraceDrawing<'_>, timeline: &Timeline) -> usize {
    let late = |number: u32| if is_late(timeline, number) { text_width(LATE) + 8 } else { 0 };
    let widths = (1..).zip(&timeline.steps).map(|(number, step)| text_width(&brief(drawing, step)) + late(number));
    widths.max().unwrap_or(0).max(LEAST_WORDS) + 16
}

/// Whether nothing orders a step after an earlier one that it has to come after.
fn is_late(timeline: &Timeline, number: u32) -> bool {
    timeline.missing.iter().any(|it| matches!(it, Missing::Order { to, .. } if *to == number))
}

/// In which column each band stands. In a page, which folds steps, the finding's barriers come first, then
/// those to which something happens in a step that is shown.
pub(super) fn columns(drawing: &TraceDrawing<'_>, timeline: &Timeline) -> Vec<usize> {
    let mut order: Vec<usize> = (0..timeline.bands.len()).collect();
    if drawing.linked {
        let shown: Vec<Stretch> = timeline.stretches().into_iter().filter(|it| !it.folded).collect();
        order.sort_by_key(|&at| {
            let band = &timeline.bands[at];
            let seen = band.ticks.iter().any(|tick| shown.iter().any(|it| (it.from..=it.to).contains(&tick.step)));
            (!band.concerned, !seen)
        });
    }
    let mut columns = vec![0; order.len()];
    for (column, band) in order.into_iter().enumerate() {
        columns[band] = column;
    }
    columns
}

fn text_width(text: &str) -> usize {
    text.chars().count() * LETTER / 10
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

    /// The left end of the words.
    pub(super) fn words(&self) -> usize {
        self.lanes() + 4
    }

    /// The right end of a step's own words.
    pub(super) fn own_end(&self, number: u32) -> usize {
        let step = self.timeline.step(number);
        self.words() + step.map_or(0, |step| text_width(&brief(self.drawing, step))) + 6
    }

    /// The right end of all words on a step's line.
    pub(super) fn words_end(&self, number: u32) -> usize {
        self.own_end(number) + if is_late(self.timeline, number) { text_width(LATE) + 8 } else { 0 }
    }

    /// The left end of the bands.
    fn bands(&self) -> usize {
        self.words() + self.wide
    }

    /// The middle of a band.
    pub(super) fn band(&self, band: usize) -> usize {
        let column = self.columns.get(band).copied().unwrap_or(0);
        self.bands() + column * self.pitch + self.pitch / 2
    }

    /// The left end of the columns of memory.
    pub(super) fn slots(&self) -> usize {
        self.bands() + self.timeline.bands.len() * self.pitch + if self.drawing.slots.is_empty() { 0 } else { 10 }
    }

    /// Wide enough for the names, which lean to the right, and for the legend.
    pub(super) fn width(&self) -> usize {
        let ends = self.slots() + self.drawing.slots.len() * self.pitch;
        (ends + self.lean + 2 * EDGE).max(if self.alone { LEGEND } else { 0 })
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
