//! Asynchronous copies of CDNA 4 and 5: they count in groups that are committed.

use super::super::memory::read;
use super::operand::{demand_offsets, fits, shaped};
use builtins::operand::{int, memory, moved, need, tensor};
use builtins::tensor::pointee;
use dialects::{Amdg, Ttg};
use python::emit::{Op, Type};
use python::interp::{Eval, Interp};
use python::library::{Bound, NOTHING, Part, Row};
use python::value::DType;

pub(super) const PART: Part = Part {
    rows: &[
        Row::effect(
            "gl.amd.cdna4.async_copy.global_load_to_shared",
            "dest, ptr, mask=None, other=None, cache_modifier=''",
            5,
            |interp, bound| to_shared(interp, bound, "dest", "ptr"),
        ),
        Row::effect(
            "gl.amd.cdna4.async_copy.buffer_load_to_shared",
            "dest, ptr, offsets, mask=None, other=None, cache_modifier=''",
            5,
            buffer_to_shared,
        ),
        Row::effect(
            "tl.extra.tlx.buffer_load_to_local",
            "dest, ptr, offsets, mask=None, other=None, cache_modifier=''",
            4,
            buffer_to_shared,
        ),
        Row::effect("gl.amd.cdna4.async_copy.commit_group", "", 6, |interp, _| {
            interp.emit_effect(Op::new(Ttg::AsyncCommitGroup).result("asyncToken", Type::Token))
        }),
        Row::effect("gl.amd.cdna4.async_copy.wait_group", "num_outstanding=0", 6, wait_group),
        Row::effect("gl.amd.cdna4.async_copy.async_wait", "num_outstanding=0", 5, wait_group).until(5),
        Row::effect("gl.amd.cdna4.async_copy.load_shared_relaxed", "smem, layout", 5, load_relaxed),
        Row::effect(
            "gl.amd.cdna5.async_copy.global_to_shared",
            "smem, pointer, mask=None, other=None, cache_modifier=''",
            6,
            |interp, bound| to_shared(interp, bound, "smem", "pointer"),
        ),
        Row::effect(
            "gl.amd.cdna5.async_copy.shared_to_global",
            "pointer, smem, mask=None, cache_modifier=''",
            7,
            to_global,
        ),
        Row::effect("gl.amd.cdna5.async_copy.mbarrier_arrive", "mbarrier", 6, arrive),
    ],
    ..NOTHING
};

fn to_shared<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, to: &'static str, from: &'static str) -> Eval<'a> {
    let smem = memory(interp, need(interp, bound, to)?, to)?;
    let pointer = moved(interp, need(interp, bound, from)?, from, smem.dtype.pointer(), &smem.shape)?;
    fits(interp, "the pointers", &pointer.shape, &smem)?;
    let op = Op::new(Ttg::AsyncCopyGlobalToLocal).operand("src", interp.ssa(&pointer)).operand("result", smem.ssa);
    interp.emit_effect(op.result("token", Type::Token))
}

fn buffer_to_shared<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let dest = memory(interp, need(interp, bound, "dest")?, "dest")?;
    let pointer = tensor(interp, need(interp, bound, "ptr")?, "ptr")?;
    let offsets = moved(interp, need(interp, bound, "offsets")?, "offsets", DType::Int32, &dest.shape)?;
    if !pointer.shape.is_empty() {
        return interp.raise("`ptr` is a tensor, and a scalar pointer is asked for");
    }
    demand_offsets(interp, &offsets)?;
    pointee(interp, &pointer)?;
    let (pointer, offsets) = (interp.ssa(&pointer), shaped(interp, &offsets, &dest.shape));
    let op = Op::new(Amdg::BufferLoadToLocal).operand("dest", dest.ssa).operand("ptr", pointer);
    interp.emit_effect(op.operand("offsets", offsets).result("token", Type::Token))
}

fn wait_group<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let num = bound.get("num_outstanding").map_or(Ok(0), |num| int(interp, num, "num_outstanding"))?;
    if num < 0 {
        return interp.raise(format!("{num} groups cannot be outstanding"));
    }
    interp.emit_effect(Op::new(Ttg::AsyncWait).attr("num", num).result("retToken", Type::Token))
}

fn load_relaxed<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let smem = memory(interp, need(interp, bound, "smem")?, "smem")?;
    let layout = need(interp, bound, "layout")?.clone();
    let op = Op::new(Ttg::LocalLoad).attr("ttg.amdg.syncedViaAsyncWait", true);
    read(interp, &smem, &smem.shape, layout, op)
}

fn to_global<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let pointer = tensor(interp, need(interp, bound, "pointer")?, "pointer")?;
    let smem = memory(interp, need(interp, bound, "smem")?, "smem")?;
    fits(interp, "the pointers", &pointer.shape, &smem)?;
    let op = Op::new(Amdg::AsyncCopyLocalToGlobal).operand("src", smem.ssa).operand("dst", interp.ssa(&pointer));
    interp.emit_effect(op.result("token", Type::Token))
}

fn arrive<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let bar = super::mbarrier::own(interp, bound)?;
    interp.emit_effect(Op::new(Amdg::AsyncCopyMbarrierArrive).operand("barrier", bar.ssa))
}
