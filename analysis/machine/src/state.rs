//! A configuration of the machine.

use super::barrier::Barrier;
use super::shadow::Shadow;
use super::thread::{Life, Thread};
use super::violation::{BarrierPlace, Escape, Violation};

use kernel::Var;
use rustc_hash::FxHashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Where all threads stand, what memory and barriers hold, and what went wrong so far.
#[derive(Clone, Debug)]
pub struct State {
    /// Values of variables, one environment a CTA; a memdesc is its buffer and start in bits.
    pub vars: Vec<i64>,
    /// Variables of one CTA.
    pub stride: usize,
    /// The partitions of the first CTA, the default one first, then those of the next.
    pub threads: Vec<Thread>,
    /// Memory.
    pub shadow: Shadow,
    /// Barriers that were named so far, with their places: a row a CTA.
    pub barriers: Vec<(BarrierPlace, Barrier)>,
    places: FxHashMap<BarrierPlace, u32>,
    /// By CTA: partitions that run; the default one joins when there are none.
    pub running: Vec<u32>,
    /// Requests made to cluster launch control.
    pub requests: i64,
    /// Steps taken.
    pub step: u32,
    /// Instructions executed.
    pub work: u64,
    /// Rules broken so far.
    pub violations: Vec<Violation>,
    /// Points where another schedule may go another way.
    pub escapes: Vec<Escape>,
    /// Whether the run has to stop.
    pub stopped: bool,
    /// Why the machine could not follow the kernel, if so.
    pub lost: Option<Lost>,
    /// Whether an unmodelled op was executed.
    pub unmodelled: bool,
}

/// Why the machine could not follow a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Lost {
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
    pub fn new(ctas: usize, partitions: usize, vars: usize) -> State {
        State {
            vars: vec![0; vars * ctas],
            stride: vars,
            threads: vec![Thread::unborn(); partitions * ctas],
            shadow: Shadow::new(ctas),
            barriers: Vec::new(),
            places: FxHashMap::default(),
            running: vec![0; ctas],
            requests: 0,
            step: 0,
            work: 0,
            violations: Vec::new(),
            escapes: Vec::new(),
            stopped: false,
            lost: None,
            unmodelled: false,
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
    pub fn known(&self, place: BarrierPlace) -> Option<usize> {
        self.places.get(&place).map(|&number| number as usize)
    }

    /// The number of a barrier by its place; a new one where it was never named.
    pub fn barrier(&mut self, place: BarrierPlace) -> usize {
        let barriers = &mut self.barriers;
        *self.places.entry(place).or_insert_with(|| {
            barriers.push((place, Barrier::default()));
            barriers.len() as u32 - 1
        }) as usize
    }

    /// Numbers barriers and windows as another state does.
    pub(super) fn learn(&mut self, other: &State) {
        self.barriers = other.barriers.iter().map(|(place, _)| (*place, Barrier::default())).collect();
        self.places = other.places.clone();
        self.shadow = other.shadow.without_history();
    }

    /// A number that differs for states that behave differently. Step numbers are left out: they
    /// tell how the state was reached.
    pub fn digest(&self) -> u128 {
        let half = |salt: u64| {
            let mut hasher = DefaultHasher::new();
            salt.hash(&mut hasher);
            (&self.vars, self.requests).hash(&mut hasher);
            for thread in &self.threads {
                thread.life.hash(&mut hasher);
                if thread.life == Life::Running {
                    thread.hash(&mut hasher);
                }
            }
            for (place, barrier) in &self.barriers {
                place.hash(&mut hasher);
                barrier.digest(&mut hasher);
            }
            for history in self.shadow.histories() {
                for event in history.write.iter().chain(&history.reads) {
                    (event.channel, event.number, event.effect, event.mode, event.grants).hash(&mut hasher);
                }
                history.initialised.hash(&mut hasher);
            }
            for violation in &self.violations {
                (std::mem::discriminant(&violation.rule), violation.site).hash(&mut hasher);
            }
            hasher.finish()
        };
        (u128::from(half(0x9e37_79b9)) << 64) | u128::from(half(0x7f4a_7c15))
    }
}
