//! Bands, spans, groups and what is missing.

use kernel::Mode;
use report::timeline::{Band, Missing, Phase, PhaseEnd, Span, TickAct};

use super::pen::{Pen, escape};
use super::{EDGE, PITCH, Plan, ROW};
use crate::trace::drawing::words;

/// The class of a chip.
pub fn class(verb: &str) -> &'static str {
    match verb {
        "wait" | "drain" | "join" => "c wait",
        "arrive" | "expect" | "commit" | "init" | "inval" => "c arrive",
        "read" | "write" | "update" | "copy" | "mma" | "request" => "c mem",
        _ => "c",
    }
}

/// The bands and what connects them with the lanes.
pub fn bands(pen: &mut Pen, plan: &Plan<'_>) {
    for (position, &at) in plan.scene.bands.iter().enumerate() {
        let band = &plan.timeline.bands[at];
        let x = plan.band(position);
        for phase in &band.phases {
            draw_phase(pen, plan, x, band, phase);
        }
        for tick in &band.ticks {
            let Some(step) = plan.timeline.step(tick.step).filter(|_| !plan.scene.folds(tick.step)) else { continue };
            let y = plan.y(tick.step);
            let from = plan.lane(step.lane) + plan.lane / 2 - 6;
            let class = match tick.act {
                TickAct::Wait | TickAct::Stuck => "kw",
                TickAct::Arrive | TickAct::Flip => "ka",
                TickAct::Init | TickAct::Invalidate | TickAct::Broken => "k",
            };
            pen.line(&format!(r#"<line class="{class}" x1="{from}" y1="{y}" x2="{}" y2="{y}"/>"#, x - 5));
            sign(pen, tick.act, x, y);
        }
    }
}

/// A sign on a band, told apart by its shape.
pub fn sign(pen: &mut Pen, act: TickAct, x: usize, y: usize) {
    pen.line(&match act {
        TickAct::Init => format!(r#"<path class="tick" d="M{} {y}h14"/>"#, x - 7),
        TickAct::Arrive => format!(r#"<path class="full" d="M{} {}l8 5l-8 5z"/>"#, x - 4, y - 5),
        TickAct::Flip => format!(r#"<path class="full" d="M{x} {}l6 6l-6 6l-6 -6z"/>"#, y - 6),
        TickAct::Wait => format!(r#"<circle class="tick" cx="{x}" cy="{y}" r="4.5"/>"#),
        TickAct::Stuck => format!(r#"<circle class="bad" cx="{x}" cy="{y}" r="5.5"/>"#),
        TickAct::Invalidate => format!(r#"<path class="tick" d="M{} {}l10 10m0 -10l-10 10"/>"#, x - 5, y - 5),
        TickAct::Broken => format!(r#"<path class="bad" d="M{} {}l12 12m0 -12l-12 12"/>"#, x - 6, y - 6),
    });
}

fn draw_phase(pen: &mut Pen, plan: &Plan<'_>, x: usize, band: &Band, phase: &Phase) {
    let (from, to) = (plan.y(phase.from), plan.y(phase.to));
    let open = matches!(phase.end, PhaseEnd::Idle | PhaseEnd::Incomplete { .. } | PhaseEnd::Overrun);
    let to = if open { to + ROW / 2 } else { to };
    let parity = phase.number & 1;
    let extra = match phase.end {
        PhaseEnd::Incomplete { .. } => " part",
        PhaseEnd::Overrun => " over",
        _ => "",
    };
    let how = match phase.end {
        PhaseEnd::Complete => "is completed".to_owned(),
        PhaseEnd::Idle => "has begun, and nothing has come".to_owned(),
        PhaseEnd::Incomplete { arrivals, bytes } => {
            format!("is incomplete: {arrivals} arrivals and {bytes} bytes are missing")
        }
        PhaseEnd::Overrun => "gets more arrivals than it counts".to_owned(),
        PhaseEnd::Invalidated => "ends with the barrier".to_owned(),
    };
    let title = format!("{}: phase {parity} after {} flips {how}", band.name, phase.number);
    let height = (to.saturating_sub(from)).max(2);
    pen.line(&format!("<g><title>{}</title>", escape(&title)));
    pen.line(&format!(r#"<rect class="p{parity}{extra}" x="{}" y="{from}" width="14" height="{height}"/>"#, x - 7));
    // The number is told again where a phase is long.
    for y in (from + ROW..from + height.max(ROW)).step_by(20 * ROW).filter(|y| y + 4 < from + height) {
        pen.line(&format!(r#"<text class="m b" x="{x}" y="{}">{parity}</text>"#, y + 4));
    }
    pen.line("</g>");
}

/// Accesses of memory.
pub fn spans(pen: &mut Pen, plan: &Plan<'_>) {
    let bottom = plan.bottom();
    for (position, &slot) in plan.scene.slots.iter().enumerate() {
        let left = plan.slots() + position * PITCH + 3;
        // Spans that overlap stand side by side.
        let mut ends: [usize; 3] = [0; 3];
        for span in plan.timeline.spans.iter().filter(|span| span.slot == slot) {
            let Some(step) = plan.timeline.step(span.from) else { continue };
            let folded = plan.scene.folds(span.from);
            if folded && span.until.is_none_or(|until| plan.scene.folds(until)) {
                continue;
            }
            let from = plan.y(span.from);
            let to = span.until.map(|until| plan.y(until)).unwrap_or(if flies(span) { bottom } else { from });
            let column = ends.iter().position(|end| *end < from).unwrap_or(2);
            ends[column] = to;
            let x = left + column * 7;
            let class = if span.mode == Mode::Read { "read" } else { "write" };
            let open = if span.until.is_none() && flies(span) { " open" } else { "" };
            let verb = if span.mode == Mode::Read { "read" } else { "written" };
            let seen = match (span.until, span.seen_by) {
                (Some(until), Some(lane)) => {
                    let name = plan.timeline.lanes.get(lane).map_or("", |lane| lane.name.as_str());
                    format!("{name} knows at step {until} that it is over")
                }
                _ => "nobody is told that it is over".to_owned(),
            };
            let name = &plan.timeline.slots[slot].name;
            let title = format!("{name} is {verb} from step {} on ({}); {seen}", span.from, span.completes);
            pen.line(&format!("<g><title>{}</title>", escape(&title)));
            let lane = plan.lane(step.lane) + plan.lane / 2 - 6;
            if !folded {
                let dots = r#"stroke-dasharray="1 3""#;
                pen.line(&format!(r#"<line class="k" {dots} x1="{lane}" y1="{from}" x2="{x}" y2="{from}"/>"#));
            }
            if flies(span) {
                let height = to.saturating_sub(from).max(6);
                pen.line(&format!(r#"<rect class="{class}{open}" x="{x}" y="{from}" width="6" height="{height}"/>"#));
            } else {
                pen.line(&format!(r#"<path class="known" d="M{0} {from}V{to}"/>"#, x + 3));
                pen.line(&format!(r#"<rect class="{class}" x="{x}" y="{}" width="6" height="6"/>"#, from - 3));
            }
            if span.until.is_some() {
                pen.line(&format!(r#"<circle class="end" cx="{}" cy="{to}" r="3"/>"#, x + 3));
            }
            pen.line("</g>");
        }
    }
}

/// Whether an access goes on after the step that issues it.
fn flies(span: &Span) -> bool {
    span.completes != "in order"
}

/// Commit groups, beside their lanes.
pub fn groups(pen: &mut Pen, plan: &Plan<'_>) {
    for (at, group) in plan.timeline.groups.iter().enumerate() {
        let x = plan.lane(group.lane) + plan.lane / 2 - 3 + (at % 2) * 3;
        let from = plan.y(group.from);
        let to = group.over.map_or(plan.bottom() - 4, |over| plan.y(over));
        let over = group.over.map_or("nobody waits for it".to_owned(), |over| format!("over after step {over}"));
        let title = format!("{} group from step {} on, {over}", group.family, group.from);
        let foot = if group.over.is_some() { "h-4" } else { "" };
        pen.line(&format!(
            r#"<g><title>{}</title><path class="g" d="M{} {from}h4V{to}{foot}"/></g>"#,
            escape(&title),
            x - 4
        ));
    }
}

/// What is missing, dashed.
pub fn missing(pen: &mut Pen, plan: &Plan<'_>) {
    for missing in &plan.timeline.missing {
        match missing {
            Missing::Order { from, to } => {
                let lane = |step: u32| plan.timeline.step(step).map_or(0, |step| step.lane);
                let (a, b) = (lane(*from), lane(*to));
                let (x1, y1, x2, y2) = (plan.lane(a), plan.y(*from) + 7, plan.lane(b), plan.y(*to).saturating_sub(7));
                if a == b {
                    let out = (x1 - plan.lane / 2).max(EDGE);
                    pen.line(&format!(
                        r#"<path class="miss" d="M{} {}C{out} {},{out} {},{} {}"/>"#,
                        x1 - 30,
                        y1 - 3,
                        y1 + 12,
                        y2.saturating_sub(12),
                        x1 - 30,
                        y2 + 3
                    ));
                } else {
                    let middle = (y1 + y2) / 2;
                    pen.line(&format!(r#"<path class="miss" d="M{x1} {y1}C{x1} {middle},{x2} {middle},{x2} {y2}"/>"#));
                }
                let step = plan.timeline.step(*to).map_or(0, |step| words(step).chars().count());
                pen.text("mt", plan.words() + step * 7 + 14, plan.y(*to) + 4, "nothing says that (1) is over");
            }
            Missing::Flip { step, band } => {
                let Some(position) = plan.scene.bands.iter().position(|at| at == band) else { continue };
                let Some(lane) = plan.timeline.step(*step).map(|step| step.lane) else { continue };
                let y = plan.y(*step);
                let (from, to) = (plan.lane(lane) + plan.lane / 2 - 6, plan.band(position) - 6);
                pen.line(&format!(r#"<path class="miss" d="M{from} {y}H{to}"/>"#));
            }
        }
    }
}
