//! TLX's copies between global and shared memory, by tensor descriptors and by pointers, and into other CTAs.

use super::super::tma::fits;
use super::barriers::one;
use super::cluster::{clustered, cta_rank, in_cta};
use super::operand::number;
use builtins::operand::{coordinates, descriptor, flag, given, int, list, memory, moved, need, predicate, tensor};
use dialects::{Arith, Ttg, Ttng};
use python::emit::{Attr, Op, Ssa, Type};
use python::interp::{Eval, Interp, Stop};
use python::library::{Bound, NOTHING, Part, Row};
use python::value::{DType, Value};

pub(super) const PART: Part = Part {
    rows: &[
        Row::effect(
            "tl.extra.tlx.async_descriptor_load",
            "desc, result, offsets, barrier, pred=None, cache_modifier='', eviction_policy='', multicast_targets=[], \
             two_ctas=False",
            4,
            load,
        ),
        Row::new(
            "tl.extra.tlx.async_descriptor_prefetch_tensor",
            "desc, offsets, pred=None, eviction_policy=''",
            4,
            |_, _| Ok(Value::None),
        ),
        Row::effect(
            "tl.extra.tlx.async_descriptor_store",
            "desc, source, offsets, eviction_policy='', store_reduce=''",
            4,
            |interp, bound| {
                let desc = descriptor(interp, need(interp, bound, "desc")?, "desc")?;
                let src = memory(interp, need(interp, bound, "source")?, "source")?;
                let at = coordinates(interp, need(interp, bound, "offsets")?, "offsets")?;
                fits(interp, &desc, &src, false)?;
                let op = match given(bound, "store_reduce") {
                    Some(Value::Str(kind)) if !kind.is_empty() => Op::new(Ttng::AsyncTmaReduce).attr("kind", &**kind),
                    Some(Value::Unknown(reason)) => return interp.unknown(reason.clone()),
                    _ => Op::new(Ttng::AsyncTmaCopyLocalToGlobal),
                };
                interp.emit_effect(op.operand("desc", desc.ssa).operands("coord", &at).operand("src", src.ssa))
            },
        ),
        Row::effect("tl.extra.tlx.async_descriptor_store_wait", "pendings", 4, |interp, bound| {
            let pendings = int(interp, need(interp, bound, "pendings")?, "pendings")?;
            if pendings < 0 {
                return interp.raise(format!("{pendings} stores cannot be pending"));
            }
            interp.emit_effect(Op::new(Ttng::AsyncTmaStoreWait).attr("pendings", pendings).flag("read_only", true))
        }),
        Row::effect(
            "tl.extra.tlx.async_load",
            "src, result, mask=None, other=None, cache_modifier='', eviction_policy='', is_volatile=False, bulk=False, \
             bulk_size=None, barrier=None",
            4,
            load_by_pointers,
        ),
        Row::effect("tl.extra.tlx.async_load_commit_group", "tokens=[]", 4, |interp, _| {
            interp.emit_effect(Op::new(Ttg::AsyncCommitGroup).result("asyncToken", Type::Token))
        }),
        Row::effect("tl.extra.tlx.async_load_wait_group", "pendings, tokens=[]", 4, |interp, bound| {
            let pendings = int(interp, need(interp, bound, "pendings")?, "pendings")?;
            if pendings < 0 {
                return interp.raise(format!("{pendings} groups cannot be pending"));
            }
            interp.emit_effect(Op::new(Ttg::AsyncWait).attr("num", pendings).result("retToken", Type::Token))
        }),
        Row::effect("tl.extra.tlx.async_store", "dst_global_ptr, src_smem, size", 4, |interp, bound| {
            let dst = tensor(interp, need(interp, bound, "dst_global_ptr")?, "dst_global_ptr")?;
            let src = memory(interp, need(interp, bound, "src_smem")?, "src_smem")?;
            let size = number(interp, need(interp, bound, "size")?, "size")?;
            let op = Op::new(Ttng::AsyncStore).operand("src", src.ssa).operand("dst", interp.ssa(&dst));
            interp.emit_effect(op.operand("size", size))
        }),
        Row::effect("tl.extra.tlx.tmem_copy", "src, dst", 4, |interp, bound| {
            let src = memory(interp, need(interp, bound, "src")?, "src")?;
            let dst = memory(interp, need(interp, bound, "dst")?, "dst")?;
            interp.emit_effect(Op::new(Ttng::TmemCopy).operand("src", src.ssa).operand("dst", dst.ssa))
        }),
        Row::effect("tl.extra.tlx.remote_shmem_store", "dst, src, remote_cta_rank", 4, |interp, bound| {
            clustered(interp)?;
            let dst = memory(interp, need(interp, bound, "dst")?, "dst")?;
            let src = moved(interp, need(interp, bound, "src")?, "src", dst.dtype, &dst.shape)?;
            let rank = number(interp, need(interp, bound, "remote_cta_rank")?, "remote_cta_rank")?;
            let op = Op::new(Ttg::RemoteShmemStore).operand("src", interp.ssa(&src)).operand("dst", dst.ssa);
            interp.emit_effect(op.operand("ctaRank", rank))
        }),
        Row::effect(
            "tl.extra.tlx.async_remote_shmem_store",
            "dst, src, remote_cta_rank, barrier",
            4,
            |interp, bound| {
                clustered(interp)?;
                let dst = memory(interp, need(interp, bound, "dst")?, "dst")?;
                let src = moved(interp, need(interp, bound, "src")?, "src", dst.dtype, &dst.shape)?;
                let rank = number(interp, need(interp, bound, "remote_cta_rank")?, "remote_cta_rank")?;
                let bar = one(interp, &need(interp, bound, "barrier")?.clone(), "barrier")?;
                let op = Op::new(Ttg::AsyncRemoteShmemStore).operand("src", interp.ssa(&src)).operand("dst", dst.ssa);
                interp.emit_effect(op.operand("ctaRank", rank).operand("barrier", bar.ssa))
            },
        ),
        Row::effect(
            "tl.extra.tlx.async_remote_shmem_copy",
            "dst, src, remote_cta_rank, barrier",
            4,
            |interp, bound| {
                clustered(interp)?;
                let dst = memory(interp, need(interp, bound, "dst")?, "dst")?;
                let src = memory(interp, need(interp, bound, "src")?, "src")?;
                let rank = number(interp, need(interp, bound, "remote_cta_rank")?, "remote_cta_rank")?;
                let bar = one(interp, &need(interp, bound, "barrier")?.clone(), "barrier")?;
                let op = Op::new(Ttg::AsyncRemoteShmemCopy).operand("src", src.ssa).operand("dst", dst.ssa);
                interp.emit_effect(op.operand("ctaRank", rank).operand("barrier", bar.ssa))
            },
        ),
    ],
    ..NOTHING
};

