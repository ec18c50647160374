"""Split-K Hopper GEMM that adds its partial sums with TMA reductions.

Program `z` of the third grid axis multiplies its share of K for a row of `tiles_n` output tiles and
adds each result to C in global memory. A and B arrive on barriers of their own, `a_full` and
`b_full`, one slot each; every step flips both once, so one phase bit, carried through both loops,
serves both. Loads are issued only after the MMA of the step before is done, which frees the slots.
The staging buffer of a reduction may be reused once `store_wait` says that it has been read.
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
def splitk_reduce(a_desc, b_desc, c_desc, steps_per_split, tiles_n, BUG: gl.constexpr):
    BLOCK_M: gl.constexpr = a_desc.block_shape[0]
    BLOCK_K: gl.constexpr = a_desc.block_shape[1]
    BLOCK_N: gl.constexpr = b_desc.block_shape[1]
    row = gl.program_id(0) * BLOCK_M
    first_k = gl.program_id(2) * steps_per_split * BLOCK_K

    a = gl.allocate_shared_memory(a_desc.dtype, a_desc.block_shape, a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, b_desc.block_shape, b_desc.layout)
    part = gl.allocate_shared_memory(c_desc.dtype, c_desc.block_shape, c_desc.layout)
    a_full = mbarrier.allocate_mbarrier()
    b_full = mbarrier.allocate_mbarrier()
    mbarrier.init(a_full, count=1)
    if BUG != "b_barrier_uninitialised":
        mbarrier.init(b_full, count=1)

    ACC: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BLOCK_N, 16])
    phase = 0
    for n in range(tiles_n):
        acc = gl.zeros([BLOCK_M, BLOCK_N], gl.float32, ACC)
        for i in range(steps_per_split):
            k = first_k + i * BLOCK_K
            mbarrier.expect(a_full, a_desc.nbytes_per_cta)
            tma.async_load(a_desc, [row, k], a_full, a)  # BUG: mma_not_waited, phase_toggles_per_tile
            mbarrier.expect(b_full, b_desc.nbytes_per_cta)  # BUG: b_barrier_uninitialised
            if BUG == "b_signals_a":
                tma.async_load(b_desc, [k, n * BLOCK_N], a_full, b)  # BUG: b_signals_a
            else:
                tma.async_load(b_desc, [k, n * BLOCK_N], b_full, b)  # BUG: only_a_waited, mma_not_waited, b_barrier_uninitialised, phase_toggles_per_tile
            mbarrier.wait(a_full, phase)  # BUG: b_signals_a, phase_toggles_per_tile
            if BUG != "only_a_waited":
                mbarrier.wait(b_full, phase)  # BUG: b_signals_a, b_barrier_uninitialised, phase_toggles_per_tile
            acc = warpgroup_mma(a, b, acc, is_async=True)  # BUG: only_a_waited, mma_not_waited, b_signals_a, phase_toggles_per_tile
            if BUG == "mma_not_waited":
                acc = warpgroup_mma_wait(1, deps=[acc])  # BUG: mma_not_waited
            else:
                acc = warpgroup_mma_wait(0, deps=[acc])
            if BUG != "phase_toggles_per_tile":
                phase ^= 1
        if BUG == "phase_toggles_per_tile":
            phase ^= 1
        acc = warpgroup_mma_wait(0, deps=[acc])
        if BUG != "staging_reused":
            tma.store_wait(0)
        part.store(acc)  # BUG: staging_reused
        fence_async_shared()
        tma.async_atomic_add(c_desc, [row, n * BLOCK_N], part)  # BUG: staging_reused
    tma.store_wait(0)


CORPUS = [
    Kernel(
        splitk_reduce, 90,
        dict(a_desc=desc("fp16", 64, 64), b_desc=desc("fp16", 64, 64), c_desc=desc("fp32", 64, 64),
             steps_per_split="i32", tiles_n="i32"), stages=("ttgir", "alloc"), twins=dict(
                 only_a_waited=Twin(["missing-forward-barrier"], "nothing orders the MMA after the copy of B"),
                 b_signals_a=Twin(["expect-mismatch", "deadlock", "missing-forward-barrier"],
                                  "B's copy completes on A's barrier, which expects A's bytes"),
                 mma_not_waited=Twin(["pending-access", "missing-backward-barrier"],
                                     "the next loads overwrite what the MMA reads"),
                 b_barrier_uninitialised=Twin(["barrier-not-live"], "the second barrier is never initialised"),
                 phase_toggles_per_tile=Twin(["phase-mismatch", "missing-forward-barrier", "lapped-wait", "deadlock"],
                                             "the phase flips once a tile, the barriers once a step"),
                 staging_reused=Twin(["pending-access"], "the staging buffer is written while a reduction reads it"),
             )),
]
