//! Shared memory: allocations, views, loads and stores, and what a descriptor says of itself.

use std::rc::Rc;

use super::layouts::{bases, cga, object, opaque_shared, per_cta, shared_by_ctas};
use builtins::operand::{dtype, field, given, int, int_list, ints, memory, moved, need, scalar, tensor};
use dialects::Ttg;
use python::doubt::DoubtKind;
use python::emit::{Op, Ssa, Type};
use python::interp::{Eval, Interp, Stop};
use python::library::types::memory_type;
use python::library::{Bound, LibClass, Row};
use python::library::{Gone, NOTHING, Part};
use python::target::Version;
use python::value::{DType, DescSpace, MemDesc, Tensor, Value};

pub(super) const PART: Part = Part {
    rows: &[
        Row::effect("gl.allocate_shared_memory", "element_ty, shape, layout, value=None", 4, allocate),
        Row::effect("shared_memory_descriptor.load", "self, layout", 4, load),
        Row::effect("shared_memory_descriptor.store", "self, value", 4, store),
        Row::effect("shared_memory_descriptor.gather", "self, indices, axis", 7, gather),
        Row::effect("shared_memory_descriptor.scatter", "self, values, indices, axis", 7, scatter),
        Row::effect(
            "shared_memory_descriptor.atomic_scatter_add",
            "self, values, indices, axis, mask=None",
            8,
            |i, b| atomic(i, b, "add"),
        ),
        Row::effect(
            "shared_memory_descriptor.atomic_scatter_max",
            "self, values, indices, axis, mask=None",
            8,
            |i, b| atomic(i, b, "max"),
        ),
        Row::effect(
            "shared_memory_descriptor.atomic_scatter_min",
            "self, values, indices, axis, mask=None",
            8,
            |i, b| atomic(i, b, "min"),
        ),
        Row::effect(
            "shared_memory_descriptor.atomic_scatter_and",
            "self, values, indices, axis, mask=None",
            8,
            |i, b| atomic(i, b, "and"),
        ),
        Row::effect(
            "shared_memory_descriptor.atomic_scatter_or",
            "self, values, indices, axis, mask=None",
            8,
            |i, b| atomic(i, b, "or"),
        ),
        Row::effect(
            "shared_memory_descriptor.atomic_scatter_xor",
            "self, values, indices, axis, mask=None",
            8,
            |i, b| atomic(i, b, "xor"),
        ),
        Row::effect(
            "shared_memory_descriptor.atomic_scatter_xchg",
            "self, values, indices, axis, mask=None",
            8,
            |i, b| atomic(i, b, "exch"),
        ),
        Row::effect("shared_memory_descriptor.slice", "self, start, length, dim=0", 4, slice),
        Row::effect("shared_memory_descriptor.index", "self, index", 4, index),
        Row::effect("tensor_memory_descriptor.index", "self, index", 4, index),
        Row::effect("shared_memory_descriptor.permute", "self, order", 4, permute),
        Row::effect("shared_memory_descriptor.reshape", "self, shape", 5, reshape),
        Row::effect("shared_memory_descriptor.reshape", "self, shape, layout", 4, reshape).until(4),
        Row::effect(
            "shared_memory_descriptor.reinterpret",
            "self, dtype=None, shape=None, layout=None",
            9,
            reinterpret,
        ),
        Row::effect(
            "tensor_memory_descriptor.reinterpret",
            "self, dtype=None, shape=None, layout=None",
            9,
            reinterpret,
        ),
        Row::effect(
            "shared_memory_descriptor._reinterpret",
            "self, dtype=None, shape=None, layout=None",
            4,
            reinterpret,
        )
        .until(8),
        Row::effect(
            "tensor_memory_descriptor._reinterpret",
            "self, dtype=None, shape=None, layout=None",
            4,
            reinterpret,
        )
        .until(8),
        Row::effect("shared_memory_descriptor._keep_alive", "self", 4, keep_alive),
        Row::new("shared_memory_descriptor.@dtype", "self", 4, |i, b| Ok(Value::DType(own(i, b)?.dtype))),
        Row::new("tensor_memory_descriptor.@dtype", "self", 4, |i, b| Ok(Value::DType(own(i, b)?.dtype))),
        Row::new("shared_memory_descriptor.@shape", "self", 4, |i, b| Ok(int_list(own(i, b)?.shape.iter().copied()))),
        Row::new("tensor_memory_descriptor.@shape", "self", 4, |i, b| Ok(int_list(own(i, b)?.shape.iter().copied()))),
        Row::new("shared_memory_descriptor.@rank", "self", 4, |i, b| Ok(Value::Int(own(i, b)?.shape.len() as i128))),
        Row::new("tensor_memory_descriptor.@rank", "self", 4, |i, b| Ok(Value::Int(own(i, b)?.shape.len() as i128))),
        Row::new("shared_memory_descriptor.@numel", "self", 4, |i, b| {
            Ok(Value::Int(own(i, b)?.shape.iter().map(|size| i128::from(*size)).product()))
        }),
        Row::new("shared_memory_descriptor.@layout", "self", 4, |i, b| Ok(own(i, b)?.layout.clone())),
        Row::new("tensor_memory_descriptor.@layout", "self", 4, |i, b| Ok(own(i, b)?.layout.clone())),
        Row::new("shared_memory_descriptor.@nbytes_per_cta", "self", 7, |i, b| {
            let memory = own(i, b)?;
            bytes(i, &memory.shape, memory.dtype, &memory.layout)
        }),
        Row::new("shared_memory_descriptor.@type", "self", 4, type_of),
        Row::new("tensor_memory_descriptor.@type", "self", 4, type_of),
        Row::new("gl.shared_memory_descriptor_type.@nbytes_per_cta", "self", 7, |i, b| {
            let Value::Object(of) = need(i, b, "self")? else { return i.unknown("the type is not known") };
            let field = |name| builtins::operand::field(of, name).cloned().unwrap_or(Value::None);
            let (shape, dtype) = (ints(i, &field("shape"), "shape")?, dtype(i, &field("element_ty"), "element_ty")?);
            bytes(i, &shape, dtype, &field("layout"))
        }),
    ],
    classes: &[
        LibClass::new("gl.shared_memory_descriptor_type", "element_ty, shape, layout, alloc_shape", &[], 4, make_type),
        LibClass::new(
            "gl.nvidia.blackwell.tensor_memory_descriptor_type",
            "element_ty, shape, layout, alloc_shape",
            &[],
            4,
            make_type,
        ),
    ],
    gone: &[
        Gone {
            path: "shared_memory_descriptor._reinterpret",
            until: Version(3, 8),
            instead: "shared_memory_descriptor.reinterpret",
        },
        Gone {
            path: "tensor_memory_descriptor._reinterpret",
            until: Version(3, 8),
            instead: "tensor_memory_descriptor.reinterpret",
        },
    ],
    ..NOTHING
};