fn load<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let desc = descriptor(interp, need(interp, bound, "desc")?, "desc")?;
    let result = memory(interp, need(interp, bound, "result")?, "result")?;
    let at = coordinates(interp, need(interp, bound, "offsets")?, "offsets")?;
    let bar = one(interp, &need(interp, bound, "barrier")?.clone(), "barrier")?;
    let targets =
        given(bound, "multicast_targets").map_or(Ok(Vec::new()), |all| list(interp, all, "multicast_targets"))?;
    let pairs = flag(interp, bound.get("two_ctas"), false, "two_ctas")?;
    if pairs || !targets.is_empty() {
        clustered(interp)?;
    }
    let targets = mask(interp, &targets)?;
    // Both CTAs of a pair count on the barrier of its first one.
    let bar = match pairs {
        true => {
            let (rank, even) = (cta_rank(interp)?, number(interp, &Value::Int(-2), "rank")?);
            let op = Op::new(Arith::Andi).operand("lhs", rank).operand("rhs", even);
            let first = interp.emit_value(op.result("result", Type::I32))?;
            in_cta(interp, bar.ssa, first)?
        }
        false => bar.ssa,
    };
    let pred = predicate(interp, given(bound, "pred"), "pred")?;
    fits(interp, &desc, &result, false)?;
    if at.len() != desc.block_shape.len() {
        return interp.raise(format!("{} offsets for a block of {} dimensions", at.len(), desc.block_shape.len()));
    }
    let op = Op::new(Ttng::AsyncTmaCopyGlobalToLocal)
        .maybe("multicastTargets", targets)
        .operand("desc", desc.ssa)
        .operands("coord", &at)
        .operand("barrier", bar)
        .operand("result", result.ssa)
        .operand("pred", pred);
    interp.emit_effect(op.attrs(pairs.then_some(("two_cta", Attr::Bool(true)))))
}

/// A bit for each of these CTAs.
fn mask<'a>(interp: &mut Interp<'a>, targets: &[Value<'a>]) -> Result<Option<Ssa>, Stop> {
    let mut all: Option<Ssa> = None;
    for target in targets {
        let (one, at) =
            (number(interp, &Value::Int(1), "multicast_targets")?, number(interp, target, "multicast_targets")?);
        let bit = Op::new(Arith::Shli).operand("lhs", one).operand("rhs", at);
        let bit = interp.emit_value(bit.result("result", Type::I32))?;
        all = Some(match all {
            None => bit,
            Some(all) => {
                let op = Op::new(Arith::Ori).operand("lhs", all).operand("rhs", bit);
                interp.emit_value(op.result("result", Type::I32))?
            }
        });
    }
    Ok(all)
}

fn load_by_pointers<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let result = memory(interp, need(interp, bound, "result")?, "result")?;
    let src = tensor(interp, need(interp, bound, "src")?, "src")?;
    let mut op = Op::new(Ttg::AsyncCopyGlobalToLocal);
    if flag(interp, bound.get("bulk"), false, "bulk")? {
        let bytes = result.shape.iter().product::<i64>().saturating_mul(i64::from(result.dtype.bits())) / 8;
        let size = given(bound, "bulk_size").cloned().unwrap_or(Value::Int(bytes.into()));
        let size = number(interp, &size, "bulk_size")?;
        let bar = one(interp, &need(interp, bound, "barrier")?.clone(), "barrier")?;
        op = op.operand("src", interp.ssa(&src)).operand("result", result.ssa).operand("bulkSize", size);
        op = op.operand("barrier", bar.ssa).attr("useBulk", true);
        return interp.emit_effect(op.result("token", Type::Token));
    }
    let shape = (result.shape.as_slice().into(), src.layout.clone());
    let wide = interp.shaped(&src, &shape);
    let mask = given(bound, "mask").cloned();
    let mask = mask.map(|mask| moved(interp, &mask, "mask", DType::Int1, &result.shape)).transpose()?;
    let mask = mask.map(|mask| interp.shaped(&mask, &shape));
    let mask = mask.map(|mask| interp.ssa(&mask));
    op = op.operand("src", interp.ssa(&wide)).operand("result", result.ssa).maybe("mask", mask);
    interp.emit_effect(op.result("token", Type::Token))
}
