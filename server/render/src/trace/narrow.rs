//! A run in a page that is too narrow for its picture: the same lanes as rows that share the width there is, what barriers
//! and buffers do in letters, and the words of a step below it, where they wrap.
//!
//! A page has both; which one is shown the style decides by the width of what is around them.

use std::fmt::Write as _;

use maud::{Markup, html};
use report::timeline::{Missing, Step, Stretch, Timeline, TimelineRow};

use super::drawing::{TraceDrawing, does, folded, words};
use super::{svg, text};

/// Barriers that have a letter at most.
const BANDS: usize = 8;
/// Buffers that have one at most.
const SLOTS: usize = 4;
/// Partitions that have a column each; further ones share the last one.
const LANES: usize = 16;
/// Widths in pixels from which on a picture that is no wider is shown; a wider one from the last of them on.
const WIDTHS: std::ops::RangeInclusive<usize> = 5..=10;

/// The style of the rows, and of what chooses between them and the picture. It needs no variables of a page.
pub(crate) fn style() -> String {
    let mut style = "\
.fitted{container-type:inline-size}
.fitted>.wide{display:none}
.narrow{font-size:.85rem}
.narrow ol{list-style:none;margin:0;padding:0}
.narrow p{margin:.2rem 0}
.narrow .key{overflow-wrap:anywhere}
.narrow .row{display:grid;grid-template-columns:2.6rem repeat(var(--lanes),minmax(0,1fr));gap:.1rem .2rem;align-items:center;padding:.15rem 0;color:inherit;text-decoration:none}
.narrow .names{font-weight:600;border-bottom:1px solid}
.narrow .names span,.narrow .chip{overflow:hidden;text-overflow:ellipsis;white-space:nowrap;text-align:center}
.narrow .at{text-align:right;padding-right:.3rem;font-variant-numeric:tabular-nums;opacity:.8}
.narrow .chip{border:1px solid;border-radius:4px;padding:0 .15rem}
.narrow .chip.wait{border-style:dashed}
.narrow .chip.arrive{border-style:double;border-width:3px}
.narrow .chip.stuck{border-width:3px;font-weight:700}
.narrow .under{grid-column:1/-1;display:flex;gap:.5rem;border-bottom:1px dotted}
.narrow .marks{font-family:ui-monospace,Menlo,Consolas,monospace;white-space:pre}
.narrow .words{min-width:0;overflow-wrap:anywhere}
.narrow .site .words,.narrow .late{font-weight:600}
.narrow .faint{opacity:.78}
.narrow a.now .chip{border-width:3px;font-weight:700}
.narrow a:hover .words{text-decoration:underline}
.narrow summary{opacity:.8}
@media print{.fitted>.wide.wide{display:block}.fitted>.narrow{display:none}}
"
    .to_owned();
    // No element has a style of its own: pages allow none.
    for lane in 0..LANES {
        let _ = writeln!(
            style,
            ".lanes-{}{{--lanes:{}}}.narrow .lane-{lane}{{grid-column:{}}}",
            lane + 1,
            lane + 1,
            lane + 2
        );
    }
    for width in WIDTHS {
        let _ = writeln!(
            style,
            "@container (min-width:{width}00px){{.fitted>.fit-{width}{{display:block}}.fitted>.fit-{width}~.narrow{{display:none}}}}"
        );
    }
    style
}

/// The class of a picture of so many pixels: from which width of what is around it on it is shown.
pub(crate) fn fit(width: usize) -> String {
    format!("wide fit-{}", width.div_ceil(100).clamp(*WIDTHS.start(), *WIDTHS.end()))
}

/// The rows of a run, called `label`; steps lead to their lines where `anchor` says how the ids of lines begin.
pub(crate) fn draw(drawing: &TraceDrawing<'_>, timeline: &Timeline, label: &str, anchor: Option<&str>) -> Markup {
    let rows = Rows::new(drawing, timeline, anchor);
    html! {
        div class={ "narrow lanes-" (timeline.lanes.len().clamp(1, LANES)) } role="region" aria-label=(label) {
            (rows.key("barriers", rows.bands.iter().filter_map(|&at| timeline.bands.get(at)).map(|band| band.name.as_str()), 'a'))
            (rows.key("buffers", rows.slots.iter().filter_map(|&at| timeline.slots.get(at)).map(|slot| slot.name.as_str()), 'A'))
            (rows.names())
            (rows.stretches())
            p class="key" {
                "o initialised, 0 1 the phase in progress, + arrives, ! completes the phase, < a wait passes, # a wait stands, "
                "x invalidated, . not live; w r issued, : in flight, v a waiter knows that it is over. "
                (drawing.left_out(rows.bands.len()))
            }
        }
    }
}

struct Rows<'a> {
    drawing: &'a TraceDrawing<'a>,
    timeline: &'a Timeline,
    anchor: Option<&'a str>,
    /// Those that have a letter.
    bands: Vec<usize>,
    slots: Vec<usize>,
    /// Whether some steps lead to a finding, so that the others are pale.
    told: bool,
    /// The first step that is shown, which the tab key stops at.
    first: Option<u32>,
}

