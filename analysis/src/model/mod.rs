//! The abstract machine.
