"""Hopper GEMM over a ring of four slots, indexed by division and remainder.

C = A @ B for one output tile, in one group of warps; B is stored with K innermost. Slot and phase are derived from the step
number: `step % DEPTH` and `(step // DEPTH) & 1`. Two MMAs may be in flight, so the refill runs
behind by two: after step `i` the MMAs up to `i - 2` are done and slot `(i - 2) % 4`, which is
`(i + 2) % 4`, takes tile `i + 2`.
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
def start_load(a_desc, b_desc, a, b, full, step, steps, row, col, DEPTH: gl.constexpr, BUG: gl.constexpr):
    """Load K step `step` into its slot, if there is such a step."""
    BLOCK_K: gl.constexpr = a_desc.block_shape[1]
    pred = step < steps
    slot = step % DEPTH
    bar = full.index(slot)
    if BUG != "nothing_expected":
        mbarrier.expect(bar, a_desc.nbytes_per_cta + b_desc.nbytes_per_cta, pred=pred)
    tma.async_load(a_desc, [row, step * BLOCK_K], bar, a.index(slot), pred=pred)  # BUG: three_mmas_outstanding, refills_one_early, waits_on_next_slot, nothing_expected
    tma.async_load(b_desc, [col, step * BLOCK_K], bar, b.index(slot), pred=pred)  # BUG: three_mmas_outstanding, refills_one_early, waits_on_next_slot, nothing_expected


@gluon.jit
def gemm_ring4(a_desc, b_desc, c_desc, K, DEPTH: gl.constexpr, BUG: gl.constexpr):
    BLOCK_M: gl.constexpr = c_desc.block_shape[0]
    BLOCK_N: gl.constexpr = c_desc.block_shape[1]
    BLOCK_K: gl.constexpr = a_desc.block_shape[1]
    row = gl.program_id(0) * BLOCK_M
    col = gl.program_id(1) * BLOCK_N

    a = gl.allocate_shared_memory(a_desc.dtype, [DEPTH, BLOCK_M, BLOCK_K], a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, [DEPTH, BLOCK_N, BLOCK_K], b_desc.layout)
    full = mbarrier.allocate_mbarrier(batch=DEPTH)
    for s in gl.static_range(DEPTH):
        mbarrier.init(full.index(s), count=1)

    steps = gl.cdiv(K, BLOCK_K)
    AHEAD: gl.constexpr = 3 if BUG == "refills_one_early" else 2
    for s in gl.static_range(AHEAD):
        start_load(a_desc, b_desc, a, b, full, s, steps, row, col, DEPTH, BUG)

    ACC: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BLOCK_N, 16])
    acc = gl.zeros([BLOCK_M, BLOCK_N], gl.float32, ACC)
    for i in range(steps):
        slot = i % DEPTH
        if BUG == "period_is_three":
            mbarrier.wait(full.index(slot), (i // (DEPTH - 1)) & 1)  # BUG: period_is_three
        elif BUG == "waits_on_next_slot":
            mbarrier.wait(full.index((i + 1) % DEPTH), ((i + 1) // DEPTH) & 1)  # BUG: waits_on_next_slot
        else:
            mbarrier.wait(full.index(slot), (i // DEPTH) & 1)  # BUG: nothing_expected
        acc = warpgroup_mma(a.index(slot), b.index(slot).permute((1, 0)), acc, is_async=True)  # BUG: period_is_three, waits_on_next_slot, three_mmas_outstanding, refills_one_early
        if BUG == "three_mmas_outstanding":
            acc = warpgroup_mma_wait(3, deps=[acc])  # BUG: three_mmas_outstanding
        else:
            acc = warpgroup_mma_wait(2, deps=[acc])
        start_load(a_desc, b_desc, a, b, full, i + AHEAD, steps, row, col, DEPTH, BUG)
    acc = warpgroup_mma_wait(0, deps=[acc])
    for s in gl.static_range(DEPTH):
        mbarrier.invalidate(full.index(s))

    c = gl.allocate_shared_memory(c_desc.dtype, [BLOCK_M, BLOCK_N], c_desc.layout)
    c.store(acc.to(c_desc.dtype))
    fence_async_shared()
    tma.async_store(c_desc, [row, col], c)
    tma.store_wait(pendings=0)


CORPUS = [
    Kernel(
        gemm_ring4, 90,
        dict(a_desc=desc("fp16", 64, 64), b_desc=desc("fp16", 256, 64), c_desc=desc("fp16", 64, 256), K="i32"),
        dict(DEPTH=4), twins=dict(
            period_is_three=Twin(["phase-mismatch", "missing-forward-barrier", "lapped-wait", "deadlock"],
                                 "slots repeat every four steps, the phase every three"),
            waits_on_next_slot=Twin(["missing-forward-barrier", "deadlock", "phase-mismatch"],
                                    "the wait is for the slot after the one that is read"),
            three_mmas_outstanding=Twin(["pending-access", "missing-backward-barrier"],
                                        "the MMA that reads the refilled slot may still run"),
            refills_one_early=Twin(["pending-access", "missing-backward-barrier"],
                                   "tiles are loaded three ahead, the refilled slot belongs to an unfinished MMA"),
            nothing_expected=Twin(["expect-mismatch", "deadlock"],
                                  "no bytes are announced, so nothing arrives on the barrier"),
        )),
]
