//! TLX's matrix products: wgmma on Hopper, tcgen05 on Blackwell.

use super::barriers::one;
use super::cluster::{clustered, cta_rank};
use super::operand::number;
use builtins::operand::{dtype as element, flag, given, int, list, memory, need, predicate, tensor};
use dialects::{Arith, Ttng};
use python::emit::{Attr, Op, Ssa, Type};
use python::interp::{Eval, Interp, Stop};
use python::library::{Bound, NOTHING, Part, Row};
use python::value::{DType, DescSpace, MemDesc, Tensor, Value};

pub(super) const PART: Part = Part {
    rows: &[
        Row::effect(
            "tl.extra.tlx.async_dot",
            "A, B, acc=None, use_acc=None, pred=None, mBarriers=[], two_ctas=False, force_async=False, \
             input_precision=None, out_dtype=None",
            4,
            dot,
        ),
        Row::effect(
            "tl.extra.tlx.async_dot_scaled",
            "A, B, acc, A_scale, A_format, B_scale, B_format, use_acc=None, pred=None, mBarriers=[], two_ctas=False, \
             force_async=False, out_dtype=None",
            4,
            scaled,
        ),
        Row::effect("tl.extra.tlx.async_dot_wait", "pendings, inp", 4, |interp, bound| {
            let pendings = int(interp, need(interp, bound, "pendings")?, "pendings")?;
            let of = tensor(interp, need(interp, bound, "inp")?, "inp")?;
            let input = interp.ssa(&of);
            let op = Op::new(Ttng::WarpGroupDotWait).operands("inputs", &[input]).attr("pendings", pendings);
            let ssa = interp.emit_value(op.results("outputs", [of.ir()]))?;
            Ok(Value::Tensor(Tensor { ssa: Some(ssa), constant: None, ..of }))
        }),
        Row::effect("tl.extra.tlx.tcgen05_commit", "mBarrier, two_ctas=False", 4, |interp, bound| {
            let bar = one(interp, &need(interp, bound, "mBarrier")?.clone(), "mBarrier")?;
            let pred = match together(interp, bound)? {
                true => first_of_pair(interp)?,
                false => predicate(interp, None, "pred")?,
            };
            interp.emit_effect(Op::new(Ttng::TcGen5Commit).operand("barrier", bar.ssa).operand("pred", pred))
        }),
    ],
    ..NOTHING
};

/// Whether two CTAs multiply together.
fn together<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Result<bool, Stop> {
    let pairs = flag(interp, bound.get("two_ctas"), false, "two_ctas")?;
    if pairs {
        clustered(interp)?;
        interp.two_ctas = true;
    }
    Ok(pairs)
}

/// Whether this is the first CTA of a pair.
fn first_of_pair(interp: &mut Interp<'_>) -> Result<Ssa, Stop> {
    let (rank, two) = (cta_rank(interp)?, number(interp, &Value::Int(2), "rank")?);
    let op = Op::new(Arith::Remui).operand("lhs", rank).operand("rhs", two);
    let rest = interp.emit_value(op.result("result", Type::I32))?;
    let zero = number(interp, &Value::Int(0), "rank")?;
    let op = Op::new(Arith::Cmpi).attr("predicate", Attr::Dialect("eq".to_owned())).operand("lhs", rest);
    interp.emit_value(op.operand("rhs", zero).result("result", Type::BOOL))
}

/// `a` is M × K, `b` is K × N, the result M × N; of a pair of CTAs each has half of `b`.
fn product(interp: &Interp<'_>, a: &[i64], b: &[i64], acc: &[i64], pairs: bool) -> Result<(), Stop> {
    match (a, b, acc) {
        ([m, k], [l, n], [rows, columns]) if k == l && m == rows && n * (1 + i64::from(pairs)) == *columns => Ok(()),
        _ => interp.raise(format!("{a:?} times {b:?} does not give {acc:?}")),
    }
}

