//! Tensor cores: `mma.sync`, wgmma and tcgen05, with tensor memory.

use std::rc::Rc;

use super::layouts::{cga, opaque_registers};
use super::mbarrier::barrier;
use super::memory::{Made, read, same, view};
use builtins::operand::{
    dtype as element, field, flag, given, int, ints, list, memory, moved, need, predicate, tensor,
};
use dialects::Ttng;
use python::emit::{Attr, Op, Ssa, Type};
use python::interp::{Eval, Interp, Stop};
use python::library::{Bound, Row};
use python::library::{NOTHING, Part};
use python::target::Version;
use python::value::{DescSpace, MemDesc, Object, Tensor, Value};

const MMA: &str = "a, b, acc, *, use_acc=True, pred=True, multicast=False, mbarriers=None, mbarrier_preds=None";
const OLD_MMA: &str = "a, b, acc, *, use_acc=True, pred=True, mbarriers=None, mbarrier_preds=None";

pub(super) const PART: Part = Part {
    rows: &[
        Row::new("gl.nvidia.ampere.mma_v2", "a, b, acc, input_precision=None", 6, |interp, bound| {
            let mut part = |name| need(interp, bound, name).cloned().and_then(|value| tensor(interp, &value, name));
            let (a, b, acc) = (part("a")?, part("b")?, part("acc")?);
            let precision = match given(bound, "input_precision") {
                Some(Value::Str(text)) => text.to_lowercase(),
                _ => "tf32".to_owned(),
            };
            Ok(Value::Tensor(builtins::tensor::multiplied(interp, &a, &b, &acc, &precision)))
        }),
        Row::new("gl.nvidia.hopper.warpgroup_mma_init", "value", 5, |interp, bound| {
            let of = tensor(interp, need(interp, bound, "value")?, "value")?;
            let ssa = interp.ssa(&of);
            // What a variable names is a tensor there all the same.
            if !interp.builder.is_named(ssa) {
                interp.accumulators.insert(ssa, true);
            }
            Ok(Value::Tensor(Tensor { ssa: Some(ssa), constant: None, ..of }))
        }),
        Row::effect(
            "gl.nvidia.hopper.warpgroup_mma",
            "a, b, acc, *, use_acc=True, precision=None, max_num_imprecise_acc=None, is_async=False",
            5,
            warpgroup,
        ),
        Row::effect("gl.nvidia.hopper.warpgroup_mma_wait", "num_outstanding=0, deps=None", 5, warpgroup_wait),
        Row::effect("gl.nvidia.blackwell.allocate_tensor_memory", "element_ty, shape, layout, value=None", 4, allocate),
        Row::effect("gl.nvidia.blackwell.tcgen05_copy", "src, dst", 5, copy),
        Row::effect("gl.nvidia.blackwell.tcgen05_mma", MMA, 7, mma),
        Row::effect("gl.nvidia.blackwell.tcgen05_mma", OLD_MMA, 4, mma).until(6),
        Row::effect(
            "gl.nvidia.blackwell.tcgen05_mma_scaled",
            "a, b, acc, a_scale, b_scale, a_type, b_type, *, use_acc=True, pred=True, multicast=False, \
             mbarriers=None, mbarrier_preds=None",
            8,
            scaled,
        ),
        Row::effect(
            "gl.nvidia.blackwell.tcgen05_mma_scaled",
            "a, b, acc, a_scale, b_scale, a_type, b_type, *, use_acc=True, pred=True, mbarriers=None, \
             mbarrier_preds=None",
            6,
            scaled,
        )
        .until(7),
        Row::new("gl.nvidia.blackwell.tcgen05_mma_barrier_count", "smems, multicast, two_ctas=False", 7, barrier_count),
        Row::effect("gl.nvidia.blackwell.tcgen05_commit", "barrier, pred=True, descs=()", 7, commit),
        Row::effect("gl.nvidia.blackwell.tcgen05_commit", "barrier", 5, commit).until(6),
        Row::effect("tensor_memory_descriptor.load", "self, layout=None", 8, load),
        Row::effect("tensor_memory_descriptor.load", "self, layout", 4, load).until(7),
        Row::effect(
            "tensor_memory_descriptor.load_min",
            "self, layout=None, abs=False, propagate_nan=None",
            7,
            |i, b| load_reduced(i, b, "min"),
        ),
        Row::effect(
            "tensor_memory_descriptor.load_max",
            "self, layout=None, abs=False, propagate_nan=None",
            7,
            |i, b| load_reduced(i, b, "max"),
        ),
        Row::effect("tensor_memory_descriptor.store", "self, value, pred=True", 4, store),
        Row::effect("tensor_memory_descriptor.slice", "self, start, length, dim=1", 9, slice),
        Row::effect("tensor_memory_descriptor.slice", "self, start, length", 4, slice).until(8),
        Row::new(
            "tensor_memory_descriptor.get_reg_layout",
            "self, num_warps=None, instr_variant='32x32b'",
            8,
            |interp, bound| {
                let of = memory(interp, need(interp, bound, "self")?, "self")?;
                opaque_registers(interp, &of.shape)
            },
        ),
        Row::new(
            "gl.nvidia.blackwell.tensor_memory_descriptor_type.get_reg_layout",
            "self, num_warps=None, instr_variant='32x32b'",
            8,
            |interp, bound| {
                let Value::Object(of) = need(interp, bound, "self")? else {
                    return interp.unknown("the type is not known");
                };
                let shape = ints(interp, field(of, "shape").unwrap_or(&Value::None), "shape")?;
                opaque_registers(interp, &shape)
            },
        ),
        // Before it was a method.
        Row::new(
            "gl.nvidia.blackwell.get_tmem_reg_layout",
            "element_ty, shape, layout, num_warps, instr_variant='32x32b', cga_layout=[]",
            6,
            |interp, bound| {
                let shape = ints(interp, need(interp, bound, "shape")?, "shape")?;
                opaque_registers(interp, &shape)
            },
        )
        .until(8),
        Row::new("gl.nvidia.blackwell.get_tmem_32x32b_reg_layout", "*args, **kwargs", 4, |interp, bound| {
            // (instr_m, instr_n, shape, num_warps) and, in 3.4, without the shape.
            let shape = bound.rest.iter().find(|value| matches!(value, Value::Tuple(_) | Value::List(_)));
            let shape = match shape.or_else(|| bound.more.iter().find(|(name, _)| &**name == "shape").map(|(_, v)| v)) {
                Some(shape) => ints(interp, shape, "shape")?,
                None => vec![1, 1],
            };
            opaque_registers(interp, &shape)
        })
        .until(7),
    ],
    ..NOTHING
};

