//! Steps that a drawing may show as one line: the set-up, and repeated iterations of a long run.
//!
//! A stretch that repeats a block of steps (same lanes, same ops) at least [`TIMES`] times keeps its
//! first and its last repetition. Steps that a finding tells are never folded.

use super::{Folded, FoldedSteps, Step};
use base::TextRange;

/// Runs up to this length are shown whole.
const SHORT: usize = 64;
/// Steps of the longest block that is folded.
const BLOCK: usize = 128;
/// Fewest steps of a set-up.
const PREPARED: usize = 3;
/// Repetitions from which on a block is folded.
const TIMES: usize = 3;
/// Fewest steps that a fold saves.
const SAVED: usize = 12;

/// The folds of a run.
pub(super) fn folds(steps: &[Step]) -> Vec<FoldedSteps> {
    let mut folds = set_up(steps);
    let free = |fold: &FoldedSteps| !folds.iter().any(|known| fold.from <= known.to && known.from <= fold.to);
    let repeats: Vec<FoldedSteps> = repeats(steps).into_iter().filter(free).collect();
    folds.extend(repeats);
    folds.sort_by_key(|fold| fold.from);
    folds
}

/// Stretches of steps that only prepare.
fn set_up(steps: &[Step]) -> Vec<FoldedSteps> {
    let prepares = |step: &Step| matches!(step.verb, "alloc" | "init") && !step.told;
    let mut folds = Vec::new();
    let mut at = 0;
    while at < steps.len() {
        let count = steps[at..].iter().take_while(|step| prepares(step)).count();
        if count >= PREPARED {
            folds.push(FoldedSteps { from: at as u32 + 1, to: (at + count) as u32, what: Folded::SetUp });
        }
        at += count.max(1);
    }
    folds
}

/// Repeated iterations of a long run.
fn repeats(steps: &[Step]) -> Vec<FoldedSteps> {
    let mut folds = Vec::new();
    if steps.len() > SHORT {
        let key = |step: &Step| (!step.told && !step.stuck).then_some((step.lane, step.range));
        stretch(&steps.iter().map(key).collect::<Vec<_>>(), 0, &mut folds);
    }
    folds
}

/// Folds a stretch that begins after `before` steps, then what its folds keep.
fn stretch(keys: &[Option<(usize, TextRange)>], before: usize, folds: &mut Vec<FoldedSteps>) {
    let mut at = 0;
    while at < keys.len() {
        let Some((period, times)) = block(&keys[at..]) else {
            at += 1;
            continue;
        };
        let (from, to) = (at + period, at + (times - 1) * period);
        stretch(&keys[at..from], before + at, folds);
        folds.push(FoldedSteps {
            from: (before + from) as u32 + 1,
            to: (before + to) as u32,
            what: Folded::Repeats { times: times as u32 - 2 },
        });
        stretch(&keys[to..to + period], before + to, folds);
        at += times * period;
    }
}

/// The length of the block that the keys begin with, and how often it stands there: those that
/// save most.
fn block(keys: &[Option<(usize, TextRange)>]) -> Option<(usize, usize)> {
    let mut best: Option<(usize, usize)> = None;
    let saved = |(period, times): (usize, usize)| period * (times - 2);
    for period in 1..=BLOCK.min(keys.len() / TIMES) {
        let (first, rest) = keys.split_at(period);
        if first.iter().any(Option::is_none) {
            break;
        }
        let times = 1 + rest.chunks_exact(period).take_while(|chunk| *chunk == first).count();
        if times >= TIMES
            && saved((period, times)) >= SAVED
            && best.is_none_or(|best| saved(best) < saved((period, times)))
        {
            best = Some((period, times));
        }
    }
    best
}
