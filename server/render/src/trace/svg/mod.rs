//! A run as an SVG picture: time downwards, lanes side by side, a band a barrier and a slot.
//!
//! The picture stands alone: no script, no font, no other file. It follows the reader's light or
//! dark setting, every line says its place and its source text when pointed at, and nothing is said
//! by colour alone: phases carry their number and a pattern, arrivals and waits have shapes of
//! their own.

mod legend;
mod marks;
mod pen;

use report::timeline::{Row, Step, Timeline};

use super::drawing::{TraceDrawing, folded, words};
use crate::wrap::wrap;
pub use pen::{PageIds, patterns, style_in};
use pen::{Pen, escape};

/// Height of a line.
const ROW: usize = 18;
/// Distance of bands.
const PITCH: usize = 24;
/// Width of the words beside the lanes.
const WORDS: usize = 560;
/// Characters of them.
const CHARACTERS: usize = 88;
/// Margin.
const EDGE: usize = 16;
/// Room for step and line numbers.
const NUMBERS: usize = 96;
/// Between two CTAs.
const APART: usize = 18;

/// Where things stand.
struct Plan<'a> {
    scene: &'a TraceDrawing<'a>,
    timeline: &'a Timeline,
    lane: usize,
    top: usize,
    lines: Vec<String>,
}

impl Plan<'_> {
    /// The middle of a lane.
    fn lane(&self, lane: usize) -> usize {
        let cta = |at: usize| self.timeline.lanes.get(at).map_or(0, |lane| lane.cta);
        let gaps = (1..=lane).filter(|&at| cta(at) != cta(at - 1)).count();
        EDGE + NUMBERS + lane * self.lane + self.lane / 2 + gaps * APART
    }

    /// The right end of the lanes.
    fn lanes(&self) -> usize {
        self.lane(self.timeline.lanes.len().saturating_sub(1)) + self.lane / 2 + 8
    }

    /// The middle of a band.
    fn band(&self, position: usize) -> usize {
        self.lanes() + position * PITCH + PITCH / 2
    }

    /// The left end of the columns of memory.
    fn slots(&self) -> usize {
        self.lanes() + self.scene.bands.len() * PITCH + if self.scene.slots.is_empty() { 0 } else { 10 }
    }

    /// The left end of the words.
    fn words(&self) -> usize {
        self.slots() + self.scene.slots.len() * PITCH + 12
    }

    fn width(&self) -> usize {
        self.words() + WORDS + EDGE
    }

    /// The middle of a step's line.
    fn y(&self, step: u32) -> usize {
        self.row(self.scene.row(step))
    }

    fn row(&self, row: usize) -> usize {
        self.top + row * ROW + ROW / 2
    }

    fn bottom(&self) -> usize {
        self.top + self.scene.rows.len() * ROW
    }
}

/// The picture of a run, as a document.
pub fn draw(scene: &TraceDrawing<'_>) -> String {
    draw_as(scene, None)
}

/// The same as a part of a page, where steps lead to their lines.
pub fn draw_in_page(scene: &TraceDrawing<'_>, spot: PageIds<'_>) -> String {
    draw_as(scene, Some(spot))
}

