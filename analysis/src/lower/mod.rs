//! Stages from tree to kernel.
