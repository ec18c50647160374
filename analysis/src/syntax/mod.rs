//! Lossless, error-tolerant syntax.

pub mod gluon;
pub mod ttgir;
