"""Two GEMMs in one Hopper kernel: Y = relu(X @ W1) @ W2, with the hidden rows kept on chip.

X is loaded once. For each block of hidden columns, W1's and W2's blocks arrive in two-slot rings
with barriers of their own. The hidden block goes through shared memory: it is written with ordinary
stores, fenced, and read by the second MMA, which stays in flight over the first MMA of the next
block and is waited for before the buffer is written again. A block of W1 is refilled as soon as its
MMA is done, one of W2 a step later.
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
def mlp_fused(x_desc, w1_desc, w2_desc, y_desc, hidden, BUG: gl.constexpr):
    BLOCK_M: gl.constexpr = x_desc.block_shape[0]
    BLOCK_H: gl.constexpr = w1_desc.block_shape[1]
    OUT: gl.constexpr = w2_desc.block_shape[1]
    row = gl.program_id(0) * BLOCK_M
    x = gl.allocate_shared_memory(x_desc.dtype, x_desc.block_shape, x_desc.layout)
    w1 = gl.allocate_shared_memory(w1_desc.dtype, [2] + w1_desc.block_shape, w1_desc.layout)
    w2 = gl.allocate_shared_memory(w2_desc.dtype, [2] + w2_desc.block_shape, w2_desc.layout)
    h = gl.allocate_shared_memory(x_desc.dtype, [BLOCK_M, BLOCK_H], x_desc.layout)
    x_full = mbarrier.allocate_mbarrier()
    w1_full = mbarrier.allocate_mbarrier(batch=2)
    w2_full = mbarrier.allocate_mbarrier(batch=2)
    mbarrier.init(x_full, count=1)
    for s in gl.static_range(2):
        mbarrier.init(w1_full.index(s), count=1)
        mbarrier.init(w2_full.index(s), count=1)

    steps = gl.cdiv(hidden, BLOCK_H)
    mbarrier.expect(x_full, x_desc.nbytes_per_cta)
    tma.async_load(x_desc, [row, 0], x_full, x)  # BUG: x_not_waited
    for s in gl.static_range(2):
        mbarrier.expect(w1_full.index(s), w1_desc.nbytes_per_cta, pred=s < steps)
        tma.async_load(w1_desc, [0, s * BLOCK_H], w1_full.index(s), w1.index(s), pred=s < steps)
    mbarrier.expect(w2_full.index(0), w2_desc.nbytes_per_cta, pred=steps > 0)
    tma.async_load(w2_desc, [0, 0], w2_full.index(0), w2.index(0), pred=steps > 0)

    HIDDEN: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BLOCK_H, 16])
    ACC: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, OUT, 16])
    acc = gl.zeros([BLOCK_M, OUT], gl.float32, ACC)
    if BUG != "x_not_waited":
        mbarrier.wait(x_full, 0)
    for i in range(steps):
        slot = i & 1
        parity = (i >> 1) & 1
        mbarrier.wait(w1_full.index(slot), parity)
        part = gl.zeros([BLOCK_M, BLOCK_H], gl.float32, HIDDEN)
        part = warpgroup_mma(x, w1.index(slot), part, is_async=True)  # BUG: x_not_waited, first_mma_still_reads
        if BUG == "first_mma_still_reads":
            part = warpgroup_mma_wait(1, deps=[part])  # BUG: first_mma_still_reads
        else:
            # Both MMAs in flight: this one, and the second one of the step before.
            part, acc = warpgroup_mma_wait(0, deps=[part, acc])

        ahead = i + 2
        mbarrier.expect(w1_full.index(slot), w1_desc.nbytes_per_cta, pred=ahead < steps)
        tma.async_load(w1_desc, [0, ahead * BLOCK_H], w1_full.index(slot), w1.index(slot), pred=ahead < steps)  # BUG: first_mma_still_reads
        if BUG == "w2_refills_own_slot":
            other = slot
        else:
            other = slot ^ 1
        mbarrier.expect(w2_full.index(other), w2_desc.nbytes_per_cta, pred=i + 1 < steps)
        tma.async_load(w2_desc, [(i + 1) * BLOCK_H, 0], w2_full.index(other), w2.index(other), pred=i + 1 < steps)  # BUG: w2_refills_own_slot, w2_not_waited

        h.store(gl.maximum(part, 0.0).to(h.dtype))
        fence_async_shared()
        if BUG == "w2_phase_every_step":
            mbarrier.wait(w2_full.index(slot), i & 1)  # BUG: w2_phase_every_step
        elif BUG != "w2_not_waited":
            mbarrier.wait(w2_full.index(slot), parity)  # BUG: w2_refills_own_slot
        acc = warpgroup_mma(h, w2.index(slot), acc, is_async=True)  # BUG: w2_not_waited, w2_refills_own_slot, w2_phase_every_step
        acc = warpgroup_mma_wait(1, deps=[acc])
    acc = warpgroup_mma_wait(0, deps=[acc])
    mbarrier.invalidate(x_full)
    for s in gl.static_range(2):
        mbarrier.invalidate(w1_full.index(s))
        mbarrier.invalidate(w2_full.index(s))

    y = gl.allocate_shared_memory(y_desc.dtype, y_desc.block_shape, y_desc.layout)
    y.store(acc.to(y_desc.dtype))
    fence_async_shared()
    tma.async_store(y_desc, [row, 0], y)
    tma.store_wait(0)


CORPUS = [
    Kernel(
        mlp_fused, 90,
        dict(x_desc=desc("bf16", 64, 128), w1_desc=desc("bf16", 128, 64), w2_desc=desc("bf16", 64, 128),
             y_desc=desc("bf16", 64, 128), hidden="i32"), twins=dict(
                 x_not_waited=Twin(["missing-forward-barrier"], "X's barrier is never waited for"),
                 w2_not_waited=Twin(["missing-forward-barrier"], "W2's barriers are never waited for"),
                 first_mma_still_reads=Twin(["pending-access", "missing-backward-barrier"],
                                            "one MMA may be outstanding, the one that reads the refilled block of W1"),
                 w2_refills_own_slot=Twin(["missing-forward-barrier", "missing-backward-barrier", "deadlock",
                                           "arrival-overflow"],
                                          "W2's next block is loaded over the one that is about to be used"),
                 w2_phase_every_step=Twin(["phase-mismatch", "missing-forward-barrier", "lapped-wait", "deadlock"],
                                          "the phase of W2 flips every step instead of every lap"),
             )),
]
