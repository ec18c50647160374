//! The barrier report of a kernel, for people and tools. Every printer takes [`sheet::Sheet`]s.

#![allow(dead_code, reason = "the command that prints comes with the report's analysis")]

pub mod sheet;
