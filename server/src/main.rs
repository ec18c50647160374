//! The fencepost binary.
fn main() {}
