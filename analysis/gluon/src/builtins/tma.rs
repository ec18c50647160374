//! TMA: copies between global and shared memory by tensor descriptors.

use std::rc::Rc;

use super::layouts::cga;
use super::mbarrier::barrier;
use builtins::operand::{
    coordinates, descriptor, dtype as element, flag, given, int, int_list, ints, list, memory, need, predicate, scalar,
    tensor,
};
use dialects::{Arith, Tt, Ttng};
use python::doubt::DoubtKind;
use python::emit::{Op, Ssa, Type};
use python::interp::{Eval, Interp, Stop};
use python::library::replaced;
use python::library::types::descriptor_type;
use python::library::{Bound, LibClass, Row};
use python::library::{NOTHING, Part};
use python::value::{DType, DescKind, DescSpace, MemDesc, Tensor, TensorDesc, Value};

const LOAD: &str = "tensor_desc, coord, barrier, result, pred=True, multicast=False, cache_policy=None";
const IM2COL: &str = "tensor_desc, coord, offsets, barrier, result, pred=True, multicast=False, cache_policy=None";
const GATHER: &str = "tensor_desc, x_offsets, y_offset, barrier, result, pred=True, multicast=False, cache_policy=None";
const NO_POLICY: &str = "tensor_desc, coord, barrier, result, pred=True, multicast=False";

