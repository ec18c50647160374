//! An mbarrier as the PTX ISA describes it.

/// Bits of the transaction count (PTX ISA: 20).
const LIMIT: i64 = (1 << 20) - 1;

/// A barrier's word.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Barrier {
    live: bool,
    expected: i64,
    pending: i64,
    bytes: i64,
    phase: i64,
}

/// What must not be done to a barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Misuse;

impl Barrier {
    /// `mbarrier.init`.
    pub(super) fn init(&mut self, count: i64) -> Result<(), Misuse> {
        if self.live {
            return Err(Misuse);
        }
        *self = Barrier { live: true, expected: count, pending: count, bytes: 0, phase: 0 };
        Ok(())
    }

    /// `mbarrier.inval`.
    pub(super) fn invalidate(&mut self) -> Result<(), Misuse> {
        self.live.then(|| self.live = false).ok_or(Misuse)
    }

    /// Raises the arrivals that are missing.
    pub(super) fn expect_more(&mut self, count: i64) -> Result<(), Misuse> {
        self.pending += count;
        self.live.then_some(()).ok_or(Misuse)
    }

    /// Takes arrivals off and adds bytes to come.
    pub(super) fn arrive(&mut self, count: i64, bytes: i64) -> Result<(), Misuse> {
        (self.pending, self.bytes) = (self.pending - count, self.bytes + bytes);
        if !self.live || self.pending < 0 || self.bytes.abs() > LIMIT {
            return Err(Misuse);
        }
        if self.pending == 0 && self.bytes == 0 {
            (self.pending, self.phase) = (self.expected, self.phase ^ 1);
        }
        Ok(())
    }

    /// The phase that it is in; an error where it is no barrier.
    pub(super) fn phase(&self) -> Result<i64, Misuse> {
        self.live.then_some(self.phase).ok_or(Misuse)
    }

    /// Whether a wait for a phase passes; an error where it is no barrier.
    pub(super) fn passes(&self, phase: i64) -> Result<bool, Misuse> {
        self.live.then_some(self.phase != phase & 1).ok_or(Misuse)
    }
}