fn make_type<'a>(_: &mut Interp<'a>, class: &'static LibClass, bound: &Bound<'a>) -> Eval<'a> {
    Ok(Value::Object(Rc::new(super::layouts::build(class, bound, &[]))))
}

fn own<'a>(interp: &Interp<'a>, bound: &Bound<'a>) -> Result<Rc<MemDesc<'a>>, Stop> {
    memory(interp, need(interp, bound, "self")?, "self")
}

fn type_of<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let of = own(interp, bound)?;
    let path = match of.space {
        DescSpace::Shared => "gl.shared_memory_descriptor_type",
        DescSpace::Tensor => "gl.nvidia.blackwell.tensor_memory_descriptor_type",
    };
    let fields = vec![
        ("element_ty", Value::DType(of.dtype)),
        ("shape", int_list(of.shape.iter().copied())),
        ("layout", of.layout.clone()),
        ("alloc_shape", int_list(of.alloc_shape.iter().copied())),
    ];
    object(interp, path, fields)
}

/// Bytes of one CTA's part.
pub(super) fn bytes<'a>(interp: &Interp<'a>, shape: &[i64], dtype: DType, layout: &Value<'a>) -> Eval<'a> {
    let part = per_cta(interp, shape, &cga(interp, layout)?)?;
    let elements: i128 = part.iter().map(|size| i128::from(*size)).product();
    Ok(Value::Int(elements * i128::from(dtype.bits()) / 8))
}

/// What a view or an allocation is made of.
pub(super) struct Made<'a> {
    pub(super) space: DescSpace,
    pub(super) dtype: DType,
    pub(super) shape: Vec<i64>,
    pub(super) alloc_shape: Vec<i64>,
    pub(super) layout: Value<'a>,
}

