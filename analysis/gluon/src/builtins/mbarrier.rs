//! Mbarriers of NVIDIA GPUs, and rendezvous of partitions and clusters.

use super::layouts::multicta;
use super::memory::Made;
use builtins::operand::{flag, given, int, list, memory, need, predicate, scalar};
use dialects::{Ttg, Ttng};
use python::doubt::DoubtKind;
use python::emit::{Attr, Op, Ssa};
use python::interp::{Eval, Interp, Stop};
use python::library::{Bound, Row};
use python::library::{Gone, NOTHING, Part};
use python::target::Version;
use python::value::{DType, DescSpace, MemDesc, Value};

pub(super) const PART: Part = Part {
    rows: &[
        Row::effect("gl.nvidia.ampere.mbarrier.allocate_mbarrier", "batch=None, two_ctas=False", 7, allocate),
        Row::effect("gl.nvidia.ampere.mbarrier.init", "mbarrier, count", 4, init),
        Row::effect("gl.nvidia.ampere.mbarrier.invalidate", "mbarrier", 4, invalidate),
        Row::effect("gl.nvidia.ampere.mbarrier.wait", "mbarrier, phase, pred=True, deps=()", 4, wait),
        Row::effect("gl.nvidia.ampere.mbarrier.arrive", "mbarrier, *, pred=True, from_cta=None", 9, arrive),
        Row::effect("gl.nvidia.ampere.mbarrier.arrive", "mbarrier, *, pred=True", 5, arrive).until(8),
        Row::effect("gl.nvidia.hopper.mbarrier.arrive", "mbarrier, *, count=1, pred=True, from_cta=None", 9, arrive),
        Row::effect("gl.nvidia.hopper.mbarrier.arrive", "mbarrier, *, count=1, pred=True", 5, arrive).until(8),
        Row::effect("gl.nvidia.hopper.mbarrier.arrive", "mbarrier, count=1, pred=True", 4, arrive).until(4),
        Row::effect(
            "gl.nvidia.rubin.mbarrier.arrive",
            "mbarrier, *, count=1, pred=True, from_cta=None, multicast_cta=0",
            9,
            arrive,
        ),
        Row::effect("gl.nvidia.rubin.mbarrier.arrive", "mbarrier, *, count=1, cta_mask=0, pred=True", 8, arrive)
            .until(8),
        Row::effect(
            "gl.nvidia.hopper.mbarrier.expect",
            "mbarrier, bytes_per_cta=None, pred=True, *, from_cta=None",
            9,
            expect,
        ),
        Row::effect("gl.nvidia.hopper.mbarrier.expect", "mbarrier, bytes_per_cta=None, pred=True", 7, expect).until(8),
        Row::effect("gl.nvidia.hopper.mbarrier.expect", "mbarrier, bytes, pred=True", 4, expect).until(6),
        Row::effect("gl.nvidia.hopper.mbarrier.fence_init_release_cluster", "", 7, |interp, _| {
            interp.emit_effect(Op::new(Ttng::FenceMbarrierInitReleaseCluster))
        })
        .until(8),
        Row::effect("gl.nvidia.hopper.mbarrier.sync_cluster_init", "", 7, |interp, _| {
            interp.emit_effect(Op::new(Ttng::FenceMbarrierInitReleaseCluster))?;
            cluster_barrier(interp, true)
        })
        .until(7),
        Row::effect("gl.nvidia.hopper.cluster.barrier", "relaxed=False", 8, |interp, bound| {
            let relaxed = flag(interp, bound.get("relaxed"), false, "relaxed")?;
            cluster_barrier(interp, relaxed)
        }),
        Row::effect("gl.nvidia.hopper.cluster.arrive", "relaxed=False", 7, |interp, bound| {
            let relaxed = flag(interp, bound.get("relaxed"), false, "relaxed")?;
            interp.emit_effect(Op::new(Ttng::ClusterArrive).attr("relaxed", relaxed))
        })
        .until(8),
        Row::effect("gl.nvidia.hopper.cluster.wait", "", 7, |interp, _| interp.emit_effect(Op::new(Ttng::ClusterWait)))
            .until(8),
        Row::effect("gl.nvidia.hopper.fence_async_shared", "cluster=False", 4, |interp, bound| {
            let cluster = flag(interp, bound.get("cluster"), false, "cluster")?;
            interp.emit_effect(Op::new(Ttng::FenceAsyncShared).attr("bCluster", cluster))
        }),
        Row::effect("gl.barrier", "*, cluster=False", 7, |interp, bound| {
            let cluster = flag(interp, bound.get("cluster"), false, "cluster")?;
            if cluster && interp.num_ctas > 1 {
                cluster_barrier(interp, false)
            } else {
                interp.emit_effect(Op::new(Ttg::Barrier).attr("addrSpace", "all"))
            }
        }),
        Row::effect("tl.debug_barrier", "", 4, |interp, _| {
            interp.emit_effect(Op::new(Ttg::Barrier).attr("addrSpace", "all"))
        }),
        Row::effect("gl.thread_barrier", "", 4, |interp, _| {
            interp.emit_effect(Op::new(Ttg::Barrier).attr("addrSpace", "all"))
        })
        .until(6),
    ],
    gone: &[
        Gone { path: "gl.thread_barrier", until: Version(3, 6), instead: "barrier" },
        Gone { path: "gl.nvidia.hopper.mbarrier.fence_init_release_cluster", until: Version(3, 8), instead: "" },
        Gone { path: "gl.nvidia.hopper.mbarrier.sync_cluster_init", until: Version(3, 7), instead: "" },
        Gone {
            path: "gl.nvidia.hopper.cluster.arrive",
            until: Version(3, 8),
            instead: "gl.nvidia.hopper.cluster.barrier",
        },
        Gone {
            path: "gl.nvidia.hopper.cluster.wait",
            until: Version(3, 8),
            instead: "gl.nvidia.hopper.cluster.barrier",
        },
    ],
    ..NOTHING
};

