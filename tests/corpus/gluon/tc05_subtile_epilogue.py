"""Blackwell GEMM with an epilogue that drains the accumulator in slices.

One worker warp loads and multiplies: it serves a ring of two slots and waits for an MMA to be done
before it refills that MMA's slot. The default partition reads the 256 columns of the accumulator in
slices of 64, staging each in one of two buffers and storing it by TMA while it reads the next. The
accumulator is handed back as soon as the last slice is in registers, so the worker can begin the
next tile while the last stores run. One barrier each way: `ready` and `drained`, a phase a tile.
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
    tcgen05_mma,
    tma,
)


@gluon.jit
def load_slot(a_desc, b_desc, a, b, full, count, row, col, k, pred):
    slot = count % 2
    mbarrier.expect(full.index(slot), a_desc.nbytes_per_cta + b_desc.nbytes_per_cta, pred=pred)
    tma.async_load(a_desc, [row, k], full.index(slot), a.index(slot), pred=pred)  # BUG: used_not_waited
    tma.async_load(b_desc, [k, col], full.index(slot), b.index(slot), pred=pred)  # BUG: used_not_waited


@gluon.jit
def multiply_partition(a_desc, b_desc, a, b, acc, full, used, ready, drained, steps, row, tiles, BUG: gl.constexpr):
    BLOCK_K: gl.constexpr = a.shape[2]
    BLOCK_N: gl.constexpr = b.shape[2]
    count = 0
    for tile in range(tiles):
        if BUG == "drained_not_inverted":
            mbarrier.wait(drained, tile & 1)  # BUG: drained_not_inverted
        elif BUG != "drained_not_waited":
            mbarrier.wait(drained, (tile & 1) ^ 1)  # BUG: drained_counts_slices
        load_slot(a_desc, b_desc, a, b, full, count, row, tile * BLOCK_N, 0, True)
        for i in range(steps):
            # The other slot is free once the MMA of the step before is done.
            if BUG != "used_not_waited":
                mbarrier.wait(used.index((count + 1) % 2), ((count + 1) // 2) & 1 ^ 1)
            load_slot(a_desc, b_desc, a, b, full, count + 1, row, tile * BLOCK_N, (i + 1) * BLOCK_K, i + 1 < steps)
            mbarrier.wait(full.index(count % 2), (count // 2) & 1)
            tcgen05_mma(a.index(count % 2), b.index(count % 2), acc, use_acc=i > 0)  # BUG: used_not_waited, drained_not_waited, drained_too_early, ready_not_waited
            tcgen05_commit(used.index(count % 2))
            count += 1
        tcgen05_commit(ready)


@gluon.jit
def drain_partition(c_desc, acc, c, ready, drained, row, tiles, BUG: gl.constexpr):
    BLOCK_N: gl.constexpr = acc.shape[1]
    SLICE: gl.constexpr = c.shape[2]
    SLICES: gl.constexpr = BLOCK_N // SLICE
    for tile in range(tiles):
        if BUG != "ready_not_waited":
            mbarrier.wait(ready, tile & 1)  # BUG: drained_not_inverted, drained_counts_slices
        for s in gl.static_range(SLICES):
            value = acc.slice(s * SLICE, SLICE).load()  # BUG: drained_not_waited, drained_too_early, ready_not_waited
            if s == (SLICES - 2 if BUG == "drained_too_early" else SLICES - 1):
                mbarrier.arrive(drained, count=1)  # BUG: drained_too_early, drained_counts_slices
            if BUG == "staging_off_by_one":
                tma.store_wait(2)  # BUG: staging_off_by_one
            else:
                tma.store_wait(1)
            c.index(s % 2).store(value.to(c.dtype))  # BUG: staging_off_by_one
            fence_async_shared()
            tma.async_store(c_desc, [row, tile * BLOCK_N + s * SLICE], c.index(s % 2))  # BUG: staging_off_by_one
    tma.store_wait(0)


@gluon.jit
def tc05_subtile_epilogue(a_desc, b_desc, c_desc, K, tiles, BUG: gl.constexpr):
    BLOCK_M: gl.constexpr = a_desc.block_shape[0]
    BLOCK_N: gl.constexpr = b_desc.block_shape[1]
    SLICE: gl.constexpr = c_desc.block_shape[1]
    row = gl.program_id(0) * BLOCK_M
    a = gl.allocate_shared_memory(a_desc.dtype, [2] + a_desc.block_shape, a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, [2] + b_desc.block_shape, b_desc.layout)
    c = gl.allocate_shared_memory(c_desc.dtype, [2, BLOCK_M, SLICE], c_desc.layout)
    acc = allocate_tensor_memory(gl.float32, [BLOCK_M, BLOCK_N], TensorMemoryLayout([BLOCK_M, BLOCK_N], col_stride=1))
    full = mbarrier.allocate_mbarrier(batch=2)
    used = mbarrier.allocate_mbarrier(batch=2)
    ready = mbarrier.allocate_mbarrier()
    drained = mbarrier.allocate_mbarrier()
    for s in gl.static_range(2):
        mbarrier.init(full.index(s), count=1)
        mbarrier.init(used.index(s), count=1)
    mbarrier.init(ready, count=1)
    mbarrier.init(drained, count=BLOCK_N // SLICE if BUG == "drained_counts_slices" else 1)
    # At least one step: past the end of K the loads bring zeros, and the accumulator is defined.
    steps = gl.maximum(gl.cdiv(K, a_desc.block_shape[1]), 1)
    gl.warp_specialize([
        (drain_partition, (c_desc, acc, c, ready, drained, row, tiles, BUG)),
        (multiply_partition, (a_desc, b_desc, a, b, acc, full, used, ready, drained, steps, row, tiles, BUG)),
    ], [1], [48])


CORPUS = [
    Kernel(
        tc05_subtile_epilogue, 100,
        dict(a_desc=desc("fp16", 128, 64), b_desc=desc("fp16", 64, 256), c_desc=desc("fp16", 128, 64), K="i32",
             tiles="i32"), stages=("ttgir", "alloc"), twins=dict(
                 used_not_waited=Twin(["missing-backward-barrier", "missing-forward-barrier"],
                                      "a slot is refilled while an MMA may read it"),
                 drained_not_waited=Twin(["missing-backward-barrier", "missing-forward-barrier"],
                                         "the next tile's first MMA overwrites columns that are still being read"),
                 drained_too_early=Twin(["missing-backward-barrier", "missing-forward-barrier"],
                                        "the accumulator is handed back one slice too early"),
                 drained_not_inverted=Twin(["deadlock", "phase-mismatch"], "the first tile waits to be drained"),
                 drained_counts_slices=Twin(["deadlock"], "an arrival a slice is counted for, there is one a tile"),
                 ready_not_waited=Twin(["missing-forward-barrier", "missing-backward-barrier", "uninitialised-read"],
                                       "slices are read without waiting for the MMAs"),
                 staging_off_by_one=Twin(["pending-access"], "both stores may be in flight, one reads the buffer"),
             )),
]