impl<'a> Made<'a> {
    /// Its type in the IR.
    pub(super) fn ty(&self, interp: &mut Interp<'a>) -> Result<Type, Stop> {
        if self.shape.iter().any(|size| *size <= 0 || *size > 1 << 32) {
            return interp.raise(format!("sizes of memory are positive, not {:?}", self.shape));
        }
        self.check_layout(interp)?;
        memory_type(interp, self.space, self.dtype, &self.shape, &self.alloc_shape, &self.layout)
    }

    /// Refuses shared memory whose layout is for other dimensions, or that has a size in them that is no power of two:
    /// one dimension more may stand in front.
    fn check_layout(&self, interp: &Interp<'a>) -> Result<(), Stop> {
        let Some(rank) = layout_rank(&self.layout) else { return Ok(()) };
        let Some(front) = self.shape.len().checked_sub(rank).filter(|front| *front <= 1) else {
            return interp.refuse(format!("the layout has {rank} dimensions, and the memory is {:?}", self.shape));
        };
        match self.shape.iter().skip(front).find(|size| **size & (**size - 1) != 0) {
            Some(odd) => interp.refuse(format!("memory has a dimension of {odd}, which is no power of two")),
            None => Ok(()),
        }
    }

    /// The descriptor, once an op gave it a value.
    pub(super) fn done(self, ssa: Ssa) -> Value<'a> {
        let Made { space, dtype, shape, alloc_shape, layout } = self;
        Value::MemDesc(Rc::new(MemDesc { ssa, space, dtype, shape, alloc_shape, layout }))
    }

    /// Emits the allocation, with the tensor that it begins with where one is given.
    pub(super) fn allocate(self, interp: &mut Interp<'a>, bound: &Bound<'a>, op: Op) -> Eval<'a> {
        let ty = self.ty(interp)?;
        let mut op = op;
        let value = match given(bound, "value") {
            Some(value) => {
                let value = moved(interp, value, "value", self.dtype, &self.shape)?;
                same(interp, "value", &value, &self.shape, self.dtype)?;
                op = shared_by_ctas(interp, op, &value.layout);
                Some(interp.ssa(&value))
            }
            None => None,
        };
        let ssa = interp.emit_value(op.maybe("src", value).result("result", ty))?;
        Ok(self.done(ssa))
    }
}

fn allocate<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let dtype = dtype(interp, need(interp, bound, "element_ty")?, "element_ty")?;
    let shape = ints(interp, need(interp, bound, "shape")?, "shape")?;
    let layout = need(interp, bound, "layout")?.clone();
    if let Value::Object(object) = &layout
        && !object.class.is_a("gl.SharedLayout")
    {
        return interp.raise(format!("`layout` is a `{}` and no layout of shared memory", object.class.path));
    }
    if let Ok(part) = cga(interp, &layout).and_then(|cga| per_cta(interp, &shape, &cga)) {
        let bits =
            part.iter().try_fold(u64::from(dtype.bits()), |bits, size| bits.checked_mul(u64::try_from(*size).ok()?));
        if bits.is_none_or(|bits| bits / 8 > interp.target.shared_bytes()) {
            interp.doubt(DoubtKind::TooLarge);
        }
    }
    let made = Made { space: DescSpace::Shared, dtype, alloc_shape: shape.clone(), shape, layout };
    made.allocate(interp, bound, Op::new(Ttg::LocalAlloc))
}

/// A source must fit its destination; an unknown shape does.
pub(super) fn same(
    interp: &mut Interp<'_>,
    name: &str,
    source: &Tensor<'_>,
    shape: &[i64],
    dtype: DType,
) -> Result<(), Stop> {
    if *source.shape != *shape {
        return interp.raise(format!("`{name}` has the shape {:?}, the memory {shape:?}", source.shape));
    }
    if source.dtype != dtype {
        return interp.raise(format!("`{name}` is {}, the memory {}", source.dtype.name(), dtype.name()));
    }
    Ok(())
}

fn load<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let of = own(interp, bound)?;
    let layout = need(interp, bound, "layout")?.clone();
    read(interp, &of, &of.shape, layout, Op::new(Ttg::LocalLoad))
}

/// Emits a load, `op`, into registers.
pub(super) fn read<'a>(
    interp: &mut Interp<'a>,
    of: &MemDesc<'a>,
    shape: &[i64],
    layout: Value<'a>,
    op: Op,
) -> Eval<'a> {
    let op = shared_by_ctas(interp, op.operand("src", of.ssa), &layout);
    let result = interp.registers(of.dtype, shape, layout);
    register_result(interp, result, op)
}

