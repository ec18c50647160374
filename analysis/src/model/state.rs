//! A configuration of the machine.

use super::barrier::Barrier;
use super::shadow::Shadow;
use super::thread::{Life, Thread};
use super::violation::{BarrierPlace, Escape, Violation};

use std::hash::{DefaultHasher, Hash, Hasher};

/// Where all threads stand, what memory and barriers hold, and what went wrong so far.
#[derive(Clone, Debug)]
pub struct State {
    /// Values of variables; a memdesc is its buffer and start in bits.
    pub vars: Vec<i64>,
    /// The default partition first.
    pub threads: Vec<Thread>,
    /// Memory.
    pub shadow: Shadow,
    /// Barriers that were named so far, with their places.
    pub barriers: Vec<(BarrierPlace, Barrier)>,
    /// Partitions that run; thread 0 joins when there are none.
    pub running: u32,
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

/// A memdesc as a variable's value.
pub fn pack(buffer: u32, start: u64) -> i64 {
    (i64::from(buffer) << 40) | start as i64
}

/// The buffer and the start in bits of a memdesc value.
pub fn unpack(value: i64) -> (u32, u64) {
    ((value >> 40) as u32, (value & ((1 << 40) - 1)) as u64)
}

impl State {
    /// The number of a barrier by its place; a new one where it was never named.
    pub fn barrier(&mut self, place: BarrierPlace) -> usize {
        match self.barriers.iter().position(|(known, _)| *known == place) {
            Some(found) => found,
            None => {
                self.barriers.push((place, Barrier::default()));
                self.barriers.len() - 1
            }
        }
    }

    /// A number that differs for states that behave differently. Step numbers are left out: they
    /// tell how the state was reached.
    pub fn digest(&self) -> u128 {
        let half = |salt: u64| {
            let mut hasher = DefaultHasher::new();
            salt.hash(&mut hasher);
            self.vars.hash(&mut hasher);
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
                    (event.channel, event.number, event.effect, event.mode).hash(&mut hasher);
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
