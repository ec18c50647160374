"""Hopper GEMM of a cluster: each CTA has rows of A of its own, and all share the tile of B.

The tile of B is fetched once and multicast: CTA 0 asks for it, and its bytes count on the `full`
barrier of every CTA. So CTA 0 may refill a slot only when all CTAs have read it, and there are two
kinds of barriers: `full` is one a CTA, `free` one for the whole cluster, which lives in CTA 0, where
every CTA arrives and only CTA 0 waits. A's own slot needs no barrier: one group of warps loads and
multiplies.
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
def load(a_desc, b_desc, a, b, full, step, steps, row, col, BUG: gl.constexpr):
    DEPTH: gl.constexpr = a.shape[0]
    BLOCK_K: gl.constexpr = a.shape[2]
    bar = full.index(step % DEPTH)
    more = step < steps
    if BUG == "bytes_of_all":
        mbarrier.expect(bar, gl.num_ctas() * (a_desc.nbytes_per_cta + b_desc.nbytes_per_cta), pred=more)  # BUG: bytes_of_all
    else:
        mbarrier.expect(bar, a_desc.nbytes_per_cta + b_desc.nbytes_per_cta, pred=more)
    tma.async_load(a_desc, [row, step * BLOCK_K], bar, a.index(step % DEPTH), pred=more)  # BUG: no_full_wait, bytes_of_all
    tma.async_load(b_desc, [step * BLOCK_K, col], bar, b.index(step % DEPTH), pred=more, multicast=True)  # BUG: no_full_wait, no_free_wait, free_of_own, freed_too_early, bytes_of_all


@gluon.jit
def cluster_gemm(a_desc, b_desc, c_desc, K, CUT: gl.constexpr, ALL: gl.constexpr, DEPTH: gl.constexpr,
                 BUG: gl.constexpr):
    row = gl.program_id(0) * c_desc.block_shape[0]
    col = gl.program_id(1) * c_desc.block_shape[1]
    a = gl.allocate_shared_memory(a_desc.dtype, [DEPTH] + a_desc.block_shape, a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, [DEPTH] + b_desc.block_shape, b_desc.layout)
    full = mbarrier.allocate_mbarrier(batch=DEPTH)
    if BUG == "free_of_own":
        free = mbarrier.allocate_mbarrier(batch=DEPTH)
    else:
        free = gl.allocate_shared_memory(gl.int64, [DEPTH, 1], mbarrier.MBarrierLayout(ALL))
    for s in gl.static_range(DEPTH):
        mbarrier.init(full.index(s), count=1)
        mbarrier.init(free.index(s), count=2 if BUG == "free_counts_two" else 1)

    steps = gl.cdiv(K, a.shape[2])
    for s in gl.static_range(DEPTH - 1):
        load(a_desc, b_desc, a, b, full, s, steps, row, col, BUG)
    ACC: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, c_desc.block_shape[1], 16], CUT)
    acc = gl.zeros(c_desc.block_shape, gl.float32, ACC)
    for i in range(steps):
        slot = i % DEPTH
        if BUG != "no_full_wait":
            mbarrier.wait(full.index(slot), (i // DEPTH) & 1)  # BUG: bytes_of_all, free_counts_two
        acc = warpgroup_mma(a.index(slot), b.index(slot), acc, is_async=True)  # BUG: no_full_wait, no_free_wait, free_of_own, freed_too_early
        if BUG == "freed_too_early":
            mbarrier.arrive(free.index(slot), count=1)  # BUG: freed_too_early
        acc = warpgroup_mma_wait(0, deps=[acc])
        if BUG != "freed_too_early":
            mbarrier.arrive(free.index(slot), count=1)
        ahead = i + DEPTH - 1
        if BUG != "no_free_wait":
            mbarrier.wait(free.index(ahead % DEPTH), ((ahead // DEPTH) & 1) ^ 1)  # BUG: free_counts_two
        load(a_desc, b_desc, a, b, full, ahead, steps, row, col, BUG)

    c = gl.allocate_shared_memory(c_desc.dtype, c_desc.block_shape, c_desc.layout)
    c.store(acc.to(c_desc.dtype))
    fence_async_shared()
    tma.async_store(c_desc, [row, col], c)
    tma.store_wait(0)


def tiles(ctas: int):
    """Block shapes and layouts for a cluster cut along M."""
    cut = tuple((1 << bit, 0) for bit in range(ctas.bit_length() - 1))
    whole = tuple((0, 0) for _ in cut)
    of = lambda shape, cga: gl.NVMMASharedLayout.get_default_for(shape, gl.float16, cga_layout=cga)
    a, b, c = [64 * ctas, 64], [64, 128], [64 * ctas, 128]
    return dict(
        signature=dict(a_desc=desc("fp16", *a, layout=of(a, cut)), b_desc=desc("fp16", *b, layout=of(b, whole)),
                       c_desc=desc("fp16", *c, layout=of(c, cut)), K="i32"),
        constexprs=dict(CUT=cut, ALL=tuple((0, ) for _ in cut), DEPTH=3),
        num_ctas=ctas,
    )


CORPUS = [
    Kernel(cluster_gemm, 90, **tiles(4), name="cluster_gemm_4"),
    Kernel(
        cluster_gemm, 90, **tiles(2), twins=dict(
            no_full_wait=Twin(["missing-forward-barrier"], "the dot does not wait for its tiles"),
            no_free_wait=Twin(["missing-backward-barrier", "missing-forward-barrier", "phase-mismatch"], "CTA 0 refills B while others may read it"),
            free_of_own=Twin(["missing-backward-barrier", "missing-forward-barrier", "phase-mismatch"],
                             "each CTA has its own barrier, so CTA 0 waits for itself only"),
            freed_too_early=Twin(["missing-backward-barrier", "pending-access"],
                                 "the slot is handed back before the dot that reads it is over"),
            free_counts_two=Twin(["deadlock"], "the barrier wants two arrivals from each CTA"),
            bytes_of_all=Twin(["expect-mismatch", "deadlock"], "each CTA expects the bytes of all"),
        )),
]
