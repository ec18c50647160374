//! The shadow of memory: who touched each atom last, and whether that is visible.
//!
//! ConSan's `write_visibility`, `read_visibility`, `outstanding_commits` and proxy tables in one:
//! an atom keeps its last write and the reads since, each as an event of a channel, and an access
//! is legal when its thread's clock has seen the events it conflicts with.

use super::atoms::{AtomChange, Atoms, Window};
use super::clock::{Channel, Clock};
use super::shared::CopyOnWrite;
use base::Digest;
use kernel::{EffectId, Kernel, Mode};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use std::ops::Range;

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
    /// The effect of the op.
    pub effect: EffectId,
    /// Which of the op's accesses.
    pub access: u16,
    /// Whether it completes with a barrier's transaction.
    pub transaction: bool,
    /// For an answer of cluster launch control: whether it hands out a tile.
    pub grants: bool,
    /// Step of the run.
    pub step: u32,
}

/// What is remembered of an atom.
#[derive(PartialEq, Eq, Hash, Default, Debug)]
pub struct History {
    /// The last write.
    pub write: Option<Event>,
    /// Reads since, the last of each channel and proxy.
    pub reads: SmallVec<[Event; 2]>,
    /// Whether any write of this launch reached it since it was allocated.
    pub initialised: bool,
}

/// States are copied a lot, and most of what they hold are histories: their reads are copied as bytes.
impl Clone for History {
    fn clone(&self) -> History {
        History { write: self.write, reads: SmallVec::from_slice(&self.reads), initialised: self.initialised }
    }
}

/// What a thread knows when it accesses memory.
pub struct Observer<'a> {
    /// The thread that accesses.
    pub thread: u16,
    /// What it has seen complete.
    pub seen: &'a Clock,
    /// What it has seen fenced.
    pub fenced: &'a Clock,
    /// Reads that are over for it beside those it sees.
    pub over: &'a Clock,
    /// What it sees entirely because it is its own.
    pub own: ImplicitOrder,
    /// In a warp pipeline: the channel of its stages and the last access of the stage before. In one stage
    /// Triton orders accesses as elsewhere.
    pub stage: Option<(Channel, u32)>,
}

/// What an operation sees of its issuer's earlier ones without a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImplicitOrder {
    /// No more than it has waited for.
    Nothing,
    /// All of a channel: operations of one tensor core, or of one data mover, are in order.
    Channel(Channel),
    /// Its thread's operations that complete with a barrier's transaction.
    Transactions,
}