impl<'a> Rows<'a> {
    fn new(drawing: &'a TraceDrawing<'a>, timeline: &'a Timeline, anchor: Option<&'a str>) -> Rows<'a> {
        let mut bands = drawing.bands.clone();
        bands.sort_by_key(|&at| timeline.bands.get(at).is_none_or(|band| !band.concerned));
        bands.truncate(BANDS);
        bands.sort_unstable();
        let slots = drawing.slots.iter().copied().take(SLOTS).collect();
        let told = timeline.steps.iter().any(|step| step.told);
        let first = timeline.stretches().iter().find(|stretch| !stretch.folded).map(|stretch| stretch.from);
        Rows { drawing, timeline, anchor, bands, slots, told, first }
    }

    /// What letters stand for.
    fn key<'n>(&self, what: &str, names: impl Iterator<Item = &'n str>, first: char) -> Markup {
        let mut names = names.zip(first..).peekable();
        html! {
            @if names.peek().is_some() {
                p class="key" { (what) @for (name, letter) in names { "  " b { (letter) } " " (name) } }
            }
        }
    }

    /// The head: lanes, and below them the letters.
    fn names(&self) -> Markup {
        let many = self.timeline.lanes.iter().any(|lane| lane.cta != 0);
        let letters = |count: usize, first: char| (first..).take(count).collect::<String>();
        html! {
            div class="row names" {
                span class="at" { "line" }
                @for (at, lane) in self.timeline.lanes.iter().enumerate() {
                    @let name = if many { format!("{} of CTA {}", lane.name, lane.cta) } else { lane.name.clone() };
                    @let role = self.drawing.roles.get(at).filter(|role| !role.is_empty());
                    span title=(role.map_or(name.clone(), |role| format!("{name}: {role}"))) { (name) }
                }
                @if !(self.bands.is_empty() && self.slots.is_empty()) {
                    div class="under" {
                        span class="marks" { (letters(self.bands.len(), 'a')) " " (letters(self.slots.len(), 'A')) }
                    }
                }
            }
        }
    }

    /// All rows; those of a stretch that a picture folds are folded here too.
    fn stretches(&self) -> Markup {
        let mut next = 0;
        let mut parts: Vec<(Stretch, usize, usize)> = Vec::new();
        for stretch in self.timeline.stretches() {
            let (from, to) = (self.drawing.row(stretch.from).max(next), self.drawing.row(stretch.to) + 1);
            if from < to {
                next = to;
                parts.push((stretch, from, to));
            }
        }
        html! {
            @for (stretch, from, to) in parts {
                @if stretch.folded {
                    details {
                        summary { "… steps " (stretch.from) "–" (stretch.to) ": " (does(self.timeline, stretch)) }
                        (self.list(from, to))
                    }
                } @else { (self.list(from, to)) }
            }
        }
    }

    fn list(&self, from: usize, to: usize) -> Markup {
        html! {
            ol {
                @for row in self.drawing.rows.get(from..to).unwrap_or_default() {
                    @match row {
                        TimelineRow::Step(number) => @if let Some(step) = self.timeline.step(*number) { li { (self.step(*number, step)) } },
                        TimelineRow::Fold(fold) => li class="faint" { "⋮ " (folded(fold)) },
                    }
                }
            }
        }
    }

    fn step(&self, number: u32, step: &Step) -> Markup {
        let line = self.drawing.line(step);
        let mut class = "row".to_owned();
        if step.site.is_some() {
            class += " site";
        } else if self.told && !step.told {
            class += " faint";
        }
        let inside = self.inside(number, step, line);
        let stop = (self.first != Some(number)).then_some("-1");
        html! {
            @if let Some(anchor) = self.anchor {
                a class=(class) href={ "#" (anchor) (line) } data-step=(number) tabindex=[stop] title=(step.text) { (inside) }
            } @else {
                div class=(class) title=(step.text) { (inside) }
            }
        }
    }

    fn inside(&self, number: u32, step: &Step, line: u32) -> Markup {
        let class = if step.stuck { "c stuck" } else { svg::class(step.verb) };
        let late = self.timeline.missing.iter().any(|it| matches!(it, Missing::Order { to, .. } if *to == number));
        let never = self.timeline.missing.iter().find_map(|it| match it {
            Missing::Flip { step, band } if *step == number => self.timeline.bands.get(*band),
            _ => None,
        });
        html! {
            span class="at" { (line) }
            span class={ "chip " (class) " lane-" (step.lane.min(LANES - 1)) } { (step.verb) }
            span class="under" {
                @if !(self.bands.is_empty() && self.slots.is_empty()) { span class="marks" { (self.marks(number)) } }
                span class="words" {
                    @if let Some(site) = self.drawing.site(step) { "(" (site) ") " }
                    (words(step))
                    @if late { span class="late" { "; " (svg::LATE) } }
                    @if let Some(band) = never { span class="late" { "; nothing completes the phase of " (band.name) } }
                }
            }
        }
    }

    /// What barriers and buffers are at a step, a letter each.
    fn marks(&self, number: u32) -> String {
        let bands = self.bands.iter().filter_map(|&at| self.timeline.bands.get(at));
        let mut marks: String = bands.map(|band| text::band(band, number, true)).collect();
        marks.push(' ');
        marks.extend(self.slots.iter().map(|&slot| text::slot(self.timeline, slot, number, true)));
        marks
    }
}
