//! TLX's buffers in shared and tensor memory, views of them, loads and stores.

use std::rc::Rc;

use super::super::layouts::{default_shared, object};
use super::super::memory::{Made, layout_rank, of_shape, permuted, read, same, slot, view};
use super::cluster::{clustered, in_cta};
use super::operand::{TENSOR, number, space};
use builtins::operand::{dtype as element, given, int, int_list, ints, memory, moved, need, tensor};
use dialects::{Tlx, Ttg, Ttng};
use python::emit::Op;
use python::interp::{Eval, Interp, Stop};
use python::library::{Bound, Fixed, NOTHING, Part, Row};
use python::specialization::Language;
use python::value::{DType, DescSpace, MemDesc, Value};

pub(super) const PART: Part = Part {
    rows: &[
        Row::effect(
            "tl.extra.tlx.local_alloc",
            "shape, dtype, num, storage=None, reuse=None, layout=None",
            4,
            allocate,
        ),
        Row::effect("tl.extra.tlx.local_view", "local_allocated_buffers, buffer_idx", 4, |interp, bound| {
            let of = memory(interp, need(interp, bound, "local_allocated_buffers")?, "local_allocated_buffers")?;
            let at = number(interp, need(interp, bound, "buffer_idx")?, "buffer_idx")?;
            slot(interp, &of, at)
        }),
        Row::effect("shared_memory_descriptor.__getitem__", "self, index", 4, item),
        Row::effect("tensor_memory_descriptor.__getitem__", "self, index", 4, item),
        Row::effect("tl.extra.tlx.local_load", "src, token=None, layout=None, relaxed=False", 4, |interp, bound| {
            let of = buffer(interp, bound, "src")?;
            let op = match of.space {
                DescSpace::Shared => Op::new(Ttg::LocalLoad),
                DescSpace::Tensor => Op::new(Ttng::TmemLoad),
            };
            read(interp, &of, &of.shape, Value::None, op)
        }),
        Row::effect("tl.extra.tlx.local_store", "dst, src", 4, |interp, bound| {
            let of = buffer(interp, bound, "dst")?;
            let value = moved(interp, need(interp, bound, "src")?, "src", of.dtype, &of.shape)?;
            same(interp, "src", &value, &of.shape, of.dtype)?;
            let value = interp.ssa(&value);
            match of.space {
                DescSpace::Shared => {
                    interp.emit_effect(Op::new(Ttg::LocalStore).operand("src", value).operand("dst", of.ssa))
                }
                DescSpace::Tensor => {
                    let pred = builtins::operand::predicate(interp, None, "pred")?;
                    let op = Op::new(Ttng::TmemStore).operand("src", value).operand("dst", of.ssa);
                    interp.emit_effect(op.operand("pred", pred))
                }
            }
        }),
        Row::effect("tl.extra.tlx.local_trans", "input, dims=(1, 0)", 4, |interp, bound| {
            let of = buffer(interp, bound, "input")?;
            let order = given(bound, "dims").map_or(Ok(vec![1, 0]), |dims| ints(interp, dims, "dims"))?;
            permuted(interp, &of, order)
        }),
        Row::effect("tl.extra.tlx.local_reshape", "src, shape", 4, |interp, bound| {
            let of = buffer(interp, bound, "src")?;
            let shape = ints(interp, need(interp, bound, "shape")?, "shape")?;
            of_shape(interp, &of, shape)
        }),
        Row::effect("tl.extra.tlx.local_reinterpret", "src, dtype, shape=None", 4, |interp, bound| {
            let of = memory(interp, need(interp, bound, "src")?, "src")?;
            let dtype = element(interp, need(interp, bound, "dtype")?, "dtype")?;
            let shape =
                given(bound, "shape").map_or_else(|| Ok(of.shape.clone()), |shape| ints(interp, shape, "shape"))?;
            let layout = first_layout(interp, of.space, &shape, dtype)?;
            let made = Made { space: of.space, dtype, alloc_shape: shape.clone(), shape, layout };
            view(interp, &of, made, Op::new(Ttg::MemdescReinterpret))
        }),
        Row::effect("tl.extra.tlx.local_slice", "buffer, offset, shape", 4, |interp, bound| {
            let of = buffer(interp, bound, "buffer")?;
            let offset = ints(interp, need(interp, bound, "offset")?, "offset")?;
            let shape = ints(interp, need(interp, bound, "shape")?, "shape")?;
            match (of.space, &offset[..], &shape[..]) {
                (DescSpace::Tensor, [0, start], [_, length]) => columns(interp, &of, *start, *length),
                (DescSpace::Tensor, ..) => interp.raise("tensor memory is sliced along its columns alone"),
                _ => part(interp, &of, offset, shape),
            }
        }),
        Row::effect("tl.extra.tlx.subslice", "local_allocated_buffer, offset, size", 4, |interp, bound| {
            let of = buffer(interp, bound, "local_allocated_buffer")?;
            if of.space != DescSpace::Tensor {
                return interp.raise("`subslice` is of tensor memory");
            }
            let offset = int(interp, need(interp, bound, "offset")?, "offset")?;
            let size = int(interp, need(interp, bound, "size")?, "size")?;
            columns(interp, &of, offset, size)
        }),
        Row::effect("tl.extra.tlx.remote_view", "local_allocated_buffer, remote_cta_rank", 4, |interp, bound| {
            clustered(interp)?;
            let of = memory(interp, need(interp, bound, "local_allocated_buffer")?, "local_allocated_buffer")?;
            let rank = number(interp, need(interp, bound, "remote_cta_rank")?, "remote_cta_rank")?;
            let ssa = in_cta(interp, of.ssa, rank)?;
            Ok(Value::MemDesc(Rc::new(MemDesc { ssa, ..MemDesc::clone(&of) })))
        }),
        Row::effect("tl.extra.tlx.local_gather", "src, indices, axis, token=None", 4, |interp, bound| {
            let of = buffer(interp, bound, "src")?;
            let indices = tensor(interp, need(interp, bound, "indices")?, "indices")?;
            let axis = int(interp, need(interp, bound, "axis")?, "axis")?;
            let op = Op::new(Ttg::LocalGather).operand("indices", interp.ssa(&indices)).attr("axis", axis);
            read(interp, &of, &indices.shape, Value::None, op)
        }),
        Row::effect("tl.extra.tlx.local_scatter", "dst, src, indices, axis, token=None", 4, |interp, bound| {
            let of = buffer(interp, bound, "dst")?;
            let indices = tensor(interp, need(interp, bound, "indices")?, "indices")?;
            let values = moved(interp, need(interp, bound, "src")?, "src", of.dtype, &indices.shape)?;
            let axis = int(interp, need(interp, bound, "axis")?, "axis")?;
            let (values, indices) = (interp.ssa(&values), interp.ssa(&indices));
            let op = Op::new(Ttg::LocalScatter).operand("dst", of.ssa).operand("values", values);
            interp.emit_effect(op.operand("indices", indices).attr("axis", axis))
        }),
    ],
    constants: &[
        ("tl.extra.tlx.storage_kind.smem", Fixed::Type("tlx.storage_kind.smem")),
        ("tl.extra.tlx.storage_kind.tmem", Fixed::Type(TENSOR)),
        ("tl.extra.tlx.storage_kind.smemCluster", Fixed::Type("tlx.storage_kind.smemCluster")),
        ("tl.extra.tlx.reuse_group_type.shared", Fixed::Type("tlx.reuse_group_type.shared")),
        ("tl.extra.tlx.reuse_group_type.distinct", Fixed::Type("tlx.reuse_group_type.distinct")),
        ("tl.extra.tlx.buffered_tensor", Fixed::Type("tlx.buffered_tensor")),
        ("tl.extra.tlx.mbarrier", Fixed::Type("tlx.mbarrier")),
    ],
    ..NOTHING
};