pub(super) const PART: Part = Part {
    rows: &[
        Row::effect("gl.nvidia.hopper.tma.async_load", LOAD, 9, load),
        Row::effect("gl.nvidia.hopper.tma.async_load", NO_POLICY, 8, load).until(8),
        Row::effect("gl.nvidia.hopper.tma.async_load_im2col", IM2COL, 9, load),
        Row::effect(
            "gl.nvidia.hopper.tma.async_load_im2col",
            "tensor_desc, coord, offsets, barrier, result, pred=True, multicast=False",
            8,
            load,
        )
        .until(8),
        Row::effect("gl.nvidia.hopper.tma.async_store", "tensor_desc, coord, src, cache_policy=None", 9, store),
        Row::effect("gl.nvidia.hopper.tma.async_store", "tensor_desc, coord, src", 8, store).until(8),
        Row::effect("gl.nvidia.hopper.tma.async_copy_global_to_shared", LOAD, 9, |interp, bound| {
            replaced(interp, "async_copy_global_to_shared", "async_load");
            load(interp, bound)
        })
        .refused(9),
        Row::effect("gl.nvidia.hopper.tma.async_copy_global_to_shared", NO_POLICY, 4, load).until(8),
        Row::effect("gl.nvidia.hopper.tma.async_copy_global_to_shared_im2col", IM2COL, 9, |interp, bound| {
            replaced(interp, "async_copy_global_to_shared_im2col", "async_load_im2col");
            load(interp, bound)
        })
        .refused(9),
        Row::effect("gl.nvidia.hopper.tma.async_copy_global_to_shared_im2col", IM2COL, 7, load).until(8),
        Row::effect(
            "gl.nvidia.hopper.tma.async_copy_shared_to_global",
            "tensor_desc, coord, src",
            9,
            |interp, bound| {
                replaced(interp, "async_copy_shared_to_global", "async_store");
                store(interp, bound)
            },
        )
        .refused(9),
        Row::effect("gl.nvidia.hopper.tma.async_copy_shared_to_global", "tensor_desc, coord, src", 4, store).until(8),
        Row::effect("gl.nvidia.hopper.tma.async_atomic_add", "tensor_desc, coord, src", 8, |i, b| reduce(i, b, "add")),
        Row::effect("gl.nvidia.hopper.tma.async_atomic_min", "tensor_desc, coord, src", 8, |i, b| reduce(i, b, "min")),
        Row::effect("gl.nvidia.hopper.tma.async_atomic_max", "tensor_desc, coord, src", 8, |i, b| reduce(i, b, "max")),
        Row::effect("gl.nvidia.hopper.tma.async_atomic_and", "tensor_desc, coord, src", 8, |i, b| reduce(i, b, "and")),
        Row::effect("gl.nvidia.hopper.tma.async_atomic_or", "tensor_desc, coord, src", 8, |i, b| reduce(i, b, "or")),
        Row::effect("gl.nvidia.hopper.tma.async_atomic_xor", "tensor_desc, coord, src", 8, |i, b| reduce(i, b, "xor")),
        Row::effect("gl.nvidia.hopper.tma.store_wait", "pendings, read_only=True", 8, store_wait),
        Row::effect("gl.nvidia.hopper.tma.store_wait", "pendings", 4, store_wait).until(7),
        Row::new(
            "gl.nvidia.hopper.tma.make_tensor_descriptor",
            "base, shape, strides, block_shape, layout, padding_option='zero'",
            6,
            make,
        ),
        Row::effect("gl.nvidia.blackwell.tma.async_gather", GATHER, 9, gather),
        Row::effect(
            "gl.nvidia.blackwell.tma.async_gather",
            "tensor_desc, x_offsets, y_offset, barrier, result, pred=True, multicast=False",
            4,
            gather,
        )
        .until(8),
        Row::effect(
            "gl.nvidia.blackwell.tma.async_scatter",
            "tensor_desc, x_offsets, y_offset, src, cache_policy=None",
            4,
            scatter,
        ),
        Row::new("tensor_descriptor.@dtype", "self", 4, |i, b| Ok(Value::DType(own(i, b)?.dtype))),
        Row::new("tensor_descriptor.@block_shape", "self", 4, |i, b| {
            Ok(int_list(own(i, b)?.block_shape.iter().copied()))
        }),
        Row::new("tensor_descriptor.@layout", "self", 4, |i, b| Ok(own(i, b)?.layout.clone())),
        Row::new("tensor_descriptor.@shape", "self", 4, |i, b| Ok(Value::Tuple(own(i, b)?.shape.clone().into()))),
        Row::new("tensor_descriptor.@strides", "self", 4, |i, b| Ok(Value::Tuple(own(i, b)?.strides.clone().into()))),
        Row::new("tensor_descriptor.@nbytes_per_cta", "self", 7, |i, b| {
            let of = own(i, b)?;
            nbytes(i, &of)
        }),
        Row::new("tensor_descriptor.@block_type", "self", 4, |i, b| {
            let of = own(i, b)?;
            block_type(i, of.dtype, &of.block_shape)
        }),
        Row::new("tensor_descriptor.@type", "self", 4, |i, b| {
            let of = own(i, b)?;
            let block = block_type(i, of.dtype, &of.block_shape)?;
            let bytes = nbytes(i, &of)?;
            let fields = vec![("block_type", block), ("layout", of.layout.clone()), ("nbytes_per_cta", bytes)];
            super::layouts::object(i, "gl.nvidia.hopper.tma.tensor_descriptor_type", fields)
        }),
        Row::new("gl.block_type.@nbytes", "self", 4, |i, b| {
            let Value::Object(of) = need(i, b, "self")? else { return i.unknown("the type is not known") };
            let field = |name| builtins::operand::field(of, name).cloned().unwrap_or(Value::None);
            let (shape, dtype) = (ints(i, &field("shape"), "shape")?, element(i, &field("element_ty"), "element_ty")?);
            let elements: i128 = shape.iter().map(|size| i128::from(*size)).product();
            Ok(Value::Int(elements * i128::from(dtype.bits()) / 8))
        }),
        Row::new("gl.block_type.@numel", "self", 4, |i, b| {
            let Value::Object(of) = need(i, b, "self")? else { return i.unknown("the type is not known") };
            let shape = ints(i, builtins::operand::field(of, "shape").unwrap_or(&Value::None), "shape")?;
            Ok(Value::Int(shape.iter().map(|size| i128::from(*size)).product()))
        }),
    ],
    classes: &[
        LibClass::new("gl.block_type", "element_ty, shape", &[], 4, |_, class, bound| {
            Ok(Value::Object(Rc::new(super::layouts::build(class, bound, &[]))))
        }),
        LibClass::new(
            "gl.nvidia.hopper.tma.tensor_descriptor_type",
            "block_type, shape_type=None, strides_type=None, layout=None, nbytes_per_cta=None",
            &[],
            4,
            |_, class, bound| Ok(Value::Object(Rc::new(super::layouts::build(class, bound, &[])))),
        ),
    ],
    ..NOTHING
};

