//! Runs of a few program instances with concrete inputs, through all orders of what they do to common words: where a
//! race is, its bytes; where a handover through memory keeps two accesses apart, that it does.

mod conflict;
mod evaluate;
mod event;
mod instance;
mod memory;
mod schedule;
mod setting;
mod watch;

pub(crate) use conflict::Meeting;
pub(crate) use event::Event;
pub(crate) use instance::Stuck;
pub(crate) use schedule::{Allowance, FirstWords, Hang, Outcome, explore};
pub(crate) use setting::Setting;
