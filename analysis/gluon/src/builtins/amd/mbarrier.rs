//! LDS barriers and cluster barriers of CDNA 5.

use std::rc::Rc;

use super::super::mbarrier::barrier;
use builtins::operand::{int, need, scalar};
use dialects::Amdg;
use python::doubt::DoubtKind;
use python::emit::{Op, Type};
use python::interp::{Eval, Interp, Stop};
use python::library::{Bound, NOTHING, Part, Row};
use python::value::{DType, MemDesc, Tensor, Value};

pub(super) const PART: Part = Part {
    rows: &[
        Row::effect("gl.amd.cdna5.mbarrier.init", "mbarrier, count", 6, init),
        Row::effect("gl.amd.cdna5.mbarrier.wait", "mbarrier, phase", 6, wait),
        Row::effect("gl.amd.cdna5.mbarrier.arrive", "mbarrier, *, count=1", 6, arrive),
        Row::effect("gl.amd.cdna5.cluster.arrive", "", 7, |interp, _| of_cluster(interp, Amdg::ClusterBarrierArrive)),
        Row::effect("gl.amd.cdna5.cluster.wait", "", 7, |interp, _| of_cluster(interp, Amdg::ClusterBarrierWait)),
    ],
    ..NOTHING
};

/// The barrier that a function is given.
pub(super) fn own<'a>(interp: &Interp<'a>, bound: &Bound<'a>) -> Result<Rc<MemDesc<'a>>, Stop> {
    barrier(interp, need(interp, bound, "mbarrier")?, "mbarrier")
}

/// A half of the barrier of a cluster, which takes one: the verifiers of both ops ask for more than one CTA.
fn of_cluster<'a>(interp: &mut Interp<'a>, op: Amdg) -> Eval<'a> {
    if interp.num_ctas <= 1 {
        interp.doubt(DoubtKind::Ctas(2));
        return interp.raise("a barrier of the cluster in a kernel without clusters (`num_ctas` is 1)");
    }
    interp.emit_effect(Op::new(op))
}

fn init<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let bar = own(interp, bound)?;
    let count = int(interp, need(interp, bound, "count")?, "count")?;
    if count <= 0 {
        return interp.raise(format!("an mbarrier counts at least one arrival, not {count}"));
    }
    interp.emit_effect(Op::new(Amdg::InitBarrier).operand("alloc", bar.ssa).attr("count", count))
}

fn wait<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let bar = own(interp, bound)?;
    let phase = match need(interp, bound, "phase")? {
        Value::Bool(value) => Value::Int(i128::from(*value)),
        other => other.clone(),
    };
    let phase = scalar(interp, &phase, DType::Int32, "phase")?;
    interp.emit_effect(Op::new(Amdg::WaitBarrier).operand("alloc", bar.ssa).operand("phase", phase))
}

/// Gives the phase that the barrier was in.
fn arrive<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let bar = own(interp, bound)?;
    let count = bound.get("count").map_or(Ok(1), |count| int(interp, count, "count"))?;
    if count <= 0 {
        return interp.raise(format!("an arrival counts at least once, not {count} times"));
    }
    let op = Op::new(Amdg::ArriveBarrier).operand("alloc", bar.ssa).attr("count", count);
    let ssa = interp.emit_value(op.result("result", Type::I32))?;
    let (shape, layout) = (Rc::from([]), Rc::new(Value::None));
    Ok(Value::Tensor(Tensor { ssa: Some(ssa), dtype: DType::Int32, shape, layout, constant: None }))
}