fn cluster_barrier<'a>(interp: &mut Interp<'a>, relaxed: bool) -> Eval<'a> {
    if interp.num_ctas <= 1 {
        interp.doubt(DoubtKind::Ctas(2));
        return interp.raise("a barrier of the cluster in a kernel without clusters (`num_ctas` is 1)");
    }
    let relaxed = relaxed.then_some(("relaxed", Attr::Bool(true)));
    interp.emit_effect(Op::new(Ttng::ClusterBarrier).attrs(relaxed))
}

fn allocate<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let pairs = flag(interp, bound.get("two_ctas"), false, "two_ctas")?;
    if pairs && interp.num_ctas == 1 {
        interp.doubt(DoubtKind::Ctas(2));
    }
    let ctas = i64::from(interp.num_ctas);
    let mut shape = vec![if pairs { ctas / 2 } else { ctas }];
    if let Some(batch) = given(bound, "batch") {
        shape.insert(0, int(interp, batch, "batch")?);
    }
    let layout = multicta(interp, ctas, pairs)?;
    words(interp, shape, DType::Int64, layout)
}

/// Shared memory of 64-bit words.
pub(super) fn words<'a>(interp: &mut Interp<'a>, shape: Vec<i64>, dtype: DType, layout: Value<'a>) -> Eval<'a> {
    let made = Made { space: DescSpace::Shared, dtype, alloc_shape: shape.clone(), shape, layout };
    let ty = made.ty(interp)?;
    let ssa = interp.emit_value(Op::new(Ttg::LocalAlloc).result("result", ty))?;
    Ok(made.done(ssa))
}

/// A barrier of one slot: memory of 64-bit words that has one dimension.
pub(super) fn barrier<'a>(
    interp: &Interp<'a>,
    value: &Value<'a>,
    name: &str,
) -> Result<std::rc::Rc<MemDesc<'a>>, Stop> {
    let of = memory(interp, value, name)?;
    if of.space != DescSpace::Shared || of.dtype.bits() != 64 || !of.dtype.is_int() {
        return interp.raise(format!("`{name}` is memory of {}, and no mbarrier", of.dtype.name()));
    }
    if of.shape.len() != 1 {
        return interp.raise(format!(
            "`{name}` is an array of mbarriers of shape {:?}; `.index(i)` takes one of them",
            of.shape
        ));
    }
    if let [mbarriers] = of.shape[..]
        && mbarriers > i64::from(interp.num_ctas)
    {
        interp.refuse(format!(
            "`{name}` is memory of {mbarriers} words, and no mbarrier of {} CTAs: of an array of mbarriers, `.index(i)` takes one",
            interp.num_ctas
        ))?;
    }
    Ok(of)
}

