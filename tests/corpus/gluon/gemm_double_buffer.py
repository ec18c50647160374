"""Hopper GEMM over two shared-memory slots, the shortest ring that overlaps a load with an MMA.

C = A @ B for one output tile. One group of warps does everything: TMA fills a slot while wgmma
reads the other one. There is one barrier a slot, `full`, with one arrival (the `expect`) and the
bytes of both tiles. Its phase is carried and flips each time the slot index wraps, which with two
slots is `phase ^= slot`. A slot is refilled only after the MMA that read it has been waited for, so
no barrier is needed for that direction.
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
def fetch(a_desc, b_desc, a, b, full, slot, row, col, k, pred, BUG: gl.constexpr):
    """Start the loads of both tiles at depth `k` into `slot`."""
    bar = full.index(slot)
    if BUG == "expects_only_a":
        mbarrier.expect(bar, a_desc.nbytes_per_cta, pred=pred)  # BUG: expects_only_a
    else:
        mbarrier.expect(bar, a_desc.nbytes_per_cta + b_desc.nbytes_per_cta, pred=pred)
    tma.async_load(a_desc, [row, k], bar, a.index(slot), pred=pred)  # BUG: mma_still_reads, expects_only_a, no_full_wait
    tma.async_load(b_desc, [k, col], bar, b.index(slot), pred=pred)  # BUG: mma_still_reads, expects_only_a, no_full_wait


@gluon.jit
def gemm_double_buffer(a_desc, b_desc, c_desc, K, BUG: gl.constexpr):
    BLOCK_M: gl.constexpr = c_desc.block_shape[0]
    BLOCK_N: gl.constexpr = c_desc.block_shape[1]
    BLOCK_K: gl.constexpr = a_desc.block_shape[1]
    row = gl.program_id(0) * BLOCK_M
    col = gl.program_id(1) * BLOCK_N

    a = gl.allocate_shared_memory(a_desc.dtype, [2, BLOCK_M, BLOCK_K], a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, [2, BLOCK_K, BLOCK_N], b_desc.layout)
    full = mbarrier.allocate_mbarrier(batch=2)
    for s in gl.static_range(2):
        mbarrier.init(full.index(s), count=1)

    steps = gl.cdiv(K, BLOCK_K)
    fetch(a_desc, b_desc, a, b, full, 0, row, col, 0, steps > 0, BUG)

    ACC: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BLOCK_N, 16])
    acc = gl.zeros([BLOCK_M, BLOCK_N], gl.float32, ACC)
    phase = 0
    for i in range(steps):
        slot = i % 2
        # The other slot was read by MMA i-1, which has been waited for: fill it with tile i+1.
        fetch(a_desc, b_desc, a, b, full, slot ^ 1, row, col, (i + 1) * BLOCK_K, i + 1 < steps, BUG)
        if BUG == "wrong_first_phase":
            mbarrier.wait(full.index(slot), phase ^ 1)  # BUG: wrong_first_phase
        elif BUG == "phase_never_flips":
            mbarrier.wait(full.index(slot), 0)  # BUG: phase_never_flips
        elif BUG != "no_full_wait":
            mbarrier.wait(full.index(slot), phase)  # BUG: expects_only_a
        acc = warpgroup_mma(a.index(slot), b.index(slot), acc, is_async=True)  # BUG: no_full_wait, wrong_first_phase, phase_never_flips, mma_still_reads, expects_only_a
        if BUG == "mma_still_reads":
            acc = warpgroup_mma_wait(1, deps=[acc])  # BUG: mma_still_reads
        else:
            acc = warpgroup_mma_wait(0, deps=[acc])
        phase ^= slot
    acc = warpgroup_mma_wait(0, deps=[acc])

    for s in gl.static_range(2):
        mbarrier.invalidate(full.index(s))

    c = gl.allocate_shared_memory(c_desc.dtype, [BLOCK_M, BLOCK_N], c_desc.layout)
    c.store(acc.to(c_desc.dtype))
    fence_async_shared()
    tma.async_store(c_desc, [row, col], c)
    tma.store_wait(0)


CORPUS = [
    Kernel(
        gemm_double_buffer, 90,
        dict(a_desc=desc("fp16", 128, 64), b_desc=desc("fp16", 64, 128), c_desc=desc("fp16", 128, 128), K="i32"),
        stages=("ttgir", "alloc"), twins=dict(
            no_full_wait=Twin(["missing-forward-barrier"], "the MMA reads a slot whose load nobody waited for"),
            wrong_first_phase=Twin(["phase-mismatch", "missing-forward-barrier", "deadlock"],
                                   "a wait for parity 1 passes on a fresh barrier"),
            phase_never_flips=Twin(["phase-mismatch", "missing-forward-barrier", "lapped-wait", "deadlock"],
                                   "from the second lap on the wait is satisfied by the first lap's flip"),
            mma_still_reads=Twin(["pending-access", "missing-backward-barrier"],
                                 "one MMA may be outstanding, and the slot it reads is the one that is filled"),
            expects_only_a=Twin(["expect-mismatch", "missing-forward-barrier", "deadlock"],
                                "the barrier is told of the bytes of A only"),
        )),
]
