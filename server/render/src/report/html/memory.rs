//! Who holds which bytes when: a row a slot of shared and tensor memory, time to the right.
//!
//! Writes stand filled in the upper half of a row and reads dashed in the lower one; each reaches from the step that issues
//! it to the first by which another partition knows that it is over. A line with a `!` marks accesses that nothing orders.

use kernel::{Mode, Space};
use maud::{Markup, html};
use report::timeline::{BarrierSlot, Missing, Span, Timeline};

use super::links::Links;
use super::text::{code, counted};

/// Rows that are drawn.
const ROWS: usize = 48;
/// Spans that are listed as a table.
const LISTED: usize = 400;
/// The whole width, in per cent: the picture takes the room that there is.
const WIDTH: f64 = 100.0;
/// Bars narrower than this share of the picture, in per cent, have no letter.
const LETTERED: f64 = 1.0;
/// Height of a row.
const ROW: usize = 26;

/// The section, where the run touches memory.
pub(super) fn draw(links: &Links<'_>) -> Option<Markup> {
    let timeline = links.view.timeline.as_ref().filter(|timeline| !timeline.spans.is_empty())?;
    let rows = rows(timeline);
    let left_out = rows.len().saturating_sub(ROWS);
    let rows = &rows[..rows.len().min(ROWS)];
    Some(html! {
        p {
            "The run that is drawn below, by memory: time goes to the right, a step a column. "
            span class="key write" {} " a write, " span class="key read" {} " a read, each until another partition knows that it is over; "
            "open to the right where none does. A line with ! marks an access that nothing orders. Letters are partitions: "
            @for (at, lane) in timeline.lanes.iter().enumerate() { @if at > 0 { ", " } b { (letter(at)) } " " (lane.name) }
            "."
        }
        div class="scroll memory" tabindex="0" role="region" aria-label="Memory over the run" {
            table {
                thead { tr { th scope="col" { "slot, and where it is" } th { (axis(timeline)) } } }
                tbody { @for &at in rows { @if let Some(slot) = timeline.slots.get(at) {
                    tr class=[slot.concerned.then_some("concerned")] {
                        th scope="row" { (code(&slot.name)) span class="where quiet" { (place(slot)) } }
                        td { (row(links, timeline, at)) }
                    }
                } } }
            }
        }
        @if left_out > 0 { p class="quiet" { (counted(left_out, "row")) " more: " code { "fencepost trace --format json" } " has them" } }
        (listed(links, timeline))
    })
}

/// The slots that are touched, tensor memory behind shared memory, in the order of their bytes.
fn rows(timeline: &Timeline) -> Vec<usize> {
    let mut rows: Vec<usize> = timeline.spans.iter().map(|span| span.slot).collect();
    rows.sort_unstable();
    rows.dedup();
    rows.sort_by_key(|&at| {
        timeline.slots.get(at).map(|slot| (slot.cta, slot.space == Space::Tensor, slot.buffer, slot.bits))
    });
    rows
}

/// `shared, bytes 16384-32767`; of tensor memory columns, which are 32 bits wide.
fn place(slot: &BarrierSlot) -> String {
    let (space, unit, bits) = match slot.space {
        Space::Shared => ("shared", "bytes", 8),
        Space::Tensor => ("tensor", "columns", 32),
    };
    let known = if slot.is_allocated { "" } else { " of its buffer" };
    format!(
        "{space}, {unit} {}-{}{known}",
        slot.bits.0 / bits,
        (slot.bits.1 / bits).saturating_sub(1).max(slot.bits.0 / bits)
    )
}

fn letter(lane: usize) -> String {
    char::from_digit(lane as u32 + 10, 36).map_or_else(|| lane.to_string(), |letter| letter.to_uppercase().to_string())
}

/// The first step that touches memory: what comes before it sets up barriers.
fn first(timeline: &Timeline) -> u32 {
    timeline.spans.iter().map(|span| span.from).min().unwrap_or(1)
}

/// Where a step begins, in per cent.
fn column(timeline: &Timeline, step: u32) -> f64 {
    let steps = (timeline.steps.len() as u32 + 1).saturating_sub(first(timeline)).max(1);
    f64::from(step.saturating_sub(first(timeline))) * WIDTH / f64::from(steps)
}

fn percent(share: f64) -> String {
    format!("{share:.2}%")
}

