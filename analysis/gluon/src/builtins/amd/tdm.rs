//! The tensor data mover of CDNA 5.
//!
//! Where an operation is given offsets or a predicate, a changed descriptor goes before it, as in Triton.

use std::rc::Rc;

use super::super::mbarrier::barrier;
use super::super::tma::{make_descriptor, ssas};
use super::operand::none;
use builtins::items;
use builtins::operand::{descriptor, given, int, ints, list, memory, need, tensor};
use builtins::tensor::{cast, pointee};
use dialects::Amdg;
use python::doubt::DoubtKind;
use python::emit::{Op, Ssa, Type};
use python::interp::{Eval, Interp, Stop};
use python::library::types::descriptor_type;
use python::library::{Bound, NOTHING, Part, Row};
use python::value::{DType, DescKind, DescSpace, MemDesc, TensorDesc, Value};

const LOAD: &str = "src, offsets=None, dest=None, pred=None, mbarrier=None, warp_used_hint=None, cache_modifier=''";
const STORE: &str = "dest, offsets=None, src=None, mbarrier=None, cache_modifier=''";
const UPDATE: &str = "desc, add_offsets=None, set_bounds=None, pred=None, clamp_bounds=False";

pub(super) const PART: Part = Part {
    rows: &[
        Row::new("gl.amd.cdna5.tdm.make_tensor_descriptor", "base, shape, strides, block_shape, layout", 6, make),
        Row::new("gl.amd.cdna5.tdm.update_tensor_descriptor", UPDATE, 8, update),
        Row::effect("gl.amd.cdna5.tdm.async_load", LOAD, 8, load),
        Row::effect("gl.amd.cdna5.tdm.async_load", "src, offsets, dest, pred=1, mbarrier=None", 6, load).until(7),
        Row::effect("gl.amd.cdna5.tdm.async_load_fused", "members, cache_modifier=''", 9, load_fused),
        Row::effect("gl.amd.cdna5.tdm.async_store", STORE, 8, store),
        Row::effect("gl.amd.cdna5.tdm.async_store", "dest, offsets, src, mbarrier=None", 6, store).until(7),
        Row::effect("gl.amd.cdna5.tdm.async_gather", "desc, src_row_indices, dst, mbarrier=None", 8, gather),
        Row::effect(
            "gl.amd.cdna5.tdm.async_gather",
            "desc, src_row_indices, src_col_offset, dst, mbarrier=None",
            7,
            gather,
        )
        .until(7),
        Row::effect("gl.amd.cdna5.tdm.async_scatter", "desc, dst_row_indices, src, mbarrier=None", 8, scatter),
        Row::effect(
            "gl.amd.cdna5.tdm.async_scatter",
            "desc, dst_row_indices, dst_col_offset, src, mbarrier=None",
            7,
            scatter,
        )
        .until(7),
        Row::effect("gl.amd.cdna5.tdm.async_wait", "num_outstanding=0", 6, wait),
        Row::new("gl.amd.cdna5.tdm.prefetch", "src, offsets, pred=True, speculative=False", 7, none),
        Row::new(
            "gl.amd.cdna5.tdm._test_prefetch_with_offsets",
            "src, offsets, pred=True, speculative=False",
            7,
            |_, _| Ok(Value::Unknown("Triton computes the offsets of a prefetch itself".into())),
        ),
    ],
    ..NOTHING
};

/// Integers of a list as scalars of one type.
fn scalars<'a>(interp: &mut Interp<'a>, value: &Value<'a>, dtype: DType, name: &str) -> Result<Vec<Value<'a>>, Stop> {
    let mut made = Vec::new();
    for item in list(interp, value, name)? {
        let number = match &item {
            Value::Int(_) | Value::Bool(_) => {
                let number = i128::from(int(interp, &item, name)?);
                interp.constant(number, dtype)
            }
            other => {
                let number = tensor(interp, other, name)?;
                if !number.shape.is_empty() || !number.dtype.is_int() {
                    return interp.raise(format!("`{name}` has something that is no integer"));
                }
                cast(interp, &number, dtype)
            }
        };
        made.push(Value::Tensor(number));
    }
    Ok(made)
}