impl Observer<'_> {
    fn sees(&self, event: &Event) -> bool {
        self.seen.get(event.channel) >= event.number
            || (event.mode == Mode::Read && self.over.get(event.channel) >= event.number)
            || self.stage.is_some_and(|(stages, closed)| stages == event.channel && event.number > closed)
            || match self.own {
                ImplicitOrder::Nothing => false,
                ImplicitOrder::Channel(channel) => channel == event.channel,
                ImplicitOrder::Transactions => event.transaction && event.thread == self.thread,
            }
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

/// All atoms with their histories, one a CTA: all CTAs share the windows of the program.
#[derive(Clone, Debug)]
pub struct Shadow {
    atoms: CopyOnWrite<Atoms>,
    ctas: usize,
    histories: Histories,
}

impl Shadow {
    /// Memory of so many CTAs that nobody has touched.
    pub fn new(ctas: usize) -> Shadow {
        Shadow { atoms: CopyOnWrite::default(), ctas, histories: Histories::default() }
    }

    /// Makes a window known.
    pub fn resolve(&mut self, kernel: &Kernel, window: Window) -> u32 {
        if let Some(known) = self.atoms.known(window) {
            return known;
        }
        let (histories, ctas) = (&mut self.histories, self.ctas);
        self.atoms.resolve(kernel, window, |cut| match cut {
            AtomChange::Fresh => histories.add_fresh(ctas),
            AtomChange::Split { old, .. } => {
                let from = old as usize * ctas;
                histories.add_copies(from..from + ctas);
            }
        })
    }

    /// The last write of the first atom of a resolved window.
    pub fn last_write(&self, window: u32, cta: usize) -> Option<&Event> {
        let atom = *self.atoms.of(window).first()?;
        self.histories.get(atom as usize * self.ctas + cta)?.write.as_ref()
    }

    /// The first of the last writes of a resolved window's atoms for which `holds`.
    pub fn find_write(&self, window: u32, cta: usize, holds: impl Fn(&Event) -> bool) -> Option<Event> {
        let history = |atom: &u32| self.histories.get(*atom as usize * self.ctas + cta);
        self.atoms.of(window).iter().filter_map(|atom| history(atom)?.write).find(|write| holds(write))
    }

    /// An access of a window in a CTA that happened at a step, as far as it is still remembered.
    pub fn happened(&mut self, kernel: &Kernel, window: Window, cta: usize, step: u32) -> Option<Event> {
        let number = self.resolve(kernel, window);
        let atom = *self.atoms.of(number).first()?;
        let history = self.histories.get(atom as usize * self.ctas + cta)?;
        history.write.iter().chain(&history.reads).find(|event| event.step == step).copied()
    }

    /// Checks an access of a resolved window in one CTA, then records it; `report` is told each
    /// distinct reason against it.
    pub fn access(
        &mut self,
        window: u32,
        cta: usize,
        event: Event,
        asynchronous: bool,
        observer: &Observer<'_>,
        mut report: impl FnMut(Illegal),
    ) {
        let mut told: SmallVec<[Illegal; 2]> = SmallVec::new();
        for &atom in self.atoms.of(window) {
            let Some(history) = self.histories.get_mut(atom as usize * self.ctas + cta) else { continue };
            if let Some(illegal) = check(history, &event, asynchronous, observer)
                && !told.iter().any(|other| same(other, &illegal))
            {
                told.push(illegal);
                report(illegal);
            }
            record(history, event);
        }
    }

    /// Contents of a window become undefined in one CTA, unless the last write is not its `own`.
    pub fn forget_contents(&mut self, window: u32, cta: usize, own: impl Fn(&Event) -> bool) {
        for &atom in self.atoms.of(window) {
            let Some(history) = self.histories.get_mut(atom as usize * self.ctas + cta) else { continue };
            history.initialised &= history.write.as_ref().is_some_and(|write| !own(write));
        }
    }

    /// The bits of a window that nobody has written in a CTA since they were allocated, in ascending
    /// ranges from its buffer's start.
    pub fn unwritten(&mut self, kernel: &Kernel, window: Window, cta: usize) -> Vec<(u64, u64)> {
        let number = self.resolve(kernel, window);
        let base = kernel.buffers[window.buffer.0 as usize].start.unwrap_or(0);
        let history = |atom: u32| self.histories.get(atom as usize * self.ctas + cta);
        let written = |atom: u32| history(atom).is_some_and(|history| history.initialised);
        let empty = self.atoms.of(number).iter().filter(|atom| !written(**atom));
        let bits = empty.flat_map(|atom| self.atoms.bits(*atom));
        let mut bits: Vec<(u64, u64)> = bits.map(|&(lo, hi)| (lo - base, hi - base)).collect();
        bits.sort_unstable();
        bits
    }

    /// The histories, by atom and then by CTA.
    pub fn histories(&self) -> impl Iterator<Item = &History> {
        self.histories.all()
    }

    /// How many histories there are.
    pub fn size(&self) -> usize {
        self.histories.count
    }

    /// What tells apart memory that behaves differently. Step numbers are left out: they tell how the state was reached.
    pub(super) fn feed(&self, digest: &mut Digest) {
        let feed = |block: &Vec<History>, digest: &mut Digest| block.iter().for_each(|history| history.feed(digest));
        self.histories.blocks.iter().for_each(|block| digest.write_u128(block.digest(feed)));
    }
}

/// Histories by number, in blocks that copies share until one of them is changed.
#[derive(Clone, Default, Debug)]
struct Histories {
    /// Of [`BLOCK`] histories each, but for the last.
    blocks: Vec<CopyOnWrite<Vec<History>>>,
    count: usize,
}

/// Histories of a block: an access changes those of one tile, which mostly are neighbours.
const BLOCK: usize = 8;

impl Histories {
    fn get(&self, number: usize) -> Option<&History> {
        self.blocks.get(number / BLOCK)?.get(number % BLOCK)
    }

    fn get_mut(&mut self, number: usize) -> Option<&mut History> {
        self.blocks.get_mut(number / BLOCK)?.get_mut(number % BLOCK)
    }

    fn all(&self) -> impl Iterator<Item = &History> {
        self.blocks.iter().flat_map(|block| block.iter())
    }

    fn add(&mut self, history: History) {
        match self.blocks.last_mut() {
            Some(block) if block.len() < BLOCK => block.push(history),
            _ => self.blocks.push(CopyOnWrite::new(vec![history])),
        }
        self.count += 1;
    }

    fn add_fresh(&mut self, count: usize) {
        (0..count).for_each(|_| self.add(History::default()));
    }

    fn add_copies(&mut self, of: Range<usize>) {
        for number in of {
            let history = self.get(number).cloned().unwrap_or_default();
            self.add(history);
        }
    }
}

impl History {
    fn feed(&self, digest: &mut Digest) {
        for event in self.write.iter().chain(&self.reads) {
            (event.channel, event.number, event.effect, event.mode, event.grants).hash(digest);
        }
        (self.reads.len(), self.write.is_some(), self.initialised).hash(digest);
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
        let mut histories = Histories::default();
        histories.add_fresh(self.histories.count);
        Shadow { atoms: self.atoms.clone(), ctas: self.ctas, histories }
    }
}
