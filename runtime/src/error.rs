//! Why a kernel could not be run.

use std::fmt;

/// Why nothing could be run; the message is for the user and says what to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunError(pub String);

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RunError {}
