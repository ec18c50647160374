//! A run as an SVG picture: time downwards, lanes side by side, a band a barrier and a slot.
//!
//! The picture stands alone: no script, no font, no other file. It follows the reader's light or
//! dark setting, every line says its place and its source text when pointed at, and nothing is said
//! by colour alone: phases carry their number and a pattern, arrivals and waits have shapes of
//! their own.

mod layout;
mod legend;
mod marks;
mod writer;

use maud::Markup;
use report::timeline::{Step, Timeline, TimelineRow};

use super::drawing::{TraceDrawing, folded};
use crate::wrap::wrap;
pub(super) use layout::LATE;
use layout::{APART, EDGE, NUMBERS, ROW, SvgLayout, brief, columns, pitch, words_width};
pub(super) use marks::class;
use writer::SvgWriter;
pub use writer::{PageIds, patterns, style_in};

/// Height of a row of a lane's role.
const ROLE: usize = 12;

/// The picture of a run: a document of its own, or a part of a page, where steps lead to their lines.
pub fn draw(drawing: &TraceDrawing<'_>, page: Option<PageIds<'_>>) -> String {
    let empty = Timeline::default();
    let timeline = drawing.timeline.as_ref().unwrap_or(&empty);
    let layout = lay_out(drawing, timeline, page.is_none());
    let svg = fill(&layout, page);
    svg.document((layout.width(), height(&layout)), &drawing.heading.title, &describe(drawing, timeline))
}

/// Width of the picture of a run that is a part of a page, in pixels.
pub(super) fn width(drawing: &TraceDrawing<'_>) -> usize {
    let empty = Timeline::default();
    lay_out(drawing, drawing.timeline.as_ref().unwrap_or(&empty), false).width()
}

/// What the signs of a picture mean that is a part of a page; the page has the style of `.legend`.
pub fn legend(drawing: &TraceDrawing<'_>, page: PageIds<'_>) -> Markup {
    let empty = Timeline::default();
    let timeline = drawing.timeline.as_ref().unwrap_or(&empty);
    legend::list(&lay_out(drawing, timeline, false), page)
}

/// A picture in pieces, so that a page can fold some of them.
pub(crate) struct Slices<'a> {
    layout: SvgLayout<'a>,
    svg: SvgWriter<'a>,
}

impl<'a> Slices<'a> {
    /// The pieces of a run's drawing.
    pub(crate) fn new(drawing: &'a TraceDrawing<'a>, timeline: &'a Timeline, page: PageIds<'a>) -> Slices<'a> {
        let layout = lay_out(drawing, timeline, false);
        let svg = fill(&layout, Some(page));
        Slices { layout, svg }
    }

    /// Width of all pieces, in pixels.
    pub(crate) fn width(&self) -> usize {
        self.layout.width()
    }

    /// What stands above the first line.
    pub(crate) fn head(&self) -> String {
        let about = describe(self.layout.drawing, self.layout.timeline);
        self.svg.first_slice((self.layout.width(), self.layout.top), &self.layout.drawing.heading.title, &about)
    }

    /// Some of the drawing's lines; the last one is not among them.
    pub(crate) fn rows(&self, from: usize, to: usize) -> String {
        let y = |row: usize| self.layout.top + row * ROW;
        self.svg.slice(self.layout.width(), (y(from), y(to)))
    }

    /// What stands below the last line.
    pub(crate) fn foot(&self) -> String {
        self.svg.slice(self.layout.width(), (self.layout.bottom(), height(&self.layout)))
    }
}

fn height(layout: &SvgLayout<'_>) -> usize {
    layout.bottom() + EDGE + if layout.alone { legend::HEIGHT } else { 0 }
}

