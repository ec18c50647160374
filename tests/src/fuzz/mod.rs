//! Mutated input for everything that reads text or bytes which somebody else wrote.
//!
//! A [`Target`] is a reader with inputs of our own to begin with. [`fuzz`] changes these at random and notes what
//! panics, what takes longer than it may and what takes more memory. [`all`] does so in processes of their own, so that
//! what ends one is noted too.

mod children;
pub mod memory;
mod mutate;
mod sequences;
mod target;
mod targets;
mod wire;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use base::Cancel;
use base::rng::SplitMix64;

pub use children::{Plan, Row, TROUBLES, all, table};
pub use target::{LIMIT, MEMORY, Target};
pub use targets::targets;

/// When an input is given up, as a multiple of what it may take.
const PATIENCE: u32 = 20;

/// An input that is not read as it should be.
#[derive(Clone, Debug)]
pub struct Trouble {
    /// The input.
    pub input: Vec<u8>,
    /// What happens.
    pub what: String,
}

/// What a campaign came to.
#[derive(Clone, Debug, Default)]
pub struct Campaign {
    /// Inputs that were read.
    pub inputs: u64,
    /// The longest time of one.
    pub slowest: Duration,
    /// The input that took it.
    pub slowest_input: Vec<u8>,
    /// The most bytes that were resident.
    pub peak: u64,
    /// What went wrong, at most [`TROUBLES`].
    pub troubles: Vec<Trouble>,
}

/// When a campaign ends.
#[derive(Clone, Copy, Debug)]
pub enum Until {
    /// After so many inputs.
    Inputs(u64),
    /// After so long.
    Time(Duration),
}

/// Reads an input: what a panic says, and how long it took by the clock and of the processor, whichever is less: other
/// programs may have had the processor, and a reader may wait for another process.
fn timed(target: &Target, input: &[u8]) -> (std::thread::Result<()>, Duration) {
    let (begun, spent) = (Instant::now(), memory::processor_time());
    let most = PATIENCE * target.limit;
    let late = || begun.elapsed() > most;
    let read = catch_unwind(AssertUnwindSafe(|| (target.read)(input, &Cancel::when(&late))));
    let (clock, spent) = (begun.elapsed(), memory::processor_time().saturating_sub(spent));
    let own = (target.process)() == memory::Process::Own && spent > Duration::ZERO;
    (read, if own { clock.min(spent) } else { clock })
}

/// Reads mutated inputs; `before` is told of each, for what ends the process.
pub fn fuzz(target: &Target, seed: u64, until: Until, most: u64, before: &mut dyn FnMut(&[u8])) -> Campaign {
    let (start, mut done) = (Instant::now(), Campaign::default());
    let goes_on = |done: &Campaign| match until {
        Until::Inputs(count) => done.inputs < count,
        Until::Time(time) => start.elapsed() < time,
    };
    while goes_on(&done) && done.troubles.len() < TROUBLES {
        let mut rng = SplitMix64::stream(seed, done.inputs);
        let input = (target.mutate)(&target.inputs, &mut rng);
        before(&input);
        let (mut read, mut took) = timed(target, &input);
        if took > target.limit {
            // The first time may have been somebody else's.
            let again = timed(target, &input);
            (read, took) = if again.1 < took { again } else { (read, took) };
        }
        done.inputs += 1;
        if took > done.slowest {
            (done.slowest, done.slowest_input) = (took, input.clone());
        }
        let mut what = match read {
            Err(panic) => Some(format!("panics: {}", crate::parallel::words(&*panic))),
            Ok(()) if took > target.limit => Some(format!("takes {took:.1?}")),
            Ok(()) => None,
        };
        let peak = (target.process)().peak();
        if peak > most {
            what = what.or_else(|| Some(format!("takes {} MiB", peak >> 20)));
            (target.process)().forget_peak();
        }
        done.peak = done.peak.max(peak);
        done.troubles.extend(what.map(|what| Trouble { input, what }));
    }
    done
}
