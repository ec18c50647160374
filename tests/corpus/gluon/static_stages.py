"""A pipeline with no loop left: three copies in, three transformed tiles out, all unrolled.

A reflected sum of three row blocks, `y[i] = x[i] + x[2 - i]`. Every block has a slot and a barrier
of its own, so each barrier completes once and each wait is for phase 0. The middle block is needed
once, the outer ones twice. Results are staged in two buffers: the third one reuses the first
buffer, after `store_wait(1)`.
"""

from declare import Kernel, Twin, desc
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma

TILE: gl.constexpr = gl.constexpr(gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0]))


@gluon.jit
def static_stages(x_desc, y_desc, BUG: gl.constexpr):
    ROWS: gl.constexpr = x_desc.block_shape[0]
    row = gl.program_id(0) * 3 * ROWS
    x = gl.allocate_shared_memory(x_desc.dtype, [3] + x_desc.block_shape, x_desc.layout)
    y = gl.allocate_shared_memory(y_desc.dtype, [2] + y_desc.block_shape, y_desc.layout)
    arrived = mbarrier.allocate_mbarrier(batch=3)
    for s in gl.static_range(3):
        mbarrier.init(arrived.index(s), count=1)
    for s in gl.static_range(3):
        bar = arrived.index(0) if BUG == "one_barrier_for_all" else arrived.index(s)
        mbarrier.expect(bar, x_desc.nbytes_per_cta)  # BUG: one_barrier_for_all
        tma.async_load(x_desc, [row + s * ROWS, 0], bar, x.index(s))  # BUG: last_not_waited, one_barrier_for_all
    for s in gl.static_range(3):
        if BUG == "second_phase":
            mbarrier.wait(arrived.index(s), s & 1)  # BUG: second_phase
        elif BUG != "last_not_waited" or s < 2:
            mbarrier.wait(arrived.index(s), 0)  # BUG: one_barrier_for_all
    for s in gl.static_range(3):
        total = x.index(s).load(TILE) + x.index(2 - s).load(TILE)  # BUG: last_not_waited, one_barrier_for_all, second_phase
        if s == 2 and BUG == "stores_not_waited":
            tma.store_wait(2)  # BUG: stores_not_waited
        elif s == 2:
            tma.store_wait(1)
        y.index(s % 2).store(total)  # BUG: stores_not_waited
        fence_async_shared()
        tma.async_store(y_desc, [row + s * ROWS, 0], y.index(s % 2))  # BUG: stores_not_waited
    tma.store_wait(0)


CORPUS = [
    Kernel(
        static_stages, 90, dict(x_desc=desc("bf16", 64, 64), y_desc=desc("bf16", 64, 64)), twins=dict(
            last_not_waited=Twin(["missing-forward-barrier"], "the last block is used without waiting for it"),
            second_phase=Twin(["phase-mismatch", "missing-forward-barrier", "deadlock"],
                              "the middle block's wait is for a parity that only a fresh barrier satisfies"),
            one_barrier_for_all=Twin(["arrival-overflow", "deadlock", "missing-forward-barrier", "expect-mismatch"],
                                     "all three loads signal the first barrier, which counts one"),
            stores_not_waited=Twin(["pending-access"], "the third result is staged while the first may be stored"),
        )),
]
