//! `cp.async`, stores into other CTAs' shared memory, and cluster launch control.

use super::mbarrier::barrier;
use super::memory::ty;
use python::emit::Ssa;
use python::interp::{Eval, Interp, Stop};
use python::library::operand::{flag, given, int, memory, need, tensor};
use python::library::replaced;
use python::library::{Bound, Class, Row};
use python::library::{NOTHING, Part};
use python::value::{DType, Tensor, Value};

const LOAD: &str =
    "smem, pointer, mask=None, cache_modifier=None, eviction_policy=None, volatile=False, cache_policy=None";
const OLD_LOAD: &str = "smem, pointer, mask=None, cache_modifier='', eviction_policy='', volatile=False";

pub(super) const PART: Part = Part {
    rows: &[
        Row::effect("gl.nvidia.ampere.async_copy.async_load", LOAD, 9, load),
        Row::effect("gl.nvidia.ampere.async_copy.async_load", OLD_LOAD, 8, load).until(8),
        Row::effect("gl.nvidia.ampere.async_copy.async_copy_global_to_shared", LOAD, 9, |interp, bound| {
            replaced(interp, "async_copy_global_to_shared", "async_load");
            load(interp, bound)
        }),
        Row::effect("gl.nvidia.ampere.async_copy.async_copy_global_to_shared", OLD_LOAD, 5, load).until(8),
        Row::effect("gl.nvidia.ampere.async_copy.commit_group", "", 5, commit_group),
        Row::effect("gl.nvidia.ampere.async_copy.wait_group", "num_outstanding=0", 5, wait_group),
        Row::effect("gl.nvidia.ampere.async_copy.mbarrier_arrive", "mbarrier, increment_count=True", 5, arrive),
        Row::effect("gl.nvidia.hopper.async_store", "dst, value, mbarrier", 8, remote_store),
        Row::effect("gl.nvidia.blackwell.clc.try_cancel", "result, barrier", 8, |interp, bound| {
            let result = memory(interp, need(interp, bound, "result")?, "result")?;
            let bar = barrier(interp, need(interp, bound, "barrier")?, "barrier")?;
            let (here, to, bar_ty) = (interp.here(), ty(interp, &result), ty(interp, &bar));
            interp.emit.op(here, format_args!("ttng.clc_try_cancel {}, {} : {to}, {bar_ty}", result.ssa, bar.ssa));
            Ok(Value::None)
        }),
        Row::effect("gl.nvidia.blackwell.clc.load_result", "src", 8, |interp, bound| {
            let src = memory(interp, need(interp, bound, "src")?, "src")?;
            let (here, from) = (interp.here(), ty(interp, &src));
            let ssa =
                interp.emit.value(here, "i128", format_args!("ttng.clc_load_result {} : {from} -> i128", src.ssa));
            let scalar = scalar(ssa, DType::Int64);
            super::layouts::object(interp, RESULT, vec![("handle", scalar)])
        }),
        Row::effect("gl.nvidia.blackwell.clc.clc_result.is_canceled", "self", 8, |interp, bound| {
            let handle = handle(interp, bound)?;
            let here = interp.here();
            let ssa = interp.emit.value(here, "i1", format_args!("ttng.clc_is_canceled {handle} : i128 -> i1"));
            Ok(scalar(ssa, DType::Int1))
        }),
        Row::effect("gl.nvidia.blackwell.clc.clc_result.program_id", "self, dim", 8, |interp, bound| {
            let handle = handle(interp, bound)?;
            let dim = int(interp, need(interp, bound, "dim")?, "dim")?;
            let Some(dim) = usize::try_from(dim).ok().and_then(|dim| ["x", "y", "z"].get(dim)) else {
                return interp.raise("`dim` is 0, 1 or 2");
            };
            let here = interp.here();
            let ssa =
                interp.emit.value(here, "i32", format_args!("ttng.clc_get_program_id {handle}, {dim} : i128 -> i32"));
            Ok(scalar(ssa, DType::Int32))
        }),
    ],
    classes: &[Class::new(RESULT, "handle", &[], 8, |_, class, bound| {
        Ok(Value::Object(std::rc::Rc::new(super::layouts::build(class, bound, &[]))))
    })],
    ..NOTHING
};

const RESULT: &str = "gl.nvidia.blackwell.clc.clc_result";

