"""GEMM for CDNA 5 in two partitions that hand LDS slots to each other over LDS barriers.

The loader's warps start the data mover and attach the slot's `full` barrier: each load then arrives
once for every warp that starts it. The multiplying warps wait, read both tiles into registers, and
arrive on `empty`, once for every thread, as an LDS arrival counts threads. A barrier counts both
loads (`2 * LOADERS`), or each load has a barrier of its own.
"""

from declare import Kernel, Twin
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.amd.cdna5 import mbarrier, tdm, wmma

BASES: gl.constexpr = gl.constexpr([[0, 1], [1, 0]])
ACC: gl.constexpr = gl.constexpr(gl.amd.AMDWMMALayout(3, True, BASES.value, [], [16, 16, 32]))
LANES: gl.constexpr = gl.constexpr(32)


@gluon.jit
def load_partition(a_desc, b_desc, a_ring, b_ring, full, empty, row, column, K, BUG: gl.constexpr):
    DEPTH: gl.constexpr = a_ring.shape[0]
    BLOCK_K: gl.constexpr = a_ring.shape[2]
    for step in range(gl.cdiv(K, BLOCK_K)):
        slot = step % DEPTH
        if BUG == "first_lap_blocks":
            mbarrier.wait(empty.index(slot), (step // DEPTH) & 1)  # BUG: first_lap_blocks
        elif BUG != "no_empty_wait":
            mbarrier.wait(empty.index(slot), ((step // DEPTH) & 1) ^ 1)  # BUG: released_by_one, never_released
        ready = full.index(slot)
        tdm.async_load(a_desc, [row, step * BLOCK_K], a_ring.index(slot), mbarrier=ready)  # BUG: no_empty_wait, no_full_wait, b_unannounced, full_counts_a, released_too_early
        if BUG == "b_unannounced":
            tdm.async_load(b_desc, [step * BLOCK_K, column], b_ring.index(slot))  # BUG: b_unannounced
        else:
            tdm.async_load(b_desc, [step * BLOCK_K, column], b_ring.index(slot), mbarrier=ready)  # BUG: no_empty_wait, no_full_wait, full_counts_a, released_too_early


@gluon.jit
def multiply_partition(c, a_ring, b_ring, full, empty, row, column, N, K, BUG: gl.constexpr):
    DEPTH: gl.constexpr = a_ring.shape[0]
    BLOCK: gl.constexpr = a_ring.shape[1]
    BLOCK_K: gl.constexpr = a_ring.shape[2]
    acc = gl.zeros([BLOCK, BLOCK], gl.float32, ACC)
    for step in range(gl.cdiv(K, BLOCK_K)):
        slot = step % DEPTH
        if BUG != "no_full_wait":
            mbarrier.wait(full.index(slot), (step // DEPTH) & 1)  # BUG: full_counts_threads, first_lap_blocks
        if BUG == "released_too_early":
            mbarrier.arrive(empty.index(slot), count=1)  # BUG: released_too_early
        x = a_ring.index(slot).load(gl.DotOperandLayout(0, ACC, 8))  # BUG: no_empty_wait, no_full_wait, full_counts_a, released_too_early
        y = b_ring.index(slot).load(gl.DotOperandLayout(1, ACC, 8))  # BUG: no_empty_wait, no_full_wait, full_counts_a, released_too_early, b_unannounced
        if BUG != "released_too_early" and BUG != "never_released":
            mbarrier.arrive(empty.index(slot), count=1)  # BUG: released_by_one
        acc = wmma(x, y, acc)
    rows = row + gl.arange(0, BLOCK, gl.SliceLayout(1, ACC))
    columns = column + gl.arange(0, BLOCK, gl.SliceLayout(0, ACC))
    gl.store(c + rows[:, None] * N + columns[None, :], acc.to(gl.float16))


@gluon.jit
def tdm_ws_gemm(a, b, c, M, N, K, BLOCK: gl.constexpr, BLOCK_K: gl.constexpr, DEPTH: gl.constexpr,
                LOADERS: gl.constexpr, BUG: gl.constexpr):
    a_layout: gl.constexpr = gl.PaddedSharedLayout.with_identity_for([[BLOCK_K, 8]], [BLOCK, BLOCK_K], [1, 0])
    b_layout: gl.constexpr = gl.PaddedSharedLayout.with_identity_for([[BLOCK, 16]], [BLOCK_K, BLOCK], [1, 0])
    a_desc = tdm.make_tensor_descriptor(a, (M, K), (K, 1), (BLOCK, BLOCK_K), a_layout)
    b_desc = tdm.make_tensor_descriptor(b, (K, N), (N, 1), (BLOCK_K, BLOCK), b_layout)
    row = gl.program_id(0) * BLOCK
    column = gl.program_id(1) * BLOCK
    a_ring = gl.allocate_shared_memory(gl.float16, [DEPTH, BLOCK, BLOCK_K], a_layout)
    b_ring = gl.allocate_shared_memory(gl.float16, [DEPTH, BLOCK_K, BLOCK], b_layout)
    full = gl.allocate_shared_memory(gl.int64, [DEPTH, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [DEPTH, 1], mbarrier.MBarrierLayout())
    LOADS: gl.constexpr = 1 if BUG == "full_counts_a" or BUG == "b_unannounced" else 2
    COUNT: gl.constexpr = LOADS * LOADERS * (LANES if BUG == "full_counts_threads" else 1)
    RELEASES: gl.constexpr = 4 if BUG == "released_by_one" else 4 * LANES
    for slot in gl.static_range(DEPTH):
        mbarrier.init(full.index(slot), count=COUNT)
        mbarrier.init(empty.index(slot), count=RELEASES)
    gl.warp_specialize([
        (multiply_partition, (c, a_ring, b_ring, full, empty, row, column, N, K, BUG)),
        (load_partition, (a_desc, b_desc, a_ring, b_ring, full, empty, row, column, K, BUG)),
    ], [LOADERS])


SIGNATURE = dict(a="*fp16", b="*fp16", c="*fp16", M="i32", N="i32:16", K="i32:16")
CORPUS = [
    Kernel(
        tdm_ws_gemm, "gfx1250", SIGNATURE, dict(BLOCK=128, BLOCK_K=64, DEPTH=3, LOADERS=4), stages=("ttgir", "alloc"),
        twins=dict(
            no_empty_wait=Twin(["missing-backward-barrier", "missing-forward-barrier"],
                               "the loader overwrites a slot that has not been handed back"),
            no_full_wait=Twin(["missing-forward-barrier"], "the tiles are read before they have come"),
            released_too_early=Twin(["missing-backward-barrier"], "the slot is handed back before it has been read"),
            never_released=Twin(["deadlock"], "no slot is ever handed back"),
            first_lap_blocks=Twin(["deadlock", "phase-mismatch"], "the loader waits for a release that follows its own load"),
            full_counts_threads=Twin(["deadlock"], "the barrier counts the loader's threads, a load arrives once a warp"),
            full_counts_a=Twin(["missing-forward-barrier", "phase-mismatch", "lapped-wait", "missing-backward-barrier"],
                               "the barrier counts one of the two loads"),
            released_by_one=Twin(["arrival-overflow"], "the barrier counts warps, an arrival counts threads"),
            b_unannounced=Twin(["missing-forward-barrier", "pending-access"], "the tile of B has no barrier"),
        )),
    Kernel(tdm_ws_gemm, "gfx1250", SIGNATURE, dict(BLOCK=128, BLOCK_K=32, DEPTH=2, LOADERS=1), name="tdm_ws_gemm_one_warp"),
]