fn allocate<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    interp.explicit_memory = true;
    let shape = ints(interp, need(interp, bound, "shape")?, "shape")?;
    let dtype = element(interp, need(interp, bound, "dtype")?, "dtype")?;
    let slots = int(interp, need(interp, bound, "num")?, "num")?;
    let space = space(interp, bound)?;
    let layout = first_layout(interp, space, &shape, dtype)?;
    let whole = [&[slots], &shape[..]].concat();
    let made = Made { space, dtype, alloc_shape: whole.clone(), shape: whole, layout };
    if let Some(Value::Object(spec)) = given(bound, "reuse") {
        let spec = super::sharing::storage(interp, spec)?;
        let ty = made.ty(interp)?;
        let op = Op::new(Tlx::StorageAliasLocalAlloc).operand("storage_alias", spec);
        let ssa = interp.emit_value(op.result("result", ty))?;
        return Ok(made.done(ssa));
    }
    if let Some(of) = given(bound, "reuse") {
        let of = memory(interp, of, "reuse")?;
        if of.space != space {
            return interp.raise("`reuse` is memory of another kind");
        }
        return view(interp, &of, made, Op::new(Ttg::MemdescReinterpret));
    }
    let op = match space {
        DescSpace::Shared => Op::new(Ttg::LocalAlloc),
        DescSpace::Tensor => Op::new(Ttng::TmemAlloc),
    };
    let ty = made.ty(interp)?;
    let ssa = interp.emit_value(op.result("result", ty))?;
    Ok(made.done(ssa))
}

