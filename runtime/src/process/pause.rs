//! Waiting for the system.

use std::time::Duration;

/// Waits for the system: that a child has ended or a file is let go of is told to nobody, it can only be asked for.
#[allow(clippy::disallowed_methods)]
pub(super) fn pause(time: Duration) {
    std::thread::sleep(time);
}
