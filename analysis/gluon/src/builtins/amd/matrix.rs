//! Matrix instructions, buffer loads and stores, and what else stays in registers.

use super::super::memory::read;
use super::operand::demand_offsets;
use builtins::operand;
use builtins::operand::{dtype, given, int, ints, memory, need, tensor};
use builtins::tensor::{pointee, shape_of};
use dialects::{Amdg, Rocdl};
use python::emit::{Attr, Op, Ssa, Type};
use python::eval::registers::Extent;
use python::interp::{Eval, Interp, Stop};
use python::library::{Bound, NOTHING, Part, Row};
use python::value::{DType, Tensor, Value};

const RMW: &str = "ptr, offsets, value, mask=None, sem=None, scope=None";
const SCALED: &str = "a, a_scale, a_format, b, b_scale, b_format, acc, cd_regclass=None";

pub(super) const PART: Part = Part {
    rows: &[
        Row::new("gl.amd.cdna3.buffer_load", "ptr, offsets, mask=None, other=None, cache=None", 5, buffer_load),
        Row::new("gl.amd.cdna3.buffer_store", "stored_value, ptr, offsets, mask=None, cache=None", 5, buffer_store),
        Row::new("gl.amd.cdna3.buffer_atomic_add", RMW, 6, |i, b| atomic(i, b, "add")),
        Row::new("gl.amd.cdna3.buffer_atomic_and", RMW, 6, |i, b| atomic(i, b, "and")),
        Row::new("gl.amd.cdna3.buffer_atomic_min", RMW, 6, |i, b| atomic(i, b, "min")),
        Row::new("gl.amd.cdna3.buffer_atomic_max", RMW, 6, |i, b| atomic(i, b, "max")),
        Row::new("gl.amd.cdna3.buffer_atomic_or", RMW, 6, |i, b| atomic(i, b, "or")),
        Row::new("gl.amd.cdna3.buffer_atomic_xor", RMW, 6, |i, b| atomic(i, b, "xor")),
        Row::new("gl.amd.cdna3.buffer_atomic_xchg", RMW, 6, |i, b| atomic(i, b, "exch")),
        Row::new("gl.amd.cdna3.mfma", "a, b, acc, cd_regclass=None", 5, accumulate),
        Row::new("gl.amd.cdna4.mfma_scaled", SCALED, 6, accumulate_scaled),
        Row::new("gl.amd.cdna5.wmma", "a, b, acc", 6, accumulate),
        Row::new("gl.amd.cdna5.wmma_scaled", "a, a_scale, a_format, b, b_scale, b_format, acc", 6, accumulate_scaled),
        Row::new("gl.amd.rdna3.wmma", "a, b, acc", 6, accumulate),
        Row::new("gl.amd.rdna4.wmma", "a, b, acc", 6, accumulate),
        Row::new("gl.amd.cdna3.scaled_upcast", "src, scale, elem_type, axis=None", 7, upcast),
        Row::new("gl.amd.cdna4.scaled_downcast", "input, scale, format, axis=-1", 7, downcast),
        Row::new("gl.amd.cdna5.scaled_downcast", "input, scale, format, axis=-1", 7, downcast),
        Row::effect("gl.amd.cdna4.load_shared_fp4_repacked", "mem_desc, layout", 9, load_repacked),
        Row::effect("gl.amd.cdna5.load_shared_fp4_repacked", "mem_desc, layout", 9, load_repacked),
        Row::new("gl.amd.slice", "source, shape, offsets", 8, slice),
        Row::new("gl.amd.slice.slice", "source, shape, offsets", 8, slice),
        Row::effect("gl.amd.hint.sched_barrier", "allow=None", 9, sched_barrier),
        Row::effect("gl.amd.warp_pipeline_stage", "label=None, *, priority=None", 6, stage),
        Row::effect("tl.extra.tlx.warp_pipeline_stage", "label=None, *, priority=None", 4, stage),
        Row::new("tl.extra.tlx.buffer_load", "ptr, offsets, mask=None, other=None, cache=None", 4, buffer_load),
        Row::new("tl.extra.tlx.buffer_store", "stored_value, ptr, offsets, mask=None, cache=None", 4, buffer_store),
        Row::effect("gl.amd.warp_pipeline.warp_pipeline_stage", "label=None, *, priority=None", 6, stage),
    ],
    ..NOTHING
};

/// Registers at a base and offsets, and what goes with them, in one shape.
struct Buffer<'a> {
    element: DType,
    extent: Extent<'a>,
    pointer: Ssa,
    offsets: Ssa,
    mask: Option<Ssa>,
}

