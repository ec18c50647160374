//! An effect as a use of a barrier or buffer, in words.

use super::expr::Expr;
use super::scalars::Exprs;
use super::trace::{Chain, Trace, ValueDef};
use super::{PartitionUse, ZEROS};
use kernel::{Access, Effect, EffectId, EffectKind, Issuer, Mode, ViewOp};
use ttgir::queries::spot::captured;
use ttgir::{Def, OpId, Tree};

/// So many ops a stored value is followed back.
const LOOK: usize = 8;

/// Operators that a condition may have; a longer one is named.
const CONDITION: usize = 2;

/// The use that an effect is; what it does and where are still to be said.
pub(super) fn used(trace: &Trace<'_>, id: EffectId, effect: &Effect) -> PartitionUse {
    let site = trace.site(effect.site);
    PartitionUse {
        range: site.name,
        op: site.op.clone(),
        partition: trace.partition(id),
        what: String::new(),
        slot: String::new(),
        cadence: trace.cadence(id),
    }
}

/// Adds a use, once.
pub(super) fn note(uses: &mut Vec<PartitionUse>, used: PartitionUse) {
    if !uses.contains(&used) {
        uses.push(used);
    }
}

/// The index of the slot that a view lies in; none where it names none.
pub(super) fn slot(trace: &Trace<'_>, chain: &Chain) -> Option<Expr> {
    let buffer = trace.kernel().buffers.get(chain.buffer.0 as usize)?;
    let mut indices = chain.vars.iter().filter_map(|var| match trace.made(*var) {
        ValueDef::View(_, ViewOp::Index { index, stride, .. }) if stride >= buffer.slot_bits => Some(index),
        _ => None,
    });
    indices.next().map(|index| Exprs::new(trace).of(index))
}

/// What an effect does with a barrier; `arrival` is its place among an operation's arrivals.
pub(super) fn with_barrier(trace: &Trace<'_>, effect: &Effect, arrival: usize) -> String {
    let exprs = Exprs::new(trace);
    let mut predicate = effect.predicate;
    let mut what = match &effect.kind {
        EffectKind::Init { count, .. } => format!("initialises, counts {count}"),
        EffectKind::Invalidate { .. } => "invalidates".to_owned(),
        EffectKind::Expect { bytes, .. } => format!("arrives and expects {bytes} bytes"),
        EffectKind::Arrive { count: 1, .. } => "arrives".to_owned(),
        EffectKind::Arrive { count, .. } => format!("arrives {count} times"),
        EffectKind::Wait { phase, .. } => format!("waits, phase {}", exprs.of(*phase)),
        EffectKind::ReadPhase { .. } => "reads the phase".to_owned(),
        EffectKind::TensorCoreCommit { .. } => "arrives when the tensor core is done so far".to_owned(),
        EffectKind::AsyncCopyArrive { .. } => "arrives when the cp.async so far are done".to_owned(),
        EffectKind::NamedArrive { threads, .. } => format!("arrives, of {} threads", exprs.of(*threads)),
        EffectKind::NamedWait { .. } | EffectKind::ClusterWait => "waits".to_owned(),
        EffectKind::ClusterArrive { relaxed: true } => "arrives, publishes nothing".to_owned(),
        EffectKind::ClusterArrive { .. } => "arrives".to_owned(),
        EffectKind::Operation { issuer, accesses, completion } => {
            let arrival = completion.arrivals().get(arrival);
            predicate = predicate.or(arrival.and_then(|arrival| arrival.predicate));
            let reads_only = accesses.iter().all(|access| access.mode == Mode::Read);
            let done = match issuer {
                Issuer::TensorCore if accesses.len() > 2 => "the MMA is done",
                Issuer::TensorCore => "the copy is done",
                Issuer::Tma if reads_only => "the store is done",
                Issuer::Tma => "the load has landed",
                Issuer::Clc => "the answer has landed",
                Issuer::Base => "it has landed",
            };
            let bytes = arrival.map_or(0, |arrival| arrival.bytes);
            let everywhere = accesses.iter().any(|access| access.mode == Mode::Write && access.ctas.spread != 0);
            let several = if everywhere { ", in all CTAs of its multicast" } else { "" };
            match bytes {
                0 => format!("arrives when {done}{several}"),
                _ => format!("arrives with {bytes} bytes when {done}{several}"),
            }
        }
        _ => String::new(),
    };
    if let Some(predicate) = predicate {
        what = format!("{what}, if {}", exprs.sized(predicate, CONDITION));
    }
    what
}

/// Whether an op stores a constant tensor of zeros.
pub(super) fn stores_zeros(tree: &Tree, op: OpId) -> bool {
    let Some(mut value) = tree.group(op, "src").first().copied() else { return false };
    for _ in 0..LOOK {
        value = match tree.value_def(value) {
            Def::BlockArg(block, number) => match captured(tree, block, number as usize) {
                Some(outer) => outer,
                None => return false,
            },
            Def::Undefined => return false,
            Def::Result(op, _) if matches!(tree.op_name(op), "tt.splat" | "ttg.convert_layout") => {
                let Some(&source) = tree.operands(op).first() else { return false };
                source
            }
            Def::Result(op, _) => {
                let text = tree.attr(op, "value").map_or("", |attr| tree.attr_text(attr));
                let dense = text.split("dense<").nth(1).and_then(|rest| rest.split('>').next());
                let number = dense.unwrap_or_else(|| text.split(':').next().unwrap_or_default()).trim();
                return tree.op_name(op) == "arith.constant" && number.parse::<f64>().ok() == Some(0.0);
            }
        };
    }
    false
}

/// What an access does.
pub(super) fn with_memory(trace: &Trace<'_>, effect: &Effect, access: &Access) -> String {
    let verb = match (&effect.kind, access.mode) {
        _ if access.clears => "overwrites all of it",
        (EffectKind::Operation { issuer: Issuer::Tma, .. }, Mode::Write) => "loads into it",
        (EffectKind::Operation { issuer: Issuer::Tma, .. }, Mode::Read) => "stores from it",
        (_, Mode::Write) if trace.op(effect.site).is_some_and(|op| stores_zeros(trace.tree, op)) => ZEROS,
        (_, Mode::Write) => "writes",
        (_, Mode::Read) => "reads",
    };
    let mut what = verb.to_owned();
    if matches!(effect.kind, EffectKind::Operation { issuer: Issuer::TensorCore, .. }) && !access.operand.is_empty() {
        what = format!("{what} as {}", operand(access.operand));
    }
    if let Some(predicate) = effect.predicate {
        what = format!("{what}, if {}", Exprs::new(trace).sized(predicate, CONDITION));
    }
    what
}

/// The machine's names of an MMA's operands in words.
fn operand(name: &str) -> &str {
    match name {
        "Acc" | "D" => "the accumulator",
        other => other,
    }
}
