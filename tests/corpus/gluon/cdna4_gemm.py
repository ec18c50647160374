"""GEMM for CDNA 4 with asynchronous buffer loads into a ring of LDS slots.

`buffer_load_to_shared` copies from global memory into LDS past the registers. Loads are gathered
into groups, one group a step, and `wait_group` waits until only the groups of later steps are
open; there are no LDS barriers on this machine. The tiles are multiplied by MFMA instructions.
"""

from declare import Kernel, Twin
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.amd.cdna4 import async_copy, mfma

ACC: gl.constexpr = gl.constexpr(gl.amd.AMDMFMALayout(4, [16, 16, 32], True, [2, 2]))
A_LOAD: gl.constexpr = gl.constexpr(gl.BlockedLayout([1, 8], [8, 8], [4, 1], [1, 0]))
B_LOAD: gl.constexpr = gl.constexpr(gl.BlockedLayout([1, 8], [4, 16], [4, 1], [1, 0]))


@gluon.jit
def load_step(a, b, a_ring, b_ring, a_offsets, b_offsets, N, step, BUG: gl.constexpr):
    DEPTH: gl.constexpr = a_ring.shape[0]
    BLOCK_K: gl.constexpr = a_ring.shape[2]
    slot = step % DEPTH
    async_copy.buffer_load_to_shared(a_ring.index(slot), a, a_offsets + step * BLOCK_K)  # BUG: no_wait, waits_one_too_few, refills_current
    if BUG == "b_left_out":
        async_copy.commit_group()
        async_copy.buffer_load_to_shared(b_ring.index(slot), b, b_offsets + step * BLOCK_K * N)  # BUG: b_left_out
    else:
        async_copy.buffer_load_to_shared(b_ring.index(slot), b, b_offsets + step * BLOCK_K * N)  # BUG: no_wait, waits_one_too_few, refills_current
        async_copy.commit_group()


@gluon.jit
def cdna4_gemm(a, b, c, N, K, BLOCK: gl.constexpr, BLOCK_K: gl.constexpr, DEPTH: gl.constexpr, BUG: gl.constexpr):
    a_layout: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    b_layout: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    a_ring = gl.allocate_shared_memory(gl.float16, [DEPTH, BLOCK, BLOCK_K], a_layout)
    b_ring = gl.allocate_shared_memory(gl.float16, [DEPTH, BLOCK_K, BLOCK], b_layout)
    row = gl.program_id(0) * BLOCK
    column = gl.program_id(1) * BLOCK
    a_rows = row + gl.arange(0, BLOCK, gl.SliceLayout(1, A_LOAD))
    a_columns = gl.arange(0, BLOCK_K, gl.SliceLayout(0, A_LOAD))
    b_rows = gl.arange(0, BLOCK_K, gl.SliceLayout(1, B_LOAD))
    b_columns = column + gl.arange(0, BLOCK, gl.SliceLayout(0, B_LOAD))
    a_offsets = a_rows[:, None] * K + a_columns[None, :]
    b_offsets = b_rows[:, None] * N + b_columns[None, :]

    acc = gl.zeros([BLOCK, BLOCK], gl.float32, ACC)
    steps = gl.cdiv(K, BLOCK_K)
    for step in gl.static_range(DEPTH - 1):
        load_step(a, b, a_ring, b_ring, a_offsets, b_offsets, N, step, BUG if BUG == "b_left_out" else "")
    for step in range(steps):
        if BUG == "waits_one_too_few":
            async_copy.wait_group(DEPTH - 1)
        elif BUG != "no_wait":
            async_copy.wait_group(DEPTH - 2)
        slot = step % DEPTH
        if BUG == "refills_current":
            load_step(a, b, a_ring, b_ring, a_offsets, b_offsets, N, step + DEPTH, "")
        x = a_ring.index(slot).load(gl.DotOperandLayout(0, ACC, 8))  # BUG: no_wait, waits_one_too_few, refills_current
        y = b_ring.index(slot).load(gl.DotOperandLayout(1, ACC, 8))  # BUG: no_wait, waits_one_too_few, refills_current, b_left_out
        if BUG != "refills_current":
            load_step(a, b, a_ring, b_ring, a_offsets, b_offsets, N, step + DEPTH - 1, BUG)
        acc = mfma(x, y, acc)
    async_copy.wait_group(0)

    rows = row + gl.arange(0, BLOCK, gl.SliceLayout(1, ACC))
    columns = column + gl.arange(0, BLOCK, gl.SliceLayout(0, ACC))
    gl.store(c + rows[:, None] * N + columns[None, :], acc.to(gl.float16))


SIGNATURE = dict(a="*fp16", b="*fp16", c="*fp16", N="i32:16", K="i32:16")
CORPUS = [
    Kernel(
        cdna4_gemm, "gfx950", SIGNATURE, dict(BLOCK=128, BLOCK_K=64, DEPTH=3), stages=("ttgir", "alloc"), twins=dict(
            no_wait=Twin(["pending-access"], "tiles are multiplied before they have come"),
            waits_one_too_few=Twin(["pending-access"], "the wait leaves the group of this step open"),
            refills_current=Twin(["pending-access"], "the slot that is being used is refilled"),
            b_left_out=Twin(["pending-access"], "the tile of B joins the group of the next step"),
        )),
    Kernel(cdna4_gemm, "gfx950", SIGNATURE, dict(BLOCK=128, BLOCK_K=64, DEPTH=2), name="cdna4_gemm_double"),
]
