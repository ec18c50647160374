"""Blackwell GEMM of four CTAs in two pairs, warp specialised, with everything multicast.

A is cut along M among all four; B is cut along N inside a pair and shared by the pairs, so its halves
are multicast. `full` is one barrier a pair. The MMA of a pair is multicast to all CTAs that may write
what it reads, so `empty` and `ready` count one arrival from each pair.
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
    tcgen05_mma_barrier_count,
    tma,
)


@gluon.jit
def load_partition(a_desc, b_desc, a, b, full, empty, row, col, steps, BUG: gl.constexpr):
    DEPTH: gl.constexpr = a.shape[0]
    for i in range(steps):
        slot = i % DEPTH
        if BUG != "no_empty_wait":
            mbarrier.wait(empty.index(slot), ((i // DEPTH) & 1) ^ 1)  # BUG: empty_counts_all
        mbarrier.expect(full.index(slot), a_desc.nbytes_per_cta + b_desc.nbytes_per_cta)
        tma.async_load(a_desc, [row, i * a.shape[2]], full.index(slot), a.index(slot))  # BUG: no_empty_wait, no_full_wait
        tma.async_load(b_desc, [i * a.shape[2], col], full.index(slot), b.index(slot), multicast=True)  # BUG: no_empty_wait, no_full_wait, own_pair_only


@gluon.jit
def mma_partition(a, b, acc, full, empty, ready, steps, BUG: gl.constexpr):
    DEPTH: gl.constexpr = a.shape[0]
    for i in range(steps):
        slot = i % DEPTH
        if BUG != "no_full_wait":
            mbarrier.wait(full.index(slot), (i // DEPTH) & 1)  # BUG: empty_counts_all, own_pair_only
        tcgen05_mma(a.index(slot), b.index(slot), acc, use_acc=i > 0, multicast=BUG != "own_pair_only",  # BUG: no_full_wait, no_empty_wait, own_pair_only, result_not_waited
                    mbarriers=[empty.index(slot)])
    tcgen05_commit(ready, descs=[a.index(0), b.index(0)])


@gluon.jit
def store_partition(c_desc, acc, c, ready, row, col, BUG: gl.constexpr):
    if BUG != "result_not_waited":
        mbarrier.wait(ready, 0)
    c.store(acc.load().to(c.dtype))  # BUG: result_not_waited
    fence_async_shared()
    tma.async_store(c_desc, [row, col], c)
    tma.store_wait(0)


@gluon.jit
def tc05_cluster_gemm(a_desc, b_desc, c_desc, K, DEPTH: gl.constexpr, BUG: gl.constexpr):
    row = gl.program_id(0) * c_desc.block_shape[0]
    col = gl.program_id(1) * c_desc.block_shape[1]
    a = gl.allocate_shared_memory(a_desc.dtype, [DEPTH] + a_desc.block_shape, a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, [DEPTH] + b_desc.block_shape, b_desc.layout)
    c = gl.allocate_shared_memory(c_desc.dtype, c_desc.block_shape, c_desc.layout)
    full = mbarrier.allocate_mbarrier(batch=DEPTH, two_ctas=True)
    empty = mbarrier.allocate_mbarrier(batch=DEPTH)
    ready = mbarrier.allocate_mbarrier()
    COUNT: gl.constexpr = tcgen05_mma_barrier_count([a.index(0), b.index(0)], multicast=BUG != "own_pair_only",
                                                    two_ctas=True)
    for s in gl.static_range(DEPTH):
        mbarrier.init(full.index(s), count=1)
        mbarrier.init(empty.index(s), count=4 if BUG == "empty_counts_all" else COUNT)
    mbarrier.init(ready, count=tcgen05_mma_barrier_count([a.index(0), b.index(0)], multicast=True, two_ctas=True))
    ACC: gl.constexpr = TensorMemoryLayout([128, c_desc.block_shape[1]], col_stride=1,
                                           cga_layout=c_desc.layout.cga_layout, two_ctas=True)
    acc = allocate_tensor_memory(gl.float32, c_desc.block_shape, ACC)
    steps = gl.maximum(gl.cdiv(K, a.shape[2]), 1)
    gl.warp_specialize([
        (store_partition, (c_desc, acc, c, ready, row, col, BUG)),
        (load_partition, (a_desc, b_desc, a, b, full, empty, row, col, steps, BUG)),
        (mma_partition, (a, b, acc, full, empty, ready, steps, BUG)),
    ], [1, 1], [24, 24])


def tile(rows: int, columns: int, cga) -> str:
    layout = gl.NVMMASharedLayout.get_default_for([rows, columns], gl.float16, cga_layout=cga)
    return desc("fp16", rows, columns, layout=layout)


ROWS = ((1, 0), (2, 0))

CORPUS = [
    Kernel(
        tc05_cluster_gemm, 100,
        dict(a_desc=tile(512, 64, ROWS), b_desc=tile(64, 128, ((0, 1), (0, 0))), c_desc=tile(512, 128, ROWS), K="i32"),
        dict(DEPTH=3), num_ctas=4, twins=dict(
            no_empty_wait=Twin(["missing-backward-barrier"], "the loader overwrites slots that MMAs may read"),
            no_full_wait=Twin(["missing-forward-barrier"], "the MMA does not wait for its tiles"),
            own_pair_only=Twin(["missing-backward-barrier", "phase-mismatch"],
                               "the MMA is not multicast, so B comes while the other pair reads it"),
            empty_counts_all=Twin(["deadlock"], "four arrivals are counted for, the two pairs bring two"),
            result_not_waited=Twin(["missing-forward-barrier", "uninitialised-read"],
                                   "the accumulator is read without waiting for it"),
        )),
]
