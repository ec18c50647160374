//! A configuration of the machine.

use super::atoms::Window;
use super::barrier::Barrier;
use super::shadow::{Event, Shadow};
use super::shared::CopyOnWrite;
use super::thread::{Thread, ThreadStatus};
use super::violation::{BarrierPlace, ScheduleHazard, Violation, Violations};
use super::words::Words;
use base::Digest;
use kernel::{BlockId, EffectId, Kernel, Var};
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// Computations and jumps that cost as much as a step.
pub(crate) const COMPUTATIONS: u64 = 16;

/// Where all threads stand, what memory and barriers hold, and what went wrong so far.
#[derive(Clone, Debug)]
pub struct State {
    /// Values of variables, one environment a CTA; a memdesc is its buffer and start in bits.
    pub(crate) vars: Vec<i64>,
    /// Variables of one CTA.
    pub(crate) stride: usize,
    /// The partitions of the first CTA, the default one first, then those of the next.
    pub(crate) threads: Vec<CopyOnWrite<Thread>>,
    /// Who touched each piece of memory last.
    pub(crate) shadow: Shadow,
    /// Barriers that were named so far, with their places: a row a CTA.
    pub(crate) barriers: Vec<(BarrierPlace, CopyOnWrite<Barrier>)>,
    places: CopyOnWrite<FxHashMap<BarrierPlace, u32>>,
    /// By CTA: partitions that run; the default one joins when there are none.
    pub(crate) running: Vec<u32>,
    /// Requests made to cluster launch control.
    pub(crate) requests: i64,
    /// Integers that threads have left in memory for others, and counters.
    pub(crate) words: CopyOnWrite<Words>,
    /// How many steps were taken.
    pub(crate) step: u32,
    /// How many instructions were executed.
    pub(crate) work: u64,
    /// Rules broken so far.
    pub(crate) violations: Violations,
    /// What is customary and was not done; no rule is broken by it.
    pub(crate) remarks: Vec<Violation>,
    /// Points where another schedule may go another way.
    pub(crate) schedule_hazards: Vec<ScheduleHazard>,
    /// Whether the run has to stop.
    pub(crate) stopped: bool,
    /// Why the machine could not follow the kernel, if so.
    pub(crate) error: Option<MachineError>,
    /// Whether an unmodelled op was executed.
    pub(crate) unmodelled: bool,
    /// Which effects were executed, a bit each.
    executed: CopyOnWrite<Vec<u64>>,
    /// Which were executed in the first CTA, and which of these again.
    repeated: [CopyOnWrite<Vec<u64>>; 2],
    /// By block: how often the first CTA has come back to it since it came there from outside.
    back: CopyOnWrite<Vec<u32>>,
    /// Where it went from blocks that it had come back to, and how often at most.
    again: CopyOnWrite<Vec<(BlockId, BlockId, u32)>>,
}

/// Why the machine could not follow a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MachineError {
    /// A division by zero, or a shift by the width or more.
    Undefined,
    /// A limit was met.
    Limit,
    /// A block or variable is missing: the kernel is ill-formed.
    IllFormed,
}

const BUFFER: u32 = 40;
const REMOTE: u32 = 57;

/// A memdesc as a variable's value: start in bits, buffer, and one more than the number of the
/// CTA where it is not the thread's own.
pub fn pack(buffer: u32, start: u64) -> i64 {
    (i64::from(buffer) << BUFFER) | start as i64
}

/// The buffer and the start in bits of a memdesc value.
pub fn unpack(value: i64) -> (u32, u64) {
    (((value >> BUFFER) & ((1 << (REMOTE - BUFFER)) - 1)) as u32, (value & ((1 << BUFFER) - 1)) as u64)
}

/// The same place in the memory of another CTA.
pub fn remote(value: i64, cta: u16) -> i64 {
    (value & ((1 << REMOTE) - 1)) | ((i64::from(cta) + 1) << REMOTE)
}

/// The CTA that a memdesc value names, where it names one.
pub fn remote_cta(value: i64) -> Option<u16> {
    ((value >> REMOTE) as u16 & 0x1f).checked_sub(1)
}

