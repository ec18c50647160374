"""Hopper GEMM that stages its result in the bytes of its operand ring.

C = A @ B for one output tile. The ring of A, four slots, is as large as the output tile, so after
the K loop its bytes are reinterpreted as the staging buffer of the store. That is sound because
every load that was started has been waited for (loads past the end of K are predicated off) and
the last MMA is done. Slot and phase are carried; the slot behind the current one is refilled.
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
def start_load(a_desc, b_desc, a, b, full, slot, row, col, k, pred):
    mbarrier.expect(full.index(slot), a_desc.nbytes_per_cta + b_desc.nbytes_per_cta, pred=pred)
    tma.async_load(a_desc, [row, k], full.index(slot), a.index(slot), pred=pred)  # BUG: loads_past_the_end, refill_not_behind, waits_for_b_only
    tma.async_load(b_desc, [k, col], full.index(slot), b.index(slot), pred=pred)  # BUG: refill_not_behind


@gluon.jit
def gemm_staging_alias(a_desc, b_desc, c_desc, K, BUG: gl.constexpr):
    DEPTH: gl.constexpr = 4
    BLOCK_M: gl.constexpr = c_desc.block_shape[0]
    BLOCK_N: gl.constexpr = c_desc.block_shape[1]
    BLOCK_K: gl.constexpr = a_desc.block_shape[1]
    row = gl.program_id(0) * BLOCK_M
    col = gl.program_id(1) * BLOCK_N
    a = gl.allocate_shared_memory(a_desc.dtype, [DEPTH, BLOCK_M, BLOCK_K], a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, [DEPTH, BLOCK_K, BLOCK_N], b_desc.layout)
    full = mbarrier.allocate_mbarrier(batch=DEPTH)
    for s in gl.static_range(DEPTH):
        mbarrier.init(full.index(s), count=1)

    steps = gl.cdiv(K, BLOCK_K)
    for s in gl.static_range(DEPTH - 1):
        start_load(a_desc, b_desc, a, b, full, s, row, col, s * BLOCK_K, s < steps)

    ACC: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BLOCK_N, 16])
    acc = gl.zeros([BLOCK_M, BLOCK_N], gl.float32, ACC)
    slot = 0
    phase = 0
    for i in range(steps):
        mbarrier.wait(full.index(slot), phase)
        acc = warpgroup_mma(a.index(slot), b.index(slot), acc, is_async=True)  # BUG: last_mma_still_reads, refill_not_behind
        acc = warpgroup_mma_wait(1, deps=[acc])
        ahead = i + DEPTH - 1
        behind = gl.where(slot == 0, DEPTH - 1, slot - 1)
        if BUG == "refill_not_behind":
            behind = slot
        if BUG == "loads_past_the_end":
            # Out of bounds a load brings zeros: harmless for the sum, but it still writes the slot.
            start_load(a_desc, b_desc, a, b, full, behind, row, col, ahead * BLOCK_K, True)
        else:
            start_load(a_desc, b_desc, a, b, full, behind, row, col, ahead * BLOCK_K, ahead < steps)
        wraps = slot == DEPTH - 1
        slot = gl.where(wraps, 0, slot + 1)
        phase = gl.where(wraps, phase ^ 1, phase)
    if BUG != "last_mma_still_reads":
        acc = warpgroup_mma_wait(0, deps=[acc])

    for s in gl.static_range(DEPTH):
        mbarrier.invalidate(full.index(s))
    staged = a.reinterpret(c_desc.dtype, [BLOCK_M, BLOCK_N], c_desc.layout)
    staged.store(acc.to(c_desc.dtype))  # BUG: loads_past_the_end, last_mma_still_reads
    fence_async_shared()
    tma.async_store(c_desc, [row, col], staged)
    tma.store_wait(0)


CORPUS = [
    Kernel(
        gemm_staging_alias, 90,
        dict(a_desc=desc("fp16", 128, 32), b_desc=desc("fp16", 32, 128), c_desc=desc("fp16", 128, 128), K="i32"),
        twins=dict(
            loads_past_the_end=Twin(["missing-forward-barrier"],
                                    "loads past the end of K are still arriving when the result is staged"),
            last_mma_still_reads=Twin(["pending-access"], "the result is staged over what the last MMA reads"),
            refill_not_behind=Twin(["pending-access", "missing-backward-barrier"],
                                   "the slot of the running MMA is refilled"),
        )),
]