/// The layout that a buffer has before passes choose another: it tells sizes, and no more.
fn first_layout<'a>(interp: &Interp<'a>, space: DescSpace, shape: &[i64], dtype: DType) -> Eval<'a> {
    let empty = || int_list([]);
    match (space, shape) {
        (DescSpace::Tensor, _) if dtype.bits() < 16 && dtype.is_int() => {
            object(interp, "gl.nvidia.blackwell.TensorMemoryScalesLayout", vec![("cga_layout", empty())])
        }
        (DescSpace::Tensor, [rows, columns]) => {
            let fields = vec![
                ("block", int_list([(*rows).min(128), *columns])),
                ("col_stride", Value::Int(1)),
                ("cga_layout", empty()),
                ("two_ctas", Value::Bool(false)),
                ("fp4_padded", Value::Bool(false)),
            ];
            object(interp, "gl.nvidia.blackwell.TensorMemoryLayout", fields)
        }
        (DescSpace::Tensor, _) => interp.raise("tensor memory has two dimensions"),
        (DescSpace::Shared, [_]) => {
            let one = || Value::Int(1);
            let fields = vec![
                ("vec", one()),
                ("per_phase", one()),
                ("max_phase", one()),
                ("order", int_list([0])),
                ("cga_layout", empty()),
            ];
            object(interp, "gl.SwizzledSharedLayout", fields)
        }
        (DescSpace::Shared, _) => default_shared(interp, shape, dtype, false, false, &[]),
    }
}

/// One slot, or what was made a view of one.
fn buffer<'a>(interp: &Interp<'a>, bound: &Bound<'a>, name: &str) -> Result<Rc<MemDesc<'a>>, Stop> {
    let of = memory(interp, need(interp, bound, name)?, name)?;
    if layout_rank(&of.layout).is_some_and(|rank| of.shape.len() > rank) {
        return interp.raise(format!("`{name}` is all slots of a buffer; `local_view` takes one of them"));
    }
    Ok(of)
}

fn item<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    if interp.language == Language::Gluon {
        return interp.raise("a memory descriptor has no items; `.index(i)` takes a slot");
    }
    let of = memory(interp, need(interp, bound, "self")?, "self")?;
    let at = number(interp, need(interp, bound, "index")?, "index")?;
    slot(interp, &of, at)
}

fn columns<'a>(interp: &mut Interp<'a>, of: &MemDesc<'a>, start: i64, length: i64) -> Eval<'a> {
    let [rows, all] = of.shape[..] else { return interp.raise("tensor memory has two dimensions") };
    if start < 0 || length <= 0 || start.checked_add(length).is_none_or(|end| end > all) {
        return interp.raise(format!("{length} columns from {start} on are not within {all}"));
    }
    let (alloc_shape, layout) = (of.alloc_shape.clone(), of.layout.clone());
    let made = Made { space: of.space, dtype: of.dtype, shape: vec![rows, length], alloc_shape, layout };
    view(interp, of, made, Op::new(Ttng::TmemSubslice).attr("offset", start))
}

fn part<'a>(interp: &mut Interp<'a>, of: &MemDesc<'a>, offset: Vec<i64>, shape: Vec<i64>) -> Eval<'a> {
    let within = |(all, (start, length)): (&i64, (&i64, &i64))| {
        *start >= 0 && *length > 0 && start.checked_add(*length).is_some_and(|end| end <= *all)
    };
    let fits = offset.len() == of.shape.len() && shape.len() == of.shape.len();
    if !fits || !of.shape.iter().zip(offset.iter().zip(&shape)).all(within) {
        return interp.raise(format!("a slice of {shape:?} from {offset:?} on is not within {:?}", of.shape));
    }
    let (alloc_shape, layout) = (of.alloc_shape.clone(), of.layout.clone());
    let made = Made { space: of.space, dtype: of.dtype, shape, alloc_shape, layout };
    view(interp, of, made, Op::new(Ttg::MemdescSubslice).attr("offsets", offset))
}