fn lay_out<'a>(drawing: &'a TraceDrawing<'a>, timeline: &'a Timeline, alone: bool) -> SvgLayout<'a> {
    let lane = match timeline.lanes.len() {
        0..=2 => 132,
        3..=4 => 104,
        5..=8 => 88,
        _ => 60,
    };
    let names = names(drawing, timeline);
    let mut layout = SvgLayout {
        drawing,
        timeline,
        alone,
        lane,
        pitch: pitch(timeline.bands.len() + drawing.slots.len()),
        columns: columns(drawing, timeline),
        wide: words_width(drawing, timeline),
        // The names lean by 55 degrees.
        lean: names * 7 / 10,
        roles: drawing.roles.iter().map(|role| wrap(role, lane * 10 / 62)).collect(),
        top: 0,
        lines: Vec::new(),
    };
    let heading = &drawing.heading;
    for line in [&heading.message, &heading.place, &heading.with].into_iter().filter(|_| drawing.titled) {
        layout.lines.extend(wrap(line, layout.width().min(1260) / 7).into_iter().filter(|line| !line.is_empty()));
    }
    let ctas = if timeline.lanes.iter().any(|lane| lane.cta != 0) { 16 } else { 0 };
    let roles = layout.roles.iter().map(Vec::len).max().unwrap_or(0) * ROLE + 16;
    let title = if drawing.titled { 24 } else { 0 };
    layout.top = EDGE + title + layout.lines.len() * 16 + names.max(roles) + ctas;
    layout
}

/// All of a picture.
fn fill<'a>(layout: &SvgLayout<'_>, page: Option<PageIds<'a>>) -> SvgWriter<'a> {
    let (drawing, timeline) = (layout.drawing, layout.timeline);
    let mut svg = SvgWriter::new(page);
    head(&mut svg, layout);
    for (at, row) in drawing.rows.iter().enumerate() {
        match row {
            TimelineRow::Step(number) => {
                if let Some(step) = timeline.step(*number) {
                    stripe(&mut svg, layout, at, step);
                }
            }
            TimelineRow::Fold(fold) => {
                let (x, y) = (EDGE + NUMBERS, layout.row(at));
                svg.rect("fold", (x, y - 8), (layout.slots() - x, ROW - 2));
                svg.text("i", layout.words(), y + 4, format_args!("⋮ {}", folded(fold)));
            }
        }
    }
    marks::bands(&mut svg, layout);
    marks::spans(&mut svg, layout);
    marks::groups(&mut svg, layout);
    for (at, row) in drawing.rows.iter().enumerate() {
        if let TimelineRow::Step(number) = row
            && let Some(step) = timeline.step(*number)
        {
            chip(&mut svg, layout, at, *number, step);
        }
    }
    marks::missing(&mut svg, layout);
    if layout.alone {
        legend::draw(&mut svg, layout);
    }
    svg
}

/// Room for the names of bands, which stand slanted.
fn names(drawing: &TraceDrawing<'_>, timeline: &Timeline) -> usize {
    let bands = timeline.bands.iter().map(|band| &band.name);
    let slots = drawing.slots.iter().map(|&at| &timeline.slots[at].name);
    bands.chain(slots).map(|name| name.chars().count() * 6 + 24).max().unwrap_or(0).max(40)
}

/// What a reader who does not see the picture is told.
fn describe(drawing: &TraceDrawing<'_>, timeline: &Timeline) -> String {
    let lanes: Vec<&str> = timeline.lanes.iter().map(|lane| lane.name.as_str()).collect();
    let told: Vec<String> = timeline
        .steps
        .iter()
        .filter(|step| step.told)
        .map(|step| {
            let lane = timeline.lanes.get(step.lane).map_or("", |lane| lane.name.as_str());
            format!("{lane}, line {}: {}", drawing.line(step), step.text)
        })
        .collect();
    let tail = if told.is_empty() { String::new() } else { format!(" The run: {}.", told.join("; ")) };
    format!(
        "{} {} {} Swim lanes of {}; {} steps from top to bottom; {} barriers.{tail}",
        drawing.heading.message.replace('`', ""),
        drawing.heading.place,
        drawing.heading.with,
        lanes.join(", "),
        timeline.steps.len(),
        timeline.bands.len()
    )
}

