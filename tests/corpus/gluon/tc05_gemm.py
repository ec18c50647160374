"""Blackwell GEMM over a ring of three slots, one MMA ahead of the loads, in one group of warps.

The accumulator lives in tensor memory and is zeroed first, so that every step accumulates. Two
barriers a slot: `full` for the loads and `done`, on which a commit arrives when the MMA that reads
the slot has finished. Before a slot is refilled its `done` is waited for, one step after the MMA
was issued. Slot and phase come from the step number. The last `done` also covers the accumulator.
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
def start_load(a_desc, b_desc, a, b, full, step, steps, row, col):
    """Load K step `step` into its slot, if there is such a step."""
    DEPTH: gl.constexpr = a.shape[0]
    BLOCK_K: gl.constexpr = a.shape[2]
    bar = full.index(step % DEPTH)
    more = step < steps
    mbarrier.expect(bar, a_desc.nbytes_per_cta + b_desc.nbytes_per_cta, pred=more)
    tma.async_load(a_desc, [row, step * BLOCK_K], bar, a.index(step % DEPTH), pred=more)  # BUG: done_not_waited, done_of_next_slot, no_full_wait
    tma.async_load(b_desc, [step * BLOCK_K, col], bar, b.index(step % DEPTH), pred=more)  # BUG: done_not_waited, done_of_next_slot, no_full_wait


@gluon.jit
def tc05_gemm(a_desc, b_desc, c_desc, K, DEPTH: gl.constexpr, BUG: gl.constexpr):
    BLOCK_M: gl.constexpr = c_desc.block_shape[0]
    BLOCK_N: gl.constexpr = c_desc.block_shape[1]
    row = gl.program_id(0) * BLOCK_M
    col = gl.program_id(1) * BLOCK_N
    a = gl.allocate_shared_memory(a_desc.dtype, [DEPTH] + a_desc.block_shape, a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, [DEPTH] + b_desc.block_shape, b_desc.layout)
    full = mbarrier.allocate_mbarrier(batch=DEPTH)
    done = mbarrier.allocate_mbarrier(batch=DEPTH)
    for s in gl.static_range(DEPTH):
        mbarrier.init(full.index(s), count=1)
        mbarrier.init(done.index(s), count=1)

    acc = allocate_tensor_memory(gl.float32, [BLOCK_M, BLOCK_N], TensorMemoryLayout([BLOCK_M, BLOCK_N], col_stride=1))
    if BUG != "accumulator_not_zeroed":
        acc.store(gl.zeros([BLOCK_M, BLOCK_N], gl.float32, acc.get_reg_layout()))

    steps = gl.cdiv(K, a.shape[2])
    for s in gl.static_range(DEPTH - 1):
        start_load(a_desc, b_desc, a, b, full, s, steps, row, col)
    for i in range(steps):
        slot = i % DEPTH
        if BUG != "no_full_wait":
            mbarrier.wait(full.index(slot), (i // DEPTH) & 1)
        tcgen05_mma(a.index(slot), b.index(slot), acc)  # BUG: no_full_wait, accumulator_not_zeroed, done_not_waited, done_of_next_slot
        if BUG != "commit_forgotten":
            tcgen05_commit(done.index(slot))
        # MMA i-1 must be done before its slot takes tile i+DEPTH-1.
        if BUG == "done_of_next_slot":
            before = i + 1
            mbarrier.wait(done.index(before % DEPTH), (before // DEPTH) & 1 ^ 1, pred=i > 0)  # BUG: done_of_next_slot
        elif BUG != "done_not_waited":
            before = gl.maximum(i - 1, 0)
            mbarrier.wait(done.index(before % DEPTH), (before // DEPTH) & 1, pred=i > 0)  # BUG: commit_forgotten
        start_load(a_desc, b_desc, a, b, full, i + DEPTH - 1, steps, row, col)

    last = gl.maximum(steps - 1, 0)
    if BUG != "result_not_waited":
        mbarrier.wait(done.index(last % DEPTH), (last // DEPTH) & 1, pred=steps > 0)  # BUG: commit_forgotten
    result = acc.load().to(c_desc.dtype)  # BUG: result_not_waited, accumulator_not_zeroed
    for s in gl.static_range(DEPTH):
        mbarrier.invalidate(full.index(s))
        mbarrier.invalidate(done.index(s))
    c = gl.allocate_shared_memory(c_desc.dtype, c_desc.block_shape, c_desc.layout)
    c.store(result)
    fence_async_shared()
    tma.async_store(c_desc, [row, col], c)
    tma.store_wait(0)


CORPUS = [
    Kernel(
        tc05_gemm, 100,
        dict(a_desc=desc("fp16", 128, 64), b_desc=desc("fp16", 64, 128), c_desc=desc("fp16", 128, 128), K="i32"),
        dict(DEPTH=3), stages=("ttgir", "alloc"), twins=dict(
            no_full_wait=Twin(["missing-forward-barrier"], "the MMA reads a slot whose load nobody waited for"),
            done_not_waited=Twin(["missing-backward-barrier"], "a slot is refilled while its MMA may read it"),
            done_of_next_slot=Twin(["missing-backward-barrier", "phase-mismatch", "lapped-wait", "deadlock"],
                                   "the wait is for the slot two steps back"),
            commit_forgotten=Twin(["deadlock"], "no commit, so nothing arrives when an MMA is done"),
            result_not_waited=Twin(["missing-forward-barrier"], "the accumulator is read while MMAs write it"),
            accumulator_not_zeroed=Twin(["uninitialised-read"], "the first step adds to what was there before"),
        )),
]
