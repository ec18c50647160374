//! Where the order of two accesses would have to come from.
//!
//! A race is seen at an access, and what is wrong is that something before it is missing. In a text without calls that
//! is the same place. Where helpers were inlined it need not be: a wait belongs where the one who touches the memory
//! and the one who started the copy are both known, and where the barrier between them is. Whoever knows the calls
//! reads that off these places.

use base::TextRange;
use kernel::{BufferId, Completion, EffectKind, Mode, Var};
use machine::{BarrierKind, Event, Record};

use super::replay::ReplayedRun;
use super::words::Words;

/// An access that comes too early, and what it should have come after. All ranges are those of the text that was
/// analysed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingOrder {
    /// The access that something should have held up.
    pub early: TextRange,
    /// What should have been over before it; `None` where that is `early` itself, and the kernel ends before it is.
    pub awaited: Option<TextRange>,
    /// Whether one partition does both.
    pub same_partition: bool,
    /// The last wait in between that is for operations like the awaited one, and lets it stay open.
    pub weak: Option<TextRange>,
    /// Where the barriers are defined whose flip may say that the awaited access is over, or that its memory is free.
    pub barriers: Vec<TextRange>,
}

impl MissingOrder {
    /// Every range, to be moved.
    pub(crate) fn ranges_mut(&mut self, each: &mut dyn FnMut(&mut TextRange)) {
        each(&mut self.early);
        let single = [&mut self.awaited, &mut self.weak].into_iter().flatten();
        single.chain(&mut self.barriers).for_each(each);
    }

    /// Of an access that nothing made wait for another one.
    pub(crate) fn between(words: &Words<'_>, replay: &ReplayedRun, awaited: &Event, early: &Event) -> MissingOrder {
        let barrier = match words.channels.barrier_of(awaited.channel) {
            Some(number) => replay.end.barriers().get(number).map(|(place, _)| *place),
            None if words.channels.family(awaited.channel).is_some() => None,
            None => replay.next_arrival(awaited.thread, awaited.step.saturating_sub(1)).map(|next| next.place),
        };
        let barrier = barrier.filter(|place| place.kind() == BarrierKind::Barrier).map(|place| place.buffer);
        // A producer that laps its ring waits for those who say that they have read it, whoever they are.
        let again = awaited.effect == early.effect && awaited.mode == Mode::Write;
        let mut free = if again { released(words) } else { Vec::new() };
        free.retain(|buffer| Some(*buffer) != barrier);
        let buffers = if free.is_empty() { barrier.into_iter().collect() } else { free };
        let defined = buffers.iter().filter_map(|buffer| words.map.buffers.get(buffer.0 as usize));
        let defined = defined.map(|(_, range)| *range).filter(|range| !range.is_empty());
        MissingOrder {
            early: words.event_range(early),
            awaited: Some(words.event_range(awaited)),
            same_partition: awaited.thread == early.thread,
            weak: weak(words, replay, awaited, early.step),
            barriers: defined.collect(),
        }
    }

    /// Of an operation that nobody waits for before the kernel ends.
    pub(crate) fn at_end(words: &Words<'_>, started: &Event) -> MissingOrder {
        let early = words.site_range(words.kernel.effect(started.effect).site);
        MissingOrder { early, awaited: None, same_partition: true, weak: None, barriers: Vec::new() }
    }
}

/// The barriers on which partitions and tensor cores arrive when they are done with something.
fn released(words: &Words<'_>) -> Vec<BufferId> {
    let mut out: Vec<BufferId> = Vec::new();
    for effect in &words.kernel.effects {
        let barriers: Vec<Var> = match &effect.kind {
            EffectKind::Arrive { barrier, .. } | EffectKind::TensorCoreCommit { barrier, .. } => vec![*barrier],
            EffectKind::Operation { completion: Completion::Frontier(arrivals), .. } => {
                arrivals.iter().map(|arrival| arrival.barrier).collect()
            }
            _ => Vec::new(),
        };
        for buffer in barriers.into_iter().filter_map(|barrier| words.buffer_of(barrier)) {
            if !out.contains(&buffer) {
                out.push(buffer);
            }
        }
    }
    out
}

/// The last wait for groups of an access's family, by its thread and before a step, that some groups may outlast.
fn weak(words: &Words<'_>, replay: &ReplayedRun, awaited: &Event, until: u32) -> Option<TextRange> {
    let family = words.channels.family(awaited.channel).filter(|kind| !kind.is_by_warps())?;
    let between = replay.records.get(awaited.step as usize..(until as usize).saturating_sub(1))?;
    let lets = |record: &&Record| {
        let effect = record.effect.and_then(|id| words.kernel.effects.get(id.index()));
        record.thread == awaited.thread
            && matches!(
                effect.map(|effect| &effect.kind),
                Some(EffectKind::WaitGroup { kind, pending }) if *kind == family && *pending > 0
            )
    };
    between.iter().rev().find(lets).map(|record| words.site_range(record.site))
}