/// Shape of a matrix product's result.
fn acc_of<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Result<Tensor<'a>, Stop> {
    tensor(interp, need(interp, bound, "acc")?, "acc")
}

/// An operand in memory or in registers.
fn operand<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, name: &str) -> Result<(Ssa, Vec<i64>), Stop> {
    match need(interp, bound, name)? {
        Value::MemDesc(of) => Ok((of.ssa, of.shape.clone())),
        other => {
            let of = tensor(interp, &other.clone(), name)?;
            Ok((interp.ssa(&of), of.shape.to_vec()))
        }
    }
}

/// `a` is M × K, `b` is K × N, the result M × N.
fn product<'a>(interp: &Interp<'a>, a: &[i64], b: &[i64], acc: &[i64]) -> Result<(), Stop> {
    let wrong = match (a, b, acc) {
        ([.., m, k], [.., l, n], [.., rows, columns]) => k != l || m != rows || n != columns,
        _ => true,
    };
    if wrong {
        return interp.raise(format!("{a:?} times {b:?} does not give {acc:?}"));
    }
    Ok(())
}

/// Which tensor cores a layout of registers is for.
fn mma_version(layout: &Object<'_>) -> Option<i128> {
    let first = match field(layout, "version").filter(|_| layout.class.path == "gl.NVMMADistributedLayout")? {
        Value::List(items) => items.borrow().first().cloned(),
        Value::Tuple(items) => items.first().cloned(),
        _ => None,
    };
    if let Some(Value::Int(version)) = first { Some(version) } else { None }
}

