"""Mean pooling of sequences of different lengths, with the length read from memory.

One program pools one sequence: a warp streams its row blocks by TMA through a ring, four warps add
them up. Both partitions read the same start and length from memory, and so agree on the number of
blocks; nobody writes those arrays. Rings are walked by a carried index and phase, and the summing
partition leaves the loop with a store of the mean.
"""

from declare import Kernel, Twin, desc
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma

TILE: gl.constexpr = gl.constexpr(gl.BlockedLayout([1, 4], [2, 16], [4, 1], [1, 0]))


@gluon.jit
def load_partition(x_desc, starts, lengths, ring, full, empty, BUG: gl.constexpr):
    DEPTH: gl.constexpr = ring.shape[0]
    BLOCK: gl.constexpr = ring.shape[1]
    first = gl.load(starts + gl.program_id(0))
    length = gl.load(lengths + gl.program_id(0))
    blocks = gl.cdiv(length, BLOCK)
    if BUG == "one_block_short":
        blocks = length // BLOCK
    slot = 0
    phase = 1
    for i in range(blocks):
        if BUG != "no_empty_wait":
            mbarrier.wait(empty.index(slot), phase)  # BUG: never_released
        mbarrier.expect(full.index(slot), x_desc.nbytes_per_cta)
        tma.async_load(x_desc, [first + i * BLOCK, 0], full.index(slot), ring.index(slot))  # BUG: no_empty_wait, no_full_wait
        wraps = slot == DEPTH - 1
        slot = gl.where(wraps, 0, slot + 1)
        phase = gl.where(wraps, phase ^ 1, phase)


@gluon.jit
def pool_partition(out, lengths, ring, full, empty, BUG: gl.constexpr):
    DEPTH: gl.constexpr = ring.shape[0]
    BLOCK: gl.constexpr = ring.shape[1]
    WIDTH: gl.constexpr = ring.shape[2]
    length = gl.load(lengths + gl.program_id(0))
    sums = gl.zeros([BLOCK, WIDTH], gl.float32, TILE)
    slot = 0
    phase = 0
    for i in range(gl.cdiv(length, BLOCK)):
        if BUG != "no_full_wait":
            mbarrier.wait(full.index(slot), phase)  # BUG: one_block_short
        value = ring.index(slot).load(TILE)  # BUG: no_empty_wait, no_full_wait
        if BUG != "never_released":
            fence_async_shared()
            mbarrier.arrive(empty.index(slot), count=1)
        rows = i * BLOCK + gl.arange(0, BLOCK, gl.SliceLayout(1, TILE))
        sums += gl.where((rows < length)[:, None], value, 0.0)
        wraps = slot == DEPTH - 1
        slot = gl.where(wraps, 0, slot + 1)
        phase = gl.where(wraps, phase ^ 1, phase)
    columns = gl.arange(0, WIDTH, gl.SliceLayout(0, TILE))
    gl.store(out + gl.program_id(0) * WIDTH + columns, gl.sum(sums, 0) / gl.maximum(length, 1).to(gl.float32))


@gluon.jit
def ws_varlen_pool(x_desc, starts, lengths, out, DEPTH: gl.constexpr, BUG: gl.constexpr):
    ring = gl.allocate_shared_memory(x_desc.dtype, [DEPTH] + x_desc.block_shape, x_desc.layout)
    full = mbarrier.allocate_mbarrier(batch=DEPTH)
    empty = mbarrier.allocate_mbarrier(batch=DEPTH)
    for s in gl.static_range(DEPTH):
        mbarrier.init(full.index(s), count=1)
        mbarrier.init(empty.index(s), count=1)
    gl.warp_specialize([
        (pool_partition, (out, lengths, ring, full, empty, BUG)),
        (load_partition, (x_desc, starts, lengths, ring, full, empty, BUG)),
    ], [1], [24])


CORPUS = [
    Kernel(
        ws_varlen_pool, 90, dict(x_desc=desc("fp32", 32, 64), starts="*i32", lengths="*i32", out="*fp32"),
        dict(DEPTH=2), twins=dict(
            no_empty_wait=Twin(["missing-backward-barrier", "missing-forward-barrier"],
                               "the loader overwrites a slot that has not been handed back"),
            no_full_wait=Twin(["missing-forward-barrier", "uninitialised-read"],
                              "blocks are added up before they have arrived"),
            never_released=Twin(["deadlock"], "no slot is ever handed back"),
            one_block_short=Twin(["deadlock"], "the loader rounds the number of blocks down, the summing side up"),
        )),
]
