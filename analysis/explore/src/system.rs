//! What can be explored: a machine with threads. The search knows nothing of what it searches.

/// Whether a thread can go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// Its next step can be taken.
    Ready,
    /// It waits for another thread.
    Blocked,
    /// It has ended, or was never started.
    Idle,
}

/// Something that two threads may do to each other: steps on different objects commute.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Touches {
    /// Nothing that another thread's step can notice.
    Nothing,
    /// The shared object with this number, in a way that commutes with its like.
    Looks(u32),
    /// The shared object with this number.
    Changes(u32),
    /// Unknown: conflicts with every step.
    Anything,
}

impl Touches {
    /// Whether the order of the two steps may matter.
    pub fn conflicts(self, other: Touches) -> bool {
        use Touches::*;
        match (self, other) {
            (Nothing, _) | (_, Nothing) => false,
            (Anything, _) | (_, Anything) => true,
            (Looks(_), Looks(_)) => false,
            (Looks(a) | Changes(a), Looks(b) | Changes(b)) => a == b,
        }
    }
}

/// A machine that an explorer can drive. Steps are deterministic.
pub trait System {
    /// A configuration.
    type State: Clone;

    /// Where every run starts.
    fn initial(&self) -> Self::State;

    /// Number of threads.
    fn threads(&self) -> usize;

    /// Whether a thread can go on.
    fn status(&self, state: &Self::State, thread: usize) -> Status;

    /// What the next step of a ready thread touches.
    fn touches(&self, state: &Self::State, thread: usize) -> Touches;

    /// Takes the next step of a ready thread.
    fn step(&self, state: &mut Self::State, thread: usize);

    /// Called once where no thread is ready.
    fn finish(&self, state: &mut Self::State);

    /// Whether the run has to stop here (a broken rule that leaves no sensible continuation).
    fn stopped(&self, state: &Self::State) -> bool;

    /// A number that differs for states that behave differently.
    fn digest(&self, state: &Self::State) -> u128;
}
