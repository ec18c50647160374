"""Blackwell GEMM whose left operand is computed on the fly and read from tensor memory.

Y = silu(X) @ W. One warp loads X and W by TMA. Four warps read X, apply the activation and store it
to one of two tensor-memory operand buffers; tensor memory needs no proxy fence. One warp multiplies
the buffer with W's tile. The operand buffers have `ready` (an arrival of the activating partition)
and `free` (a commit) barriers; a second commit hands W's slot back. A ring's place is carried as an
index and a phase. The activating warps store the result when the last MMA is done.
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
def step_ring(index, phase, DEPTH: gl.constexpr):
    wraps = index + 1 == DEPTH
    return gl.where(wraps, 0, index + 1), phase ^ wraps.to(gl.int32)


@gluon.jit
def load_partition(x_desc, w_desc, x, w, x_full, x_empty, w_full, w_empty, row, col, steps, BUG: gl.constexpr):
    DEPTH: gl.constexpr = x.shape[0]
    index = 0
    phase = 1
    for i in range(steps):
        mbarrier.wait(x_empty.index(index), phase)
        mbarrier.expect(x_full.index(index), x_desc.nbytes_per_cta)
        tma.async_load(x_desc, [row, i * x.shape[2]], x_full.index(index), x.index(index))  # BUG: x_returned_early
        mbarrier.wait(w_empty.index(index), phase)  # BUG: w_never_returned
        mbarrier.expect(w_full.index(index), w_desc.nbytes_per_cta)
        tma.async_load(w_desc, [i * w.shape[1], col], w_full.index(index), w.index(index))
        index, phase = step_ring(index, phase, DEPTH)


@gluon.jit
def activate_partition(y_desc, x, y, x_full, x_empty, operand, ready, free, acc, finished, row, col, steps,
                       BUG: gl.constexpr):
    DEPTH: gl.constexpr = x.shape[0]
    OPERAND: gl.constexpr = operand.index(0).get_reg_layout()
    index = 0
    phase = 0
    buffer = 0
    turn = 0 if BUG == "free_starts_at_0" else 1
    for i in range(steps):
        mbarrier.wait(x_full.index(index), phase)
        if BUG == "x_returned_early":
            mbarrier.arrive(x_empty.index(index), count=1)  # BUG: x_returned_early
        value = x.index(index).load(OPERAND).to(gl.float32)  # BUG: x_returned_early
        if BUG != "x_returned_early":
            fence_async_shared()
            mbarrier.arrive(x_empty.index(index), count=1)
        if BUG != "free_not_waited":
            mbarrier.wait(free.index(buffer), turn)  # BUG: free_starts_at_0
        operand.index(buffer).store((value / (1.0 + gl.exp(-value))).to(operand.dtype))  # BUG: free_not_waited, ready_not_waited, one_operand_buffer
        mbarrier.arrive(ready.index(buffer), count=1)
        index, phase = step_ring(index, phase, DEPTH)
        buffer, turn = step_ring(buffer, turn, 2)
    mbarrier.wait(finished, 0)
    y.store(acc.load().to(y.dtype))
    fence_async_shared()
    tma.async_store(y_desc, [row, col], y)
    tma.store_wait(0)


@gluon.jit
def mma_partition(w, w_full, w_empty, operand, ready, free, acc, finished, steps, BUG: gl.constexpr):
    DEPTH: gl.constexpr = w.shape[0]
    index = 0
    phase = 0
    buffer = 0
    turn = 0
    for i in range(steps):
        mbarrier.wait(w_full.index(index), phase)
        if BUG != "ready_not_waited":
            mbarrier.wait(ready.index(buffer), turn)  # BUG: free_starts_at_0
        if BUG == "one_operand_buffer":
            tcgen05_mma(operand.index(buffer ^ 1), w.index(index), acc, use_acc=i > 0)  # BUG: one_operand_buffer
        else:
            tcgen05_mma(operand.index(buffer), w.index(index), acc, use_acc=i > 0)  # BUG: free_not_waited, ready_not_waited
        if BUG != "w_never_returned":
            tcgen05_commit(w_empty.index(index))
        tcgen05_commit(free.index(buffer))
        index, phase = step_ring(index, phase, DEPTH)
        buffer, turn = step_ring(buffer, turn, 2)
    tcgen05_commit(finished)


@gluon.jit
def tc05_silu_gemm(x_desc, w_desc, y_desc, K, DEPTH: gl.constexpr, BUG: gl.constexpr):
    BLOCK_M: gl.constexpr = x_desc.block_shape[0]
    BLOCK_K: gl.constexpr = x_desc.block_shape[1]
    row = gl.program_id(0) * BLOCK_M
    col = gl.program_id(1) * y_desc.block_shape[1]
    x = gl.allocate_shared_memory(x_desc.dtype, [DEPTH] + x_desc.block_shape, x_desc.layout)
    w = gl.allocate_shared_memory(w_desc.dtype, [DEPTH] + w_desc.block_shape, w_desc.layout)
    y = gl.allocate_shared_memory(y_desc.dtype, y_desc.block_shape, y_desc.layout)
    operand = allocate_tensor_memory(x_desc.dtype, [2, BLOCK_M, BLOCK_K], TensorMemoryLayout([BLOCK_M, BLOCK_K], 1))
    acc = allocate_tensor_memory(gl.float32, y_desc.block_shape, TensorMemoryLayout(y_desc.block_shape, 1))
    x_full = mbarrier.allocate_mbarrier(batch=DEPTH)
    x_empty = mbarrier.allocate_mbarrier(batch=DEPTH)
    w_full = mbarrier.allocate_mbarrier(batch=DEPTH)
    w_empty = mbarrier.allocate_mbarrier(batch=DEPTH)
    ready = mbarrier.allocate_mbarrier(batch=2)
    free = mbarrier.allocate_mbarrier(batch=2)
    finished = mbarrier.allocate_mbarrier()
    for s in gl.static_range(DEPTH):
        mbarrier.init(x_full.index(s), count=1)
        mbarrier.init(x_empty.index(s), count=1)
        mbarrier.init(w_full.index(s), count=1)
        mbarrier.init(w_empty.index(s), count=1)
    for s in gl.static_range(2):
        mbarrier.init(ready.index(s), count=1)
        mbarrier.init(free.index(s), count=1)
    mbarrier.init(finished, count=1)
    # At least one step: past the end of K the loads bring zeros, and the accumulator is defined.
    steps = gl.maximum(gl.cdiv(K, BLOCK_K), 1)
    gl.warp_specialize([
        (activate_partition, (y_desc, x, y, x_full, x_empty, operand, ready, free, acc, finished, row, col, steps, BUG)),
        (load_partition, (x_desc, w_desc, x, w, x_full, x_empty, w_full, w_empty, row, col, steps, BUG)),
        (mma_partition, (w, w_full, w_empty, operand, ready, free, acc, finished, steps, BUG)),
    ], [1, 1], [24, 24])


CORPUS = [
    Kernel(
        tc05_silu_gemm, 100,
        dict(x_desc=desc("bf16", 128, 64), w_desc=desc("bf16", 64, 128), y_desc=desc("bf16", 128, 128), K="i32"),
        dict(DEPTH=3), twins=dict(
            free_not_waited=Twin(["missing-backward-barrier"], "an operand buffer is written while an MMA may read it"),
            free_starts_at_0=Twin(["deadlock", "phase-mismatch"], "the first lap waits for buffers that were never used"),
            ready_not_waited=Twin(["missing-forward-barrier", "uninitialised-read", "missing-backward-barrier"],
                                  "the MMA does not wait for its operand"),
            one_operand_buffer=Twin(["missing-forward-barrier", "uninitialised-read", "missing-backward-barrier"],
                                    "the MMA reads the buffer that is being written"),
            x_returned_early=Twin(["missing-backward-barrier", "missing-forward-barrier", "missing-proxy-fence"],
                                  "X's slot is handed back before it has been read"),
            w_never_returned=Twin(["deadlock"], "W's slots are never handed back"),
        )),
]