fn warpgroup<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (a, a_shape) = operand(interp, bound, "a")?;
    let b = memory(interp, need(interp, bound, "b")?, "b")?;
    let acc = acc_of(interp, bound)?;
    product(interp, &a_shape, &b.shape, &acc.shape)?;
    if let Value::Object(layout) = &*acc.layout
        && (layout.class.path == "gl.BlockedLayout" || mma_version(layout).is_some_and(|version| version != 3))
    {
        interp.refuse("`acc` has an `NVMMADistributedLayout` of version [3, 0], and no other layout")?;
    }
    if matches!(&b.layout, Value::Object(layout) if layout.class.path == "gl.SwizzledSharedLayout") {
        interp.refuse("`b` has an `NVMMASharedLayout`, and no `SwizzledSharedLayout`")?;
    }
    let use_acc = predicate(interp, bound.get("use_acc"), "use_acc")?;
    let is_async = flag(interp, bound.get("is_async"), false, "is_async")?;
    let c = interp.ssa(&acc);
    let op = Op::new(Ttng::WarpGroupDot)
        .operand("a", a)
        .operand("b", b.ssa)
        .operand("c", c)
        .operand("useC", use_acc)
        .attr("inputPrecision", 0)
        .attrs(is_async.then_some(("isAsync", Attr::Bool(true))));
    let ssa = interp.emit_value(op.result("d", acc.ir()))?;
    interp.accumulators.insert(ssa, is_async);
    Ok(Value::Tensor(Tensor { ssa: Some(ssa), constant: None, ..acc }))
}

fn warpgroup_wait<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let pendings = bound.get("num_outstanding").map_or(Ok(0), |value| int(interp, value, "num_outstanding"))?;
    let Some(deps) = given(bound, "deps") else {
        return interp.raise("`warpgroup_mma_wait` needs `deps`: the accumulators that it waits for");
    };
    let deps = list(interp, deps, "deps")?;
    let (mut operands, mut tensors) = (Vec::new(), Vec::new());
    for dep in &deps {
        match dep {
            Value::MemDesc(of) => {
                operands.push(of.ssa);
                tensors.push(dep.clone());
            }
            _ => {
                let of = tensor(interp, dep, "deps")?;
                operands.push(interp.ssa(&of));
                tensors.push(Value::Tensor(of));
            }
        }
    }
    if operands.is_empty() {
        return interp.raise("`warpgroup_mma_wait` has an empty list of `deps`");
    }
    let types = interp.types(&operands);
    let op = Op::new(Ttng::WarpGroupDotWait).operands("inputs", &operands).attr("pendings", pendings);
    let results = interp.emit(op.results("outputs", types))?;
    let mut values: Vec<Value<'a>> = Vec::new();
    for (value, ssa) in tensors.into_iter().zip(results) {
        interp.accumulators.insert(ssa, false);
        values.push(match value {
            Value::Tensor(of) => Value::Tensor(Tensor { ssa: Some(ssa), ..of }),
            other => other,
        });
    }
    match <[Value<'a>; 1]>::try_from(values) {
        Ok([value]) => Ok(value),
        Err(values) => Ok(Value::Tuple(values.into())),
    }
}