/// Emits an op whose result is these registers.
fn register_result<'a>(interp: &mut Interp<'a>, registers: Value<'a>, op: Op) -> Eval<'a> {
    let Value::Tensor(mut result) = registers else { return Ok(Value::None) };
    result.ssa = Some(interp.emit_value(op.result("result", result.ir()))?);
    Ok(Value::Tensor(result))
}

fn store<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let of = own(interp, bound)?;
    let value = moved(interp, need(interp, bound, "value")?, "value", of.dtype, &of.shape)?;
    same(interp, "value", &value, &of.shape, of.dtype)?;
    let op = Op::new(Ttg::LocalStore).operand("src", interp.ssa(&value)).operand("dst", of.ssa);
    interp.emit_effect(shared_by_ctas(interp, op, &value.layout))
}

fn axis<'a>(interp: &Interp<'a>, bound: &Bound<'a>, of: &MemDesc<'a>) -> Result<i64, Stop> {
    let axis = int(interp, need(interp, bound, "axis")?, "axis")?;
    if usize::try_from(axis).is_ok_and(|axis| axis < of.shape.len()) {
        return Ok(axis);
    }
    interp.raise(format!("`axis` is {axis}, the memory has {} dimensions", of.shape.len()))
}

fn gather<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (of, indices) = (own(interp, bound)?, tensor(interp, need(interp, bound, "indices")?, "indices")?);
    let axis = axis(interp, bound, &of)?;
    let index = interp.ssa(&indices);
    let result = interp.registers(of.dtype, &indices.shape, (*indices.layout).clone());
    let op = Op::new(Ttg::LocalGather).operand("src", of.ssa).operand("indices", index).attr("axis", axis);
    register_result(interp, result, op)
}

/// Shapes of operands that are broadcast to one.
fn broadcast(interp: &Interp<'_>, parts: &[&Tensor<'_>]) -> Result<Vec<i64>, Stop> {
    let mut shape: Vec<i64> = Vec::new();
    for part in parts.iter().filter(|part| !part.shape.is_empty()) {
        if shape.is_empty() {
            shape = part.shape.to_vec();
        } else if shape.len() != part.shape.len() {
            return interp.raise(format!("{shape:?} and {:?} cannot be broadcast", part.shape));
        }
        for (size, &other) in shape.iter_mut().zip(part.shape.iter()) {
            match (*size, other) {
                (a, b) if a == b || b == 1 => {}
                (1, b) => *size = b,
                (a, b) => return interp.raise(format!("sizes {a} and {b} cannot be broadcast")),
            }
        }
    }
    Ok(shape)
}

/// A register tensor broadcast to another shape.
fn widened<'a>(interp: &mut Interp<'a>, of: &Tensor<'a>, shape: &[i64]) -> Ssa {
    let wide = interp.shaped(of, &(shape.into(), of.layout.clone()));
    interp.ssa(&wide)
}

fn scatter<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let of = own(interp, bound)?;
    let indices = tensor(interp, need(interp, bound, "indices")?, "indices")?;
    let values = moved(interp, need(interp, bound, "values")?, "values", of.dtype, &indices.shape)?;
    let axis = axis(interp, bound, &of)?;
    let shape = broadcast(interp, &[&values, &indices])?;
    let (values, indices) = (widened(interp, &values, &shape), widened(interp, &indices, &shape));
    let op = Op::new(Ttg::LocalScatter).operand("dst", of.ssa).operand("values", values).operand("indices", indices);
    interp.emit_effect(op.attr("axis", axis))
}

fn atomic<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, kind: &str) -> Eval<'a> {
    let of = own(interp, bound)?;
    let indices = tensor(interp, need(interp, bound, "indices")?, "indices")?;
    let values = moved(interp, need(interp, bound, "values")?, "values", of.dtype, &indices.shape)?;
    let mask = given(bound, "mask").cloned();
    let mask = mask.map(|mask| tensor(interp, &mask, "mask")).transpose()?;
    let axis = axis(interp, bound, &of)?;
    let mut parts = vec![&values, &indices];
    parts.extend(&mask);
    let shape = broadcast(interp, &parts)?;
    let kind = match kind {
        "add" if of.dtype.is_float() => "fadd",
        "max" if of.dtype.is_unsigned() => "umax",
        "min" if of.dtype.is_unsigned() => "umin",
        other => other,
    };
    let result = interp.registers(of.dtype, &shape, (*values.layout).clone());
    let (values, indices) = (widened(interp, &values, &shape), widened(interp, &indices, &shape));
    let mask = mask.map(|mask| widened(interp, &mask, &shape));
    let op = Op::new(Ttg::LocalAtomicScatterRmw)
        .attr("atomic_rmw_op", kind)
        .operand("dst", of.ssa)
        .operand("values", values)
        .operand("indices", indices)
        .maybe("mask", mask)
        .attr("axis", axis);
    register_result(interp, result, op)
}