fn own<'a>(interp: &Interp<'a>, bound: &Bound<'a>) -> Result<Rc<TensorDesc<'a>>, Stop> {
    descriptor(interp, need(interp, bound, "self")?, "self")
}

fn block_type<'a>(interp: &Interp<'a>, dtype: DType, shape: &[i64]) -> Eval<'a> {
    let fields = vec![("element_ty", Value::DType(dtype)), ("shape", int_list(shape.iter().copied()))];
    super::layouts::object(interp, "gl.block_type", fields)
}

/// Bytes of a block that one CTA gets.
fn nbytes<'a>(interp: &Interp<'a>, of: &TensorDesc<'a>) -> Eval<'a> {
    let splits = cga(interp, &of.layout)?.iter().filter(|basis| basis.iter().any(|unit| *unit != 0)).count();
    let elements: i128 = of.block_shape.iter().map(|size| i128::from(*size)).product();
    Ok(Value::Int(elements * i128::from(of.dtype.bits()) / 8 / (1_i128 << splits.min(64))))
}

/// What a copy moves must be what its memory holds: element type, and block up to leading dimensions of 1.
pub(super) fn fits<'a>(
    interp: &Interp<'a>,
    desc: &TensorDesc<'a>,
    memory: &MemDesc<'a>,
    rows: bool,
) -> Result<(), Stop> {
    if memory.space != DescSpace::Shared {
        return interp.raise("TMA copies from and to shared memory, not tensor memory");
    }
    if memory.dtype.bits() != desc.dtype.bits() {
        return interp.raise(format!(
            "the descriptor's elements are {}, those of the memory {}",
            desc.dtype.name(),
            memory.dtype.name()
        ));
    }
    // A gather or scatter takes as many rows as it has offsets.
    if rows || desc.kind == DescKind::Im2col {
        return Ok(());
    }
    let real = |shape: &[i64]| shape.iter().copied().skip_while(|size| *size == 1).collect::<Vec<i64>>();
    if real(&desc.block_shape) != real(&memory.shape) {
        return interp.raise(format!(
            "the descriptor's block is {:?}, the memory {:?}: the copy and its memory must have the same shape",
            desc.block_shape, memory.shape
        ));
    }
    Ok(())
}

/// What a gather or scatter asks for: a block of one row, memory with a row for each offset and the block's columns.
fn fits_rows<'a>(
    interp: &mut Interp<'a>,
    desc: &TensorDesc<'a>,
    memory: &MemDesc<'a>,
    offsets: &Tensor<'_>,
) -> Result<(), Stop> {
    if !offsets.dtype.is_int() {
        interp.doubt(DoubtKind::NoInteger);
    }
    let [1, columns] = desc.block_shape[..] else {
        let block = &desc.block_shape;
        return interp.raise(format!("rows are gathered through a descriptor whose block is one row, not {block:?}"));
    };
    let rows = offsets.shape.iter().product::<i64>();
    if memory.shape[..] != [rows, columns] {
        let shape = &memory.shape;
        return interp.raise(format!(
            "{rows} rows of {columns} elements are gathered or scattered, and the memory is {shape:?}"
        ));
    }
    Ok(())
}

fn policy<'a>(interp: &Interp<'a>, bound: &Bound<'a>) -> Result<(), Stop> {
    match given(bound, "cache_policy") {
        Some(Value::Int(_) | Value::Bool(_) | Value::Tensor(_)) => interp.raise("`cache_policy` is a `CachePolicy`"),
        _ => Ok(()),
    }
}

