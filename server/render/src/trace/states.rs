//! What barriers count after each step of a run, for clients that go through it.

use report::timeline::{Band, BarrierCount, Timeline};
use serde::Serialize;

use super::TraceDrawing;

/// A barrier after a step.
#[derive(Clone, Debug, Serialize)]
pub struct BarrierState {
    /// Its name.
    name: String,
    /// Whether the finding is about it.
    concerned: bool,
    /// Whether the step has changed it.
    changed: bool,
    /// What it counts, in words: `phase 1, 1 of 2 arrivals to come`.
    words: String,
    #[serde(flatten)]
    count: Count,
}

/// What a barrier counts from a step on.
#[derive(Clone, Debug, Serialize)]
pub struct Count {
    /// The step that made it so.
    step: u32,
    /// Whether it is between its init and its invalidation.
    live: bool,
    /// The phase in progress, 0 or 1.
    phase: u32,
    /// Phases that are over.
    flips: u32,
    /// Arrivals that the phase still waits for.
    pending: i64,
    /// Arrivals that each phase takes.
    arrivals: i64,
    /// Bytes that the phase still waits for; negative where more came than was expected.
    bytes: i64,
}

/// A barrier over the run.
#[derive(Clone, Debug, Serialize)]
pub struct BarrierLife {
    name: String,
    concerned: bool,
    counts: Vec<Count>,
}

/// All barriers of a run.
pub fn lives(timeline: &Timeline) -> Vec<BarrierLife> {
    let life = |band: &Band| BarrierLife {
        name: band.name.clone(),
        concerned: band.concerned,
        counts: band.counts.iter().map(Count::new).collect(),
    };
    timeline.bands.iter().map(life).collect()
}

/// The barriers after a step, those that are drawn.
pub fn after(drawing: &TraceDrawing<'_>, number: u32) -> Vec<BarrierState> {
    let Some(timeline) = &drawing.timeline else { return Vec::new() };
    let drawn = drawing.bands.iter().filter_map(|&at| timeline.bands.get(at));
    drawn.filter_map(|band| barrier(band, number)).collect()
}

fn barrier(band: &Band, number: u32) -> Option<BarrierState> {
    let count = band.after(number)?;
    Some(BarrierState {
        name: band.name.clone(),
        concerned: band.concerned,
        changed: count.step == number,
        words: words(count),
        count: Count::new(count),
    })
}

impl Count {
    fn new(count: &BarrierCount) -> Count {
        let BarrierCount { step, live, flips, pending, arrivals, bytes } = *count;
        Count { step, live, phase: flips & 1, flips, pending, arrivals, bytes }
    }
}

/// `phase 1, 1 of 2 arrivals and 16384 bytes to come`.
fn words(count: &BarrierCount) -> String {
    if !count.live {
        return "invalidated".to_owned();
    }
    let BarrierCount { flips, pending, arrivals, bytes, .. } = *count;
    let plural = if arrivals == 1 { "" } else { "s" };
    let mut words = format!("phase {}, {pending} of {arrivals} arrival{plural}", flips & 1);
    if bytes > 0 {
        words.push_str(&format!(" and {bytes} bytes"));
    }
    words.push_str(" to come");
    if bytes < 0 {
        words.push_str(&format!(", {} bytes more than expected", -bytes));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_barrier_says_what_it_waits_for() {
        let count =
            |live, flips, pending, arrivals, bytes| BarrierCount { step: 3, live, flips, pending, arrivals, bytes };
        assert_eq!(words(&count(true, 3, 1, 2, 0)), "phase 1, 1 of 2 arrivals to come");
        assert_eq!(words(&count(true, 2, 1, 1, 4096)), "phase 0, 1 of 1 arrival and 4096 bytes to come");
        assert_eq!(words(&count(true, 0, 1, 1, -8)), "phase 0, 1 of 1 arrival to come, 8 bytes more than expected");
        assert_eq!(words(&count(false, 0, 1, 1, 0)), "invalidated");
    }
}