fn slice<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let of = own(interp, bound)?;
    let number = |name| need(interp, bound, name).and_then(|value| int(interp, value, name));
    let (start, length) = (number("start")?, number("length")?);
    let dim = bound.get("dim").map_or(Ok(0), |dim| int(interp, dim, "dim"))?;
    let Some(dim) = usize::try_from(dim).ok().filter(|dim| *dim < of.shape.len()) else {
        return interp.raise(format!("`dim` is {dim}, the memory has {} dimensions", of.shape.len()));
    };
    let all = of.shape.get(dim).copied().unwrap_or(0);
    if start < 0 || length <= 0 || start.checked_add(length).is_none_or(|end| end > all) {
        return interp
            .raise(format!("a slice from {start} of length {length} is not within {all} along dimension {dim}"));
    }
    let front = layout_rank(&of.layout).is_none_or(|rank| dim + rank < of.shape.len());
    if of.space == DescSpace::Shared && !front && start % length != 0 {
        interp.refuse(format!("a slice of length {length} starts at a multiple of its length, not at {start}"))?;
    }
    let mut shape = of.shape.clone();
    let mut offsets = vec![0; shape.len()];
    (shape[dim], offsets[dim]) = (length, start);
    let made = Made {
        space: of.space,
        dtype: of.dtype,
        shape,
        alloc_shape: of.alloc_shape.clone(),
        layout: of.layout.clone(),
    };
    view(interp, &of, made, Op::new(Ttg::MemdescSubslice).attr("offsets", offsets))
}

/// The number of dimensions that a layout of shared memory is for, where it says so.
pub(super) fn layout_rank(layout: &Value<'_>) -> Option<usize> {
    let Value::Object(layout) = layout else { return None };
    match (layout.class.path, field(layout, "rank"), field(layout, "order")) {
        ("gl.NVMMASharedLayout", Some(Value::Int(rank)), _) => usize::try_from(*rank).ok(),
        (_, _, Some(Value::List(order))) if layout.class.is_a("gl.SwizzledSharedLayout") => Some(order.borrow().len()),
        (_, _, Some(Value::Tuple(order))) if layout.class.is_a("gl.SwizzledSharedLayout") => Some(order.len()),
        _ => None,
    }
}

/// Emits a view, `op`.
pub(super) fn view<'a>(interp: &mut Interp<'a>, of: &MemDesc<'a>, made: Made<'a>, op: Op) -> Eval<'a> {
    let ty = made.ty(interp)?;
    let ssa = interp.emit_value(op.operand("src", of.ssa).result("result", ty))?;
    Ok(made.done(ssa))
}

fn index<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let of = own(interp, bound)?;
    let index = need(interp, bound, "index")?;
    let index = scalar(interp, index, DType::Int32, "index")?;
    slot(interp, &of, index)
}

/// The slot of a buffer with this number.
pub(super) fn slot<'a>(interp: &mut Interp<'a>, of: &MemDesc<'a>, index: Ssa) -> Eval<'a> {
    let Some((_, shape)) = of.shape.split_first() else {
        return interp.raise("memory without dimensions has no slots");
    };
    if shape.is_empty() {
        return interp.raise("memory of one dimension has no slots to index; `slice` takes a part of it");
    }
    let made = Made {
        space: of.space,
        dtype: of.dtype,
        shape: shape.to_vec(),
        alloc_shape: shape.to_vec(),
        layout: of.layout.clone(),
    };
    view(interp, of, made, Op::new(Ttg::MemdescIndex).operand("index", index))
}

fn permute<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let of = own(interp, bound)?;
    let order = ints(interp, need(interp, bound, "order")?, "order")?;
    permuted(interp, &of, order)
}

