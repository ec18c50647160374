//! What the signs mean.

use report::timeline::TickAct;

use super::marks::sign;
use super::pen::Pen;
use super::{EDGE, Plan};

/// Its height.
pub const HEIGHT: usize = 74;

/// Draws it under the run.
pub fn draw(pen: &mut Pen, plan: &Plan<'_>) {
    let top = plan.bottom() + 16;
    pen.line(&format!(r#"<line class="r" x1="{EDGE}" y1="{0}" x2="{1}" y2="{0}"/>"#, top - 8, plan.width() - EDGE));
    let mut x = EDGE + 8;
    let y = top + 10;
    for (parity, text) in ["phase 0", "phase 1"].into_iter().enumerate() {
        pen.line(&format!(r#"<rect class="p{parity}" x="{}" y="{}" width="14" height="14"/>"#, x - 6, y - 7));
        pen.text("d", x + 14, y + 4, text);
        x += 84;
    }
    for (act, text) in [
        (TickAct::Arrive, "arrives"),
        (TickAct::Flip, "completes the phase"),
        (TickAct::Wait, "a wait passes"),
        (TickAct::Stuck, "a wait stands"),
        (TickAct::Invalidate, "invalidated"),
    ] {
        sign(pen, act, x, y);
        pen.text("d", x + 14, y + 4, text);
        x += 34 + text.len() * 7;
    }
    let (mut x, y) = (EDGE + 8, top + 34);
    for (class, text) in [("write", "written, until a waiter knows that it is over"), ("read", "read")] {
        pen.line(&format!(r#"<rect class="{class}" x="{}" y="{}" width="6" height="14"/>"#, x - 3, y - 7));
        pen.text("d", x + 14, y + 4, text);
        x += 34 + text.len() * 7;
    }
    pen.line(&format!(r#"<path class="g" d="M{} {}h4v14h-4"/>"#, x - 4, y - 7));
    pen.text("d", x + 14, y + 4, "a commit group");
    x += 132;
    pen.line(&format!(r#"<path class="miss" d="M{} {y}h26"/>"#, x - 6));
    pen.text("d", x + 28, y + 4, "an order or a flip that is missing");
    let left_out = plan.scene.left_out();
    let told = plan.timeline.steps.iter().any(|step| step.told);
    let told = if told { "Pale steps are on the way; the others lead to the finding. " } else { "" };
    pen.text("d", EDGE + 2, top + 54, &format!("{told}Time goes down, one step a line. {left_out}"));
}
