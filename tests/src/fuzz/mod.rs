//! Mutated input for everything that reads text or bytes which somebody else wrote.
//!
//! A [`Target`] is a reader with inputs of our own to begin with. [`fuzz`] changes these at random and notes what
//! panics and what takes longer than a second. Memory is bounded by whoever starts it (`ulimit -v`).

mod mutate;
mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use base::Cancel;
use base::rng::SplitMix64;
pub use targets::{Target, targets};

/// What takes longer hangs for whoever waits.
pub const LIMIT: Duration = Duration::from_secs(1);

/// When an input is given up.
const PATIENCE: Duration = Duration::from_secs(20);

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
    /// What went wrong, at most [`TROUBLES`].
    pub troubles: Vec<Trouble>,
}

/// After so many troubles a campaign ends.
pub const TROUBLES: usize = 8;

/// When a campaign ends.
#[derive(Clone, Copy, Debug)]
pub enum Until {
    /// After so many inputs.
    Inputs(u64),
    /// After so long.
    Time(Duration),
}

/// Reads an input: what a panic says, and how long it took.
fn timed(target: &Target, input: &[u8]) -> (std::thread::Result<()>, Duration) {
    let begun = Instant::now();
    let late = || begun.elapsed() > PATIENCE;
    let read = catch_unwind(AssertUnwindSafe(|| (target.read)(input, &Cancel::when(&late))));
    (read, begun.elapsed())
}

/// Reads mutated inputs; `before` is told of each, for what ends the process.
pub fn fuzz(target: &Target, seed: u64, until: Until, before: &mut dyn FnMut(&[u8])) -> Campaign {
    let (start, mut done) = (Instant::now(), Campaign::default());
    let goes_on = |done: &Campaign| match until {
        Until::Inputs(count) => done.inputs < count,
        Until::Time(time) => start.elapsed() < time,
    };
    while goes_on(&done) && done.troubles.len() < TROUBLES {
        let mut rng = SplitMix64::stream(seed, done.inputs);
        let input = mutate::mutated(&target.inputs, &mut rng);
        before(&input);
        let (mut read, mut took) = timed(target, &input);
        if took > LIMIT {
            // Other programs may have had the processor.
            let again = timed(target, &input);
            (read, took) = if again.1 < took { again } else { (read, took) };
        }
        done.inputs += 1;
        done.slowest = done.slowest.max(took);
        let what = match read {
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                Some(format!("panics: {}", text.unwrap_or_default()))
            }
            Ok(()) if took > LIMIT => Some(format!("takes {took:.1?}")),
            Ok(()) => None,
        };
        done.troubles.extend(what.map(|what| Trouble { input, what }));
    }
    done
}
