//! Bands, spans, groups and what is missing.

use kernel::Mode;
use report::timeline::{Band, Missing, Phase, PhaseEnd, Span, TickAct};

use super::layout::{EDGE, LATE, ROW, SvgLayout};
use super::writer::SvgWriter;

/// The class of a chip.
pub(crate) fn class(verb: &str) -> &'static str {
    match verb {
        "wait" | "drain" | "join" => "c wait",
        "arrive" | "expect" | "commit" | "init" | "inval" => "c arrive",
        "read" | "write" | "update" | "copy" | "mma" | "request" => "c mem",
        _ => "c",
    }
}

/// The bands and what connects them with the lanes.
pub(super) fn bands(svg: &mut SvgWriter, layout: &SvgLayout<'_>) {
    for (position, band) in layout.timeline.bands.iter().enumerate() {
        let x = layout.band(position);
        for phase in &band.phases {
            draw_phase(svg, layout, x, band, phase);
        }
        for tick in &band.ticks {
            if layout.drawing.folds(tick.step) {
                continue;
            }
            let y = layout.y(tick.step);
            let from = layout.words_end(tick.step);
            let class = match tick.act {
                TickAct::Wait | TickAct::Stuck => "kw",
                TickAct::Arrive | TickAct::Flip => "ka",
                TickAct::Init | TickAct::Invalidate | TickAct::Broken => "k",
            };
            svg.line(class, (from, y), (x - 5, y));
            sign(svg, tick.act, x, y);
        }
    }
}

/// A sign on a band, told apart by its shape.
pub(super) fn sign(svg: &mut SvgWriter, act: TickAct, x: usize, y: usize) {
    let around = (y - 6, y + 6);
    match act {
        TickAct::Init => svg.path("tick", (y - 1, y + 1), format_args!("M{} {y}h14", x - 7)),
        TickAct::Arrive => svg.path("full", around, format_args!("M{} {}l8 5l-8 5z", x - 4, y - 5)),
        TickAct::Flip => svg.path("full", around, format_args!("M{x} {}l6 6l-6 6l-6 -6z", y - 6)),
        TickAct::Wait => svg.circle("tick", x, y, 4.5),
        TickAct::Stuck => svg.circle("bad", x, y, 5.5),
        TickAct::Invalidate => svg.path("tick", around, format_args!("M{} {}l10 10m0 -10l-10 10", x - 5, y - 5)),
        TickAct::Broken => {
            svg.circle("bad", x, y, 8);
            svg.path("bad", around, format_args!("M{} {}l8 8m0 -8l-8 8", x - 4, y - 4));
        }
    }
}

fn draw_phase(svg: &mut SvgWriter, layout: &SvgLayout<'_>, x: usize, band: &Band, phase: &Phase) {
    let (from, to) = (layout.y(phase.from), layout.y(phase.to));
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
        PhaseEnd::Incomplete { arrivals: 0, bytes } => format!("is incomplete: {bytes} bytes are missing"),
        PhaseEnd::Incomplete { arrivals, bytes: 0 } => format!("is incomplete: {arrivals} arrivals are missing"),
        PhaseEnd::Incomplete { arrivals, bytes } => {
            format!("is incomplete: {arrivals} arrivals and {bytes} bytes are missing")
        }
        PhaseEnd::Overrun => "gets more arrivals than it counts".to_owned(),
        PhaseEnd::Invalidated => "ends with the barrier".to_owned(),
    };
    let title = format!("{}: phase {parity} after {} flips {how}", band.name, phase.number);
    let height = (to.saturating_sub(from)).max(2);
    svg.group(&title);
    svg.rect(&format!("p{parity}{extra}"), (x - 7, from), (14, height));
    // The number is told again where a phase is long.
    for y in (from + ROW..from + height.max(ROW)).step_by(20 * ROW).filter(|y| y + 4 < from + height) {
        svg.text("m b u", x, y + 4, parity);
    }
    svg.end_group();
}