impl State {
    /// A state before the first step.
    pub(crate) fn new(ctas: usize, partitions: usize, vars: usize) -> State {
        State {
            vars: vec![0; vars * ctas],
            stride: vars,
            threads: vec![CopyOnWrite::new(Thread::not_started()); partitions * ctas],
            shadow: Shadow::new(ctas),
            barriers: Vec::new(),
            places: CopyOnWrite::default(),
            running: vec![0; ctas],
            requests: 0,
            words: CopyOnWrite::default(),
            step: 0,
            work: 0,
            violations: Violations::default(),
            remarks: Vec::new(),
            schedule_hazards: Vec::new(),
            stopped: false,
            error: None,
            unmodelled: false,
            executed: CopyOnWrite::default(),
            repeated: Default::default(),
            back: CopyOnWrite::default(),
            again: CopyOnWrite::default(),
        }
    }

    /// The value of a variable in the CTA at a position.
    #[inline]
    pub fn var(&self, cta: usize, var: Var) -> i64 {
        if var.index() >= self.stride {
            return 0;
        }
        self.vars.get(cta * self.stride + var.index()).copied().unwrap_or(0)
    }

    /// Sets a variable; `None` where there is none such.
    #[inline]
    pub fn set(&mut self, cta: usize, var: Var, value: i64) -> Option<()> {
        if var.index() >= self.stride {
            return None;
        }
        *self.vars.get_mut(cta * self.stride + var.index())? = value;
        Some(())
    }

    /// The number of a barrier by its place, where it was named.
    #[inline]
    pub fn barrier_number(&self, place: BarrierPlace) -> Option<usize> {
        self.places.get(&place).map(|&number| number as usize)
    }

    /// The number of a barrier by its place; a new one where it was never named.
    pub(crate) fn number_barrier(&mut self, place: BarrierPlace) -> usize {
        if let Some(&known) = self.places.get(&place) {
            return known as usize;
        }
        let number = self.barriers.len();
        self.places.insert(place, number as u32);
        self.barriers.push((place, CopyOnWrite::default()));
        number
    }

    /// Numbers barriers and windows as another state does.
    pub(super) fn adopt_numbering(&mut self, other: &State) {
        self.barriers = other.barriers.iter().map(|(place, _)| (*place, CopyOnWrite::default())).collect();
        self.places = other.places.clone();
        self.shadow = other.shadow.without_history();
    }

    /// The partitions of the first CTA, the default one first, then those of the next.
    #[inline]
    pub fn threads(&self) -> &[CopyOnWrite<Thread>] {
        &self.threads
    }

    /// Barriers that were named so far, by the number of their channel.
    pub fn barriers(&self) -> &[(BarrierPlace, CopyOnWrite<Barrier>)] {
        &self.barriers
    }

    /// Accesses that memory remembers: the last write of each atom and the reads since.
    pub fn accesses(&self) -> impl Iterator<Item = &Event> {
        self.shadow.histories().flat_map(|history| history.write.iter().chain(&history.reads))
    }

    /// The access that the last step made of a window in the CTA at a position.
    pub fn last_access(&mut self, kernel: &Kernel, window: Window, cta: usize) -> Option<Event> {
        self.shadow.happened(kernel, window, cta, self.step)
    }

    /// Variables of one CTA.
    pub fn vars_per_cta(&self) -> usize {
        self.stride
    }

    /// How many steps were taken.
    pub fn step(&self) -> u32 {
        self.step
    }

    /// How much it cost to come here, in steps: computations and jumps, which are no steps, count where they are many.
    pub fn cost(&self) -> u64 {
        u64::from(self.step).max(self.work / COMPUTATIONS)
    }

    /// Rules broken so far, in the order of the steps.
    #[inline]
    pub fn violations(&self) -> &[Violation] {
        self.violations.as_slice()
    }

    /// Points where another schedule may go another way.
    #[inline]
    pub fn schedule_hazards(&self) -> &[ScheduleHazard] {
        &self.schedule_hazards
    }

    /// What is customary and was not done.
    pub fn remarks(&self) -> &[Violation] {
        &self.remarks
    }

    /// Whether the run has to stop here.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Why the machine could not follow the kernel, if so.
    #[inline]
    pub fn error(&self) -> Option<MachineError> {
        self.error
    }

    /// Whether an unmodelled op was executed.
    #[inline]
    pub fn unmodelled(&self) -> bool {
        self.unmodelled
    }

