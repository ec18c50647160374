"""Hopper GEMM over a ring of three slots, one MMA in flight.

C = A @ B for one output tile, in one group of warps. The ring is walked by an index and a phase
that are carried through the loop and wrap by `where`. Each iteration waits for its slot's `full`
barrier, starts an asynchronous MMA, then lets at most that one be outstanding. So the MMA of the
iteration before has finished, and its slot, the one behind the current, can be refilled with the
tile that is two ahead.
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

DEPTH: gl.constexpr = gl.constexpr(3)


@gluon.jit
def start_load(a_desc, b_desc, a, b, full, slot, row, col, k, pred):
    """Announce the bytes of one K step and start both copies."""
    mbarrier.expect(full.index(slot), a_desc.nbytes_per_cta + b_desc.nbytes_per_cta, pred=pred)
    tma.async_load(a_desc, [row, k], full.index(slot), a.index(slot), pred=pred)  # BUG: refills_own_slot, two_mmas_outstanding, no_full_wait
    tma.async_load(b_desc, [k, col], full.index(slot), b.index(slot), pred=pred)  # BUG: refills_own_slot, two_mmas_outstanding, no_full_wait


@gluon.jit
def gemm_ring3(a_desc, b_desc, c_desc, K, BUG: gl.constexpr):
    BLOCK_M: gl.constexpr = c_desc.block_shape[0]
    BLOCK_N: gl.constexpr = c_desc.block_shape[1]
    BLOCK_K: gl.constexpr = a_desc.block_shape[1]
    row = gl.program_id(0) * BLOCK_M
    col = gl.program_id(1) * BLOCK_N

    a = gl.allocate_shared_memory(a_desc.dtype, [DEPTH, BLOCK_M, BLOCK_K], a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, [DEPTH, BLOCK_K, BLOCK_N], b_desc.layout)
    full = mbarrier.allocate_mbarrier(batch=DEPTH)
    INITS: gl.constexpr = DEPTH - 1 if BUG == "last_barrier_uninitialised" else DEPTH
    for s in gl.static_range(INITS):
        if BUG == "counts_each_copy":
            mbarrier.init(full.index(s), count=2)
        else:
            mbarrier.init(full.index(s), count=1)

    steps = gl.cdiv(K, BLOCK_K)
    for s in gl.static_range(DEPTH - 1):
        start_load(a_desc, b_desc, a, b, full, s, row, col, s * BLOCK_K, s < steps)

    ACC: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BLOCK_N, 16])
    acc = gl.zeros([BLOCK_M, BLOCK_N], gl.float32, ACC)
    index = 0
    phase = 0
    for i in range(steps):
        if BUG != "no_full_wait":
            mbarrier.wait(full.index(index), phase)  # BUG: counts_each_copy, last_barrier_uninitialised, phase_flips_every_step
        acc = warpgroup_mma(a.index(index), b.index(index), acc, is_async=True)  # BUG: no_full_wait, phase_flips_every_step, refills_own_slot, two_mmas_outstanding
        if BUG == "two_mmas_outstanding":
            acc = warpgroup_mma_wait(2, deps=[acc])  # BUG: two_mmas_outstanding
        else:
            acc = warpgroup_mma_wait(1, deps=[acc])
        # MMA i-1 is done, so the slot behind this one is free for tile i+2.
        if BUG == "refills_own_slot":
            behind = index
        else:
            behind = gl.where(index == 0, DEPTH - 1, index - 1)
        ahead = i + DEPTH - 1
        start_load(a_desc, b_desc, a, b, full, behind, row, col, ahead * BLOCK_K, ahead < steps)  # BUG: last_barrier_uninitialised
        wraps = index == DEPTH - 1
        index = gl.where(wraps, 0, index + 1)
        if BUG == "phase_flips_every_step":
            phase = phase ^ 1
        else:
            phase = gl.where(wraps, phase ^ 1, phase)
    acc = warpgroup_mma_wait(0, deps=[acc])
    for s in gl.static_range(DEPTH):
        mbarrier.invalidate(full.index(s))

    c = gl.allocate_shared_memory(c_desc.dtype, [BLOCK_M, BLOCK_N], c_desc.layout)
    c.store(acc.to(c_desc.dtype))
    fence_async_shared()
    tma.async_store(c_desc, [row, col], c)
    tma.store_wait(0)


CORPUS = [
    Kernel(
        gemm_ring3, 90,
        dict(a_desc=desc("bf16", 128, 64), b_desc=desc("bf16", 64, 128), c_desc=desc("bf16", 128, 128), K="i32"),
        twins=dict(
            no_full_wait=Twin(["missing-forward-barrier"], "the MMA reads a slot whose load nobody waited for"),
            counts_each_copy=Twin(["deadlock", "phase-mismatch"],
                                  "two arrivals are counted for, but one expect covers both copies"),
            last_barrier_uninitialised=Twin(["barrier-not-live"], "the loop over the barriers stops one short"),
            phase_flips_every_step=Twin(["phase-mismatch", "missing-forward-barrier", "lapped-wait", "deadlock"],
                                        "the phase flips with every slot, not with every lap"),
            refills_own_slot=Twin(["pending-access", "missing-backward-barrier", "missing-forward-barrier"],
                                  "the slot of the running MMA is refilled"),
            two_mmas_outstanding=Twin(["pending-access", "missing-backward-barrier"],
                                      "the MMA of the refilled slot may still run"),
        )),
]
