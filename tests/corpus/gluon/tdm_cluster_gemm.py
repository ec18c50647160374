"""GEMM for CDNA 5 in clusters: two CTAs share the tiles of B.

Each CTA starts its own copies; the data mover sends a tile of B that both ask for to both. That works
best if they stay close, so they meet at the cluster barrier once a step: they arrive before they wait
for their copies, and pass it afterwards. Nothing of one CTA's memory is read by the other.
"""

from declare import Kernel, Twin
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.amd.cdna5 import cluster, tdm, wmma

BASES: gl.constexpr = gl.constexpr([[0, 1], [1, 0]])
ROWS: gl.constexpr = gl.constexpr([[1, 0]])
SAME: gl.constexpr = gl.constexpr([[0, 0]])
LEFT: gl.constexpr = gl.constexpr(gl.DotOperandLayout(0, gl.amd.AMDWMMALayout(3, True, BASES.value, [], [16, 16, 32], ROWS.value), 8))
RIGHT: gl.constexpr = gl.constexpr(gl.DotOperandLayout(1, gl.amd.AMDWMMALayout(3, True, BASES.value, [], [16, 16, 32], SAME.value), 8))
ACC: gl.constexpr = gl.constexpr(gl.amd.AMDWMMALayout(3, True, BASES.value, [], [16, 16, 32], ROWS.value))


@gluon.jit
def tdm_cluster_gemm(a, b, c, M, N, K, BLOCK: gl.constexpr, BLOCK_K: gl.constexpr, BUG: gl.constexpr):
    a_layout: gl.constexpr = gl.PaddedSharedLayout.with_identity_for([[BLOCK_K, 8]], [BLOCK, BLOCK_K], [1, 0], ROWS)
    b_layout: gl.constexpr = gl.PaddedSharedLayout.with_identity_for([[BLOCK, 16]], [BLOCK_K, BLOCK], [1, 0], SAME)
    a_desc = tdm.make_tensor_descriptor(a, (M, K), (K, 1), (BLOCK, BLOCK_K), a_layout)
    b_desc = tdm.make_tensor_descriptor(b, (K, N), (N, 1), (BLOCK_K, BLOCK), b_layout)
    row = gl.program_id(0) * BLOCK
    column = gl.program_id(1) * BLOCK
    a_ring = gl.allocate_shared_memory(gl.float16, [2, BLOCK, BLOCK_K], a_layout)
    b_ring = gl.allocate_shared_memory(gl.float16, [2, BLOCK_K, BLOCK], b_layout)

    acc = gl.zeros([BLOCK, BLOCK], gl.float32, ACC)
    tdm.async_load(a_desc, [row, 0], a_ring.index(0))
    tdm.async_load(b_desc, [0, column], b_ring.index(0))
    for step in range(gl.cdiv(K, BLOCK_K)):
        ahead = step + 1
        tdm.async_load(a_desc, [row, ahead * BLOCK_K], a_ring.index(ahead % 2))
        tdm.async_load(b_desc, [ahead * BLOCK_K, column], b_ring.index(ahead % 2))  # BUG: b_not_waited
        cluster.arrive()  # BUG: arrives_twice
        if BUG == "arrives_twice":
            cluster.arrive()  # BUG: arrives_twice
        if BUG == "b_not_waited":
            tdm.async_wait(3)
        else:
            tdm.async_wait(2)
        cluster.wait()
        x = a_ring.index(step % 2).load(LEFT)
        y = b_ring.index(step % 2).load(RIGHT)  # BUG: b_not_waited
        acc = wmma(x, y, acc)
    tdm.async_wait(0)

    rows = row + gl.arange(0, BLOCK, gl.SliceLayout(1, ACC))
    columns = column + gl.arange(0, BLOCK, gl.SliceLayout(0, ACC))
    gl.store(c + rows[:, None] * N + columns[None, :], acc.to(gl.float16))


CORPUS = [
    Kernel(
        tdm_cluster_gemm, "gfx1250", dict(a="*fp16", b="*fp16", c="*fp16", M="i32", N="i32:16", K="i32:16"),
        dict(BLOCK=128, BLOCK_K=64), num_ctas=2, twins=dict(
            b_not_waited=Twin(["pending-access"], "the wait leaves the tile of B open"),
            arrives_twice=Twin(["arrival-overflow"], "arrivals at the cluster barrier and waits do not come in pairs"),
        )),
]