/// Accesses of memory.
pub(super) fn spans(svg: &mut SvgWriter, layout: &SvgLayout<'_>) {
    let bottom = layout.bottom();
    for (position, &slot) in layout.drawing.slots.iter().enumerate() {
        let left = layout.slots() + position * layout.pitch + 3;
        // Spans that overlap stand side by side.
        let mut ends: [usize; 3] = [0; 3];
        for span in layout.timeline.spans.iter().filter(|span| span.slot == slot) {
            let folded = layout.drawing.folds(span.from);
            if folded && span.until.is_none_or(|until| layout.drawing.folds(until)) {
                continue;
            }
            let from = layout.y(span.from);
            let to = span.until.map(|until| layout.y(until)).unwrap_or(if flies(span) { bottom } else { from });
            let column = ends.iter().position(|end| *end < from).unwrap_or(2);
            ends[column] = to;
            let x = left + column * 7;
            let class = if span.mode == Mode::Read { "read" } else { "write" };
            let open = if span.until.is_none() && flies(span) { " open" } else { "" };
            let verb = if span.mode == Mode::Read { "read" } else { "written" };
            let seen = match (span.until, span.seen_by) {
                (Some(until), Some(lane)) => {
                    let name = layout.timeline.lanes.get(lane).map_or("", |lane| lane.name.as_str());
                    format!("{name} knows at step {until} that it is over")
                }
                _ => "nobody is told that it is over".to_owned(),
            };
            let name = &layout.timeline.slots[slot].name;
            let title = format!("{name} is {verb} from step {} on ({}); {seen}", span.from, span.completes);
            svg.group(&title);
            if !folded {
                svg.dotted_line("k", layout.words_end(span.from), x, from);
            }
            if flies(span) {
                let height = to.saturating_sub(from).max(6);
                svg.rect(&format!("{class}{open}"), (x, from), (6, height));
            } else {
                svg.path("known", (from, to), format_args!("M{} {from}V{to}", x + 3));
                svg.rect(class, (x, from - 3), (6, 6));
            }
            if span.until.is_some() {
                svg.circle("end", x + 3, to, 3);
            }
            svg.end_group();
        }
    }
}

/// Whether an access goes on after the step that issues it.
fn flies(span: &Span) -> bool {
    span.completes != "in order"
}

/// Commit groups, beside their lanes.
pub(super) fn groups(svg: &mut SvgWriter, layout: &SvgLayout<'_>) {
    for (at, group) in layout.timeline.groups.iter().enumerate() {
        let x = layout.lane(group.lane) + layout.lane / 2 - 3 + (at % 2) * 3;
        let from = layout.y(group.from);
        let to = group.over.map_or(layout.bottom() - 4, |over| layout.y(over));
        let over = group.over.map_or("nobody waits for it".to_owned(), |over| format!("over after step {over}"));
        let title = format!("{} group from step {} on, {over}", group.family, group.from);
        let foot = if group.over.is_some() { "h-4" } else { "" };
        svg.group(&title);
        svg.path("g", (from, to), format_args!("M{} {from}h4V{to}{foot}", x - 4));
        svg.end_group();
    }
}

/// What is missing, dashed.
pub(super) fn missing(svg: &mut SvgWriter, layout: &SvgLayout<'_>) {
    for missing in &layout.timeline.missing {
        match missing {
            Missing::Order { from, to } => {
                let lane = |step: u32| layout.timeline.step(step).map_or(0, |step| step.lane);
                let (a, b) = (lane(*from), lane(*to));
                let (x1, y1, x2, y2) =
                    (layout.lane(a), layout.y(*from) + 7, layout.lane(b), layout.y(*to).saturating_sub(7));
                let reach = (y1.min(y2), y1.max(y2));
                // Down beside the lane and over to the other one at the end, so that folds do not break it.
                let x = (x1 - layout.lane / 2).max(EDGE) + 2;
                let (near, far) = (x1 - layout.lane / 2 + 6, if a == b { x2 - layout.lane / 2 + 6 } else { x2 });
                let level = if a == b { y2 + 7 } else { y2.saturating_sub(2) };
                let last = if a == b { String::new() } else { format!("V{y2}") };
                svg.path("miss", reach, format_args!("M{near} {}H{x}V{level}H{far}{last}", y1 - 7));
                svg.text("mt", layout.own_end(*to) + 2, layout.y(*to) + 4, LATE);
            }
            Missing::Flip { step, band } => {
                let y = layout.y(*step);
                let (from, to) = (layout.words_end(*step), layout.band(*band) - 6);
                svg.path("miss", (y, y + 1), format_args!("M{from} {y}H{to}"));
            }
        }
    }
}