/// The numbers of steps.
fn axis(timeline: &Timeline) -> Markup {
    let steps = timeline.steps.len() as u32;
    let every = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
        .into_iter()
        .find(|every| (steps - first(timeline).min(steps)) / every <= 16)
        .unwrap_or(10_000);
    html! {
        svg width="100%" height="16" aria-hidden="true" {
            @for step in (first(timeline)..=steps).filter(|step| step % every == 0) {
                text x=(percent(column(timeline, step))) y="12" { (step) }
            }
        }
    }
}

fn row(links: &Links<'_>, timeline: &Timeline, slot: usize) -> Markup {
    let of = timeline.spans.iter().filter(move |span| span.slot == slot);
    let missing = timeline.missing.iter().filter_map(|missing| match missing {
        Missing::Order { from, to } => Some([*from, *to]),
        Missing::Flip { .. } => None,
    });
    let concerned = timeline.slots.get(slot).is_some_and(|slot| slot.concerned);
    let touched = |step: u32| concerned && of.clone().any(|span| span.from == step);
    html! {
        svg width="100%" height=(ROW) role="img" aria-label=(label(timeline, slot)) {
            @for span in of.clone() { (bar(links, timeline, span)) }
            @for step in missing.flatten().filter(|step| touched(*step)) {
                @let x = percent(column(timeline, step));
                line class="missing" x1=(x) x2=(x) y1="0" y2=(ROW) {}
                text class="missing" x=(x) y="11" dx="-2" text-anchor="end" { "!" }
            }
        }
    }
}

fn label(timeline: &Timeline, slot: usize) -> String {
    let name = timeline.slots.get(slot).map_or("?", |slot| slot.name.as_str());
    let count = |mode| timeline.spans.iter().filter(|span| span.slot == slot && span.mode == mode).count();
    format!("{name}: {}, {}", counted(count(Mode::Write), "write"), counted(count(Mode::Read), "read"))
}

fn bar(links: &Links<'_>, timeline: &Timeline, span: &Span) -> Markup {
    let end = span.until.unwrap_or(timeline.steps.len() as u32 + 1);
    let (x, to) = (column(timeline, span.from), column(timeline, end));
    let width = (to - x).max(WIDTH / 300.0);
    let (class, y) = if span.mode == Mode::Write { ("write", 1) } else { ("read", 14) };
    let lane = timeline.step(span.from).map_or(0, |step| step.lane);
    let line = timeline.step(span.from).and_then(|step| links.view.line(step.range));
    let shape = html! {
        rect class=(class) x=(percent(x)) y=(y) width=(percent(width)) height="11" rx="2" { title { (says(timeline, span)) } }
        @if span.until.is_none() {
            // A path knows no per cent: it stands at the end of the bar.
            svg x=(percent(x + width)) y=(y) overflow="visible" { path class="open" d="M-6 0l5 5.5l-5 5.5" {} }
        }
        @if width >= LETTERED { text x=(percent(x)) dx="2" y=(y + 9) { (letter(lane)) } }
    };
    html! {
        @if let Some(line) = line { a href={ "#" (links.anchor()) (line) } tabindex="-1" { (shape) } } @else { (shape) }
    }
}

fn lane(timeline: &Timeline, at: usize) -> &str {
    timeline.lanes.get(at).map_or("?", |lane| lane.name.as_str())
}

/// `step 12: default writes, in flight until step 20, when partition0 knows`.
fn says(timeline: &Timeline, span: &Span) -> String {
    let who = timeline.step(span.from).map_or("?", |step| lane(timeline, step.lane));
    let does = if span.mode == Mode::Write { "writes" } else { "reads" };
    let until = match (span.until, span.seen_by) {
        (Some(step), Some(by)) => format!("over by step {step}, as {} knows", lane(timeline, by)),
        (Some(step), None) => format!("over by step {step}"),
        (None, _) => "no other partition knows that it is over".to_owned(),
    };
    format!("step {}: {who} {does}; {until}", span.from)
}

/// The same in words, for who does not see it.
fn listed(links: &Links<'_>, timeline: &Timeline) -> Markup {
    html! {
        details {
            summary { "As a table: " (counted(timeline.spans.len(), "span")) }
            table {
                thead { tr { th { "slot" } th { "line" } th { "what" } } }
                tbody { @for span in timeline.spans.iter().take(LISTED) { tr {
                    td { @if let Some(slot) = timeline.slots.get(span.slot) { (code(&slot.name)) } }
                    td { @if let Some(step) = timeline.step(span.from) { (links.at(step.range)) } }
                    td { (says(timeline, span)) }
                } } }
            }
            @if timeline.spans.len() > LISTED { p class="quiet" { (counted(timeline.spans.len() - LISTED, "span")) " more" } }
        }
    }
}
