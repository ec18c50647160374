//! TLX's mbarriers and named barriers, and fences.

use std::rc::Rc;

use super::super::layouts::multicta;
use super::super::mbarrier::{barrier, words};
use super::super::memory::slot;
use super::cluster::{clustered, in_cta};
use super::operand::{int_or, number};
use builtins::operand::{given, int, memory, need, predicate};
use dialects::{Ttg, Ttng};
use python::emit::{Attr, Op};
use python::interp::{Eval, Interp, Stop};
use python::library::{Bound, NOTHING, Part, Row};
use python::value::{DType, MemDesc, Value};

pub(super) const PART: Part = Part {
    rows: &[
        Row::effect("tl.extra.tlx.alloc_barriers", "num_barriers, arrive_count=1", 4, |interp, bound| {
            let count = int_or(interp, bound, "arrive_count", 1)?;
            allocate(interp, bound, DType::Int64, count)
        }),
        Row::effect(
            "tl.extra.tlx.alloc_warp_barrier",
            "num_barriers, num_warps=1, num_arrivals=1",
            4,
            |interp, bound| {
                let warps = int_or(interp, bound, "num_warps", 1)?;
                let arrivals = warps.saturating_mul(32).saturating_mul(int_or(interp, bound, "num_arrivals", 1)?);
                allocate(interp, bound, EACH_THREAD, arrivals)
            },
        ),
        Row::effect("tl.extra.tlx.barrier_expect_bytes", "bar, size, pred=None", 4, |interp, bound| {
            let bar = own(interp, bound)?;
            let size = int(interp, need(interp, bound, "size")?, "size")?;
            if size < 0 {
                return interp.raise(format!("{size} bytes cannot be expected"));
            }
            let pred = predicate(interp, given(bound, "pred"), "pred")?;
            interp.emit_effect(
                Op::new(Ttng::BarrierExpect).operand("alloc", bar.ssa).attr("size", size).operand("pred", pred),
            )
        }),
        Row::effect("tl.extra.tlx.barrier_wait", "bar, phase, pred=None", 4, |interp, bound| {
            let bar = own(interp, bound)?;
            let phase = number(interp, need(interp, bound, "phase")?, "phase")?;
            let pred = predicate(interp, given(bound, "pred"), "pred")?;
            let op = Op::new(Ttng::WaitBarrier).operand("alloc", bar.ssa).operand("phase", phase);
            interp.emit_effect(op.operand("pred", pred))
        }),
        Row::effect(
            "tl.extra.tlx.barrier_arrive",
            "bar, arrive_count=1, remote_cta_rank=None, pred=None",
            4,
            |interp, bound| {
                let bar = own(interp, bound)?;
                let count = int_or(interp, bound, "arrive_count", 1)?;
                if count <= 0 {
                    return interp.raise(format!("an arrival counts at least once, not {count} times"));
                }
                let pred = predicate(interp, given(bound, "pred"), "pred")?;
                let ssa = match given(bound, "remote_cta_rank").cloned() {
                    None => bar.ssa,
                    Some(rank) => {
                        clustered(interp)?;
                        let rank = number(interp, &rank, "remote_cta_rank")?;
                        in_cta(interp, bar.ssa, rank)?
                    }
                };
                let each = (bar.dtype == EACH_THREAD).then_some(("perThread", Attr::Bool(true)));
                let op = Op::new(Ttng::ArriveBarrier).operand("alloc", ssa).attr("count", count).operand("pred", pred);
                interp.emit_effect(op.attrs(each))
            },
        ),
        Row::effect("tl.extra.tlx.named_barrier_wait", "bar, arrive_count", 4, |interp, bound| {
            named(interp, bound, Op::new(Ttng::WaitBarrierNamed))
        }),
        Row::effect("tl.extra.tlx.named_barrier_arrive", "bar, arrive_count", 4, |interp, bound| {
            named(interp, bound, Op::new(Ttng::ArriveBarrierNamed))
        }),
        Row::effect("tl.extra.tlx.cluster_barrier", "", 4, |interp, _| {
            clustered(interp)?;
            interp.emit_effect(Op::new(Ttng::ClusterBarrier))
        }),
        Row::effect("tl.extra.tlx.fence_mbarrier_init_cluster", "", 4, |interp, _| {
            interp.emit_effect(Op::new(Ttng::FenceMbarrierInitReleaseCluster))
        }),
        Row::effect("tl.extra.tlx.fence_async_shared", "", 4, |interp, _| fence_async(interp)),
        Row::effect("tl.extra.tlx.fence", "scope", 4, |interp, bound| match need(interp, bound, "scope")? {
            Value::Str(scope) if **scope == *"async_shared" => fence_async(interp),
            Value::Str(scope) if matches!(&**scope, "gpu" | "sys") => {
                interp.emit_effect(Op::new(Ttg::Barrier).attr("addrSpace", "all"))
            }
            _ => interp.unknown("the scope of the fence is not known"),
        }),
    ],
    ..NOTHING
};

/// Words of barriers at which each thread arrives for itself: their type is the same in the IR.
const EACH_THREAD: DType = DType::UInt64;

fn fence_async<'a>(interp: &mut Interp<'a>) -> Eval<'a> {
    interp.emit_effect(Op::new(Ttng::FenceAsyncShared).attr("bCluster", false))
}

/// Barriers in a row, each made for so many arrivals a phase.
pub(super) fn barriers<'a>(interp: &mut Interp<'a>, slots: i64, dtype: DType, arrivals: i64) -> Eval<'a> {
    if slots <= 0 || arrivals <= 0 {
        return interp.raise(format!("{slots} barriers for {arrivals} arrivals: there is at least one of both"));
    }
    if u64::try_from(slots).is_ok_and(|slots| slots > interp.target.shared_bytes() / 8) {
        return interp.raise(format!("{slots} barriers are more than shared memory holds"));
    }
    interp.explicit_memory = true;
    let layout = multicta(interp, 1, false)?;
    let all = words(interp, vec![slots, 1], dtype, layout)?;
    let of = memory(interp, &all, "barriers")?;
    for at in 0..slots {
        let at = number(interp, &Value::Int(at.into()), "index")?;
        let bar = slot(interp, &of, at)?;
        let bar = memory(interp, &bar, "barrier")?;
        interp.emit_effect(Op::new(Ttng::InitBarrier).operand("alloc", bar.ssa).attr("count", arrivals))?;
    }
    Ok(all)
}

fn allocate<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, dtype: DType, arrivals: i64) -> Eval<'a> {
    let slots = int(interp, need(interp, bound, "num_barriers")?, "num_barriers")?;
    barriers(interp, slots, dtype, arrivals)
}

fn own<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Result<Rc<MemDesc<'a>>, Stop> {
    let value = need(interp, bound, "bar")?.clone();
    one(interp, &value, "bar")
}

/// One barrier; a row of one stands for it.
pub(super) fn one<'a>(interp: &mut Interp<'a>, value: &Value<'a>, name: &str) -> Result<Rc<MemDesc<'a>>, Stop> {
    match value {
        Value::MemDesc(of) if of.shape[..] == [1, 1] => {
            let first = number(interp, &Value::Int(0), name)?;
            let only = slot(interp, of, first)?;
            barrier(interp, &only, name)
        }
        value => barrier(interp, value, name),
    }
}

fn named<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, op: Op) -> Eval<'a> {
    interp.explicit_memory = true;
    let bar = number(interp, need(interp, bound, "bar")?, "bar")?;
    let threads = number(interp, need(interp, bound, "arrive_count")?, "arrive_count")?;
    interp.emit_effect(op.operand("bar", bar).operand("numThreads", threads))
}