fn buffer<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, value: Option<&Tensor<'a>>) -> Result<Buffer<'a>, Stop> {
    let pointer = tensor(interp, need(interp, bound, "ptr")?, "ptr")?;
    let offsets = tensor(interp, need(interp, bound, "offsets")?, "offsets")?;
    if !pointer.shape.is_empty() {
        return interp.raise("`ptr` is a tensor, and a scalar pointer is asked for");
    }
    demand_offsets(interp, &offsets)?;
    let element = pointee(interp, &pointer)?;
    let mask = match given(bound, "mask").cloned() {
        Some(mask @ (Value::Tensor(_) | Value::Bool(_) | Value::Int(_))) => {
            let mask = tensor(interp, &mask, "mask")?;
            Some(interp.cast(&mask, DType::Int1)?)
        }
        _ => None,
    };
    let all: Vec<_> = [Some(&offsets), mask.as_ref(), value].into_iter().flatten().collect();
    let (shape, layout) = builtins::tensor::broadcast(interp, &all)?;
    let extent: Extent<'a> = (shape, layout.into());
    let mut part = |of: &Tensor<'a>| {
        let wide = interp.shaped(of, &extent);
        interp.ssa(&wide)
    };
    let (offsets, mask) = (part(&offsets), mask.as_ref().map(&mut part));
    let pointer = interp.ssa(&pointer);
    Ok(Buffer { element, extent, pointer, offsets, mask })
}

impl<'a> Buffer<'a> {
    fn op(&self, op: Amdg) -> Op {
        Op::new(op).operand("ptr", self.pointer).operand("offsets", self.offsets).maybe("mask", self.mask)
    }

    fn value(&self, interp: &mut Interp<'a>, value: &Value<'a>) -> Result<Ssa, Stop> {
        let value = interp.filled(value, self.element, &self.extent)?;
        Ok(interp.ssa(&value))
    }
}

fn buffer_load<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let buffer = buffer(interp, bound, None)?;
    let other = match given(bound, "other").cloned() {
        Some(other) if buffer.mask.is_some() => Some(buffer.value(interp, &other)?),
        _ => None,
    };
    let op = buffer.op(Amdg::BufferLoad).maybe("other", other);
    Ok(Value::Tensor(interp.register_op(op, "result", buffer.element, &buffer.extent)))
}

fn buffer_store<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let value = need(interp, bound, "stored_value")?.clone();
    let buffer = buffer(interp, bound, None)?;
    let value = match &value {
        // What is stored does not change where.
        Value::Unknown(_) => interp
            .opaque(&Type::Tensor { shape: buffer.extent.0.clone(), element: std::rc::Rc::new(buffer.element.ir()) }),
        value => buffer.value(interp, value)?,
    };
    interp.emit_effect(buffer.op(Amdg::BufferStore).operand("value", value))
}

fn atomic<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, kind: &str) -> Eval<'a> {
    let value = tensor(interp, need(interp, bound, "value")?, "value")?;
    let buffer = buffer(interp, bound, Some(&value))?;
    let (float, unsigned) = (buffer.element.is_float(), buffer.element.is_unsigned());
    let refused = match kind {
        "and" | "or" | "xor" | "exch" => float || unsigned,
        "max" | "min" => float && buffer.element != DType::Fp64,
        _ => false,
    };
    if refused || buffer.element.bits() < 16 {
        let named = if kind == "exch" { "xchg" } else { kind };
        return interp.raise(format!("`buffer_atomic_{named}` has no form for {}", buffer.element.name()));
    }
    let kind = match kind {
        "add" if float => "fadd",
        "max" if unsigned => "umax",
        "min" if unsigned => "umin",
        other => other,
    };
    let word = |name: &str, otherwise: &str| match given(bound, name) {
        Some(Value::Str(text)) => text.to_string(),
        _ => otherwise.to_owned(),
    };
    let (sem, scope) = (word("sem", "acq_rel"), word("scope", "gpu"));
    let value = buffer.value(interp, &Value::Tensor(value))?;
    let op = buffer.op(Amdg::BufferAtomicRmw).operand("value", value).attr("atomic_rmw_op", kind);
    let op = op.attr("sem", sem.as_str()).attr("scope", scope.as_str());
    Ok(Value::Tensor(interp.register_op(op, "result", buffer.element, &buffer.extent)))
}

fn accumulate<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let mut part = |name| need(interp, bound, name).cloned().and_then(|value| tensor(interp, &value, name));
    let (a, b, acc) = (part("a")?, part("b")?, part("acc")?);
    Ok(Value::Tensor(builtins::tensor::multiplied(interp, &a, &b, &acc, "ieee")))
}