fn load<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let desc = descriptor(interp, need(interp, bound, "tensor_desc")?, "tensor_desc")?;
    let coord = coordinates(interp, need(interp, bound, "coord")?, "coord")?;
    let bar = barrier(interp, need(interp, bound, "barrier")?, "barrier")?;
    let result = memory(interp, need(interp, bound, "result")?, "result")?;
    let pred = predicate(interp, bound.get("pred"), "pred")?;
    let multicast = flag(interp, bound.get("multicast"), false, "multicast")?;
    policy(interp, bound)?;
    fits(interp, &desc, &result, false)?;
    if desc.kind != DescKind::Im2col && coord.len() != desc.block_shape.len() {
        let dimensions = desc.block_shape.len();
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        return interp.raise(format!(
            "{} coordinate{} for a block of {dimensions} dimension{}",
            coord.len(),
            plural(coord.len()),
            plural(dimensions)
        ));
    }
    let mut offsets = Vec::new();
    if let Some(given) = bound.get("offsets") {
        for item in list(interp, given, "offsets")? {
            offsets.push(scalar(interp, &item, DType::Int16, "offsets")?);
        }
    }
    let op = Op::new(Ttng::AsyncTmaCopyGlobalToLocal)
        .operand("desc", desc.ssa)
        .operands("coord", &coord)
        .operands("offsets", &offsets)
        .operand("barrier", bar.ssa)
        .operand("result", result.ssa)
        .operand("pred", pred)
        .flag("multicast", multicast);
    interp.emit_effect(op)
}

fn store<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    to_global(interp, bound, Op::new(Ttng::AsyncTmaCopyLocalToGlobal))
}

fn reduce<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, kind: &str) -> Eval<'a> {
    to_global(interp, bound, Op::new(Ttng::AsyncTmaReduce).attr("kind", kind))
}

fn to_global<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, op: Op) -> Eval<'a> {
    let desc = descriptor(interp, need(interp, bound, "tensor_desc")?, "tensor_desc")?;
    let coord = coordinates(interp, need(interp, bound, "coord")?, "coord")?;
    let src = memory(interp, need(interp, bound, "src")?, "src")?;
    policy(interp, bound)?;
    fits(interp, &desc, &src, false)?;
    interp.emit_effect(op.operand("desc", desc.ssa).operands("coord", &coord).operand("src", src.ssa))
}

fn store_wait<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let pendings = int(interp, need(interp, bound, "pendings")?, "pendings")?;
    if pendings < 0 {
        return interp.raise(format!("{pendings} stores cannot be pending"));
    }
    let read_only = flag(interp, bound.get("read_only"), true, "read_only")?;
    interp.emit_effect(Op::new(Ttng::AsyncTmaStoreWait).attr("pendings", pendings).flag("read_only", read_only))
}

fn gather<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let desc = descriptor(interp, need(interp, bound, "tensor_desc")?, "tensor_desc")?;
    let x = tensor(interp, need(interp, bound, "x_offsets")?, "x_offsets")?;
    let y = scalar(interp, need(interp, bound, "y_offset")?, DType::Int32, "y_offset")?;
    let bar = barrier(interp, need(interp, bound, "barrier")?, "barrier")?;
    let result = memory(interp, need(interp, bound, "result")?, "result")?;
    let pred = predicate(interp, bound.get("pred"), "pred")?;
    let multicast = flag(interp, bound.get("multicast"), false, "multicast")?;
    policy(interp, bound)?;
    fits(interp, &desc, &result, true)?;
    fits_rows(interp, &desc, &result, &x)?;
    let x = interp.ssa(&x);
    let op = Op::new(Ttng::AsyncTmaGather)
        .operand("desc", desc.ssa)
        .operand("x_offsets", x)
        .operand("y_offset", y)
        .operand("barrier", bar.ssa)
        .operand("result", result.ssa)
        .operand("pred", pred)
        .flag("multicast", multicast);
    interp.emit_effect(op)
}

fn scatter<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let desc = descriptor(interp, need(interp, bound, "tensor_desc")?, "tensor_desc")?;
    let x = tensor(interp, need(interp, bound, "x_offsets")?, "x_offsets")?;
    let y = scalar(interp, need(interp, bound, "y_offset")?, DType::Int32, "y_offset")?;
    let src = memory(interp, need(interp, bound, "src")?, "src")?;
    policy(interp, bound)?;
    fits(interp, &desc, &src, true)?;
    fits_rows(interp, &desc, &src, &x)?;
    let x = interp.ssa(&x);
    let op = Op::new(Ttng::AsyncTmaScatter).operand("desc", desc.ssa).operand("x_offsets", x).operand("y_offset", y);
    interp.emit_effect(op.operand("src", src.ssa))
}