fn allocate<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let dtype = element(interp, need(interp, bound, "element_ty")?, "element_ty")?;
    let shape = ints(interp, need(interp, bound, "shape")?, "shape")?;
    let layout = need(interp, bound, "layout")?.clone();
    if let Value::Object(object) = &layout
        && (object.class.is_a("gl.SharedLayout") || object.class.is_a("gl.DistributedLayout"))
    {
        return interp.raise(format!("`layout` is a `{}` and no layout of tensor memory", object.class.path));
    }
    let made = Made { space: DescSpace::Tensor, dtype, alloc_shape: shape.clone(), shape, layout };
    made.allocate(interp, bound, Op::new(Ttng::TmemAlloc))
}

/// A descriptor of this memory.
fn of_space<'a>(interp: &Interp<'a>, bound: &Bound<'a>, name: &str, space: DescSpace) -> Result<Rc<MemDesc<'a>>, Stop> {
    let of = memory(interp, need(interp, bound, name)?, name)?;
    if of.space != space {
        let (is, asked) = match space {
            DescSpace::Shared => ("tensor", "shared"),
            DescSpace::Tensor => ("shared", "tensor"),
        };
        return interp.raise(format!("`{name}` is {is} memory; {asked} memory is asked for"));
    }
    Ok(of)
}

fn copy<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let src = of_space(interp, bound, "src", DescSpace::Shared)?;
    let dst = of_space(interp, bound, "dst", DescSpace::Tensor)?;
    interp.emit_effect(Op::new(Ttng::TmemCopy).operand("src", src.ssa).operand("dst", dst.ssa))
}

/// Barriers of an MMA, and their predicates.
fn barriers<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Result<(Vec<Ssa>, Vec<Ssa>), Stop> {
    let Some(bars) = given(bound, "mbarriers") else {
        return match given(bound, "mbarrier_preds") {
            Some(_) => interp.raise("`mbarrier_preds` without `mbarriers`"),
            None => Ok(Default::default()),
        };
    };
    let bars = list(interp, bars, "mbarriers")?;
    let preds = match given(bound, "mbarrier_preds") {
        Some(preds) => list(interp, preds, "mbarrier_preds")?,
        None => vec![Value::Bool(true); bars.len()],
    };
    if preds.len() != bars.len() {
        return interp.raise(format!("{} `mbarriers` and {} `mbarrier_preds`", bars.len(), preds.len()));
    }
    let (mut barriers, mut conditions) = (Vec::new(), Vec::new());
    for (bar, pred) in bars.iter().zip(&preds) {
        barriers.push(completed(interp, bar, "mbarriers")?.ssa);
        conditions.push(predicate(interp, Some(pred), "mbarrier_preds")?);
    }
    Ok((barriers, conditions))
}

/// A barrier that products complete: from 3.9 on each CTA has one of its own, also where two of them multiply together.
fn completed<'a>(interp: &Interp<'a>, value: &Value<'a>, name: &str) -> Result<Rc<MemDesc<'a>>, Stop> {
    let bar = barrier(interp, value, name)?;
    if interp.version >= Version(3, 9) && cga(interp, &bar.layout)?.iter().flatten().any(|basis| *basis == 0) {
        return interp
            .raise(format!("`{name}` is a barrier that CTAs share, and what completes products is one of each CTA"));
    }
    Ok(bar)
}

/// Whether an accumulator is one of a pair of CTAs.
fn two_ctas(interp: &Interp<'_>, acc: &MemDesc<'_>) -> Result<bool, Stop> {
    match &acc.layout {
        Value::Object(layout) => flag(interp, field(layout, "two_ctas"), false, "two_ctas"),
        _ => Ok(false),
    }
}

/// Adds what all MMAs on tensor memory are given.
fn finish<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, acc: &MemDesc<'a>, op: Op) -> Eval<'a> {
    let use_acc = predicate(interp, bound.get("use_acc"), "use_acc")?;
    let pred = predicate(interp, bound.get("pred"), "pred")?;
    let (bars, bar_preds) = barriers(interp, bound)?;
    let (multicast, pairs) = (flag(interp, bound.get("multicast"), false, "multicast")?, two_ctas(interp, acc)?);
    interp.two_ctas |= pairs;
    let op = op
        .operand("d", acc.ssa)
        .operand("useD", use_acc)
        .operand("pred", pred)
        .flag("is_async", !bars.is_empty())
        .operands("barriers", &bars)
        .operands("barrier_preds", &bar_preds)
        .flag("multicast", multicast)
        .flag("two_ctas", pairs);
    interp.emit_effect(op.result("token", Type::Token))
}

