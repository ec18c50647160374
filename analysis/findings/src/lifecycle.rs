//! Barriers that are not live, live twice, or counted past zero; slots that do not exist.

use super::race::Description;
use super::replay::Replay;
use super::words::Words;
use super::{Kind, Note};
use machine::{Rule, Violation};

/// A broken rule of a barrier's life.
pub fn lifecycle(words: &Words<'_>, replay: &Replay, violation: &Violation) -> Option<Description> {
    let barrier =
        violation.barrier.map_or_else(|| "the barrier".to_owned(), |place| format!("`{}`", words.barrier(place)));
    let who = words.partition(violation.thread);
    let op = words.op(violation.site);
    let (kind, message) = match &violation.rule {
        Rule::NotLive { invalidated: true } => {
            (Kind::BarrierNotLive, format!("{who} uses {barrier} after it was invalidated"))
        }
        Rule::NotLive { invalidated: false } => {
            let init = if words.amd() { "amdg.init_barrier" } else { "ttng.init_barrier" };
            (Kind::BarrierNotLive, format!("{who} uses {barrier} before any `{init}`"))
        }
        Rule::Reinit if words.amd() => {
            (Kind::BarrierReinit, format!("{barrier} is initialised again while it is live"))
        }
        Rule::Reinit => (Kind::BarrierReinit, format!("{barrier} is initialised again without `ttng.inval_barrier`")),
        Rule::Overflow => {
            let known =
                violation.barrier.and_then(|place| replay.end.barriers().iter().find(|(known, _)| *known == place));
            let left = known.map_or_else(String::new, |(_, known)| format!(": {} of {}", known.pending, known.initial));
            (Kind::ArrivalOverflow, format!("{op} takes more arrivals off {barrier} than its phase has left{left}"))
        }
        Rule::OutOfBounds { index, count } => {
            (Kind::OutOfBounds, format!("slot {index} does not exist: there are {count}"))
        }
        Rule::BarrierStorage => (
            Kind::BarrierStorageReuse,
            format!("{op} overwrites the storage of {barrier}, which is not invalidated yet"),
        ),
        Rule::WaitedOn { waiter, .. } => (
            Kind::WaitedInvalidation,
            format!("{who} invalidates {barrier} while {} waits on it", words.partition(*waiter)),
        ),
        Rule::ArrivedTwice => {
            (Kind::ArrivalOverflow, format!("{who} arrives at {barrier} again before it has waited for it"))
        }
        _ => return None,
    };
    let mut notes = vec![Note {
        source: None,
        range: words.site_range(violation.site),
        text: format!("{who} executes {op}"),
        primary: true,
    }];
    if let Rule::WaitedOn { waiter, at } = violation.rule {
        let text = format!("{} waits here", words.partition(waiter));
        notes.push(Note { source: None, range: words.site_range(at), text, primary: false });
    }
    Some(Description { kind, message, notes })
}