/// A product with scales, of which shape and type are known.
fn accumulate_scaled<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let acc = tensor(interp, need(interp, bound, "acc")?, "acc")?;
    Ok(interp.registers(acc.dtype, &acc.shape, (*acc.layout).clone()))
}

fn resized(shape: &mut [i64], axis: i64, by: fn(i64) -> i64) {
    let at = if axis < 0 { axis + shape.len() as i64 } else { axis };
    if let Some(size) = usize::try_from(at).ok().and_then(|at| shape.get_mut(at)) {
        *size = by(*size);
    }
}

/// Packed values of 4 bits become twice as many along their axis.
fn upcast<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let source = tensor(interp, need(interp, bound, "src")?, "src")?;
    let element = dtype(interp, need(interp, bound, "elem_type")?, "elem_type")?;
    let mut shape = source.shape.to_vec();
    if let Some(axis) = given(bound, "axis") {
        let axis = int(interp, axis, "axis")?;
        resized(&mut shape, axis, |size| size * 2);
        return Ok(interp.registers(element, &shape, Value::None));
    }
    Ok(interp.registers(element, &shape, (*source.layout).clone()))
}

fn downcast<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let source = tensor(interp, need(interp, bound, "input")?, "input")?;
    let format = match need(interp, bound, "format")? {
        Value::Str(format) => format.clone(),
        _ => return interp.unknown("the format is not known"),
    };
    let mut shape = source.shape.to_vec();
    let element = match &*format {
        "e4m3" => DType::Fp8E4Nv,
        "e5m2" => DType::Fp8E5,
        "e2m1" => {
            let axis = bound.get("axis").map_or(Ok(-1), |axis| int(interp, axis, "axis"))?;
            resized(&mut shape, axis, |size| size / 2);
            return Ok(interp.registers(DType::UInt8, &shape, Value::None));
        }
        other => return interp.raise(format!("`{other}` is no format: e4m3, e5m2 and e2m1 are")),
    };
    Ok(interp.registers(element, &shape, (*source.layout).clone()))
}

/// A stage of a warp pipeline: what ends it is marked by an op.
fn stage<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let label = match given(bound, "label") {
        Some(Value::Str(label)) => &**label,
        _ => "cluster",
    };
    let mut border = Op::new(Rocdl::SchedBarrier).attr("mask", 0);
    border = border.attr("triton.warp_pipeline.border", Attr::Text(label.to_owned()));
    if let Some(priority) = given(bound, "priority") {
        let priority = int(interp, &priority.clone(), "priority")?;
        if !(0..4).contains(&priority) {
            return interp.raise("priority should be 0 to 3");
        }
        border = border.attr("triton.warp_pipeline.priority", priority);
    }
    interp.on_leaving(border);
    Ok(Value::None)
}

/// A hint to the compiler's scheduler.
fn sched_barrier<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    if given(bound, "allow").is_some() {
        return interp.raise("`allow` names a class of instructions, and Triton knows none yet");
    }
    interp.emit_effect(Op::new(Rocdl::SchedBarrier).attr("mask", 0))
}

/// K was packed in M or N, and then is packed in K.
fn load_repacked<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let source = memory(interp, need(interp, bound, "mem_desc")?, "mem_desc")?;
    let layout = need(interp, bound, "layout")?.clone();
    let operand = match &layout {
        Value::Object(object) => match operand::field(object, "operand_index") {
            Some(index) => int(interp, index, "operand_index")?,
            None => return interp.raise("`layout` is no `DotOperandLayout`"),
        },
        _ => return interp.unknown("the layout is not known"),
    };
    let (k, packed) = if operand == 0 { (-1, -2) } else { (-2, -1) };
    let mut shape = source.shape.clone();
    resized(&mut shape, k, |size| size / 2);
    resized(&mut shape, packed, |size| size * 2);
    read(interp, &source, &shape, layout, Op::new(Amdg::LocalLoadPackedTranposed))
}

fn slice<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let source = tensor(interp, need(interp, bound, "source")?, "source")?;
    let shape = shape_of(interp, &[need(interp, bound, "shape")?.clone()], "shape")?;
    let offsets = ints(interp, need(interp, bound, "offsets")?, "offsets")?;
    let within = |((size, offset), all): ((&i64, &i64), &i64)| *offset >= 0 && offset.saturating_add(*size) <= *all;
    let fits = shape.iter().zip(&offsets).zip(&*source.shape).all(within);
    if shape.len() != source.shape.len() || offsets.len() != shape.len() || !fits {
        return interp.raise(format!("{shape:?} at {offsets:?} is not within {:?}", source.shape));
    }
    Ok(interp.registers(source.dtype, &shape, (*source.layout).clone()))
}