fn mma<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let a = memory(interp, need(interp, bound, "a")?, "a")?;
    let b = of_space(interp, bound, "b", DescSpace::Shared)?;
    let acc = of_space(interp, bound, "acc", DescSpace::Tensor)?;
    product(interp, &a.shape, &b.shape, &acc.shape)?;
    finish(interp, bound, &acc, Op::new(Ttng::TcGen5Mma).operand("a", a.ssa).operand("b", b.ssa))
}

fn scaled<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let a = memory(interp, need(interp, bound, "a")?, "a")?;
    let b = memory(interp, need(interp, bound, "b")?, "b")?;
    let acc = of_space(interp, bound, "acc", DescSpace::Tensor)?;
    let a_scale = of_space(interp, bound, "a_scale", DescSpace::Tensor)?;
    let b_scale = of_space(interp, bound, "b_scale", DescSpace::Tensor)?;
    let format = |name: &str| match need(interp, bound, name)? {
        Value::Str(text) if matches!(&**text, "e2m1" | "e4m3" | "e5m2") => Ok(text.clone()),
        Value::Unknown(reason) => interp.unknown(reason.clone()),
        _ => interp.raise(format!("`{name}` is one of \"e2m1\", \"e4m3\" and \"e5m2\"")),
    };
    let (lhs, rhs) = (format("a_type")?, format("b_type")?);
    let op = Op::new(Ttng::TcGen5MmaScaled)
        .operand("a", a.ssa)
        .operand("b", b.ssa)
        .operand("a_scale", a_scale.ssa)
        .operand("b_scale", b_scale.ssa)
        .attr("a_type", &*lhs)
        .attr("b_type", &*rhs);
    finish(interp, bound, &acc, op)
}

/// How many CTAs commit a multicast MMA: those that are first along some operand's broadcast.
fn barrier_count<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let smems = list(interp, need(interp, bound, "smems")?, "smems")?;
    let multicast = flag(interp, bound.get("multicast"), false, "multicast")?;
    let pairs = flag(interp, bound.get("two_ctas"), false, "two_ctas")?;
    if smems.len() > 4 {
        return interp.raise("at most four operands");
    }
    if smems.is_empty() || !multicast {
        return Ok(Value::Int(1));
    }
    let mut layouts = Vec::new();
    for smem in &smems {
        let layout = match smem {
            Value::MemDesc(of) => of.layout.clone(),
            Value::TensorDesc(of) => of.layout.clone(),
            Value::Unknown(reason) => return interp.unknown(reason.clone()),
            other => return interp.raise(format!("a {} has no layout", other.class_name())),
        };
        layouts.push(cga(interp, &layout)?);
    }
    let bits = layouts.first().map_or(0, Vec::len);
    if bits > 8 || layouts.iter().any(|layout| layout.len() != bits) {
        return interp.raise("the operands have `cga_layout`s of different lengths");
    }
    let commits = (0..1_u32 << bits).filter(|cta| {
        let first = |layout: &Vec<Vec<i64>>| {
            layout.iter().enumerate().all(|(bit, basis)| basis.iter().all(|unit| *unit == 0) || cta & (1 << bit) == 0)
        };
        !(pairs && cta & 1 == 1) && layouts.iter().any(first)
    });
    Ok(Value::Int(commits.count() as i128))
}

