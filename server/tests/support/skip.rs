//! Tests that need a program which the machine does not have.

use std::io::Write;

/// Says that a test cannot run here, past the harness' capture: `cargo xtask test` gathers these lines.
pub(crate) fn skip(name: &str, why: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {name}: {why}");
}
