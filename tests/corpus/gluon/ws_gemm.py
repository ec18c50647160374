"""Hopper GEMM with one loading and one multiplying partition.

A single warp streams tiles of A and B through a ring of three slots; four warps multiply them.
Two barriers a slot: `full` (one arrival, the loader's `expect`, plus the bytes of both copies)
hands a slot forward, `empty` (one arrival, the multiplier's) hands it back. Both sides derive slot
and phase from the step number. The loader waits for `empty` with the opposite parity, so that its
first lap passes on the fresh barriers.
"""

from declare import Kernel, Twin, desc
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)


@gluon.jit
def load_partition(a_desc, b_desc, a, b, full, empty, row, col, K, BUG: gl.constexpr):
    DEPTH: gl.constexpr = a.shape[0]
    BLOCK_K: gl.constexpr = a_desc.block_shape[1]
    for i in range(gl.cdiv(K, BLOCK_K)):
        slot = i % DEPTH
        if BUG == "first_lap_blocks":
            mbarrier.wait(empty.index(slot), (i // DEPTH) & 1)  # BUG: first_lap_blocks
        elif BUG != "no_empty_wait":
            mbarrier.wait(empty.index(slot), ((i // DEPTH) & 1) ^ 1)  # BUG: slot_never_released, full_counts_two
        mbarrier.expect(full.index(slot), a_desc.nbytes_per_cta + b_desc.nbytes_per_cta)
        tma.async_load(a_desc, [row, i * BLOCK_K], full.index(slot), a.index(slot))  # BUG: no_empty_wait, released_too_early, no_full_wait
        tma.async_load(b_desc, [i * BLOCK_K, col], full.index(slot), b.index(slot))  # BUG: no_empty_wait, released_too_early, no_full_wait


@gluon.jit
def mma_partition(c_desc, a, b, c, full, empty, row, col, K, BUG: gl.constexpr):
    DEPTH: gl.constexpr = a.shape[0]
    BLOCK_K: gl.constexpr = a.shape[2]
    ACC: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, c_desc.block_shape[1], 16])
    acc = gl.zeros(c_desc.block_shape, gl.float32, ACC)
    for i in range(gl.cdiv(K, BLOCK_K)):
        slot = i % DEPTH
        if BUG != "no_full_wait":
            mbarrier.wait(full.index(slot), (i // DEPTH) & 1)  # BUG: full_counts_two, first_lap_blocks, slot_never_released
        acc = warpgroup_mma(a.index(slot), b.index(slot), acc, is_async=True)  # BUG: no_full_wait, no_empty_wait, released_too_early
        if BUG == "released_too_early":
            mbarrier.arrive(empty.index(slot), count=1)  # BUG: released_too_early
        acc = warpgroup_mma_wait(0, deps=[acc])
        if BUG != "released_too_early" and BUG != "slot_never_released":
            mbarrier.arrive(empty.index(slot), count=1)
    c.store(acc.to(c_desc.dtype))
    fence_async_shared()
    tma.async_store(c_desc, [row, col], c)
    tma.store_wait(0)


@gluon.jit
def ws_gemm(a_desc, b_desc, c_desc, K, DEPTH: gl.constexpr, BUG: gl.constexpr):
    row = gl.program_id(0) * c_desc.block_shape[0]
    col = gl.program_id(1) * c_desc.block_shape[1]
    a = gl.allocate_shared_memory(a_desc.dtype, [DEPTH] + a_desc.block_shape, a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, [DEPTH] + b_desc.block_shape, b_desc.layout)
    c = gl.allocate_shared_memory(c_desc.dtype, c_desc.block_shape, c_desc.layout)
    full = mbarrier.allocate_mbarrier(batch=DEPTH)
    empty = mbarrier.allocate_mbarrier(batch=DEPTH)
    for s in gl.static_range(DEPTH):
        mbarrier.init(full.index(s), count=2 if BUG == "full_counts_two" else 1)
        mbarrier.init(empty.index(s), count=1)
    gl.warp_specialize([
        (mma_partition, (c_desc, a, b, c, full, empty, row, col, K, BUG)),
        (load_partition, (a_desc, b_desc, a, b, full, empty, row, col, K, BUG)),
    ], [1], [24])


CORPUS = [
    Kernel(
        ws_gemm, 90,
        dict(a_desc=desc("fp16", 128, 64), b_desc=desc("fp16", 64, 128), c_desc=desc("fp16", 128, 128), K="i32"),
        dict(DEPTH=3), stages=("ttgir", "alloc"), twins=dict(
            no_empty_wait=Twin(["missing-backward-barrier", "pending-access", "missing-forward-barrier"],
                               "the loader overwrites a slot that has not been handed back"),
            no_full_wait=Twin(["missing-forward-barrier"], "the MMA reads a slot that has not been handed over"),
            first_lap_blocks=Twin(["deadlock", "phase-mismatch"],
                                  "the loader waits for a release that can only follow its own load"),
            full_counts_two=Twin(["deadlock"], "the barrier counts one arrival for each copy, there is one expect"),
            released_too_early=Twin(["pending-access", "missing-backward-barrier"],
                                    "the slot is handed back while the MMA still reads it"),
            slot_never_released=Twin(["deadlock"], "no slot is ever handed back"),
        )),
]
