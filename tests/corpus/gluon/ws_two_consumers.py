"""Hopper GEMM with two multiplying partitions that share the tiles of B.

The output tile is 128 rows high: each multiplier takes 64 of them. A slot of the ring holds both
halves of A and one tile of B, all announced with one `expect`. `full` completes once for both
multipliers, each of which waits for it by itself; `empty` counts two arrivals, one from each.
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
def load_partition(a_desc, b_desc, a, b, full, empty, row, col, K, BUG: gl.constexpr):
    DEPTH: gl.constexpr = b.shape[0]
    BLOCK_K: gl.constexpr = b.shape[1]
    HALF: gl.constexpr = a_desc.block_shape[0]
    BYTES: gl.constexpr = a_desc.nbytes_per_cta + b_desc.nbytes_per_cta
    for i in range(gl.cdiv(K, BLOCK_K)):
        slot = i % DEPTH
        bar = full.index(slot)
        mbarrier.wait(empty.index(slot), ((i // DEPTH) & 1) ^ 1)  # BUG: one_never_releases, one_release_enough
        if BUG == "second_half_unannounced":
            mbarrier.expect(bar, BYTES)  # BUG: second_half_unannounced
        else:
            mbarrier.expect(bar, BYTES + a_desc.nbytes_per_cta)
        tma.async_load(a_desc, [row, i * BLOCK_K], bar, a.index(2 * slot))  # BUG: one_release_enough, second_half_unannounced
        tma.async_load(a_desc, [row + HALF, i * BLOCK_K], bar, a.index(2 * slot + 1))  # BUG: one_does_not_wait, one_release_enough, second_half_unannounced
        tma.async_load(b_desc, [i * BLOCK_K, col], bar, b.index(slot))  # BUG: one_does_not_wait, one_release_enough, second_half_unannounced


@gluon.jit
def mma_partition(half: gl.constexpr, c_desc, a, b, c, full, empty, row, col, K, BUG: gl.constexpr):
    DEPTH: gl.constexpr = b.shape[0]
    BLOCK_K: gl.constexpr = b.shape[1]
    HALF: gl.constexpr = a.shape[1]
    ACC: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, b.shape[2], 16])
    acc = gl.zeros([HALF, b.shape[2]], gl.float32, ACC)
    for i in range(gl.cdiv(K, BLOCK_K)):
        slot = i % DEPTH
        if BUG != "one_does_not_wait" or half == 0:
            mbarrier.wait(full.index(slot), (i // DEPTH) & 1)  # BUG: one_never_releases, second_half_unannounced, one_release_enough
        acc = warpgroup_mma(a.index(2 * slot + half), b.index(slot), acc, is_async=True)  # BUG: one_does_not_wait, one_release_enough, second_half_unannounced
        acc = warpgroup_mma_wait(0, deps=[acc])
        if BUG != "one_never_releases" or half == 0:
            mbarrier.arrive(empty.index(slot), count=1)  # BUG: one_release_enough
    staged = c.index(0 if BUG == "one_staging_buffer" else half)
    staged.store(acc.to(c.dtype))  # BUG: one_staging_buffer
    fence_async_shared()
    tma.async_store(c_desc, [row + half * HALF, col], staged)  # BUG: one_staging_buffer
    tma.store_wait(0)


@gluon.jit
def ws_two_consumers(a_desc, b_desc, c_desc, K, DEPTH: gl.constexpr, BUG: gl.constexpr):
    HALF: gl.constexpr = a_desc.block_shape[0]
    row = gl.program_id(0) * 2 * HALF
    col = gl.program_id(1) * b_desc.block_shape[1]
    a = gl.allocate_shared_memory(a_desc.dtype, [2 * DEPTH] + a_desc.block_shape, a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, [DEPTH] + b_desc.block_shape, b_desc.layout)
    c = gl.allocate_shared_memory(c_desc.dtype, [2] + c_desc.block_shape, c_desc.layout)
    full = mbarrier.allocate_mbarrier(batch=DEPTH)
    empty = mbarrier.allocate_mbarrier(batch=DEPTH)
    for s in gl.static_range(DEPTH):
        mbarrier.init(full.index(s), count=1)
        mbarrier.init(empty.index(s), count=1 if BUG == "one_release_enough" else 2)
    gl.warp_specialize([
        (mma_partition, (0, c_desc, a, b, c, full, empty, row, col, K, BUG)),
        (mma_partition, (1, c_desc, a, b, c, full, empty, row, col, K, BUG)),
        (load_partition, (a_desc, b_desc, a, b, full, empty, row, col, K, BUG)),
    ], [4, 1], [240, 24])


CORPUS = [
    Kernel(
        ws_two_consumers, 90,
        dict(a_desc=desc("fp16", 64, 64), b_desc=desc("fp16", 64, 128), c_desc=desc("fp16", 64, 128), K="i32"),
        dict(DEPTH=3), twins=dict(
            one_does_not_wait=Twin(["missing-forward-barrier"], "the second multiplier does not wait for the slot"),
            one_never_releases=Twin(["deadlock"], "the second multiplier never hands a slot back"),
            one_release_enough=Twin(["missing-backward-barrier", "pending-access", "lapped-wait", "phase-mismatch",
                                     "deadlock", "missing-forward-barrier", "arrival-overflow"],
                                    "the first of two arrivals already frees the slot"),
            second_half_unannounced=Twin(["expect-mismatch", "missing-forward-barrier", "deadlock"],
                                         "the bytes of the second half of A are not announced"),
            one_staging_buffer=Twin(["missing-backward-barrier", "missing-forward-barrier", "pending-access",
                                     "missing-proxy-fence"], "both multipliers stage their result in one buffer"),
        )),
]
