//! A reader that is fuzzed, and what it may cost.

use std::time::Duration;

use base::Cancel;
use base::rng::SplitMix64;

use super::memory::Process;
use super::mutate::mutated;

/// What takes longer hangs for whoever waits.
pub const LIMIT: Duration = Duration::from_secs(1);

/// Bytes that a process with one input may take.
pub const MEMORY: u64 = 1 << 30;

/// Makes an input out of some that are right.
pub(crate) type Mutate = fn(&[Vec<u8>], &mut SplitMix64) -> Vec<u8>;

/// Reads an input; a broken promise panics.
pub(crate) type Read = Box<dyn Fn(&[u8], &Cancel<'_>)>;

/// A reader, and inputs that it takes.
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// What is mutated.
    pub inputs: Vec<Vec<u8>>,
    /// How.
    pub mutate: Mutate,
    /// Reads one.
    pub read: Read,
    /// How long one may take.
    pub limit: Duration,
    /// The process that reads it.
    pub process: Box<dyn Fn() -> Process>,
}

impl Target {
    /// One that reads bytes in this process.
    pub(super) fn of(name: &'static str, inputs: Vec<Vec<u8>>, read: impl Fn(&[u8], &Cancel<'_>) + 'static) -> Target {
        let process = Box::new(|| Process::Own);
        Target { name, inputs, mutate: mutated, read: Box::new(read), limit: LIMIT, process }
    }

    /// The same, where one input is read so many times over.
    pub(super) fn times(self, times: u32) -> Target {
        Target { limit: times * LIMIT, ..self }
    }
}
