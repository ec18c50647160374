"""Row softmax in two passes over global memory, with barriers that are retired in between.

The first pass streams the columns through a two-slot ring and keeps the running maximum and sum;
the second streams them again and writes the result. The passes share their two barriers: after the
first they are invalidated and initialised anew, since the first pass may leave them at either
phase, so that the second can count its phases from 0 again.
"""

from declare import Kernel, Twin, desc
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma


@gluon.jit
def prefetch(x_desc, ring, full, row, step, steps):
    """Load column block `step` into its slot, if there is such a block."""
    slot = step % 2
    mbarrier.expect(full.index(slot), x_desc.nbytes_per_cta, pred=step < steps)  # BUG: not_initialised_again, one_initialised_again
    tma.async_load(x_desc, [row, step * ring.shape[2]], full.index(slot), ring.index(slot), pred=step < steps)  # BUG: first_pass_unwaited, second_pass_parity


@gluon.jit
def softmax_two_pass(x_desc, y_desc, columns, BUG: gl.constexpr):
    ROWS: gl.constexpr = x_desc.block_shape[0]
    WIDTH: gl.constexpr = x_desc.block_shape[1]
    TILE: gl.constexpr = gl.BlockedLayout([1, 4], [2, 16], [4, 1], [1, 0])
    row = gl.program_id(0) * ROWS
    steps = gl.cdiv(columns, WIDTH)
    ring = gl.allocate_shared_memory(x_desc.dtype, [2, ROWS, WIDTH], x_desc.layout)
    result = gl.allocate_shared_memory(y_desc.dtype, [ROWS, WIDTH], y_desc.layout)
    full = mbarrier.allocate_mbarrier(batch=2)

    for s in gl.static_range(2):
        mbarrier.init(full.index(s), count=1)
    high = gl.full([ROWS], float("-inf"), gl.float32, gl.SliceLayout(1, TILE))
    total = gl.zeros([ROWS], gl.float32, gl.SliceLayout(1, TILE))
    prefetch(x_desc, ring, full, row, 0, steps)
    for i in range(steps):
        prefetch(x_desc, ring, full, row, i + 1, steps)
        if BUG != "first_pass_unwaited":
            mbarrier.wait(full.index(i % 2), (i // 2) & 1)
        value = ring.index(i % 2).load(TILE)  # BUG: first_pass_unwaited
        top = gl.maximum(high, gl.max(value, 1))
        total = total * gl.exp2(high - top) + gl.sum(gl.exp2(value - top[:, None]), 1)
        high = top

    for s in gl.static_range(2):
        if BUG != "not_invalidated":
            mbarrier.invalidate(full.index(s))
        if BUG != "not_initialised_again" and (BUG != "one_initialised_again" or s == 0):
            mbarrier.init(full.index(s), count=1)  # BUG: not_invalidated

    OFFSET: gl.constexpr = 1 if BUG == "second_pass_parity" else 0
    prefetch(x_desc, ring, full, row, 0, steps)
    for i in range(steps):
        prefetch(x_desc, ring, full, row, i + 1, steps)
        mbarrier.wait(full.index(i % 2), ((i // 2) & 1) ^ OFFSET)  # BUG: second_pass_parity, one_initialised_again, not_initialised_again
        value = ring.index(i % 2).load(TILE)  # BUG: second_pass_parity
        share = gl.exp2(value - high[:, None]) / total[:, None]
        tma.store_wait(0)
        result.store(share)
        fence_async_shared()
        tma.async_store(y_desc, [row, i * WIDTH], result)
    tma.store_wait(0)
    for s in gl.static_range(2):
        mbarrier.invalidate(full.index(s))


CORPUS = [
    Kernel(
        softmax_two_pass, 90, dict(x_desc=desc("fp32", 32, 64), y_desc=desc("fp32", 32, 64), columns="i32"),
        stages=("ttgir", "alloc"), twins=dict(
            not_invalidated=Twin(["barrier-reinit"], "the barriers are initialised while they are live"),
            not_initialised_again=Twin(["barrier-not-live"], "the second pass uses retired barriers"),
            one_initialised_again=Twin(["barrier-not-live"], "only the first barrier is initialised again"),
            first_pass_unwaited=Twin(["missing-forward-barrier"], "the first pass reads blocks that are still arriving"),
            second_pass_parity=Twin(["phase-mismatch", "missing-forward-barrier", "deadlock"],
                                    "the second pass waits for the wrong parity of a fresh barrier"),
        )),
]