fn draw_as(scene: &TraceDrawing<'_>, spot: Option<PageIds<'_>>) -> String {
    let empty = Timeline::default();
    let timeline = scene.timeline.as_ref().unwrap_or(&empty);
    let lane = match timeline.lanes.len() {
        0..=2 => 132,
        3..=4 => 104,
        5..=8 => 84,
        _ => 60,
    };
    let mut plan = Plan { scene, timeline, lane, top: 0, lines: Vec::new() };
    let heading = &scene.heading;
    for line in [&heading.message, &heading.place, &heading.with] {
        plan.lines.extend(wrap(line, plan.width() / 7).into_iter().filter(|line| !line.is_empty()));
    }
    let ctas = if timeline.lanes.iter().any(|lane| lane.cta != 0) { 16 } else { 0 };
    plan.top = EDGE + 24 + plan.lines.len() * 16 + names(scene, timeline) + ctas;
    let height = plan.bottom() + legend::HEIGHT + EDGE;
    let mut pen = Pen::default();
    pen.open(plan.width(), height, &heading.title, &describe(scene, timeline), spot);
    head(&mut pen, &plan);
    for (at, row) in scene.rows.iter().enumerate() {
        match row {
            Row::Step(number) => {
                if let Some(step) = timeline.step(*number) {
                    stripe(&mut pen, &plan, at, step);
                }
            }
            Row::Fold(fold) => {
                let (y, text) = (plan.row(at), escape(&folded(fold)));
                let (x, width) = (EDGE + NUMBERS, plan.words() + WORDS - EDGE - NUMBERS);
                pen.line(&format!(
                    r#"<rect class="fold" x="{x}" y="{}" width="{width}" height="{}"/>"#,
                    y - 8,
                    ROW - 2
                ));
                pen.line(&format!(r#"<text class="i" x="{}" y="{}">⋮ {text}</text>"#, plan.words(), y + 4));
            }
        }
    }
    marks::bands(&mut pen, &plan);
    marks::spans(&mut pen, &plan);
    marks::groups(&mut pen, &plan);
    for (at, row) in scene.rows.iter().enumerate() {
        if let Row::Step(number) = row
            && let Some(step) = timeline.step(*number)
        {
            chip(&mut pen, &plan, at, *number, step);
        }
    }
    marks::missing(&mut pen, &plan);
    legend::draw(&mut pen, &plan);
    pen.close()
}

/// Room for the names of bands, which stand slanted.
fn names(scene: &TraceDrawing<'_>, timeline: &Timeline) -> usize {
    let bands = scene.bands.iter().map(|&at| &timeline.bands[at].name);
    let slots = scene.slots.iter().map(|&at| &timeline.slots[at].name);
    bands.chain(slots).map(|name| name.chars().count() * 6 + 24).max().unwrap_or(0).max(40)
}

/// What a reader who does not see the picture is told.
fn describe(scene: &TraceDrawing<'_>, timeline: &Timeline) -> String {
    let lanes: Vec<&str> = timeline.lanes.iter().map(|lane| lane.name.as_str()).collect();
    let told: Vec<String> = timeline
        .steps
        .iter()
        .filter(|step| step.told)
        .map(|step| {
            let lane = timeline.lanes.get(step.lane).map_or("", |lane| lane.name.as_str());
            format!("{lane}, line {}: {}", scene.line(step), step.text)
        })
        .collect();
    let tail = if told.is_empty() { String::new() } else { format!(" The run: {}.", told.join("; ")) };
    format!(
        "{} {} {} Swim lanes of {}; {} steps from top to bottom; {} barriers.{tail}",
        scene.heading.message,
        scene.heading.place,
        scene.heading.with,
        lanes.join(", "),
        timeline.steps.len(),
        timeline.bands.len()
    )
}

/// Everything above the first line.
fn head(pen: &mut Pen, plan: &Plan<'_>) {
    pen.line(&format!(
        r#"<rect class="bg" width="{}" height="{}"/>"#,
        plan.width(),
        plan.bottom() + legend::HEIGHT + EDGE
    ));
    pen.text("h", EDGE, EDGE + 12, &plan.scene.heading.title);
    for (at, line) in plan.lines.iter().enumerate() {
        pen.text("d", EDGE, EDGE + 32 + at * 16, line);
    }
    let base = plan.top - 10;
    pen.line(&format!(r#"<text class="d e" x="{}" y="{base}">step</text>"#, EDGE + 34));
    pen.line(&format!(r#"<text class="d e" x="{}" y="{base}">line</text>"#, EDGE + 78));
    let mut before = None;
    for (at, lane) in plan.timeline.lanes.iter().enumerate() {
        let x = plan.lane(at);
        let name = if plan.lane < 80 { lane.name.replace("partition", "p") } else { lane.name.clone() };
        pen.line(&format!(r#"<text class="b m" x="{x}" y="{base}">{}</text>"#, escape(&name)));
        pen.line(&format!(r#"<line class="r" x1="{x}" y1="{}" x2="{x}" y2="{}"/>"#, plan.top - 4, plan.bottom()));
        if before != Some(lane.cta) && plan.timeline.lanes.iter().any(|lane| lane.cta != 0) {
            let left = x - plan.lane / 2 + 6;
            pen.line(&format!(r#"<text class="d" x="{left}" y="{}">CTA {}</text>"#, base - 16, lane.cta));
            if before.is_some() {
                let x = left - 6 - APART / 2;
                pen.line(&format!(
                    r#"<line class="cta" x1="{x}" y1="{}" x2="{x}" y2="{}"/>"#,
                    base - 16,
                    plan.bottom()
                ));
            }
        }
        before = Some(lane.cta);
    }
    let bands = plan.scene.bands.iter().enumerate();
    let bands =
        bands.map(|(at, &band)| (plan.band(at), &plan.timeline.bands[band].name, plan.timeline.bands[band].concerned));
    let slots = plan.scene.slots.iter().enumerate();
    let slots =
        slots.map(|(at, &slot)| (plan.slots() + at * PITCH + PITCH / 2, &plan.timeline.slots[slot].name, false));
    for (x, name, concerned) in bands.chain(slots) {
        let class = if concerned { "b" } else { "d" };
        let name = escape(name);
        pen.line(&format!(
            r#"<text class="{class}" transform="translate({} {base}) rotate(-55)">{name}</text>"#,
            x + 3
        ));
    }
    pen.line(&format!(
        r#"<line class="r" x1="{EDGE}" y1="{0}" x2="{1}" y2="{0}"/>"#,
        plan.top - 4,
        plan.width() - EDGE
    ));
}

/// The ground of a line: what one points at.
fn stripe(pen: &mut Pen, plan: &Plan<'_>, row: usize, step: &Step) {
    let y = plan.row(row);
    let class = if step.site.is_some() {
        "s x"
    } else if step.told {
        "s t"
    } else {
        "s"
    };
    let width = plan.width() - 2 * EDGE;
    pen.line(&format!(r#"<rect class="{class}" x="{EDGE}" y="{}" width="{width}" height="{ROW}"/>"#, y - ROW / 2));
}

/// A step: its numbers, its chip in the lane, its words, and all of it when pointed at.
fn chip(pen: &mut Pen, plan: &Plan<'_>, row: usize, number: u32, step: &Step) {
    let (x, y) = (plan.lane(step.lane), plan.row(row));
    let line = plan.scene.line(step);
    let told = step.told || plan.timeline.steps.iter().all(|step| !step.told);
    pen.step(if told { "" } else { "faint" }, line, &format!("step {number}, line {line}: {}", step.text));
    let (range, _) = plan.scene.places.lines_around(step.range);
    let text: String = range.of(plan.scene.places.text()).trim().chars().take(200).collect();
    let source = step.source.as_ref().map_or_else(String::new, |source| format!(" ({source})"));
    let title = format!("step {number}, line {line}{source}\n{}\n{text}", step.text);
    pen.line(&format!("<title>{}</title>", escape(&title)));
    let width = plan.width() - 2 * EDGE;
    pen.line(&format!(r#"<rect class="hit" x="{EDGE}" y="{}" width="{width}" height="{ROW}"/>"#, y - ROW / 2));
    let at = if step.stuck { "end".to_owned() } else { number.to_string() };
    pen.line(&format!(r#"<text class="n e" x="{}" y="{}">{at}</text>"#, EDGE + 34, y + 4));
    pen.line(&format!(r#"<text class="n e" x="{}" y="{}">{line}</text>"#, EDGE + 78, y + 4));
    let half = plan.lane / 2 - 6;
    let class = if step.stuck { "c stuck" } else { marks::class(step.verb) };
    pen.line(&format!(
        r#"<rect class="{class}" x="{}" y="{}" width="{}" height="14" rx="4"/>"#,
        x - half,
        y - 7,
        half * 2
    ));
    pen.line(&format!(r#"<text class="v m" x="{x}" y="{}">{}</text>"#, y + 4, step.verb));
    if let Some(site) = plan.scene.site(step) {
        pen.line(&format!(r#"<circle class="site" cx="{}" cy="{y}" r="8"/>"#, x - half));
        pen.line(&format!(r#"<text class="w m" x="{}" y="{}">{site}</text>"#, x - half, y + 4));
    }
    let mut words = words(step);
    if words.chars().count() > CHARACTERS {
        words = words.chars().take(CHARACTERS - 1).chain(['…']).collect();
    }
    pen.line(&format!(r#"<text class="n" x="{}" y="{}">{}</text>"#, plan.words(), y + 4, escape(&words)));
    pen.end_step();
}
