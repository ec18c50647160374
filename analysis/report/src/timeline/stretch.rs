//! Which steps of a run a reader looks for, and which are on the way.
//!
//! Of a finding's run: the steps that it tells, what happened last to the barriers and the memory that it is
//! about, and for each op of a lane that it tells the last wait there that had to stand, with the arrival that
//! let it pass. Of a run in which nothing is wrong: for each op the first access that somebody else is told
//! of, and the first wait that had to stand, with its arrival. Of a short run: all but its set-up. What is
//! left stands in stretches, which a drawing may fold.

use std::collections::BTreeMap;

use super::{TickAct, Timeline};

/// Fewer steps between others are shown.
const FEWEST: u32 = 4;
/// A run of so few steps is short.
const SHORT: usize = 64;
/// Of what a finding is about, so many steps are shown.
const LAST: usize = 6;

/// Steps of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The first of them.
    pub from: u32,
    /// The last of them.
    pub to: u32,
    /// Whether they are on the way only.
    pub folded: bool,
}

/// A wait that stood until a phase was over.
struct Stood {
    step: u32,
    /// What completed the phase.
    by: u32,
}

impl Timeline {
    /// All steps, in stretches that matter and stretches that do not.
    pub fn stretches(&self) -> Vec<Stretch> {
        let matters = self.matters();
        let mut stretches: Vec<Stretch> = Vec::new();
        for (number, &matters) in (1..).zip(&matters) {
            match stretches.last_mut() {
                Some(last) if last.folded != matters => last.to = number,
                _ => stretches.push(Stretch { from: number, to: number, folded: !matters }),
            }
        }
        let mut merged: Vec<Stretch> = Vec::new();
        for mut stretch in stretches {
            stretch.folded &= stretch.to + 1 - stretch.from >= FEWEST;
            match merged.last_mut() {
                Some(last) if last.folded == stretch.folded => last.to = stretch.to,
                _ => merged.push(stretch),
            }
        }
        merged
    }

    /// Whether each step matters.
    fn matters(&self) -> Vec<bool> {
        let mut matters: Vec<bool> =
            self.steps.iter().map(|step| step.told || step.stuck || step.site.is_some()).collect();
        let finding = matters.contains(&true);
        if self.steps.len() <= SHORT {
            for (it, step) in matters.iter_mut().zip(&self.steps) {
                *it |= !matches!(step.verb, "alloc" | "init");
            }
            return matters;
        }
        let mut mark = |step: u32| {
            if let Some(it) = (step as usize).checked_sub(1).and_then(|at| matters.get_mut(at)) {
                *it = true;
            }
        };
        for band in self.bands.iter().filter(|band| band.concerned) {
            band.ticks.iter().rev().take(LAST).for_each(|tick| mark(tick.step));
        }
        if finding {
            let concerned = |slot: usize| self.slots.get(slot).is_some_and(|slot| slot.concerned);
            self.spans.iter().rev().filter(|span| concerned(span.slot)).take(LAST).for_each(|span| mark(span.from));
        }
        // The first of each op, or the last.
        let mut accesses = BTreeMap::new();
        for span in &self.spans {
            if !finding
                && span.until.is_some()
                && let Some(step) = self.step(span.from)
                && span.seen_by != Some(step.lane)
            {
                accesses.entry((step.lane, step.range)).or_insert(span.from);
            }
        }
        let mut waits = BTreeMap::new();
        for stood in self.stood() {
            let Some(step) = self.step(stood.step) else { continue };
            let told = || self.steps.iter().any(|it| it.lane == step.lane && (it.told || it.stuck));
            if !finding {
                waits.entry((step.lane, step.range)).or_insert(stood);
            } else if told() {
                waits.insert((step.lane, step.range), stood);
            }
        }
        accesses.into_values().for_each(&mut mark);
        for stood in waits.into_values() {
            mark(stood.step);
            mark(stood.by);
        }
        matters
    }

    /// Waits that came before what they waited for, by step.
    fn stood(&self) -> Vec<Stood> {
        let mut before = vec![0; self.lanes.len()];
        let mut last: Vec<u32> = Vec::new();
        for (number, step) in (1..).zip(&self.steps) {
            last.push(before.get(step.lane).copied().unwrap_or(0));
            if let Some(before) = before.get_mut(step.lane) {
                *before = number;
            }
        }
        let mut stood = Vec::new();
        for band in &self.bands {
            let mut flip = None;
            for tick in &band.ticks {
                match tick.act {
                    TickAct::Flip => flip = Some(tick.step),
                    TickAct::Wait => {
                        let came = (tick.step as usize).checked_sub(1).and_then(|at| last.get(at));
                        if let Some(by) = flip.filter(|&by| came.is_some_and(|&came| came > 0 && came < by)) {
                            stood.push(Stood { step: tick.step, by });
                        }
                    }
                    _ => {}
                }
            }
        }
        stood.sort_by_key(|it| it.step);
        stood
    }
}