fn make<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let base = tensor(interp, need(interp, bound, "base")?, "base")?;
    let dtype = pointee(interp, &base)?;
    let block = ints(interp, need(interp, bound, "block_shape")?, "block_shape")?;
    let layout = need(interp, bound, "layout")?.clone();
    let shape = scalars(interp, need(interp, bound, "shape")?, DType::Int32, "shape")?;
    let strides = scalars(interp, need(interp, bound, "strides")?, DType::Int64, "strides")?;
    if !(1..=5).contains(&shape.len()) || strides.len() != shape.len() || block.len() != shape.len() {
        return interp.raise("`shape`, `strides` and `block_shape` have the same number of dimensions, from 1 to 5");
    }
    let ty = descriptor_type(interp, DescKind::Tdm, dtype, &block, &layout)?;
    let base = interp.ssa(&base);
    let ssa = make_descriptor(interp, base, (&shape, &strides), ty, (bound, dtype))?;
    let made = TensorDesc { ssa, kind: DescKind::Tdm, dtype, block_shape: block, layout, shape, strides };
    Ok(Value::TensorDesc(Rc::new(made)))
}

/// A descriptor with something changed.
struct Change<'a> {
    offsets: Option<Value<'a>>,
    bounds: Option<Value<'a>>,
    pred: Option<Value<'a>>,
    clamp: bool,
}

fn changed<'a>(interp: &mut Interp<'a>, desc: &TensorDesc<'a>, change: &Change<'a>) -> Result<TensorDesc<'a>, Stop> {
    let mut op = Op::new(Amdg::UpdateTensorDescriptor).operand("desc", desc.ssa);
    let rank = desc.block_shape.len();
    for (name, value) in [("add_offsets", &change.offsets), ("set_bounds", &change.bounds)] {
        let Some(value) = value else { continue };
        let numbers = scalars(interp, value, DType::Int32, name)?;
        if numbers.len() != rank {
            return interp.raise(format!("`{name}` has {} numbers for {rank} dimensions", numbers.len()));
        }
        op = op.operands(name, &ssas(interp, &numbers));
    }
    if let Some(pred) = &change.pred {
        let pred = match pred {
            Value::Bool(value) => Value::Int(i128::from(*value)),
            other => other.clone(),
        };
        let pred = tensor(interp, &pred, "pred")?;
        if !pred.shape.is_empty() || !matches!(pred.dtype, DType::Int1 | DType::Int32) {
            return interp.raise(format!("`pred` is an int32 or a bool, not {}", pred.dtype.name()));
        }
        let pred = cast(interp, &pred, DType::Int32);
        op = op.operand("pred", interp.ssa(&pred));
    }
    let ty = interp.ty(desc.ssa);
    let ssa = interp.emit_value(op.flag("clamp_bounds", change.clamp).result("result", ty))?;
    Ok(TensorDesc { ssa, ..desc.clone() })
}

fn update<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let desc = descriptor(interp, need(interp, bound, "desc")?, "desc")?;
    let clamp = match bound.get("clamp_bounds") {
        Some(clamp) => interp.truth(clamp).unwrap_or(false),
        None => false,
    };
    let change = Change {
        offsets: given(bound, "add_offsets").cloned(),
        bounds: given(bound, "set_bounds").cloned(),
        pred: given(bound, "pred").cloned(),
        clamp,
    };
    if change.offsets.is_none() && change.bounds.is_none() && change.pred.is_none() {
        return interp.raise("`update_tensor_descriptor` changes nothing: it takes offsets, bounds or a predicate");
    }
    if clamp && (change.offsets.is_none() || change.bounds.is_some()) {
        return interp.raise("`clamp_bounds` goes with `add_offsets`, and without `set_bounds`");
    }
    Ok(Value::TensorDesc(Rc::new(changed(interp, &desc, &change)?)))
}

/// The descriptor at the place that a copy names.
fn placed<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, desc: &TensorDesc<'a>, load: bool) -> Result<Ssa, Stop> {
    let offsets = match given(bound, "offsets") {
        Some(offsets) if !items(interp, &offsets.clone())?.is_empty() => Some(offsets.clone()),
        _ => None,
    };
    let pred = given(bound, "pred").cloned();
    if offsets.is_none() && pred.is_none() {
        return Ok(desc.ssa);
    }
    let clamp = offsets.is_some();
    let pred = if load && clamp { pred.or(Some(Value::Bool(true))) } else { pred };
    Ok(changed(interp, desc, &Change { offsets, bounds: None, pred, clamp })?.ssa)
}

/// The memory that is copied from or to.
fn shared<'a>(interp: &Interp<'a>, bound: &Bound<'a>, name: &'static str) -> Result<Rc<MemDesc<'a>>, Stop> {
    let Some(value) = given(bound, name) else { return interp.raise(format!("`{name}` is not given")) };
    let of = memory(interp, value, name)?;
    if of.space != DescSpace::Shared {
        return interp.raise(format!("`{name}` is no shared memory"));
    }
    Ok(of)
}

