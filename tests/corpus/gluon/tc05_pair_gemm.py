"""Blackwell GEMM by a pair of CTAs over a ring of three slots, in one group of warps.

The tensor cores of both CTAs work as one: CTA 0 issues, and each CTA brings its half of A and of B.
`full` is one barrier for the pair, which lives in CTA 0: the copies of both CTAs count on it, and
only CTA 0 waits. `done` is one a CTA: the MMA arrives in both when it is finished, and each CTA waits
before it refills its own half. There is always one step: past the end of K the copies bring zeros.
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
def load(a_desc, b_desc, a, b, full, step, steps, row, col, BUG: gl.constexpr):
    DEPTH: gl.constexpr = a.shape[0]
    BLOCK_K: gl.constexpr = a.shape[2]
    bar = full.index(step % DEPTH)
    more = step < steps
    if BUG == "bytes_of_pair":
        mbarrier.expect(bar, 2 * (a_desc.nbytes_per_cta + b_desc.nbytes_per_cta), pred=more)  # BUG: bytes_of_pair
    else:
        mbarrier.expect(bar, a_desc.nbytes_per_cta + b_desc.nbytes_per_cta, pred=more)
    tma.async_load(a_desc, [row, step * BLOCK_K], bar, a.index(step % DEPTH), pred=more)  # BUG: no_full_wait, full_of_own, done_not_waited, bytes_of_pair
    tma.async_load(b_desc, [step * BLOCK_K, col], bar, b.index(step % DEPTH), pred=more)  # BUG: no_full_wait, full_of_own, done_not_waited, bytes_of_pair


@gluon.jit
def tc05_pair_gemm(a_desc, b_desc, c_desc, K, DEPTH: gl.constexpr, BUG: gl.constexpr):
    row = gl.program_id(0) * c_desc.block_shape[0]
    col = gl.program_id(1) * c_desc.block_shape[1]
    a = gl.allocate_shared_memory(a_desc.dtype, [DEPTH] + a_desc.block_shape, a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, [DEPTH] + b_desc.block_shape, b_desc.layout)
    full = mbarrier.allocate_mbarrier(batch=DEPTH, two_ctas=BUG != "full_of_own")
    done = mbarrier.allocate_mbarrier(batch=DEPTH)
    for s in gl.static_range(DEPTH):
        mbarrier.init(full.index(s), count=1)
        mbarrier.init(done.index(s), count=2 if BUG == "done_counts_two" else 1)
    ACC: gl.constexpr = TensorMemoryLayout([c_desc.block_shape[0] // 2, c_desc.block_shape[1]], col_stride=1,
                                           cga_layout=c_desc.layout.cga_layout, two_ctas=True)
    acc = allocate_tensor_memory(gl.float32, c_desc.block_shape, ACC)

    steps = gl.maximum(gl.cdiv(K, a.shape[2]), 1)
    for s in gl.static_range(DEPTH - 1):
        load(a_desc, b_desc, a, b, full, s, steps, row, col, BUG)
    for i in range(steps):
        slot = i % DEPTH
        if BUG != "no_full_wait":
            mbarrier.wait(full.index(slot), (i // DEPTH) & 1)  # BUG: bytes_of_pair
        tcgen05_mma(a.index(slot), b.index(slot), acc, use_acc=i > 0, mbarriers=[done.index(slot)])  # BUG: no_full_wait, full_of_own, done_not_waited, result_not_waited
        if BUG != "done_not_waited":
            before = gl.maximum(i - 1, 0)
            mbarrier.wait(done.index(before % DEPTH), (before // DEPTH) & 1, pred=i > 0)  # BUG: done_counts_two
        load(a_desc, b_desc, a, b, full, i + DEPTH - 1, steps, row, col, BUG)

    last = steps - 1
    if BUG != "result_not_waited":
        mbarrier.wait(done.index(last % DEPTH), (last // DEPTH) & 1)  # BUG: done_counts_two
    c = gl.allocate_shared_memory(c_desc.dtype, c_desc.block_shape, c_desc.layout)
    c.store(acc.load().to(c_desc.dtype))  # BUG: result_not_waited
    fence_async_shared()
    tma.async_store(c_desc, [row, col], c)
    tma.store_wait(0)


def tile(rows: int, columns: int, cga) -> str:
    layout = gl.NVMMASharedLayout.get_default_for([rows, columns], gl.float16, cga_layout=cga)
    return desc("fp16", rows, columns, layout=layout)


CORPUS = [
    Kernel(
        tc05_pair_gemm, 100,
        dict(a_desc=tile(256, 64, ((1, 0), )), b_desc=tile(64, 128, ((0, 1), )), c_desc=tile(256, 128, ((1, 0), )), K="i32"),
        dict(DEPTH=3), num_ctas=2, stages=("ttgir", "alloc"), twins=dict(
            no_full_wait=Twin(["missing-forward-barrier"], "the MMA reads slots whose copies nobody waited for"),
            full_of_own=Twin(["missing-forward-barrier"], "CTA 0 waits for its own half only"),
            done_not_waited=Twin(["missing-backward-barrier", "missing-forward-barrier", "phase-mismatch"], "a half is refilled while the MMA may read it"),
            done_counts_two=Twin(["deadlock"], "two arrivals are counted for, the MMA brings one to each CTA"),
            bytes_of_pair=Twin(["expect-mismatch", "deadlock"], "each CTA expects the bytes of both"),
            result_not_waited=Twin(["missing-forward-barrier", "missing-backward-barrier"], "each CTA reads its accumulator while the MMA writes it"),
        )),
]
