//! Lossless, error-tolerant syntax.