fn own<'a>(interp: &Interp<'a>, bound: &Bound<'a>) -> Result<std::rc::Rc<MemDesc<'a>>, Stop> {
    barrier(interp, need(interp, bound, "mbarrier")?, "mbarrier")
}

fn init<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let of = own(interp, bound)?;
    let count = int(interp, need(interp, bound, "count")?, "count")?;
    if count <= 0 {
        return interp.raise(format!("an mbarrier counts at least one arrival, not {count}"));
    }
    interp.emit_effect(Op::new(Ttng::InitBarrier).operand("alloc", of.ssa).attr("count", count))
}

fn invalidate<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let of = own(interp, bound)?;
    interp.emit_effect(Op::new(Ttng::InvalBarrier).operand("alloc", of.ssa))
}

fn wait<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let of = own(interp, bound)?;
    let phase = match need(interp, bound, "phase")? {
        // A comparison gives `i1`, which the op does not take; numbers do not fit there either.
        Value::Bool(value) => Value::Int(i128::from(*value)),
        other => other.clone(),
    };
    let phase = scalar(interp, &phase, DType::Int32, "phase")?;
    let pred = predicate(interp, bound.get("pred"), "pred")?;
    let deps = match given(bound, "deps") {
        None => Vec::new(),
        Some(deps) => list(interp, deps, "deps")?,
    };
    let deps: Vec<Ssa> = deps.iter().map(|dep| Ok(memory(interp, dep, "deps")?.ssa)).collect::<Result<_, Stop>>()?;
    let op = Op::new(Ttng::WaitBarrier).operand("alloc", of.ssa).operand("phase", phase).operand("pred", pred);
    interp.emit_effect(op.operands("deps", &deps))
}

/// Which CTAs of a cluster an arrival is for: `fromCTA = 1 : i32`, as far as it is given.
fn routing<'a>(interp: &Interp<'a>, bound: &Bound<'a>) -> Result<Vec<(&'static str, Attr)>, Stop> {
    let mut parts = Vec::new();
    if let Some(from) = given(bound, "from_cta") {
        let from = int(interp, from, "from_cta")?;
        if from < 0 || from >= i64::from(interp.num_ctas) {
            return interp.raise(format!("`from_cta` is {from}, the cluster has {} CTAs", interp.num_ctas));
        }
        parts.push(("fromCTA", from.into()));
    }
    for name in ["multicast_cta", "cta_mask"] {
        let Some(mask) = given(bound, name) else { continue };
        let mask = int(interp, mask, name)?;
        if mask < 0 || mask >= i64::from(interp.num_ctas) {
            return interp.raise(format!("`{name}` is {mask}, the cluster has {} CTAs", interp.num_ctas));
        }
        if mask != 0 {
            let attribute = if name == "cta_mask" { "ctaMask" } else { "multicastCTA" };
            parts.push((attribute, mask.into()));
        }
    }
    Ok(parts)
}

fn arrive<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let of = own(interp, bound)?;
    let count = bound.get("count").map_or(Ok(1), |count| int(interp, count, "count"))?;
    if count <= 0 {
        return interp.raise(format!("an arrival counts at least once, not {count} times"));
    }
    let routing = routing(interp, bound)?;
    let pred = predicate(interp, bound.get("pred"), "pred")?;
    let op = Op::new(Ttng::ArriveBarrier).operand("alloc", of.ssa).attr("count", count).operand("pred", pred);
    interp.emit_effect(op.attrs(routing))
}

fn expect<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let of = own(interp, bound)?;
    let amount = given(bound, "bytes_per_cta").or_else(|| given(bound, "bytes"));
    let Some(amount) = amount else { return interp.raise("`bytes_per_cta` is not given") };
    let amount = int(interp, amount, "bytes_per_cta")?;
    if amount < 0 {
        return interp.raise(format!("{amount} bytes cannot be expected"));
    }
    let routing = routing(interp, bound)?;
    let pred = predicate(interp, bound.get("pred"), "pred")?;
    let op = Op::new(Ttng::BarrierExpect).operand("alloc", of.ssa).attr("size", amount).attrs(routing);
    interp.emit_effect(op.operand("pred", pred))
}