/// Everything above the first line.
fn head(svg: &mut SvgWriter, layout: &SvgLayout<'_>) {
    svg.background(layout.width(), height(layout));
    if layout.drawing.titled {
        svg.text("h", EDGE, EDGE + 12, &layout.drawing.heading.title);
    }
    let mut quoted = false;
    for (at, line) in layout.lines.iter().enumerate() {
        quoted = svg.prose("d", (EDGE, EDGE + 32 + at * 16), line, quoted);
    }
    let base = layout.top - 10;
    svg.text("d e", EDGE + 34, base, "step");
    svg.text("d e", EDGE + 78, base, "line");
    let mut before = None;
    for (at, lane) in layout.timeline.lanes.iter().enumerate() {
        let x = layout.lane(at);
        let name = if layout.lane < 80 { lane.name.replace("partition", "p") } else { lane.name.clone() };
        let rows = layout.roles.iter().map(Vec::len).max().unwrap_or(0);
        svg.text("b m", x, base - rows * ROLE, &name);
        for (row, words) in layout.roles.get(at).into_iter().flatten().enumerate() {
            svg.text("d m o", x, base - (rows - 1 - row) * ROLE, words);
        }
        svg.line("r", (x, layout.top - 4), (x, layout.bottom()));
        if before != Some(lane.cta) && layout.timeline.lanes.iter().any(|lane| lane.cta != 0) {
            let left = x - layout.lane / 2 + 6;
            svg.text("d", left, base - 16, format_args!("CTA {}", lane.cta));
            if before.is_some() {
                let x = left - 6 - APART / 2;
                svg.line("cta", (x, base - 16), (x, layout.bottom()));
            }
        }
        before = Some(lane.cta);
    }
    let bands = layout.timeline.bands.iter().enumerate();
    let bands = bands.map(|(at, band)| (layout.band(at), &band.name, band.concerned));
    let slots = layout.drawing.slots.iter().enumerate();
    let slots = slots.map(|(at, &slot)| {
        (layout.slots() + at * layout.pitch + layout.pitch / 2, &layout.timeline.slots[slot].name, false)
    });
    for (x, name, concerned) in bands.chain(slots) {
        svg.slanted_text(if concerned { "b" } else { "d" }, x + 3, base, name);
    }
    svg.line("r", (EDGE, layout.top - 4), (layout.width() - EDGE, layout.top - 4));
}

/// The ground of a line: what one points at.
fn stripe(svg: &mut SvgWriter, layout: &SvgLayout<'_>, row: usize, step: &Step) {
    let y = layout.row(row);
    let class = if step.site.is_some() {
        "s x"
    } else if step.told {
        "s t"
    } else {
        "s"
    };
    let width = layout.width() - 2 * EDGE;
    svg.rect(class, (EDGE, y - ROW / 2), (width, ROW));
}

/// A step: its numbers, its chip in the lane, its words, and all of it when pointed at.
fn chip(svg: &mut SvgWriter, layout: &SvgLayout<'_>, row: usize, number: u32, step: &Step) {
    let (x, y) = (layout.lane(step.lane), layout.row(row));
    let line = layout.drawing.line(step);
    let told = step.told || layout.timeline.steps.iter().all(|step| !step.told);
    svg.step(if told { "" } else { "faint" }, line, number);
    let said = format!("step {number}, line {line}: {}", step.text);
    if layout.drawing.linked {
        // The line is in the page.
        svg.title(&said);
    } else {
        let (range, _) = layout.drawing.places.lines_around(step.range);
        let text: String = range.of(layout.drawing.places.text()).trim().chars().take(200).collect();
        let source = step.source.as_ref().map_or_else(String::new, |source| format!(" ({source})"));
        svg.title(&format!("step {number}, line {line}{source}\n{}\n{text}", step.text));
    }
    let width = layout.width() - 2 * EDGE;
    svg.rect("hit", (EDGE, y - ROW / 2), (width, ROW));
    svg.text("n e", EDGE + 34, y + 4, if step.stuck { "end".to_owned() } else { number.to_string() });
    svg.text("n e", EDGE + 78, y + 4, line);
    let half = layout.lane / 2 - 6;
    let class = if step.stuck { "c stuck" } else { marks::class(step.verb) };
    svg.rounded_rect(class, (x - half, y - 7), (half * 2, 14));
    svg.text("v m", x, y + 4, step.verb);
    if let Some(site) = layout.drawing.site(step) {
        svg.circle("site", x - half, y, 8);
        svg.text("w m", x - half, y + 4, site);
    }
    svg.text("n", layout.words(), y + 4, brief(layout.drawing, step));
    svg.end_step();
}
