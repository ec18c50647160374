"""Blackwell GEMM that adds to C, with C copied into the accumulator by the tensor core.

For each output tile C comes by TMA into shared memory, `tcgen05_copy` moves it into the accumulator
and the MMAs add to it. Copy and MMAs are issued by the same partition and execute in order. The
commit after the last of them covers all; once it has been waited for, the result is staged in the
buffer that C came in and stored by TMA, which must have read it before the next tile's C arrives.
Tiles of A and B take two slots, with phases carried by the running step count.
"""

from declare import Kernel, Twin, desc
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout,
    allocate_tensor_memory,
    fence_async_shared,
    mbarrier,
    tcgen05_commit,
    tcgen05_copy,
    tcgen05_mma,
    tma,
)


@gluon.jit
def tc05_accumulate(a_desc, b_desc, c_desc, K, first_tile, last_tile, BUG: gl.constexpr):
    BLOCK_M: gl.constexpr = c_desc.block_shape[0]
    BLOCK_N: gl.constexpr = c_desc.block_shape[1]
    BLOCK_K: gl.constexpr = a_desc.block_shape[1]
    row = gl.program_id(0) * BLOCK_M
    a = gl.allocate_shared_memory(a_desc.dtype, [2, BLOCK_M, BLOCK_K], a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, [2, BLOCK_K, BLOCK_N], b_desc.layout)
    c = gl.allocate_shared_memory(c_desc.dtype, [BLOCK_M, BLOCK_N], c_desc.layout)
    acc = allocate_tensor_memory(gl.float32, [BLOCK_M, BLOCK_N], TensorMemoryLayout([BLOCK_M, BLOCK_N], col_stride=1))
    c_full = mbarrier.allocate_mbarrier()
    full = mbarrier.allocate_mbarrier(batch=2)
    used = mbarrier.allocate_mbarrier(batch=2)
    ready = mbarrier.allocate_mbarrier()
    mbarrier.init(c_full, count=1)
    mbarrier.init(ready, count=1)
    for s in gl.static_range(2):
        mbarrier.init(full.index(s), count=1)
        mbarrier.init(used.index(s), count=1)

    steps = gl.cdiv(K, BLOCK_K)
    count = 0
    tile_phase = 0
    for tile in range(first_tile, last_tile):
        col = tile * BLOCK_N
        if BUG != "store_not_waited":
            tma.store_wait(0)
        mbarrier.expect(c_full, c_desc.nbytes_per_cta)
        tma.async_load(c_desc, [row, col], c_full, c)  # BUG: store_not_waited, c_not_waited
        if BUG != "c_not_waited":
            mbarrier.wait(c_full, tile_phase)  # BUG: tile_phase_stuck
        tcgen05_copy(c, acc)  # BUG: c_not_waited, staged_too_early, tile_phase_stuck, ready_before_mmas
        if BUG == "ready_before_mmas":
            tcgen05_commit(ready)  # BUG: ready_before_mmas
        for i in range(steps):
            slot = count % 2
            parity = (count // 2) & 1
            if BUG != "used_not_waited":
                mbarrier.wait(used.index(slot), parity ^ 1)
            mbarrier.expect(full.index(slot), a_desc.nbytes_per_cta + b_desc.nbytes_per_cta)
            tma.async_load(a_desc, [row, i * BLOCK_K], full.index(slot), a.index(slot))  # BUG: used_not_waited
            tma.async_load(b_desc, [i * BLOCK_K, col], full.index(slot), b.index(slot))  # BUG: used_not_waited
            mbarrier.wait(full.index(slot), parity)
            tcgen05_mma(a.index(slot), b.index(slot), acc)  # BUG: used_not_waited, ready_before_mmas, staged_too_early
            tcgen05_commit(used.index(slot))
            count += 1
        if BUG != "ready_before_mmas":
            tcgen05_commit(ready)
        if BUG != "staged_too_early":
            mbarrier.wait(ready, tile_phase)  # BUG: tile_phase_stuck
        c.store(acc.load())  # BUG: staged_too_early, ready_before_mmas, tile_phase_stuck
        fence_async_shared()
        tma.async_store(c_desc, [row, col], c)  # BUG: store_not_waited
        if BUG != "tile_phase_stuck":
            tile_phase ^= 1
    tma.store_wait(0)


CORPUS = [
    Kernel(
        tc05_accumulate, 100,
        dict(a_desc=desc("bf16", 128, 64), b_desc=desc("bf16", 64, 128), c_desc=desc("fp32", 128, 128), K="i32",
             first_tile="i32", last_tile="i32"), twins=dict(
                 c_not_waited=Twin(["missing-forward-barrier"], "C is copied before it has arrived"),
                 used_not_waited=Twin(["missing-backward-barrier"], "a slot is refilled while an MMA may read it"),
                 ready_before_mmas=Twin(["missing-forward-barrier"], "the commit covers the copy, not the MMAs"),
                 staged_too_early=Twin(["missing-forward-barrier", "missing-backward-barrier"],
                                       "nothing orders the read of the accumulator after copy and MMAs"),
                 store_not_waited=Twin(["pending-access"], "the next C arrives over a result that is being stored"),
                 tile_phase_stuck=Twin(["phase-mismatch", "missing-forward-barrier", "lapped-wait", "deadlock"],
                                       "the tile's phase never flips"),
             )),
]
