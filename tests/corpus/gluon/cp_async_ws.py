"""Weighted column sums with a cp.async loader partition that signals mbarriers.

Four loader warps copy row blocks into a ring with `async_copy.async_load` and attach the completion
to the slot's `full` barrier with `async_copy.mbarrier_arrive`. Two spellings: with an incremented
count the barrier is initialised to 1 and the loader adds a plain arrival, after which the phase can
end as soon as the copies are done; without the increment each loader thread's arrival counts, so
the barrier is initialised to the number of threads. The summing partition reads the slot with
ordinary loads and hands it back on `empty`.
"""

from declare import Kernel, Twin
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.experimental.gluon.language.nvidia.hopper import mbarrier

TILE: gl.constexpr = gl.constexpr(gl.BlockedLayout([1, 4], [1, 32], [4, 1], [1, 0]))


@gluon.jit
def copy_partition(x, ring, full, empty, rows, stride, INCREMENT: gl.constexpr, BUG: gl.constexpr):
    DEPTH: gl.constexpr = ring.shape[0]
    BLOCK: gl.constexpr = ring.shape[1]
    lines = gl.arange(0, BLOCK, gl.SliceLayout(1, TILE))
    columns = gl.program_id(0) * ring.shape[2] + gl.arange(0, ring.shape[2], gl.SliceLayout(0, TILE))
    for i in range(gl.cdiv(rows, BLOCK)):
        slot = i % DEPTH
        if BUG != "no_empty_wait":
            mbarrier.wait(empty.index(slot), ((i // DEPTH) & 1) ^ 1)
        line = i * BLOCK + lines
        source = x + line[:, None] * stride + columns[None, :]
        if BUG == "arrives_before_copy":
            mbarrier.arrive(full.index(slot), count=1)  # BUG: arrives_before_copy
        async_copy.async_load(ring.index(slot), source, mask=(line < rows)[:, None])  # BUG: no_empty_wait, no_full_wait, plain_arrival_only, arrives_before_copy, released_before_read
        if INCREMENT:
            if BUG != "plain_arrival_only" and BUG != "arrives_before_copy":
                async_copy.mbarrier_arrive(full.index(slot))
            if BUG != "no_plain_arrival" and BUG != "arrives_before_copy":
                mbarrier.arrive(full.index(slot), count=1)  # BUG: plain_arrival_only
        else:
            async_copy.mbarrier_arrive(full.index(slot), increment_count=False)  # BUG: counts_one_thread


@gluon.jit
def sum_partition(out, weights, ring, full, empty, rows, BUG: gl.constexpr):
    DEPTH: gl.constexpr = ring.shape[0]
    BLOCK: gl.constexpr = ring.shape[1]
    lines = gl.arange(0, BLOCK, gl.SliceLayout(1, TILE))
    sums = gl.zeros([BLOCK, ring.shape[2]], gl.float32, TILE)
    for i in range(gl.cdiv(rows, BLOCK)):
        slot = i % DEPTH
        if BUG != "no_full_wait":
            mbarrier.wait(full.index(slot), (i // DEPTH) & 1)  # BUG: no_plain_arrival, counts_one_thread
        if BUG == "released_before_read":
            mbarrier.arrive(empty.index(slot), count=1)  # BUG: released_before_read
        tile = ring.index(slot).load(TILE)  # BUG: no_full_wait, no_empty_wait, plain_arrival_only, arrives_before_copy, released_before_read, counts_one_thread
        if BUG != "released_before_read":
            mbarrier.arrive(empty.index(slot), count=1)
        line = i * BLOCK + lines
        weight = gl.load(weights + line, mask=line < rows, other=0.0)
        sums += tile * weight[:, None]
    columns = gl.program_id(0) * ring.shape[2] + gl.arange(0, ring.shape[2], gl.SliceLayout(0, TILE))
    gl.store(out + columns, gl.sum(sums, 0))


@gluon.jit
def cp_async_ws(x, weights, out, rows, stride, BLOCK: gl.constexpr, WIDTH: gl.constexpr, DEPTH: gl.constexpr,
                INCREMENT: gl.constexpr, BUG: gl.constexpr):
    ring = gl.allocate_shared_memory(gl.float32, [DEPTH, BLOCK, WIDTH], gl.SwizzledSharedLayout(1, 1, 1, [1, 0]))
    full = mbarrier.allocate_mbarrier(batch=DEPTH)
    empty = mbarrier.allocate_mbarrier(batch=DEPTH)
    LOADERS: gl.constexpr = 1 if INCREMENT or BUG == "counts_one_thread" else 128
    for s in gl.static_range(DEPTH):
        mbarrier.init(full.index(s), count=LOADERS)
        mbarrier.init(empty.index(s), count=1)
    gl.warp_specialize([
        (sum_partition, (out, weights, ring, full, empty, rows, BUG)),
        (copy_partition, (x, ring, full, empty, rows, stride, INCREMENT, BUG)),
    ], [4], [64])


SIGNATURE = dict(x="*fp32", weights="*fp32", out="*fp32", rows="i32", stride="i32:16")
NO_EMPTY_WAIT = Twin(["missing-backward-barrier", "pending-access", "missing-forward-barrier"],
                     "the loader overwrites a slot that has not been handed back")
NO_FULL_WAIT = Twin(["missing-forward-barrier", "pending-access"], "the slot is read before the copies are done")
RELEASED = Twin(["missing-backward-barrier", "missing-forward-barrier", "pending-access"], "the slot is handed back before it has been read")

CORPUS = [
    Kernel(
        cp_async_ws, 90, SIGNATURE, dict(BLOCK=32, WIDTH=128, DEPTH=3, INCREMENT=True), twins=dict(
            no_empty_wait=NO_EMPTY_WAIT,
            no_full_wait=NO_FULL_WAIT,
            released_before_read=RELEASED,
            plain_arrival_only=Twin(["missing-forward-barrier", "pending-access"],
                                    "the arrival does not wait for the copies"),
            arrives_before_copy=Twin(["missing-forward-barrier", "pending-access"],
                                     "the slot is announced before its copy is even started"),
            no_plain_arrival=Twin(["deadlock"], "the count is raised and lowered again, nothing else arrives"),
        )),
    Kernel(
        cp_async_ws, 90, SIGNATURE, dict(BLOCK=32, WIDTH=128, DEPTH=2, INCREMENT=False), name="cp_async_ws_noinc",
        twins=dict(
            no_empty_wait=NO_EMPTY_WAIT,
            no_full_wait=NO_FULL_WAIT,
            released_before_read=RELEASED,
            counts_one_thread=Twin(
                ["arrival-overflow", "missing-forward-barrier", "phase-mismatch", "lapped-wait", "deadlock",
                 "pending-access"],
                "128 threads arrive on a barrier that counts one"),
        )),
]
