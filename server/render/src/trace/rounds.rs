//! The rounds of a run at a glance: a row a partition, a column a round, as wide as the steps that it lasts.
//!
//! A table, so that it is read and gone through without seeing the bars: each cell says its steps and waits, too, and
//! waits are open bars with a stroke, not another colour alone.

use std::fmt::Write as _;

use maud::{Markup, PreEscaped, html};
use report::timeline::{LaneRounds, Round, Timeline};

use crate::SourceText;

/// Pixels that a whole run takes, at most and at least a step.
const WIDTH: u32 = 1600;
/// Height of a bar.
const HEIGHT: u32 = 16;
/// Rounds that are drawn; of more the last ones are counted.
const MOST: usize = 24;

/// What the table looks like, beside the picture's own style.
pub(crate) const STYLE: &str = "\
.rounds table{border-collapse:collapse;font-variant-numeric:tabular-nums}
.rounds th,.rounds td{padding:.3rem .6rem .3rem 0;text-align:left;vertical-align:top;white-space:nowrap}
";

/// The table; nothing where no partition goes round more than once. Rounds lead to their first line where `anchor` says
/// how the ids of lines begin.
pub(crate) fn overview(timeline: &Timeline, places: &SourceText<'_>, anchor: Option<&str>) -> Option<Markup> {
    let lanes = timeline.rounds();
    let most = lanes.iter().map(|lane| lane.rounds.len()).max()?;
    if most < 2 {
        return None;
    }
    let shown = most.min(MOST);
    let steps = u32::try_from(timeline.steps.len()).unwrap_or(u32::MAX);
    let scale = (WIDTH / steps.max(1)).clamp(2, 8);
    let cell = |round: &Round| cell(timeline, places, anchor, round, scale);
    Some(html! {
        // Not a caption, which would be as wide as the table and be cut off where that scrolls.
        p {
            "Rounds: how each partition goes round its loop. A bar is as long as the steps from its first to its last; filled: "
            "it acts; open with a stroke: a wait that it passes, or stands at; empty: others act. The last round has what follows the loop."
        }
        div class="scroll rounds" tabindex="0" role="region" aria-label="Rounds of the run" {
            table {
                thead { tr {
                    th scope="col" { "partition" }
                    @if lanes.iter().any(|lane| lane.before.is_some()) { th scope="col" { "before" } }
                    @for number in 1..=shown { th scope="col" { "round " (number) } }
                    @if most > shown { th scope="col" { "more" } }
                } }
                tbody { @for lane in &lanes { tr {
                    th scope="row" { (name(timeline, lane)) }
                    @if lanes.iter().any(|lane| lane.before.is_some()) {
                        td { @if let Some(before) = &lane.before { (cell(before)) } }
                    }
                    @for at in 0..shown { td { @if let Some(round) = lane.rounds.get(at) { (cell(round)) } } }
                    @if most > shown {
                        td { @if lane.rounds.len() > shown { (lane.rounds.len() - shown) " more" } }
                    }
                } } }
            }
        }
    })
}

/// `producer`, with its CTA where there are several.
fn name(timeline: &Timeline, lane: &LaneRounds) -> String {
    let several = timeline.lanes.iter().any(|lane| lane.cta != 0);
    timeline.lanes.get(lane.lane).map_or_else(String::new, |lane| match several {
        true => format!("{}, CTA {}", lane.name, lane.cta),
        false => lane.name.clone(),
    })
}

fn cell(timeline: &Timeline, places: &SourceText<'_>, anchor: Option<&str>, round: &Round, scale: u32) -> Markup {
    let said = format!("{}–{}", round.from, round.to);
    let line = timeline.step(round.from).map(|step| places.line(step.range.start));
    let waits = match round.waits() {
        1 => "1 wait".to_owned(),
        count => format!("{count} waits"),
    };
    html! {
        span class="run-picture" { (PreEscaped(bar(round, scale))) }
        @match (anchor, line) {
            (Some(anchor), Some(line)) => { a class="at" href={ "#" (anchor) (line) } { "steps " (said) } }
            _ => { "steps " (said) }
        }
        br;
        (round.own.len()) " of its own, " (waits)
    }
}

/// The bar of a round, for those who see it.
fn bar(round: &Round, scale: u32) -> String {
    let width = (round.to + 1 - round.from).saturating_mul(scale);
    let middle = HEIGHT / 2;
    let mut svg = format!(
        "<svg aria-hidden=\"true\" width=\"{width}\" height=\"{HEIGHT}\" viewBox=\"0 0 {width} {HEIGHT}\">\
         <path class=\"k\" d=\"M0 {middle}h{width}\"/>"
    );
    for (step, wait) in &round.own {
        let x = (step - round.from).saturating_mul(scale);
        let _ = match wait {
            true => write!(
                svg,
                "<rect class=\"tick\" x=\"{x}\" y=\"{}\" width=\"{scale}\" height=\"8\"/>\
                 <path class=\"tick\" d=\"M{x} {}l{scale} -8\"/>",
                middle - 4,
                middle + 4
            ),
            false => write!(svg, "<rect class=\"end\" x=\"{x}\" y=\"1\" width=\"{scale}\" height=\"14\"/>"),
        };
    }
    svg + "</svg>"
}