/// A view with its dimensions in another order.
pub(super) fn permuted<'a>(interp: &mut Interp<'a>, of: &MemDesc<'a>, order: Vec<i64>) -> Eval<'a> {
    let mut sorted = order.clone();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..of.shape.len() as i64) {
        return interp.raise(format!("`order` {order:?} is no order of {} dimensions", of.shape.len()));
    }
    let shape = picked(&of.shape, &order);
    let skipped = of.alloc_shape.len().saturating_sub(of.shape.len());
    let (before, tail) = of.alloc_shape.split_at(skipped);
    let alloc_shape = [before, &picked(tail, &order)].concat();
    let layout = transposed(interp, of, &order)?;
    let made = Made { space: of.space, dtype: of.dtype, shape, alloc_shape, layout };
    view(interp, of, made, Op::new(Ttg::MemdescTrans).attr("order", order))
}

fn picked(of: &[i64], order: &[i64]) -> Vec<i64> {
    order.iter().filter_map(|dim| of.get(usize::try_from(*dim).ok()?).copied()).collect()
}

/// The layout of a transposed view.
fn transposed<'a>(interp: &Interp<'a>, of: &MemDesc<'a>, order: &[i64]) -> Eval<'a> {
    let Value::Object(layout) = &of.layout else { return Ok(of.layout.clone()) };
    let turned: Vec<Vec<i64>> = cga(interp, &of.layout)?.iter().map(|basis| picked(basis, order)).collect();
    let with = |change: &dyn Fn(&'static str, &Value<'a>) -> Option<Value<'a>>| {
        let fields = layout.fields.iter().map(|(name, value)| match *name {
            "cga_layout" => (*name, bases(&turned)),
            _ => (*name, change(name, value).unwrap_or_else(|| value.clone())),
        });
        object(interp, layout.class.path, fields.collect())
    };
    match layout.class.path {
        _ if order.iter().copied().eq(0..order.len() as i64) => Ok(of.layout.clone()),
        "gl.NVMMASharedLayout" if order == [1, 0] => with(&|name, value| match (name, value) {
            ("transposed", Value::Bool(turned)) => Some(Value::Bool(!turned)),
            _ => None,
        }),
        "gl.SwizzledSharedLayout" => {
            let old = field(layout, "order").map_or(Ok(Vec::new()), |value| ints(interp, value, "order"))?;
            let at = |dim: &i64| order.iter().position(|from| from == dim).map(|at| at as i64);
            let new: Vec<i64> = old.iter().filter_map(at).collect();
            with(&|name, _| (name == "order").then(|| int_list(new.iter().copied())))
        }
        _ => {
            let blocks: Vec<Vec<i64>> = blocks(interp, of)?.iter().map(|basis| picked(basis, order)).collect();
            opaque_shared(interp, &blocks)
        }
    }
}

/// How CTAs share a descriptor, in elements.
fn blocks<'a>(interp: &Interp<'a>, of: &MemDesc<'a>) -> Result<Vec<Vec<i64>>, Stop> {
    let cga = cga(interp, &of.layout)?;
    let part = per_cta(interp, &of.shape, &cga)?;
    Ok(cga
        .iter()
        .map(|basis| basis.iter().zip(&part).map(|(unit, size)| unit.saturating_mul(*size)).collect())
        .collect())
}

fn reshape<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let of = own(interp, bound)?;
    let shape = ints(interp, need(interp, bound, "shape")?, "shape")?;
    of_shape(interp, &of, shape)
}

/// A view of the same elements in another shape.
pub(super) fn of_shape<'a>(interp: &mut Interp<'a>, of: &MemDesc<'a>, shape: Vec<i64>) -> Eval<'a> {
    let product = |shape: &[i64]| shape.iter().map(|size| i128::from(*size)).product::<i128>();
    if product(&shape) != product(&of.shape) {
        return interp.raise(format!("{:?} and {shape:?} do not have the same number of elements", of.shape));
    }
    let skipped = of.alloc_shape.len().saturating_sub(of.shape.len());
    let alloc_shape = [&of.alloc_shape[..skipped], &shape].concat();
    let layout = if shape == of.shape {
        of.layout.clone()
    } else {
        let blocks: Vec<Vec<i64>> =
            blocks(interp, of)?.iter().map(|basis| unflatten(flatten(basis, &of.shape), &shape)).collect();
        reshaped(interp, of, &shape, &blocks)?
    };
    let made = Made { space: of.space, dtype: of.dtype, shape, alloc_shape, layout };
    view(interp, of, made, Op::new(Ttg::MemdescReshape))
}