/// The barrier on which a copy arrives when it is done.
fn signalled<'a>(interp: &Interp<'a>, bound: &Bound<'a>) -> Result<Option<Ssa>, Stop> {
    given(bound, "mbarrier").map(|bar| Ok(barrier(interp, bar, "mbarrier")?.ssa)).transpose()
}

/// A block is as large as the memory, up to leading dimensions of 1.
fn fits<'a>(interp: &Interp<'a>, desc: &TensorDesc<'a>, memory: &MemDesc<'a>) -> Result<(), Stop> {
    let real = |shape: &[i64]| shape.iter().copied().skip_while(|size| *size == 1).collect::<Vec<i64>>();
    if real(&desc.block_shape) == real(&memory.shape) {
        return Ok(());
    }
    interp.raise(format!("the descriptor's block is {:?}, the memory {:?}", desc.block_shape, memory.shape))
}

fn load<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let desc = descriptor(interp, need(interp, bound, "src")?, "src")?;
    let dest = shared(interp, bound, "dest")?;
    fits(interp, &desc, &dest)?;
    let placed = placed(interp, bound, &desc, true)?;
    let bar = signalled(interp, bound)?;
    let mut op = Op::new(Amdg::AsyncTdmCopyGlobalToLocal).operand("desc", placed).operand("result", dest.ssa);
    if let Some(hint) = given(bound, "warp_used_hint") {
        op = op.attr("warp_used_hint", int(interp, hint, "warp_used_hint")?);
    }
    interp.emit_effect(op.maybe("barrier", bar).result("token", Type::Token))
}

fn load_fused<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let members = list(interp, need(interp, bound, "members")?, "members")?;
    if !(2..=4).contains(&members.len()) {
        return interp.raise(format!("a fused load has 2 to 4 members, not {}", members.len()));
    }
    let (mut descs, mut dests, mut hints) = (Vec::new(), Vec::new(), Vec::new());
    for member in &members {
        let member = list(interp, member, "members")?;
        let [desc, dest, hint] = &member[..] else {
            return interp.raise("a member is a descriptor, its destination and its warps");
        };
        let (desc, dest) = (descriptor(interp, desc, "members")?, memory(interp, dest, "members")?);
        hints.push(int(interp, hint, "members")?);
        descs.push(desc.ssa);
        dests.push(dest.ssa);
    }
    let op = Op::new(Amdg::AsyncTdmFusedCopyGlobalToLocal).operands("descs", &descs).operands("dests", &dests);
    interp.emit_effect(op.attr("warp_used_hints", hints).result("token", Type::Token))
}

fn store<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let desc = descriptor(interp, need(interp, bound, "dest")?, "dest")?;
    let src = shared(interp, bound, "src")?;
    fits(interp, &desc, &src)?;
    let placed = placed(interp, bound, &desc, false)?;
    let bar = signalled(interp, bound)?;
    let op = Op::new(Amdg::AsyncTdmCopyLocalToGlobal).operand("desc", placed).operand("src", src.ssa);
    interp.emit_effect(op.maybe("barrier", bar).result("token", Type::Token))
}

fn gather<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let op = Op::new(Amdg::AsyncTdmGather).result("token", Type::Token);
    rows(interp, bound, "src_row_indices", "dst", op)
}

fn scatter<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let op = Op::new(Amdg::AsyncTdmScatter).result("retToken", Type::Token);
    rows(interp, bound, "dst_row_indices", "src", op)
}

fn rows<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, group: &'static str, with: &'static str, op: Op) -> Eval<'a> {
    let desc = descriptor(interp, need(interp, bound, "desc")?, "desc")?;
    let indices = tensor(interp, need(interp, bound, group)?, group)?;
    let smem = shared(interp, bound, with)?;
    if !indices.dtype.is_int() {
        interp.doubt(DoubtKind::NoInteger);
    }
    if desc.block_shape.len() != 2 || smem.shape.len() != 2 {
        return interp.raise("rows are gathered and scattered in two dimensions");
    }
    let bar = signalled(interp, bound)?;
    let op = op.operand("desc", desc.ssa).operand(group, interp.ssa(&indices)).operand(with, smem.ssa);
    interp.emit_effect(op.maybe("barrier", bar))
}

fn wait<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let num = bound.get("num_outstanding").map_or(Ok(0), |num| int(interp, num, "num_outstanding"))?;
    if num < 0 {
        return interp.raise(format!("{num} operations cannot be outstanding"));
    }
    interp.emit_effect(Op::new(Amdg::AsyncTdmWait).attr("num", num).result("retToken", Type::Token))
}
