//! The storage of barriers as memory.
//!
//! A barrier's eight bytes are written by its init and its invalidation; nobody else may write
//! them in between (ConSan: `Shared memory reused before barrier invalidation`). Only buffers that
//! can meet a barrier's storage are looked at: one that holds barriers itself, or one whose place
//! overlaps the place of one that does.

use super::atoms::Window;
use super::state::State;
use super::violation::BarrierPlace;
use kernel::{BufferId, Kernel, Space};

/// Size of an mbarrier in bits (PTX ISA).
const BITS: u64 = 64;

/// Which buffers can meet the storage of a barrier.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Storage {
    meets: Vec<bool>,
}

impl Storage {
    /// Looks at the allocations of a kernel.
    pub(crate) fn new(kernel: &Kernel) -> Storage {
        let mut meets: Vec<bool> = kernel.buffers.iter().map(|buffer| buffer.barriers).collect();
        let mut placed: Vec<(u64, u64, usize)> = kernel
            .buffers
            .iter()
            .enumerate()
            .filter(|(_, buffer)| buffer.space == Space::Shared)
            .filter_map(|(at, buffer)| buffer.start.map(|start| (start, start + buffer.bits, at)))
            .collect();
        placed.sort_unstable();
        // Runs of buffers that overlap one another: all of one that has barriers are looked at.
        let mut run: Vec<usize> = Vec::new();
        let mut end = 0;
        let close = |run: &mut Vec<usize>, meets: &mut Vec<bool>| {
            if run.iter().any(|&at| meets[at]) {
                run.iter().for_each(|&at| meets[at] = true);
            }
            run.clear();
        };
        for (from, to, at) in placed {
            if from >= end {
                close(&mut run, &mut meets);
            }
            run.push(at);
            end = end.max(to);
        }
        close(&mut run, &mut meets);
        Storage { meets }
    }

    /// Whether a buffer can meet the storage of a barrier.
    pub(crate) fn uses_whole_cluster(&self, buffer: BufferId) -> bool {
        self.meets.get(buffer.0 as usize).copied().unwrap_or(false)
    }
}

/// A live barrier of a CTA whose storage a window covers a part of.
pub(crate) fn covered(kernel: &Kernel, state: &State, window: Window, cta: u16) -> Option<BarrierPlace> {
    let start = |buffer: BufferId| kernel.buffers.get(buffer.0 as usize).and_then(|buffer| buffer.start);
    let shape = kernel.shapes.get(window.shape.0 as usize)?;
    let mut intervals = None;
    for (place, barrier) in &state.barriers {
        if !barrier.live || place.cta != cta {
            continue;
        }
        let (ours, theirs) = if place.buffer == window.buffer {
            (window.start, place.start)
        } else {
            let (Some(ours), Some(theirs)) = (start(window.buffer), start(place.buffer)) else { continue };
            (ours + window.start, theirs + place.start)
        };
        let intervals = intervals.get_or_insert_with(|| shape.intervals());
        if intervals.iter().any(|&(from, to)| from + ours < theirs + BITS && theirs < to + ours) {
            return Some(*place);
        }
    }
    None
}
