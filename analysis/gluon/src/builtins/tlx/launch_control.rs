//! TLX's cluster launch control: answers in a ring, with a barrier for full and one for empty slots.

use super::super::layouts::multicta;
use super::super::mbarrier::words;
use super::super::memory::slot;
use super::barriers::barriers;
use super::cluster::{clustered, cta_rank, in_cta};
use super::operand::{int_or, number, scalar};
use builtins::operand::{flag, given, int, list, memory, need, predicate};
use dialects::{Arith, Ttng};
use python::emit::{Attr, Op, Ssa, Type};
use python::interp::{Eval, Interp, Stop};
use python::library::{Bound, NOTHING, Part, Row};
use python::value::{DType, Value};

/// Bytes of an answer.
const ANSWER: i64 = 16;

pub(super) const PART: Part = Part {
    rows: &[
        Row::effect("tl.extra.tlx.clc_create_context", "num_consumers, num_stages=1", 4, |interp, bound| {
            let consumers = int(interp, need(interp, bound, "num_consumers")?, "num_consumers")?;
            let stages = int_or(interp, bound, "num_stages", 1)?;
            let empty = barriers(interp, stages, DType::Int64, consumers)?;
            let full = barriers(interp, stages, DType::Int64, 1)?;
            let layout = multicta(interp, 1, false)?;
            let answers = words(interp, vec![stages, ANSWER / 8], DType::Int64, layout)?;
            Ok(Value::Tuple([empty, full, answers].into()))
        }),
        Row::effect(
            "tl.extra.tlx.clc_producer",
            "context, p_producer=None, multi_ctas=False, k=0",
            4,
            |interp, bound| {
                let [empty, full, answer] = stage(interp, bound)?;
                // In a cluster the first CTA waits for the consumers of all.
                let own = match several(interp, bound)? {
                    true => {
                        let (rank, zero) = (cta_rank(interp)?, number(interp, &Value::Int(0), "rank")?);
                        compared(interp, "eq", rank, zero)?
                    }
                    false => predicate(interp, None, "pred")?,
                };
                wait(interp, empty, (bound, "p_producer"), own)?;
                let pred = predicate(interp, None, "pred")?;
                let op = Op::new(Ttng::BarrierExpect).operand("alloc", full).attr("size", ANSWER);
                interp.emit_effect(op.operand("pred", pred))?;
                let op = Op::new(Ttng::AsyncClcTryCancel).operand("mbarAlloc", full);
                interp.emit_effect(op.operand("clcResAlloc", answer))
            },
        ),
        Row::effect(
            "tl.extra.tlx.clc_consumer",
            "context, p_consumer=None, multi_ctas=False, k=0, return_3d=False",
            4,
            consume,
        ),
    ],
    ..NOTHING
};

/// The barriers for empty and for full slots, and the answer, of slot `k`.
fn stage<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Result<[Ssa; 3], Stop> {
    let context = list(interp, need(interp, bound, "context")?, "context")?;
    let first = Value::Int(0);
    let at = number(interp, given(bound, "k").unwrap_or(&first), "k")?;
    let mut all = [at; 3];
    for (of, one) in context.iter().zip(&mut all) {
        let of = memory(interp, of, "context")?;
        let view = slot(interp, &of, at)?;
        *one = memory(interp, &view, "context")?.ssa;
    }
    Ok(all)
}

/// Whether the CTAs of a cluster of several take part.
fn several<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Result<bool, Stop> {
    let several = flag(interp, bound.get("multi_ctas"), false, "multi_ctas")?;
    if several {
        clustered(interp)?;
    }
    Ok(several)
}

fn compared(interp: &mut Interp<'_>, how: &str, lhs: Ssa, rhs: Ssa) -> Result<Ssa, Stop> {
    let op = Op::new(Arith::Cmpi).attr("predicate", Attr::Dialect(how.to_owned())).operand("lhs", lhs);
    interp.emit_value(op.operand("rhs", rhs).result("result", Type::BOOL))
}

fn wait<'a>(interp: &mut Interp<'a>, bar: Ssa, (bound, name): (&Bound<'a>, &str), pred: Ssa) -> Result<(), Stop> {
    let Some(phase) = given(bound, name).cloned() else { return interp.raise(format!("`{name}` is not given")) };
    let phase = number(interp, &phase, name)?;
    let op = Op::new(Ttng::WaitBarrier).operand("alloc", bar).operand("phase", phase).operand("pred", pred);
    interp.emit_effect(op).map(drop)
}

fn consume<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let [empty, full, answer] = stage(interp, bound)?;
    let always = predicate(interp, None, "pred")?;
    wait(interp, full, (bound, "p_consumer"), always)?;
    let op = Op::new(Ttng::ClcQueryCancel).operand("clcResAlloc", answer);
    let op = ["ctaIdX", "ctaIdY", "ctaIdZ"].into_iter().fold(op, |op, name| op.result(name, Type::I32));
    let tile = interp.emit(op)?;
    interp.emit_effect(Op::new(Ttng::FenceAsyncShared).attr("bCluster", false))?;
    let tiles: Vec<Value<'a>> = tile.iter().map(|ssa| scalar(*ssa, DType::Int32)).collect();
    let Some(&first) = tile.first() else { return interp.unknown("launch control gives no tile") };
    // A slot whose answer holds no tile is not handed back.
    let zero = number(interp, &Value::Int(0), "tile")?;
    let granted = compared(interp, "sge", first, zero)?;
    let empty = match several(interp, bound)? {
        true => in_cta(interp, empty, zero)?,
        false => empty,
    };
    let op = Op::new(Ttng::ArriveBarrier).operand("alloc", empty).attr("count", 1).operand("pred", granted);
    interp.emit_effect(op)?;
    if flag(interp, bound.get("return_3d"), false, "return_3d")? {
        return Ok(Value::Tuple(tiles.into()));
    }
    Ok(scalar(first, DType::Int32))
}
