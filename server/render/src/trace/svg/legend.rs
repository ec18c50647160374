//! What the signs mean.

use report::timeline::TickAct;

use super::layout::{EDGE, SvgLayout};
use super::marks::sign;
use super::writer::SvgWriter;

/// Its height.
pub(super) const HEIGHT: usize = 74;

/// Draws it under the run.
pub(super) fn draw(svg: &mut SvgWriter, layout: &SvgLayout<'_>) {
    let top = layout.bottom() + 16;
    svg.line("r", (EDGE, top - 8), (layout.width() - EDGE, top - 8));
    let mut x = EDGE + 8;
    let y = top + 10;
    for (parity, text) in ["phase 0", "phase 1"].into_iter().enumerate() {
        svg.rect(&format!("p{parity}"), (x - 6, y - 7), (14, 14));
        svg.text("d", x + 14, y + 4, text);
        x += 84;
    }
    for (act, text) in [
        (TickAct::Arrive, "arrives"),
        (TickAct::Flip, "completes the phase"),
        (TickAct::Wait, "a wait passes"),
        (TickAct::Stuck, "a wait stands"),
        (TickAct::Invalidate, "invalidated"),
    ] {
        sign(svg, act, x, y);
        svg.text("d", x + 14, y + 4, text);
        x += 34 + text.len() * 7;
    }
    let (mut x, y) = (EDGE + 8, top + 34);
    for (class, text) in [("write", "written, until a waiter knows that it is over"), ("read", "read")] {
        svg.rect(class, (x - 3, y - 7), (6, 14));
        svg.text("d", x + 14, y + 4, text);
        x += 34 + text.len() * 7;
    }
    svg.path("g", (y - 7, y + 7), format_args!("M{} {}h4v14h-4", x - 4, y - 7));
    svg.text("d", x + 14, y + 4, "a commit group");
    x += 132;
    svg.path("miss", (y, y + 1), format_args!("M{} {y}h26", x - 6));
    svg.text("d", x + 28, y + 4, "an order or a flip that is missing");
    let left_out = layout.drawing.left_out(layout.timeline.bands.len());
    let told = layout.timeline.steps.iter().any(|step| step.told);
    let told = if told { "Pale steps are on the way; the others lead to the finding. " } else { "" };
    svg.text("d", EDGE + 2, top + 54, format!("{told}Time goes down, one step a line. {left_out}"));
}
