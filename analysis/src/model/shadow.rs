//! The shadow of memory: who touched each atom last, and whether that is visible.
//!
//! ConSan's `write_visibility`, `read_visibility`, `outstanding_commits` and proxy tables in one:
//! an atom keeps its last write and the reads since, each as an event of a channel, and an access
//! is legal when its thread's clock has seen the events it conflicts with.

use super::atoms::{Atoms, Cut, Window};
use super::clock::{Channel, Clock};
use crate::sync::{EffectId, Kernel, Mode};
use smallvec::SmallVec;

/// A memory access that happened.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Event {
    /// The sequence it completes in.
    pub channel: Channel,
    /// Its number there.
    pub number: u32,
    /// Who issued it.
    pub thread: u16,
    /// Read or write.
    pub mode: Mode,
    /// Through the generic proxy, so that a later async access needs a fence.
    pub generic: bool,
    /// The op.
    pub effect: EffectId,
    /// Which of the op's accesses.
    pub access: u16,
    /// Step of the run.
    pub step: u32,
}

/// What is remembered of an atom.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub struct History {
    /// The last write.
    pub write: Option<Event>,
    /// Reads since, the last of each channel and proxy.
    pub reads: SmallVec<[Event; 2]>,
    /// Whether any write of this launch reached it since it was allocated.
    pub initialised: bool,
}

/// What a thread knows when it accesses memory.
pub struct Observer<'a> {
    /// Which thread.
    pub thread: u16,
    /// What it has seen complete.
    pub seen: &'a Clock,
    /// What it has seen fenced.
    pub fenced: &'a Clock,
    /// The channel that it sees entirely because it is its own: the tensor core's, for an
    /// operation of the tensor core.
    pub own: Option<Channel>,
}

impl Observer<'_> {
    fn sees(&self, event: &Event) -> bool {
        self.seen.get(event.channel) >= event.number || self.own == Some(event.channel)
    }

    /// Triton inserts a fence between a generic and an async access of one partition, so only
    /// other partitions' accesses need one in the program.
    fn fences(&self, event: &Event) -> bool {
        !event.generic || event.thread == self.thread || self.fenced.get(event.channel) >= event.number
    }
}

/// Why an access is illegal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Illegal {
    /// The earlier access is not ordered before this one.
    Unordered(Event),
    /// The earlier generic access is ordered, but not fenced before this async one.
    Unfenced(Event),
    /// Nothing was ever written there.
    Uninitialised,
}

/// All atoms with their histories.
#[derive(Clone, Debug, Default)]
pub struct Shadow {
    atoms: Atoms,
    histories: Vec<History>,
}

impl Shadow {
    /// Makes a window known.
    pub fn resolve(&mut self, kernel: &Kernel, window: Window) -> u32 {
        let histories = &mut self.histories;
        self.atoms.resolve(kernel, window, |cut| match cut {
            Cut::Fresh => histories.push(History::default()),
            Cut::Split { old, .. } => histories.push(histories[old as usize].clone()),
        })
    }

    /// Checks an access of a resolved window, then records it; `report` is told each distinct
    /// reason against it.
    pub fn access(
        &mut self,
        window: u32,
        event: Event,
        asynchronous: bool,
        observer: &Observer<'_>,
        mut report: impl FnMut(Illegal),
    ) {
        let mut told: SmallVec<[Illegal; 2]> = SmallVec::new();
        for &atom in self.atoms.of(window) {
            let history = &mut self.histories[atom as usize];
            if let Some(illegal) = check(history, &event, asynchronous, observer)
                && !told.iter().any(|other| same(other, &illegal))
            {
                told.push(illegal);
                report(illegal);
            }
            record(history, event);
        }
    }

    /// Contents of a window become undefined.
    pub fn forget_contents(&mut self, window: u32) {
        for &atom in self.atoms.of(window) {
            self.histories[atom as usize].initialised = false;
        }
    }

    /// The bits of a window that nobody has written since they were allocated, in ascending ranges
    /// from its buffer's start.
    pub fn unwritten(&mut self, kernel: &Kernel, window: Window) -> Vec<(u64, u64)> {
        let number = self.resolve(kernel, window);
        let base = kernel.buffers[window.buffer.0 as usize].start.unwrap_or(0);
        let empty = self.atoms.of(number).iter().filter(|atom| !self.histories[**atom as usize].initialised);
        let bits = empty.flat_map(|atom| self.atoms.bits(*atom));
        let mut bits: Vec<(u64, u64)> = bits.map(|&(lo, hi)| (lo - base, hi - base)).collect();
        bits.sort_unstable();
        bits
    }

    /// The histories, by atom.
    pub fn histories(&self) -> &[History] {
        &self.histories
    }
}

fn same(a: &Illegal, b: &Illegal) -> bool {
    match (a, b) {
        (Illegal::Unordered(x), Illegal::Unordered(y)) | (Illegal::Unfenced(x), Illegal::Unfenced(y)) => {
            x.effect == y.effect && x.access == y.access
        }
        (Illegal::Uninitialised, Illegal::Uninitialised) => true,
        _ => false,
    }
}

fn check(history: &History, event: &Event, asynchronous: bool, observer: &Observer<'_>) -> Option<Illegal> {
    let reads = if event.mode == Mode::Write { history.reads.as_slice() } else { &[] };
    let earlier = || history.write.iter().chain(reads);
    if let Some(event) = earlier().find(|earlier| !observer.sees(earlier)) {
        return Some(Illegal::Unordered(*event));
    }
    if event.mode == Mode::Read && !history.initialised {
        return Some(Illegal::Uninitialised);
    }
    if asynchronous && let Some(event) = earlier().find(|earlier| !observer.fences(earlier)) {
        return Some(Illegal::Unfenced(*event));
    }
    None
}

fn record(history: &mut History, event: Event) {
    match event.mode {
        Mode::Write => {
            history.write = Some(event);
            history.reads.clear();
            history.initialised = true;
        }
        Mode::Read => {
            let previous = |read: &&mut Event| read.channel == event.channel && read.generic == event.generic;
            match history.reads.iter_mut().find(previous) {
                Some(read) => *read = event,
                None => history.reads.push(event),
            }
        }
    }
}

impl Shadow {
    /// The same windows and atoms with nothing remembered.
    pub fn without_history(&self) -> Shadow {
        Shadow { atoms: self.atoms.clone(), histories: vec![History::default(); self.histories.len()] }
    }
}
