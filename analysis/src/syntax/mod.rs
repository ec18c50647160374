//! Lossless, error-tolerant syntax.

pub mod ttgir;
