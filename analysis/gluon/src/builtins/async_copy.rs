//! `cp.async`, stores into other CTAs' shared memory, and cluster launch control.

use super::layouts::shared_by_ctas;
use super::mbarrier::barrier;
use builtins::operand::{flag, given, int, memory, moved, need};
use dialects::{Ttg, Ttng};
use python::emit::{Op, Ssa, Type};
use python::interp::{Eval, Interp, Stop};
use python::library::replaced;
use python::library::{Bound, LibClass, Row};
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
        })
        .refused(9),
        Row::effect("gl.nvidia.ampere.async_copy.async_copy_global_to_shared", OLD_LOAD, 5, load).until(8),
        Row::effect("gl.nvidia.ampere.async_copy.commit_group", "", 5, commit_group),
        Row::effect("gl.nvidia.ampere.async_copy.wait_group", "num_outstanding=0", 5, wait_group),
        Row::effect("gl.nvidia.ampere.async_copy.mbarrier_arrive", "mbarrier, increment_count=True", 5, arrive),
        Row::effect("gl.nvidia.hopper.async_store", "dst, value, mbarrier", 8, remote_store),
        Row::effect("gl.nvidia.blackwell.clc.try_cancel", "result, barrier", 8, |interp, bound| {
            let result = memory(interp, need(interp, bound, "result")?, "result")?;
            let bar = barrier(interp, need(interp, bound, "barrier")?, "barrier")?;
            let op = Op::new(Ttng::ClcTryCancel).operand("result", result.ssa);
            interp.emit_effect(op.operand("mbarrier", bar.ssa))
        }),
        Row::effect("gl.nvidia.blackwell.clc.load_result", "src", 8, |interp, bound| {
            let src = memory(interp, need(interp, bound, "src")?, "src")?;
            let op = Op::new(Ttng::ClcLoadResult).operand("src", src.ssa);
            let ssa = interp.emit_value(op.result("clcResult", Type::Scalar("i128")))?;
            let scalar = scalar(ssa, DType::Int64);
            super::layouts::object(interp, RESULT, vec![("handle", scalar)])
        }),
        Row::effect("gl.nvidia.blackwell.clc.clc_result.is_canceled", "self", 8, |interp, bound| {
            let handle = handle(interp, bound)?;
            let op = Op::new(Ttng::ClcIsCanceled).operand("clcResult", handle);
            let ssa = interp.emit_value(op.result("is_canceled", Type::BOOL))?;
            Ok(scalar(ssa, DType::Int1))
        }),
        Row::effect("gl.nvidia.blackwell.clc.clc_result.program_id", "self, dim", 8, |interp, bound| {
            let handle = handle(interp, bound)?;
            let dim = int(interp, need(interp, bound, "dim")?, "dim")?;
            let Some(dim) = usize::try_from(dim).ok().and_then(|dim| ["x", "y", "z"].get(dim)) else {
                return interp.raise("`dim` is 0, 1 or 2");
            };
            let op = Op::new(Ttng::ClcGetProgramId).operand("clcResult", handle).attr("dim", *dim);
            let ssa = interp.emit_value(op.result("result", Type::I32))?;
            Ok(scalar(ssa, DType::Int32))
        }),
    ],
    classes: &[LibClass::new(RESULT, "handle", &[], 8, |_, class, bound| {
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
        Value::Object(object) => match builtins::operand::field(object, "handle") {
            Some(Value::Tensor(tensor)) => Ok(interp.ssa(tensor)),
            _ => interp.unknown("the answer of the launch control is not followed"),
        },
        Value::Unknown(reason) => interp.unknown(reason.clone()),
        _ => interp.unknown("the answer of the launch control is not followed"),
    }
}

fn load<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let smem = memory(interp, need(interp, bound, "smem")?, "smem")?;
    let pointer = moved(interp, need(interp, bound, "pointer")?, "pointer", smem.dtype.pointer(), &smem.shape)?;
    let mask = given(bound, "mask").cloned();
    let mask = mask.map(|mask| moved(interp, &mask, "mask", DType::Int1, &smem.shape)).transpose()?;
    // A mask may make the pointers wider.
    if mask.is_none() && *pointer.shape != *smem.shape {
        return interp.raise(format!("the pointers have the shape {:?}, the memory {:?}", pointer.shape, smem.shape));
    }
    let fits = |of: &Tensor<'a>| {
        let pairs = of.shape.iter().rev().zip(smem.shape.iter().rev());
        of.shape.len() <= smem.shape.len() && pairs.into_iter().all(|(own, wanted)| own == wanted || *own == 1)
    };
    if !fits(&pointer) || !mask.as_ref().is_none_or(fits) {
        return interp.raise(format!("pointers and mask do not go together with the memory of {:?}", smem.shape));
    }
    let wide = |interp: &mut Interp<'a>, of: &Tensor<'a>| {
        let wide = interp.shaped(of, &(smem.shape.as_slice().into(), of.layout.clone()));
        interp.ssa(&wide)
    };
    let from = wide(interp, &pointer);
    let mask = mask.map(|mask| wide(interp, &mask));
    let op = Op::new(Ttg::AsyncCopyGlobalToLocal).operand("src", from).operand("result", smem.ssa);
    interp.emit_effect(op.maybe("mask", mask).result("token", Type::Token))
}

fn commit_group<'a>(interp: &mut Interp<'a>, _: &Bound<'a>) -> Eval<'a> {
    interp.emit_effect(Op::new(Ttg::AsyncCommitGroup).result("asyncToken", Type::Token))
}

fn wait_group<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let num = bound.get("num_outstanding").map_or(Ok(0), |num| int(interp, num, "num_outstanding"))?;
    if num < 0 {
        return interp.raise(format!("{num} groups cannot be outstanding"));
    }
    interp.emit_effect(Op::new(Ttg::AsyncWait).attr("num", num).result("retToken", Type::Token))
}

fn arrive<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let bar = barrier(interp, need(interp, bound, "mbarrier")?, "mbarrier")?;
    let counts = flag(interp, bound.get("increment_count"), true, "increment_count")?;
    interp.emit_effect(Op::new(Ttng::AsyncCopyMbarrierArrive).operand("barrier", bar.ssa).flag("noIncrement", !counts))
}

fn remote_store<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let dst = memory(interp, need(interp, bound, "dst")?, "dst")?;
    let value = moved(interp, need(interp, bound, "value")?, "value", dst.dtype, &dst.shape)?;
    let bar = barrier(interp, need(interp, bound, "mbarrier")?, "mbarrier")?;
    super::memory::same(interp, "value", &value, &dst.shape, dst.dtype)?;
    let op = Op::new(Ttng::AsyncSharedStore).operand("src", interp.ssa(&value)).operand("dst", dst.ssa);
    let op = op.operand("mbarrier", bar.ssa);
    interp.emit_effect(shared_by_ctas(interp, op, &value.layout))
}
