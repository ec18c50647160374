//! What can be explored: a machine with threads. The search knows nothing of what it searches.

/// Whether a thread can go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Readiness {
    /// Its next step can be taken.
    Ready,
    /// It waits for another thread.
    Blocked,
    /// It has ended, or was never started.
    Idle,
}

/// A machine that an explorer can drive. Steps are deterministic.
pub trait System {
    /// A configuration of the machine, from which it can go on.
    type State: Clone;

    /// Where every run starts.
    fn initial(&self) -> Self::State;

    /// Number of threads.
    fn threads(&self) -> usize;

    /// Whether a thread can go on.
    fn status(&self, state: &Self::State, thread: usize) -> Readiness;

    /// Whether the next step of a ready thread changes nothing that another thread's step can notice, so that
    /// it commutes with all of them.
    fn is_local(&self, state: &Self::State, thread: usize) -> bool;

    /// Takes the next step of a ready thread.
    fn step(&self, state: &mut Self::State, thread: usize);

    /// Called once where no thread is ready.
    fn finish(&self, state: &mut Self::State);

    /// Whether the run has to stop here (a broken rule that leaves no sensible continuation).
    fn stopped(&self, state: &Self::State) -> bool;

    /// A number that differs for states that behave differently.
    fn digest(&self, state: &Self::State) -> u128;
}