/// The place of an element, counted row by row.
fn flatten(at: &[i64], shape: &[i64]) -> i64 {
    at.iter().zip(shape).fold(0, |place: i64, (at, size)| place.saturating_mul(*size).saturating_add(*at))
}

fn unflatten(mut place: i64, shape: &[i64]) -> Vec<i64> {
    let mut at: Vec<i64> = shape
        .iter()
        .rev()
        .map(|size| {
            let here = place.checked_rem(*size).unwrap_or(0);
            place = place.checked_div(*size).unwrap_or(0);
            here
        })
        .collect();
    at.reverse();
    at
}

/// The layout of another shape over the same elements: dimensions of size 1 come and go, and leave a layout for
/// MMA what it is; otherwise the linear form is Triton's.
fn reshaped<'a>(interp: &Interp<'a>, of: &MemDesc<'a>, shape: &[i64], blocks: &[Vec<i64>]) -> Eval<'a> {
    let real = |shape: &[i64]| shape.iter().copied().filter(|size| *size != 1).collect::<Vec<i64>>();
    let Value::Object(layout) = &of.layout else { return Ok(of.layout.clone()) };
    let nvmma = layout.class.path == "gl.NVMMASharedLayout" && cga(interp, &of.layout)?.is_empty();
    if nvmma && shape.len() >= 2 && real(&of.shape) == real(shape) && of.shape.last() == shape.last() {
        let fields = layout.fields.iter().map(|(name, value)| match *name {
            "rank" => (*name, Value::Int(shape.len() as i128)),
            _ => (*name, value.clone()),
        });
        return object(interp, layout.class.path, fields.collect());
    }
    opaque_shared(interp, blocks)
}

fn reinterpret<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let of = own(interp, bound)?;
    let dtype = given(bound, "dtype").map_or(Ok(of.dtype), |value| dtype(interp, value, "dtype"))?;
    let shape = given(bound, "shape").map_or_else(|| Ok(of.shape.clone()), |value| ints(interp, value, "shape"))?;
    let layout = given(bound, "layout").cloned().unwrap_or_else(|| of.layout.clone());
    let made = Made { space: of.space, dtype, alloc_shape: shape.clone(), shape, layout };
    // Earlier releases take it, and what lies behind the memory is written.
    if interp.version >= Version(3, 9)
        && let (Some(new), Some(old)) = (
            footprint(interp, made.space, &made.shape, made.dtype, &made.layout),
            footprint(interp, of.space, &of.shape, of.dtype, &of.layout),
        )
        && new > old
    {
        let unit = if of.space == DescSpace::Shared { "bytes" } else { "columns" };
        interp.refuse(format!("the view takes {new} {unit}, and the memory that it is a view of has {old}"))?;
    }
    view(interp, &of, made, Op::new(Ttg::MemdescReinterpret))
}

/// Bytes of shared memory, or columns of tensor memory, that a view takes in one CTA, where its layout has no holes.
fn footprint<'a>(
    interp: &Interp<'a>,
    space: DescSpace,
    shape: &[i64],
    dtype: DType,
    layout: &Value<'a>,
) -> Option<i64> {
    let Value::Object(object) = layout else { return None };
    let all = |of: &[i64]| of.iter().try_fold(i64::from(dtype.bits()), |bits, size| bits.checked_mul(*size));
    match (space, object.class.path) {
        (DescSpace::Shared, "gl.NVMMASharedLayout" | "gl.SwizzledSharedLayout" | "gl.SharedLinearLayout") => {
            let part = per_cta(interp, shape, &cga(interp, layout).ok()?).ok()?;
            all(&part).map(|bits| bits / 8)
        }
        (DescSpace::Tensor, "gl.nvidia.blackwell.TensorMemoryLayout") => {
            let field = |name| field(object, name);
            let stride = int(interp, field("col_stride")?, "col_stride").ok()?;
            let whole = matches!(field("two_ctas"), None | Some(Value::Bool(false)))
                && cga(interp, layout).is_ok_and(|cga| cga.is_empty())
                && ints(interp, field("block")?, "block").ok()?.first() == Some(&128);
            let columns = all(shape)?.checked_mul(stride)? / (128 * 32);
            whole.then_some(columns)
        }
        _ => None,
    }
}

fn keep_alive<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let of = own(interp, bound)?;
    interp.emit_effect(Op::new(Ttg::LocalDealloc).operand("src", of.ssa))
}
