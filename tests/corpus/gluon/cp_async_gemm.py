"""GEMM fed by cp.async copy groups, with the register MMA of the generation before Hopper.

No barriers at all: tiles are copied with `async_copy.async_load`, one commit group a K step, and
`wait_group(DEPTH - 2)` leaves the newest `DEPTH - 2` groups in flight. Past the end the copies are
masked off but their empty groups are still committed, so that the count stays right. The slot that
is refilled is the one whose operands were read into registers one step earlier.
"""

from declare import Kernel, Twin
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy, mma_v2


@gluon.jit
def copy_step(a, b, slot, a_ptrs, b_ptrs, step, steps, K, BLOCK_K: gl.constexpr, stride_b):
    """Copy K step `step` into `slot`; masked off where there is no such step."""
    inside = step < steps
    async_copy.async_load(a.index(slot), a_ptrs + step * BLOCK_K, mask=inside)  # BUG: one_group_too_many, commit_forgotten, refills_before_read, never_waits, ring_one_short
    async_copy.async_load(b.index(slot), b_ptrs + step * BLOCK_K * stride_b, mask=inside)  # BUG: one_group_too_many, commit_forgotten, refills_before_read, never_waits, ring_one_short


@gluon.jit
def cp_async_gemm(a_ptr, b_ptr, c_ptr, N, K, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr,
                  DEPTH: gl.constexpr, BUG: gl.constexpr):
    COPY_A: gl.constexpr = gl.BlockedLayout([1, 8], [8, 4], [4, 1], [1, 0])
    COPY_B: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    SMEM_A: gl.constexpr = gl.SwizzledSharedLayout(8, 2, 4, [1, 0])
    SMEM_B: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 8, [1, 0])
    ACC: gl.constexpr = gl.NVMMADistributedLayout([2, 0], [2, 2], [16, 8])

    row = gl.program_id(0) * BLOCK_M
    col = gl.program_id(1) * BLOCK_N
    a_rows = row + gl.arange(0, BLOCK_M, gl.SliceLayout(1, COPY_A))
    a_cols = gl.arange(0, BLOCK_K, gl.SliceLayout(0, COPY_A))
    b_rows = gl.arange(0, BLOCK_K, gl.SliceLayout(1, COPY_B))
    b_cols = col + gl.arange(0, BLOCK_N, gl.SliceLayout(0, COPY_B))
    a_ptrs = a_ptr + a_rows[:, None] * K + a_cols[None, :]
    b_ptrs = b_ptr + b_rows[:, None] * N + b_cols[None, :]

    a = gl.allocate_shared_memory(a_ptr.dtype.element_ty, [DEPTH, BLOCK_M, BLOCK_K], SMEM_A)
    b = gl.allocate_shared_memory(b_ptr.dtype.element_ty, [DEPTH, BLOCK_K, BLOCK_N], SMEM_B)

    steps = gl.cdiv(K, BLOCK_K)
    AHEAD: gl.constexpr = DEPTH if BUG == "refills_before_read" else DEPTH - 1
    PERIOD: gl.constexpr = DEPTH - 1 if BUG == "ring_one_short" else DEPTH
    for s in gl.static_range(AHEAD):
        copy_step(a, b, s % PERIOD, a_ptrs, b_ptrs, s, steps, K, BLOCK_K, N)
        async_copy.commit_group()

    acc = gl.zeros([BLOCK_M, BLOCK_N], gl.float32, ACC)
    for i in range(steps):
        if BUG == "one_group_too_many":
            async_copy.wait_group(DEPTH - 1)  # BUG: one_group_too_many
        elif BUG != "never_waits":
            async_copy.wait_group(DEPTH - 2)  # BUG: commit_forgotten
        ahead = i + AHEAD
        if BUG == "refills_before_read" or BUG == "ring_one_short":
            copy_step(a, b, ahead % PERIOD, a_ptrs, b_ptrs, ahead, steps, K, BLOCK_K, N)
        a_regs = a.index(i % PERIOD).load(gl.DotOperandLayout(0, ACC, 2))  # BUG: one_group_too_many, commit_forgotten, refills_before_read, never_waits, ring_one_short
        b_regs = b.index(i % PERIOD).load(gl.DotOperandLayout(1, ACC, 2))  # BUG: one_group_too_many, commit_forgotten, refills_before_read, never_waits, ring_one_short
        # The slot read one step earlier takes the tile that is DEPTH - 1 ahead.
        if BUG != "refills_before_read" and BUG != "ring_one_short":
            copy_step(a, b, ahead % PERIOD, a_ptrs, b_ptrs, ahead, steps, K, BLOCK_K, N)
        if BUG != "commit_forgotten":
            async_copy.commit_group()
        acc = mma_v2(a_regs, b_regs, acc)
    async_copy.wait_group(0)

    c_rows = row + gl.arange(0, BLOCK_M, gl.SliceLayout(1, ACC))
    c_cols = col + gl.arange(0, BLOCK_N, gl.SliceLayout(0, ACC))
    gl.store(c_ptr + c_rows[:, None] * N + c_cols[None, :], acc.to(c_ptr.dtype.element_ty))


CORPUS = [
    Kernel(
        cp_async_gemm, 90, dict(a_ptr="*fp16", b_ptr="*fp16", c_ptr="*fp16", N="i32:16", K="i32:16"),
        dict(BLOCK_M=64, BLOCK_N=64, BLOCK_K=32, DEPTH=4), stages=("ttgir", "alloc"), twins=dict(
            one_group_too_many=Twin(["pending-access"], "the group of the tile that is read may still be open"),
            never_waits=Twin(["pending-access"], "no group is ever waited for in the loop"),
            commit_forgotten=Twin(["pending-access"], "copies in the loop belong to no group"),
            refills_before_read=Twin(["pending-access", "missing-forward-barrier"],
                                     "the slot is refilled before its operands have been read"),
            ring_one_short=Twin(["pending-access", "missing-forward-barrier"],
                                "the slot index wraps one early, so the refill meets the slot in use"),
        )),
]
