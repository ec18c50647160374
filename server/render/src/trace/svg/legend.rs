//! What the signs mean: in a picture that stands alone below its run, in a page a list that goes on in the next line where
//! the page is narrow.

use maud::{Markup, PreEscaped, html};
use report::timeline::TickAct;

use super::layout::{EDGE, SvgLayout};
use super::marks::sign;
use super::writer::{PageIds, SvgWriter};

/// Its height in a picture.
pub(super) const HEIGHT: usize = 74;
/// Between two entries of a line.
const BETWEEN: usize = 20;
/// Width of a character, in pixels.
const LETTER: usize = 7;

/// A sign with its meaning.
struct LegendEntry {
    /// Room that it takes.
    width: usize,
    text: &'static str,
    /// Draws it to the right of a place, around a height.
    draw: fn(&mut SvgWriter<'_>, usize, usize),
}

const PHASES_AND_ACTS: [LegendEntry; 7] = [
    LegendEntry { width: 14, text: "phase 0", draw: |svg, x, y| svg.rect("p0", (x, y - 7), (14, 14)) },
    LegendEntry { width: 14, text: "phase 1", draw: |svg, x, y| svg.rect("p1", (x, y - 7), (14, 14)) },
    LegendEntry { width: 12, text: "arrives", draw: |svg, x, y| sign(svg, TickAct::Arrive, x + 6, y) },
    LegendEntry { width: 12, text: "completes the phase", draw: |svg, x, y| sign(svg, TickAct::Flip, x + 6, y) },
    LegendEntry { width: 12, text: "a wait passes", draw: |svg, x, y| sign(svg, TickAct::Wait, x + 6, y) },
    LegendEntry { width: 14, text: "a wait stands", draw: |svg, x, y| sign(svg, TickAct::Stuck, x + 7, y) },
    LegendEntry { width: 12, text: "invalidated", draw: |svg, x, y| sign(svg, TickAct::Invalidate, x + 6, y) },
];

const MEMORY_AND_ORDER: [LegendEntry; 4] = [
    LegendEntry {
        width: 8,
        text: "written, until a waiter knows that it is over",
        draw: |svg, x, y| svg.rect("write", (x + 1, y - 7), (6, 14)),
    },
    LegendEntry { width: 8, text: "read", draw: |svg, x, y| svg.rect("read", (x + 1, y - 7), (6, 14)) },
    LegendEntry {
        width: 6,
        text: "a commit group",
        draw: |svg, x, y| svg.path("g", (y - 7, y + 7), format_args!("M{} {}h4v14h-4", x + 1, y - 7)),
    },
    LegendEntry {
        width: 28,
        text: "an order or a flip that is missing",
        draw: |svg, x, y| svg.path("miss", (y, y + 1), format_args!("M{} {y}h26", x + 1)),
    },
];

/// Draws it under the run.
pub(super) fn draw(svg: &mut SvgWriter<'_>, layout: &SvgLayout<'_>) {
    let top = layout.bottom() + 16;
    svg.line("r", (EDGE, top - 8), (layout.width() - EDGE, top - 8));
    for (y, entries) in [(top + 10, &PHASES_AND_ACTS[..]), (top + 34, &MEMORY_AND_ORDER[..])] {
        let mut x = EDGE + 2;
        for entry in entries {
            (entry.draw)(svg, x, y);
            svg.text("d", x + entry.width + 6, y + 4, entry.text);
            x += entry.width + 6 + entry.text.len() * LETTER + BETWEEN;
        }
    }
    svg.text("d", EDGE + 2, top + 54, how_to_read(layout));
}

/// The same as a list of a page, whose style it needs: `.legend` and that of pictures.
pub(super) fn list(layout: &SvgLayout<'_>, page: PageIds<'_>) -> Markup {
    html! {
        ul class="legend" {
            @for entry in PHASES_AND_ACTS.iter().chain(&MEMORY_AND_ORDER) {
                li { span class="run-picture" { (alone(entry, page)) } " " (entry.text) }
            }
        }
        p class="quiet" { (how_to_read(layout)) }
    }
}

/// A sign in a picture of its own.
fn alone(entry: &LegendEntry, page: PageIds<'_>) -> PreEscaped<String> {
    let mut svg = SvgWriter::new(Some(page));
    (entry.draw)(&mut svg, 1, 9);
    PreEscaped(svg.icon((entry.width + 2, 18)))
}

fn how_to_read(layout: &SvgLayout<'_>) -> String {
    let left_out = layout.drawing.left_out(layout.timeline.bands.len());
    let told = layout.timeline.steps.iter().any(|step| step.told);
    let told = if told { "Pale steps are on the way; the others lead to the finding. " } else { "" };
    format!("{told}Time goes down, one step a line. {left_out}")
}