fn scalar<'a>(ssa: Ssa, dtype: DType) -> Value<'a> {
    Value::Tensor(Tensor {
        ssa: Some(ssa),
        dtype,
        shape: std::rc::Rc::from([]),
        layout: std::rc::Rc::new(Value::None),
        constant: None,
    })
}

fn handle<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Result<Ssa, Stop> {
    match need(interp, bound, "self")? {
        Value::Object(object) => match python::library::operand::field(object, "handle") {
            Some(Value::Tensor(tensor)) => Ok(interp.ssa(tensor)),
            _ => interp.unknown("the answer of the launch control is not followed"),
        },
        Value::Unknown(reason) => interp.unknown(reason.clone()),
        _ => interp.unknown("the answer of the launch control is not followed"),
    }
}

fn load<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let smem = memory(interp, need(interp, bound, "smem")?, "smem")?;
    let pointer = tensor(interp, need(interp, bound, "pointer")?, "pointer")?;
    let mask = given(bound, "mask").cloned();
    let mask = mask.map(|mask| tensor(interp, &mask, "mask")).transpose()?;
    // A mask may make the pointers wider.
    if mask.is_none() && *pointer.shape != *smem.shape {
        return interp.raise(format!("the pointers have the shape {:?}, the memory {:?}", pointer.shape, smem.shape));
    }
    let wide = |interp: &mut Interp<'a>, of: &Tensor<'a>| match interp.registers(
        of.dtype,
        &smem.shape,
        (*of.layout).clone(),
    ) {
        Value::Tensor(wide) if *of.shape != *smem.shape => interp.ssa(&wide),
        _ => interp.ssa(of),
    };
    let from = wide(interp, &pointer);
    let mask = match mask {
        Some(mask) => format!(" mask {}", wide(interp, &mask)),
        None => String::new(),
    };
    let (here, to, from_ty) = (interp.here(), ty(interp, &smem), interp.emit.ty(from));
    // This op prints the descriptor's type without its name.
    let to = to.strip_prefix("!ttg.memdesc").unwrap_or(&to).to_owned();
    interp.emit.value(
        here,
        "!ttg.async.token",
        format_args!("ttg.async_copy_global_to_local {from}, {}{mask} : {from_ty} -> {to}", smem.ssa),
    );
    Ok(Value::None)
}

fn commit_group<'a>(interp: &mut Interp<'a>, _: &Bound<'a>) -> Eval<'a> {
    let here = interp.here();
    interp.emit.value(here, "!ttg.async.token", format_args!("ttg.async_commit_group"));
    Ok(Value::None)
}

fn wait_group<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let num = bound.get("num_outstanding").map_or(Ok(0), |num| int(interp, num, "num_outstanding"))?;
    if num < 0 {
        return interp.raise(format!("{num} groups cannot be outstanding"));
    }
    let here = interp.here();
    interp.emit.value(here, "!ttg.async.token", format_args!("ttg.async_wait {{num = {num} : i32}}"));
    Ok(Value::None)
}

fn arrive<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let bar = barrier(interp, need(interp, bound, "mbarrier")?, "mbarrier")?;
    let counts = flag(interp, bound.get("increment_count"), true, "increment_count")?;
    let attributes = if counts { "" } else { " {noIncrement}" };
    let (here, ty) = (interp.here(), ty(interp, &bar));
    interp.emit.op(here, format_args!("ttng.async_copy_mbarrier_arrive {}{attributes} : {ty}", bar.ssa));
    Ok(Value::None)
}

fn remote_store<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let dst = memory(interp, need(interp, bound, "dst")?, "dst")?;
    let value = tensor(interp, need(interp, bound, "value")?, "value")?;
    let bar = barrier(interp, need(interp, bound, "mbarrier")?, "mbarrier")?;
    super::memory::same(interp, "value", &value, &dst.shape, dst.dtype)?;
    let (value, here, to, bar_ty) = (interp.ssa(&value), interp.here(), ty(interp, &dst), ty(interp, &bar));
    let from = interp.emit.ty(value);
    interp
        .emit
        .op(here, format_args!("ttng.async_shared_store {value}, {}, {} : {from} -> {to}, {bar_ty}", dst.ssa, bar.ssa));
    Ok(Value::None)
}
