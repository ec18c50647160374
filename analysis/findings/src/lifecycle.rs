//! Barriers that are not live, live twice, or counted past zero; slots that do not exist.

use super::description::Description;
use super::replay::ReplayedRun;
use super::words::Words;
use super::{Kind, Note, Severity};
use base::{Message, message};
use kernel::{EffectKind, Var};
use machine::{CountOverrun, Rule, TxCount, Violation};

/// A broken rule of a barrier's life.
pub(crate) fn lifecycle(words: &Words<'_>, replay: &ReplayedRun, violation: &Violation) -> Option<Description> {
    let barrier =
        violation.barrier.map_or_else(|| "the barrier".into(), |place| words.barrier_of(place, violation.thread));
    let who = words.partition(violation.thread);
    let op = words.op(violation.site);
    let (kind, message) = match &violation.rule {
        Rule::NotLive { invalidated: true } => {
            (Kind::BarrierNotLive, message!("{who} uses {barrier} after it was invalidated", who, barrier))
        }
        Rule::NotLive { invalidated: false } => {
            let init = Message::op(if words.amd() { "amdg.init_barrier" } else { "ttng.init_barrier" });
            (Kind::BarrierNotLive, message!("{who} uses {barrier} before any `{init}`", who, barrier, init))
        }
        Rule::Reinit if words.amd() => {
            (Kind::BarrierReinit, message!("{barrier} is initialised again while it is live", barrier))
        }
        Rule::Reinit => {
            (Kind::BarrierReinit, message!("{barrier} is initialised again without `{ttng.inval_barrier}`", barrier))
        }
        Rule::Overflow(count) => {
            let known =
                violation.barrier.and_then(|place| replay.end.barriers().iter().find(|(known, _)| *known == place));
            let known = known.map(|(_, known)| known);
            let message = match count {
                CountOverrun::Arrivals => {
                    let left = known.map(|known| message!(": {} of {}", known.pending, known.initial));
                    message!("{op} takes more arrivals off {barrier} than its phase has left{left}", op, barrier, left)
                }
                CountOverrun::Bytes => {
                    let most = TxCount::LIMIT;
                    let open = known.map(|known| match known.bytes {
                        bytes if bytes < 0 => message!(": {} bytes have come that nobody expects", -bytes),
                        bytes => message!(": {bytes} bytes are expected that have not come", bytes),
                    });
                    message!(
                        "{op} takes the transaction count of {barrier} out of its range of {most} bytes{open}",
                        op,
                        barrier,
                        most,
                        open
                    )
                }
            };
            (Kind::ArrivalOverflow, message)
        }
        Rule::OutOfBounds { index, count: Some(0) } => {
            (Kind::OutOfBounds, message!("this view ends {index} bytes behind the memory that it is a view of", index))
        }
        Rule::OutOfBounds { index, count } => {
            let all = count.map(|count| message!(": there are {count}", count));
            (Kind::OutOfBounds, message!("slot {index} does not exist{all}", index, all))
        }
        Rule::BarrierStorage => (
            Kind::BarrierStorageReuse,
            message!("{op} overwrites the storage of {barrier}, which is not invalidated yet", op, barrier),
        ),
        Rule::WaitedOn { waiter, .. } => (
            Kind::WaitedInvalidation,
            message!("{who} invalidates {barrier} while {} waits on it", who, barrier, words.partition(*waiter)),
        ),
        Rule::InFlight { issuer, at, .. } => {
            let op = if *issuer == violation.thread {
                words.op(*at)
            } else {
                message!("{} in {}", words.op(*at), words.partition(*issuer))
            };
            (
                Kind::WaitedInvalidation,
                message!(
                    "{who} invalidates {barrier} while {op}, which arrives on it when it is done, may still be under way",
                    who,
                    barrier,
                    op
                ),
            )
        }
        Rule::NotArrived => (
            Kind::BarrierNotLive,
            message!("{who} waits at {barrier} without an arrival there since its last wait", who, barrier),
        ),
        Rule::ArrivedTwice => (
            Kind::ArrivalOverflow,
            message!("{who} arrives at {barrier} again before it has waited for it", who, barrier),
        ),
        _ => return None,
    };
    let mut notes = vec![Note::primary(words.site_range(violation.site), message!("{who} executes {op}", who, op))];
    if let Rule::InFlight { issuer, at, .. } = violation.rule {
        let text = message!("{} starts it here, and {who} has not seen it done", words.partition(issuer), who);
        notes.push(Note::new(words.site_range(at), text));
    }
    if let Rule::WaitedOn { waiter, at } = violation.rule {
        let text = message!("{} waits here", words.partition(waiter));
        notes.push(Note::new(words.site_range(at), text));
    }
    let mut told = Description::of(kind, message, notes);
    if matches!(violation.rule, Rule::BarrierStorage)
        && let (Some(barrier), Some(effect)) = (violation.barrier, violation.effect)
    {
        let views: Vec<Var> = match &words.kernel.effect(effect).kind {
            EffectKind::Operation { accesses, .. } => accesses.iter().map(|access| access.view).collect(),
            EffectKind::Init { barrier, .. } => vec![*barrier],
            _ => Vec::new(),
        };
        let buffers = views.into_iter().filter_map(|view| words.buffer_of(view));
        if let Some((range, text)) = buffers.filter_map(|buffer| words.same_memory(barrier.buffer, buffer)).next() {
            // Where it lies is for Triton to say.
            told.severity = Severity::Warning;
            told.notes.push(Note::new(range, text));
        }
    }
    Some(told)
}
