"""Blackwell GEMM in three partitions: one warp loads, one issues MMAs, four store the result.

The MMA itself signals: its first barrier, always on, hands the slot back on `empty`; its second,
on only at the last step, says that the accumulator is complete. There is always at least one step:
past the end of K the loads fill in zeros. So the first MMA, which does not read the accumulator,
always runs. Index and phase are carried and wrap.
"""

from declare import Kernel, Twin, desc
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout,
    allocate_tensor_memory,
    fence_async_shared,
    mbarrier,
    tcgen05_mma,
    tma,
)


@gluon.jit
def advance(index, phase, DEPTH: gl.constexpr):
    wraps = index == DEPTH - 1
    return gl.where(wraps, 0, index + 1), gl.where(wraps, phase ^ 1, phase)


@gluon.jit
def load_partition(a_desc, b_desc, a, b, full, empty, row, col, steps, BUG: gl.constexpr):
    DEPTH: gl.constexpr = a.shape[0]
    index = 0
    phase = 1
    for i in range(steps):
        if BUG != "no_empty_wait":
            mbarrier.wait(empty.index(index), phase)  # BUG: empty_counts_two, slot_not_signalled, mma_phase_stuck
        mbarrier.expect(full.index(index), a_desc.nbytes_per_cta + b_desc.nbytes_per_cta)
        tma.async_load(a_desc, [row, i * a.shape[2]], full.index(index), a.index(index))  # BUG: no_empty_wait, slot_released_by_hand, no_full_wait, mma_phase_stuck
        tma.async_load(b_desc, [i * a.shape[2], col], full.index(index), b.index(index))  # BUG: no_empty_wait, slot_released_by_hand, no_full_wait, mma_phase_stuck
        index, phase = advance(index, phase, DEPTH)


@gluon.jit
def mma_partition(a, b, acc, full, empty, ready, steps, BUG: gl.constexpr):
    DEPTH: gl.constexpr = a.shape[0]
    index = 0
    phase = 0
    for i in range(steps):
        if BUG != "no_full_wait":
            mbarrier.wait(full.index(index), phase)  # BUG: mma_phase_stuck, empty_counts_two, slot_not_signalled
        last = i == steps - 1
        if BUG == "slot_released_by_hand":
            tcgen05_mma(a.index(index), b.index(index), acc, use_acc=i > 0, mbarriers=[ready], mbarrier_preds=[last])  # BUG: slot_released_by_hand
            mbarrier.arrive(empty.index(index), count=1)  # BUG: slot_released_by_hand
        elif BUG == "slot_not_signalled":
            tcgen05_mma(a.index(index), b.index(index), acc, use_acc=i > 0, mbarriers=[ready], mbarrier_preds=[last])
        elif BUG == "ready_every_step":
            tcgen05_mma(a.index(index), b.index(index), acc, use_acc=i > 0,  # BUG: ready_every_step
                        mbarriers=[empty.index(index), ready])
        else:
            tcgen05_mma(a.index(index), b.index(index), acc, use_acc=i > 0,  # BUG: no_full_wait, no_empty_wait, result_not_waited, mma_phase_stuck
                        mbarriers=[empty.index(index), ready], mbarrier_preds=[True, last])
        if BUG == "mma_phase_stuck":
            index = gl.where(index == DEPTH - 1, 0, index + 1)
        else:
            index, phase = advance(index, phase, DEPTH)


@gluon.jit
def store_partition(c_desc, acc, c, ready, row, col, BUG: gl.constexpr):
    if BUG != "result_not_waited":
        mbarrier.wait(ready, 0)
    c.store(acc.load().to(c.dtype))  # BUG: result_not_waited, ready_every_step
    fence_async_shared()
    tma.async_store(c_desc, [row, col], c)
    tma.store_wait(0)


@gluon.jit
def tc05_ws_gemm(a_desc, b_desc, c_desc, K, DEPTH: gl.constexpr, BUG: gl.constexpr):
    row = gl.program_id(0) * c_desc.block_shape[0]
    col = gl.program_id(1) * c_desc.block_shape[1]
    a = gl.allocate_shared_memory(a_desc.dtype, [DEPTH] + a_desc.block_shape, a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, [DEPTH] + b_desc.block_shape, b_desc.layout)
    c = gl.allocate_shared_memory(c_desc.dtype, c_desc.block_shape, c_desc.layout)
    full = mbarrier.allocate_mbarrier(batch=DEPTH)
    empty = mbarrier.allocate_mbarrier(batch=DEPTH)
    ready = mbarrier.allocate_mbarrier()
    for s in gl.static_range(DEPTH):
        mbarrier.init(full.index(s), count=1)
        mbarrier.init(empty.index(s), count=2 if BUG == "empty_counts_two" else 1)
    mbarrier.init(ready, count=1)
    acc = allocate_tensor_memory(gl.float32, c_desc.block_shape, TensorMemoryLayout(c_desc.block_shape, col_stride=1))
    steps = gl.maximum(gl.cdiv(K, a_desc.block_shape[1]), 1)
    gl.warp_specialize([
        (store_partition, (c_desc, acc, c, ready, row, col, BUG)),
        (load_partition, (a_desc, b_desc, a, b, full, empty, row, col, steps, BUG)),
        (mma_partition, (a, b, acc, full, empty, ready, steps, BUG)),
    ], [1, 1], [24, 24])


CORPUS = [
    Kernel(
        tc05_ws_gemm, 100,
        dict(a_desc=desc("bf16", 128, 64), b_desc=desc("bf16", 64, 256), c_desc=desc("bf16", 128, 256), K="i32"),
        dict(DEPTH=3), twins=dict(
            no_empty_wait=Twin(["missing-backward-barrier", "missing-forward-barrier"],
                               "the loader overwrites a slot that has not been handed back"),
            no_full_wait=Twin(["missing-forward-barrier"], "the MMA does not wait for its tiles"),
            empty_counts_two=Twin(["deadlock"], "two arrivals are counted for, the MMA brings one"),
            slot_released_by_hand=Twin(["missing-backward-barrier"],
                                       "the arrival follows the issue of the MMA, not its end"),
            slot_not_signalled=Twin(["deadlock"], "the MMA no longer signals the slot's barrier"),
            ready_every_step=Twin(["missing-forward-barrier", "missing-backward-barrier", "lapped-wait", "phase-mismatch",
                                   "deadlock"],
                                  "the result is announced at every step"),
            result_not_waited=Twin(["missing-forward-barrier", "uninitialised-read", "missing-backward-barrier"],
                                   "the accumulator is read without waiting for it"),
            mma_phase_stuck=Twin(["phase-mismatch", "missing-forward-barrier", "lapped-wait", "deadlock"],
                                 "the index wraps, the phase does not flip"),
        )),
]
