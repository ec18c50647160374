//! A run as a JSON document, schema 1: members may be added, none is taken away.
//!
//! `{"schema": 1, "tool": …, "positionEncoding": "utf-16", "path": …, "traces": [trace]}`. Steps count
//! from 1; lanes, barriers and slots are named by their index. A trace has `lanes`, `steps`,
//! `barriers` (each with `phases`, `ticks` and `counts`), `slots`, `accesses`, `groups`, `missing` and `folds`;
//! what each member says is documented at the type of the same name in `analysis/report/src/timeline/`.
//! Folded steps are listed all the same.

use kernel::Mode;
use report::timeline::{Folded, Missing, PhaseEnd, Timeline};
use serde_json::{Value, json};

use super::drawing::TraceDrawing;

/// The document.
pub fn document(path: &str, drawings: &[TraceDrawing<'_>]) -> String {
    let traces: Vec<Value> = drawings.iter().map(trace).collect();
    let document = json!({
        "schema": 1,
        "tool": { "name": "fencepost", "version": env!("CARGO_PKG_VERSION") },
        "positionEncoding": "utf-16",
        "path": path,
        "traces": traces,
    });
    format!("{document}\n")
}

fn trace(drawing: &TraceDrawing<'_>) -> Value {
    let heading = &drawing.heading;
    let mut value = json!({ "title": heading.title, "message": heading.message });
    if let Some(finding) = heading.finding {
        value["kind"] = json!(finding.kind.name());
        value["kernel"] = json!(finding.kernel);
    }
    if let Some(timeline) = &drawing.timeline {
        fill(&mut value, drawing, timeline);
    }
    value
}

fn fill(value: &mut Value, drawing: &TraceDrawing<'_>, timeline: &Timeline) {
    let list = |values: Vec<Value>| Value::Array(values);
    value["kernel"] = json!(timeline.kernel);
    value["inputs"] =
        list(timeline.inputs.iter().map(|(name, number)| json!({ "name": name, "value": number })).collect());
    value["lanes"] = list(timeline.lanes.iter().map(|lane| json!({ "name": lane.name, "cta": lane.cta })).collect());
    value["steps"] = list(
        timeline
            .steps
            .iter()
            .enumerate()
            .map(|(at, step)| {
                let (start, end) = (drawing.places.utf16(step.range.start), drawing.places.utf16(step.range.end));
                json!({
                        "step": at + 1,
                        "lane": step.lane,
                        "range": {
                            "start": { "line": start.0, "character": start.1 },
                            "end": { "line": end.0, "character": end.1 },
                        },
                        "source": step.source,
                        "verb": step.verb,
                        "brief": step.brief,
                "text": step.text,
                        "told": step.told,
                        "site": step.site,
                        "stuck": step.stuck,
                    })
            })
            .collect(),
    );
    value["barriers"] = list(
        timeline
            .bands
            .iter()
            .map(|band| {
                let phases = band.phases.iter().map(|phase| {
                    let mut value = json!({
                        "phase": phase.number & 1,
                        "flips": phase.number,
                        "from": phase.from,
                        "to": phase.to,
                        "end": phase.end.name(),
                    });
                    if let PhaseEnd::Incomplete { arrivals, bytes } = phase.end {
                        value["missing"] = json!({ "arrivals": arrivals, "bytes": bytes });
                    }
                    value
                });
                let ticks = band.ticks.iter().map(|tick| json!({ "step": tick.step, "act": tick.act.name() }));
                let counts = band.counts.iter().map(|count| {
                    json!({
                        "step": count.step,
                        "live": count.live,
                        "phase": count.flips & 1,
                        "flips": count.flips,
                        "pending": count.pending,
                        "arrivals": count.arrivals,
                        "bytes": count.bytes,
                    })
                });
                json!({
                    "name": band.name,
                    "concerned": band.concerned,
                    "phases": phases.collect::<Vec<_>>(),
                    "ticks": ticks.collect::<Vec<_>>(),
                    "counts": counts.collect::<Vec<_>>(),
                })
            })
            .collect(),
    );
    value["slots"] =
        list(timeline.slots.iter().map(|slot| json!({ "name": slot.name, "concerned": slot.concerned })).collect());
    value["accesses"] = list(
        timeline
            .spans
            .iter()
            .map(|span| {
                json!({
                    "slot": span.slot,
                    "mode": if span.mode == Mode::Read { "read" } else { "write" },
                    "from": span.from,
                    "until": span.until,
                    "seenBy": span.seen_by,
                    "completes": span.completes,
                    "site": span.site,
                })
            })
            .collect(),
    );
    value["groups"] = list(
        timeline
            .groups
            .iter()
            .map(|group| {
                let (from, closed, over) = (group.from, group.closed, group.over);
                json!({ "lane": group.lane, "family": group.family, "from": from, "closed": closed, "over": over })
            })
            .collect(),
    );
    value["missing"] = list(
        timeline
            .missing
            .iter()
            .map(|missing| match missing {
                Missing::Order { from, to } => json!({ "what": "order", "from": from, "to": to }),
                Missing::Flip { step, band } => json!({ "what": "flip", "step": step, "barrier": band }),
            })
            .collect(),
    );
    value["folds"] = list(
        timeline
            .folds
            .iter()
            .map(|fold| {
                let mut value = json!({ "from": fold.from, "to": fold.to });
                match fold.what {
                    Folded::SetUp => value["what"] = json!("set-up"),
                    Folded::Repeats { times } => {
                        value["what"] = json!("repeats");
                        value["times"] = json!(times);
                    }
                }
                value
            })
            .collect(),
    );
}
