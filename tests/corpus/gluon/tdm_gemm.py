"""GEMM for CDNA 5 with a ring of LDS slots that the tensor data mover fills.

No barrier says that a tile has come: the data mover finishes a wave's operations in the order of
issue, so a wait until only the loads of later steps are open says that this step's are over. The
first `DEPTH - 1` steps are loaded ahead; each step waits, multiplies, and refills the slot that the
step before has left. The result leaves through LDS by a data-mover store, which is waited for
before the kernel ends.
"""

from declare import Kernel, Twin
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.amd.cdna5 import tdm, wmma

BASES: gl.constexpr = gl.constexpr([[0, 1], [1, 0]])
ACC: gl.constexpr = gl.constexpr(gl.amd.AMDWMMALayout(3, True, BASES.value, [], [16, 16, 32]))


@gluon.jit
def load_step(a_desc, b_desc, a_ring, b_ring, row, column, step, BUG: gl.constexpr):
    DEPTH: gl.constexpr = a_ring.shape[0]
    BLOCK_K: gl.constexpr = a_ring.shape[2]
    slot = step % DEPTH
    if BUG == "refills_next":
        slot = (step + 2) % DEPTH
    tdm.async_load(a_desc, [row, step * BLOCK_K], a_ring.index(slot))  # BUG: waits_for_half, no_wait, refills_next, waits_one_too_few
    tdm.async_load(b_desc, [step * BLOCK_K, column], b_ring.index(slot))  # BUG: waits_for_half, no_wait, refills_next, waits_one_too_few


@gluon.jit
def tdm_gemm(a, b, c, M, N, K, BLOCK: gl.constexpr, BLOCK_K: gl.constexpr, DEPTH: gl.constexpr, BUG: gl.constexpr):
    a_layout: gl.constexpr = gl.PaddedSharedLayout.with_identity_for([[BLOCK_K, 8]], [BLOCK, BLOCK_K], [1, 0])
    b_layout: gl.constexpr = gl.PaddedSharedLayout.with_identity_for([[BLOCK, 16]], [BLOCK_K, BLOCK], [1, 0])
    c_layout: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    a_desc = tdm.make_tensor_descriptor(a, (M, K), (K, 1), (BLOCK, BLOCK_K), a_layout)
    b_desc = tdm.make_tensor_descriptor(b, (K, N), (N, 1), (BLOCK_K, BLOCK), b_layout)
    c_desc = tdm.make_tensor_descriptor(c, (M, N), (N, 1), (BLOCK, BLOCK), c_layout)
    row = gl.program_id(0) * BLOCK
    column = gl.program_id(1) * BLOCK
    a_ring = gl.allocate_shared_memory(gl.float16, [DEPTH, BLOCK, BLOCK_K], a_layout)
    b_ring = gl.allocate_shared_memory(gl.float16, [DEPTH, BLOCK_K, BLOCK], b_layout)
    staging = gl.allocate_shared_memory(gl.float16, [BLOCK, BLOCK], c_layout)

    acc = gl.zeros([BLOCK, BLOCK], gl.float32, ACC)
    steps = gl.cdiv(K, BLOCK_K)
    for step in gl.static_range(DEPTH - 1):
        load_step(a_desc, b_desc, a_ring, b_ring, row, column, step, "")
    for step in range(steps):
        if BUG == "waits_for_half":
            tdm.async_wait((DEPTH - 2) * 2 + 1)
        elif BUG == "waits_one_too_few":
            tdm.async_wait((DEPTH - 1) * 2)
        elif BUG != "no_wait":
            tdm.async_wait((DEPTH - 2) * 2)
        slot = step % DEPTH
        x = a_ring.index(slot).load(gl.DotOperandLayout(0, ACC, 8))  # BUG: no_wait, refills_next, waits_one_too_few
        y = b_ring.index(slot).load(gl.DotOperandLayout(1, ACC, 8))  # BUG: waits_for_half, no_wait, refills_next, waits_one_too_few
        load_step(a_desc, b_desc, a_ring, b_ring, row, column, step + DEPTH - 1, BUG)
        acc = wmma(x, y, acc)
    tdm.async_wait(0)

    if BUG == "stages_too_late":
        tdm.async_store(c_desc, [row, column], staging)  # BUG: stages_too_late
    staging.store(acc.to(gl.float16))  # BUG: stages_too_late
    if BUG != "stages_too_late":
        tdm.async_store(c_desc, [row, column], staging)
    tdm.async_wait(0)


CORPUS = [
    Kernel(
        tdm_gemm, "gfx1250", dict(a="*fp16", b="*fp16", c="*fp16", M="i32", N="i32:16", K="i32:16"),
        dict(BLOCK=128, BLOCK_K=64, DEPTH=3), stages=("ttgir", "alloc"), twins=dict(
            no_wait=Twin(["pending-access"], "tiles are multiplied before they have come"),
            waits_for_half=Twin(["pending-access"], "the wait leaves the tile of B open"),
            waits_one_too_few=Twin(["pending-access"], "the wait leaves the loads of this step open"),
            refills_next=Twin(["pending-access", "missing-forward-barrier"],
                                 "the loads go to the slot that the next step uses"),
            stages_too_late=Twin(["pending-access", "uninitialised-read"],
                                 "the tile is written while the store reads it"),
        )),
    Kernel(tdm_gemm, "gfx1250", dict(a="*fp16", b="*fp16", c="*fp16", M="i32", N="i32:16", K="i32:16"),
           dict(BLOCK=128, BLOCK_K=32, DEPTH=2), name="tdm_gemm_double"),
]
