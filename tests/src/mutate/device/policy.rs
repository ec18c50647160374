//! Who goes first: orders that are as unlucky as they can be, and random ones.

use base::rng::SplitMix64;

/// When what was issued happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pace {
    /// At once.
    Eager,
    /// When nothing else can.
    Lazy,
    /// When nothing else can, the last first.
    Backwards,
    /// By chance.
    Random(u64),
}

/// An order of play.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Policy {
    /// When what was issued happens.
    pub pace: Pace,
    /// The thread that goes before all others, or after them.
    pub first: Option<usize>,
    /// See `first`.
    pub last: Option<usize>,
    /// Whether the asynchronous proxy sees a generic write before it has to.
    pub leaks: bool,
}

/// Priorities under a policy.
#[derive(Debug)]
pub struct Order {
    pace: Pace,
    leaks: bool,
    random: SplitMix64,
    threads: Vec<u64>,
}

impl Policy {
    /// The orders that are tried for so many threads, `rounds` of them by chance.
    pub fn all(threads: usize, rounds: u64) -> Vec<Policy> {
        let mut all = Vec::new();
        for (pace, leaks) in [(Pace::Eager, false), (Pace::Lazy, false), (Pace::Lazy, true), (Pace::Backwards, true)] {
            // Of many threads, the first, the last, and some between.
            for thread in (0..threads).step_by(threads.div_ceil(8).max(1)) {
                all.push(Policy { pace, first: Some(thread), last: None, leaks });
                if threads > 2 {
                    all.push(Policy { pace, first: None, last: Some(thread), leaks });
                }
            }
        }
        let random = |seed| Policy { pace: Pace::Random(seed), first: None, last: None, leaks: false };
        all.extend((0..rounds).map(random));
        all
    }

    /// The priorities of so many threads.
    pub fn order(&self, threads: usize) -> Order {
        let seed = if let Pace::Random(seed) = self.pace { seed } else { 0 };
        let mut random = SplitMix64::new(seed);
        let plain = |thread: usize| 1_000 + (threads - thread) as u64;
        let threads = (0..threads).map(|thread| match self.pace {
            Pace::Random(_) => random.next_u64(),
            _ if self.first == Some(thread) => 2_000,
            _ if self.last == Some(thread) => 500,
            _ => plain(thread),
        });
        Order { pace: self.pace, leaks: self.leaks, threads: threads.collect(), random }
    }
}

impl Order {
    /// A thread's priority.
    pub fn thread(&self, thread: usize) -> u64 {
        self.threads.get(thread).copied().unwrap_or(0)
    }

    /// The priority of the `number`th operation that was issued.
    pub fn issued(&mut self, number: u64) -> u64 {
        match self.pace {
            Pace::Eager => u64::MAX - number,
            Pace::Lazy => 400 - number.min(400),
            Pace::Backwards => number.min(400),
            Pace::Random(_) => self.random.next_u64(),
        }
    }

    /// Whether the asynchronous proxy sees a generic write at once.
    pub fn leaks(&mut self) -> bool {
        match self.pace {
            Pace::Random(_) => self.random.next_u64().is_multiple_of(2),
            _ => self.leaks,
        }
    }

    /// Called at each step: now and then a thread's luck changes.
    pub fn tick(&mut self) {
        if let Pace::Random(_) = self.pace {
            let roll = self.random.next_u64();
            if roll.is_multiple_of(16) && !self.threads.is_empty() {
                let thread = (roll >> 8) as usize % self.threads.len();
                self.threads[thread] = self.random.next_u64();
            }
        }
    }
}