fn commit<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let bar = completed(interp, need(interp, bound, "barrier")?, "barrier")?;
    let pred = predicate(interp, bound.get("pred"), "pred")?;
    let descs = given(bound, "descs").map_or(Ok(Vec::new()), |descs| list(interp, descs, "descs"))?;
    let descs: Vec<Ssa> =
        descs.iter().map(|desc| Ok(memory(interp, desc, "descs")?.ssa)).collect::<Result<_, Stop>>()?;
    let op = Op::new(Ttng::TcGen5Commit).operand("barrier", bar.ssa).operand("pred", pred);
    interp.emit_effect(op.operands("descs", &descs))
}

fn own<'a>(interp: &Interp<'a>, bound: &Bound<'a>) -> Result<Rc<MemDesc<'a>>, Stop> {
    memory(interp, need(interp, bound, "self")?, "self")
}

/// The layout of a load, which Triton chooses where it is not given.
fn layout<'a>(interp: &Interp<'a>, bound: &Bound<'a>, of: &MemDesc<'a>) -> Eval<'a> {
    given(bound, "layout").cloned().map_or_else(|| opaque_registers(interp, &of.shape), Ok)
}

fn load<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let of = own(interp, bound)?;
    let layout = layout(interp, bound, &of)?;
    read(interp, &of, &of.shape, layout, Op::new(Ttng::TmemLoad))
}

fn load_reduced<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, kind: &str) -> Eval<'a> {
    let of = own(interp, bound)?;
    let layout = layout(interp, bound, &of)?;
    let reduced = of.shape.get(..1).unwrap_or_default();
    let (Value::Tensor(mut all), Value::Tensor(mut red)) =
        (interp.registers(of.dtype, &of.shape, layout), interp.registers(of.dtype, reduced, Value::None))
    else {
        return Ok(Value::None);
    };
    let abs = flag(interp, bound.get("abs"), false, "abs")?;
    let op = Op::new(Ttng::TmemLoad)
        .operand("src", of.ssa)
        .attrs(abs.then_some(("abs", Attr::Bool(true))))
        .attr("redOp", Attr::Dialect(format!("#ttng.redOp<{kind}>")))
        .result("result", all.ir())
        .result("red", red.ir());
    let results = interp.emit(op)?;
    (all.ssa, red.ssa) = (results.first().copied(), results.get(1).copied());
    Ok(Value::Tuple([Value::Tensor(all), Value::Tensor(red)].into()))
}

fn store<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let of = own(interp, bound)?;
    let value = moved(interp, need(interp, bound, "value")?, "value", of.dtype, &of.shape)?;
    same(interp, "value", &value, &of.shape, of.dtype)?;
    let pred = predicate(interp, bound.get("pred"), "pred")?;
    let op = Op::new(Ttng::TmemStore).operand("src", interp.ssa(&value)).operand("dst", of.ssa);
    interp.emit_effect(op.operand("pred", pred))
}

fn slice<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let of = own(interp, bound)?;
    let number = |name| need(interp, bound, name).and_then(|value| int(interp, value, name));
    let (start, length) = (number("start")?, number("length")?);
    let dim = bound.get("dim").map_or(Ok(1), |dim| int(interp, dim, "dim"))?;
    let Some(at) = usize::try_from(dim).ok().filter(|at| *at < of.shape.len()) else {
        return interp.raise(format!("`dim` is {dim}, the memory has {} dimensions", of.shape.len()));
    };
    let all = of.shape.get(at).copied().unwrap_or(0);
    if start < 0 || length <= 0 || start.checked_add(length).is_none_or(|end| end > all) {
        return interp
            .raise(format!("a slice from {start} of length {length} is not within {all} along dimension {dim}"));
    }
    let mut shape = of.shape.clone();
    shape[at] = length;
    let made = Made {
        space: of.space,
        dtype: of.dtype,
        shape,
        alloc_shape: of.alloc_shape.clone(),
        layout: of.layout.clone(),
    };
    let along = (dim != 1).then(|| ("dim", dim.into()));
    view(interp, &of, made, Op::new(Ttng::TmemSubslice).attrs(along).attr("offset", start))
}
