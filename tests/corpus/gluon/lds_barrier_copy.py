"""Sums of rows for CDNA 5: asynchronous copies that arrive on LDS barriers.

One partition copies row blocks into a ring with `global_to_shared` and attaches their completion to
the slot's `full` barrier; each of its threads arrives once its copies are done. The other adds the
rows up. `arrive` hands back the phase that the arrival counts for, which is what a wait for the end of
that same phase takes: the summing side checks in at the start that way.
"""

from declare import Kernel, Twin
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.amd.cdna5 import async_copy, mbarrier

TILE: gl.constexpr = gl.constexpr(gl.BlockedLayout([1, 4], [1, 32], [4, 1], [1, 0]))
THREADS: gl.constexpr = gl.constexpr(128)


@gluon.jit
def copy_partition(x, ring, full, empty, ready, rows, stride, BUG: gl.constexpr):
    DEPTH: gl.constexpr = ring.shape[0]
    BLOCK: gl.constexpr = ring.shape[1]
    lines = gl.arange(0, BLOCK, gl.SliceLayout(1, TILE))
    columns = gl.arange(0, ring.shape[2], gl.SliceLayout(0, TILE))
    phase = mbarrier.arrive(ready.index(0), count=1)
    mbarrier.wait(ready.index(0), phase)  # BUG: one_side_meets
    for i in range(gl.cdiv(rows, BLOCK)):
        slot = i % DEPTH
        if BUG != "no_empty_wait":
            mbarrier.wait(empty.index(slot), ((i // DEPTH) & 1) ^ 1)  # BUG: never_released
        source = x + (i * BLOCK + lines)[:, None] * stride + columns[None, :]
        async_copy.global_to_shared(ring.index(slot), source)  # BUG: no_empty_wait, no_full_wait, plain_arrival, released_before_read
        if BUG == "plain_arrival":
            mbarrier.arrive(full.index(slot), count=1)  # BUG: plain_arrival
        else:
            async_copy.mbarrier_arrive(full.index(slot))


@gluon.jit
def sum_partition(out, ring, full, empty, ready, rows, BUG: gl.constexpr):
    DEPTH: gl.constexpr = ring.shape[0]
    BLOCK: gl.constexpr = ring.shape[1]
    sums = gl.zeros([BLOCK, ring.shape[2]], gl.float32, TILE)
    if BUG != "one_side_meets":
        phase = mbarrier.arrive(ready.index(0), count=1)
        mbarrier.wait(ready.index(0), phase)
    for i in range(gl.cdiv(rows, BLOCK)):
        slot = i % DEPTH
        if BUG != "no_full_wait":
            mbarrier.wait(full.index(slot), (i // DEPTH) & 1)
        if BUG == "released_before_read":
            mbarrier.arrive(empty.index(slot), count=1)
        sums += ring.index(slot).load(TILE)  # BUG: no_empty_wait, no_full_wait, plain_arrival, released_before_read
        if BUG != "never_released" and BUG != "released_before_read":
            mbarrier.arrive(empty.index(slot), count=1)
    columns = gl.arange(0, ring.shape[2], gl.SliceLayout(0, TILE))
    gl.store(out + columns, gl.sum(sums, 0))


@gluon.jit
def lds_barrier_copy(x, out, rows, stride, BLOCK: gl.constexpr, WIDTH: gl.constexpr, DEPTH: gl.constexpr,
                     BUG: gl.constexpr):
    ring = gl.allocate_shared_memory(gl.float32, [DEPTH, BLOCK, WIDTH], gl.SwizzledSharedLayout(1, 1, 1, [1, 0]))
    full = gl.allocate_shared_memory(gl.int64, [DEPTH, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [DEPTH, 1], mbarrier.MBarrierLayout())
    ready = gl.allocate_shared_memory(gl.int64, [1, 1], mbarrier.MBarrierLayout())
    for slot in gl.static_range(DEPTH):
        mbarrier.init(full.index(slot), count=THREADS)
        mbarrier.init(empty.index(slot), count=THREADS)
    mbarrier.init(ready.index(0), count=2 * THREADS)
    gl.warp_specialize([
        (sum_partition, (out, ring, full, empty, ready, rows, BUG)),
        (copy_partition, (x, ring, full, empty, ready, rows, stride, BUG)),
    ], [4])


CORPUS = [
    Kernel(
        lds_barrier_copy, "gfx1250", dict(x="*fp32", out="*fp32", rows="i32", stride="i32:16"),
        dict(BLOCK=32, WIDTH=128, DEPTH=2), twins=dict(
            no_empty_wait=Twin(["missing-backward-barrier", "pending-access", "missing-forward-barrier"],
                               "the copies overwrite a slot that has not been handed back"),
            no_full_wait=Twin(["missing-forward-barrier", "pending-access"], "the slot is read before the copies are done"),
            plain_arrival=Twin(["missing-forward-barrier", "pending-access"], "the arrival does not wait for the copies"),
            released_before_read=Twin(["missing-backward-barrier", "missing-forward-barrier", "pending-access"],
                                      "the slot is handed back before it has been read"),
            never_released=Twin(["deadlock"], "no slot is ever handed back"),
            one_side_meets=Twin(["deadlock"], "two partitions are counted for, one arrives"),
        )),
]