fn dot<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let pairs = together(interp, bound)?;
    let b = memory(interp, need(interp, bound, "B")?, "B")?;
    let (a, rows) = match need(interp, bound, "A")? {
        Value::MemDesc(of) => (of.ssa, of.shape.clone()),
        other => {
            let of = tensor(interp, &other.clone(), "A")?;
            (interp.ssa(&of), of.shape.to_vec())
        }
    };
    let acc = match given(bound, "acc") {
        Some(Value::MemDesc(acc)) if acc.space == DescSpace::Tensor => {
            let acc = acc.clone();
            product(interp, &rows, &b.shape, &acc.shape, pairs)?;
            let op = Op::new(Ttng::TcGen5Mma).operand("a", a).operand("b", b.ssa);
            return finish(interp, bound, &acc, op, pairs);
        }
        Some(acc) => tensor(interp, &acc.clone(), "acc")?,
        None => {
            let dtype = given(bound, "out_dtype").map_or(Ok(DType::Fp32), |of| element(interp, of, "out_dtype"))?;
            let shape = [rows.first().copied().unwrap_or(1), b.shape.last().copied().unwrap_or(1)];
            let Value::Tensor(zeros) = interp.registers(dtype, &shape, Value::None) else { return Ok(Value::None) };
            zeros
        }
    };
    product(interp, &rows, &b.shape, &acc.shape, pairs)?;
    let c = interp.ssa(&acc);
    let op = Op::new(Ttng::WarpGroupDot).operand("a", a).operand("b", b.ssa).operand("c", c);
    let op = op.attr("inputPrecision", 0).attr("isAsync", Attr::Bool(true));
    let ssa = interp.emit_value(op.result("d", acc.ir()))?;
    Ok(Value::Tensor(Tensor { ssa: Some(ssa), constant: None, ..acc }))
}

fn scaled<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let pairs = together(interp, bound)?;
    let part = |name| memory(interp, need(interp, bound, name)?, name);
    let (a, b, acc) = (part("A")?, part("B")?, part("acc")?);
    let (a_scale, b_scale) = (part("A_scale")?, part("B_scale")?);
    let format = |name: &str| match need(interp, bound, name)? {
        Value::Str(text) if matches!(&**text, "e2m1" | "e4m3" | "e5m2") => Ok(text.clone()),
        Value::Unknown(reason) => interp.unknown(reason.clone()),
        _ => interp.raise(format!("`{name}` is one of \"e2m1\", \"e4m3\" and \"e5m2\"")),
    };
    let (lhs, rhs) = (format("A_format")?, format("B_format")?);
    let op = Op::new(Ttng::TcGen5MmaScaled)
        .operand("a", a.ssa)
        .operand("b", b.ssa)
        .operand("a_scale", a_scale.ssa)
        .operand("b_scale", b_scale.ssa)
        .attr("a_type", &*lhs)
        .attr("b_type", &*rhs);
    finish(interp, bound, &acc, op, pairs)
}

/// Adds what all products in tensor memory are given. Of one that names no barrier and is not forced to be asynchronous the
/// compiler sees to the wait, and in a loop it may put that behind the copies of the next iteration.
fn finish<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, acc: &MemDesc<'a>, op: Op, pairs: bool) -> Eval<'a> {
    let use_acc = predicate(interp, given(bound, "use_acc"), "use_acc")?;
    let pred = predicate(interp, given(bound, "pred"), "pred")?;
    let named = given(bound, "mBarriers").map_or(Ok(Vec::new()), |bars| list(interp, bars, "mBarriers"))?;
    if named.is_empty() && !flag(interp, bound.get("force_async"), false, "force_async")? {
        return interp.unknown("where the compiler waits for a product without `mBarriers` is not known");
    }
    let (mut bars, mut preds): (Vec<Ssa>, Vec<Ssa>) = (Vec::new(), Vec::new());
    for bar in &named {
        bars.push(one(interp, bar, "mBarriers")?.ssa);
        preds.push(predicate(interp, None, "pred")?);
    }
    let op = op
        .operand("d", acc.ssa)
        .operand("useD", use_acc)
        .operand("pred", pred)
        .flag("is_async", true)
        .operands("barriers", &bars)
        .operands("barrier_preds", &preds)
        .attrs(pairs.then_some(("two_ctas", Attr::Bool(true))));
    interp.emit_effect(op.result("token", Type::Token))
}