fn make<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let base = tensor(interp, need(interp, bound, "base")?, "base")?;
    let DType::Ptr(to) = base.dtype else { return interp.raise("`base` is no pointer") };
    let Some(dtype) = to.copied() else { return interp.unknown("what `base` points to is not known") };
    let shape = list(interp, need(interp, bound, "shape")?, "shape")?;
    let strides = list(interp, need(interp, bound, "strides")?, "strides")?;
    let block = ints(interp, need(interp, bound, "block_shape")?, "block_shape")?;
    let layout = need(interp, bound, "layout")?.clone();
    if !(1..=5).contains(&shape.len()) || strides.len() != shape.len() || block.len() != shape.len() {
        return interp.raise("`shape`, `strides` and `block_shape` have the same number of dimensions, from 1 to 5");
    }
    let bytes = block.last().copied().unwrap_or(0).saturating_mul(i64::from(dtype.bits())) / 8;
    if bytes < 16 {
        return interp.raise(format!("the last dimension of a block has at least 16 bytes, not {bytes}"));
    }
    if strides.last().is_some_and(|stride| matches!(stride, Value::Int(stride) if *stride != 1)) {
        return interp.raise("the last stride of a tensor descriptor is 1");
    }
    let sizes: Vec<_> = shape.iter().map(|size| wide(interp, size, DType::Int32, "shape")).collect::<Result<_, _>>()?;
    let steps: Vec<_> =
        strides.iter().map(|step| wide(interp, step, DType::Int64, "strides")).collect::<Result<_, _>>()?;
    let ty = descriptor_type(interp, DescKind::Tiled, dtype, &block, &layout)?;
    let base = interp.ssa(&base);
    let ssa = make_descriptor(interp, base, (&sizes, &steps), ty, (bound, dtype))?;
    Ok(Value::TensorDesc(Rc::new(TensorDesc {
        ssa,
        kind: DescKind::Tiled,
        dtype,
        block_shape: block,
        layout,
        shape: sizes,
        strides: steps,
    })))
}

/// The SSA values of scalars.
pub(super) fn ssas<'a>(interp: &mut Interp<'a>, values: &[Value<'a>]) -> Vec<Ssa> {
    let tensors = values.iter().filter_map(|value| if let Value::Tensor(tensor) = value { Some(tensor) } else { None });
    tensors.map(|tensor| interp.ssa(tensor)).collect()
}

/// Emits a tensor descriptor of what `base` points to; `bound` has the padding where the call gives one.
pub(super) fn make_descriptor<'a>(
    interp: &mut Interp<'a>,
    base: Ssa,
    (shape, strides): (&[Value<'a>], &[Value<'a>]),
    ty: Type,
    (bound, dtype): (&Bound<'a>, DType),
) -> Result<Ssa, Stop> {
    let (shape, strides) = (ssas(interp, shape), ssas(interp, strides));
    let op = Op::new(Tt::MakeTensorDescriptor).operand("base", base).operands("shape", &shape);
    let op = builtins::tensor::padded(interp, bound, dtype, op.operands("strides", &strides))?;
    interp.emit_value(op.result("result", ty))
}

/// A scalar of this width: narrower and wider integers are cast.
fn wide<'a>(interp: &mut Interp<'a>, value: &Value<'a>, dtype: DType, name: &str) -> Eval<'a> {
    if let Value::Int(_) | Value::Bool(_) = value {
        let number = i128::from(int(interp, value, name)?);
        return Ok(Value::Tensor(interp.constant(number, dtype)));
    }
    let mut of = tensor(interp, value, name)?;
    if !of.dtype.is_int() || !of.shape.is_empty() {
        return interp.raise(format!("`{name}` has something that is no integer"));
    }
    let (from, to) = (of.dtype.ir(), dtype.ir());
    if from != to {
        let op = match (of.dtype.bits() < dtype.bits(), of.dtype.is_unsigned()) {
            (true, true) => Arith::Extui,
            (true, false) => Arith::Extsi,
            (false, _) => Arith::Trunci,
        };
        let ssa = interp.ssa(&of);
        of.ssa = Some(interp.emit_value(Op::new(op).operand("in", ssa).result("out", to))?);
    }
    of.dtype = dtype;
    Ok(Value::Tensor(of))
}