    /// Notes that an effect is executed, in the first CTA or in another one.
    pub(super) fn note_executed(&mut self, effect: EffectId, first_cta: bool) {
        if first_cta && !has(&self.repeated[1], effect.index()) {
            let again = usize::from(has(&self.repeated[0], effect.index()));
            add(&mut self.repeated[again], effect.index());
        }
        if !self.has_executed(effect) {
            add(&mut self.executed, effect.index());
        }
    }

    /// Notes a jump of the first CTA: back to the head of a loop, to one from outside, or on from one that was come back
    /// to. Blocks are in reverse postorder.
    pub(super) fn note_jump(&mut self, from: BlockId, to: BlockId) {
        let times = |block: BlockId| self.back.get(block.index()).copied().unwrap_or(0);
        let (mut pending, known) = (times(from), times(to));
        if to.index() <= from.index() {
            if self.back.len() <= to.index() {
                self.back.resize(to.index() + 1, 0);
            }
            self.back[to.index()] = known.saturating_add(1);
            if from == to {
                pending += 1;
            }
        } else if known > 0 {
            self.back[to.index()] = 0;
        }
        if pending == 0 {
            return;
        }
        match self.again.iter().position(|&(head, next, _)| (head, next) == (from, to)) {
            Some(at) if self.again[at].2 >= pending => {}
            Some(at) => self.again[at].2 = pending,
            None => self.again.push((from, to, pending)),
        }
    }

    /// How many iterations of a loop followed upon another one at most: how often the first CTA came back to its head
    /// before it went on from there to one of its blocks.
    pub fn most_followed(&self, head: BlockId, is_inside: impl Fn(BlockId) -> bool) -> u32 {
        let on = self.again.iter().filter(|&&(from, to, _)| from == head && is_inside(to));
        on.map(|(.., times)| *times).max().unwrap_or(0)
    }

    /// Whether an effect was executed, by any thread.
    #[inline]
    pub fn has_executed(&self, effect: EffectId) -> bool {
        has(&self.executed, effect.index())
    }

    /// Whether one thread has executed an effect more than once.
    pub fn has_repeated(&self, effect: EffectId) -> bool {
        has(&self.repeated[1], effect.index())
    }

    /// Takes the rules broken so far, and forgets what only matters for other schedules.
    pub fn take_violations(&mut self) -> Vec<Violation> {
        self.schedule_hazards.clear();
        std::mem::take(&mut self.violations).into_list()
    }

    /// Lets a stopped run go on, for a look at what would come.
    pub fn resume(&mut self) {
        self.stopped = false;
    }

    /// Sets how many requests were made to cluster launch control; the machine grants those below its tiles.
    pub fn set_requests(&mut self, requests: i64) {
        self.requests = requests;
    }

    /// Takes a thread past an instruction that was carried out for it.
    pub fn skip_instr(&mut self, thread: usize) {
        if let Some(thread) = self.threads.get_mut(thread) {
            thread.instr += 1;
        }
    }

    /// Takes a thread to the start of a block whose parameters were set for it.
    pub fn enter_block(&mut self, thread: usize, block: BlockId) {
        if let Some(thread) = self.threads.get_mut(thread) {
            (thread.block, thread.instr) = (block, 0);
        }
    }

    /// A number that differs for states that behave differently. Step numbers are left out: they
    /// tell how the state was reached.
    pub(crate) fn digest(&self) -> u128 {
        let mut hasher = Digest::default();
        (&self.vars, self.requests, self.words.digest(|words, digest| words.hash(digest))).hash(&mut hasher);
        for thread in &self.threads {
            thread.life.hash(&mut hasher);
            if thread.life == ThreadStatus::Running {
                thread.digest(|thread, digest| thread.hash(digest)).hash(&mut hasher);
            }
        }
        for (place, barrier) in &self.barriers {
            place.hash(&mut hasher);
            barrier.digest(|barrier, digest| barrier.feed(digest)).hash(&mut hasher);
        }
        self.shadow.feed(&mut hasher);
        self.violations.digest().hash(&mut hasher);
        hasher.bits()
    }
}

fn has(bits: &[u64], number: usize) -> bool {
    bits.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
}

fn add(bits: &mut CopyOnWrite<Vec<u64>>, number: usize) {
    let words = &mut **bits;
    if words.len() <= number / 64 {
        words.resize(number / 64 + 1, 0);
    }
    words[number / 64] |= 1 << (number % 64);
}
