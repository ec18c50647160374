"""Hopper GEMM in which two multiplying partitions take turns, one storing while the other multiplies.

Tiles alternate: partition `who` of 0 and 1 does the tiles `who, who + 2, …` of this program. The
loader streams all tiles through one ring, so a multiplier's place in the ring jumps over the steps
of the other's tile; it is computed from the number of the tile, not carried. A slot is used by one
multiplier only, so `empty` counts one arrival. `turn` barriers, one for each multiplier, keep their
MMAs from competing: a multiplier waits for its turn before a tile's K loop and gives the turn to the
other after it. Partition 0 has the first turn, so it waits with the inverted parity.
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
def load_partition(a_desc, b_desc, a, b, full, empty, steps, tiles, BUG: gl.constexpr):
    DEPTH: gl.constexpr = a.shape[0]
    row = gl.program_id(0) * a.shape[1]
    count = 0
    for tile in range(tiles):
        for i in range(steps):
            slot = count % DEPTH
            mbarrier.wait(empty.index(slot), ((count // DEPTH) & 1) ^ 1)  # BUG: place_is_carried, both_release
            mbarrier.expect(full.index(slot), a_desc.nbytes_per_cta + b_desc.nbytes_per_cta)
            tma.async_load(a_desc, [row, i * a.shape[2]], full.index(slot), a.index(slot))  # BUG: place_is_carried, both_release
            tma.async_load(b_desc, [i * a.shape[2], tile * b.shape[2]], full.index(slot), b.index(slot))  # BUG: place_is_carried, both_release
            count += 1


@gluon.jit
def mma_partition(who: gl.constexpr, c_desc, a, b, c, full, empty, turn, steps, tiles, BUG: gl.constexpr):
    DEPTH: gl.constexpr = a.shape[0]
    ACC: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, b.shape[2], 16])
    row = gl.program_id(0) * a.shape[1]
    staged = c.index(who)
    place = who * steps
    for tile in range(who, tiles, 2):
        acc = gl.zeros([a.shape[1], b.shape[2]], gl.float32, ACC)
        if BUG == "both_wait_first":
            mbarrier.wait(turn.index(who), (tile // 2) & 1)  # BUG: both_wait_first
        else:
            mbarrier.wait(turn.index(who), (tile // 2) & 1 ^ (1 - who))  # BUG: turn_kept
        for i in range(steps):
            if BUG == "place_is_carried":
                count = place + i
            else:
                count = tile * steps + i
            slot = count % DEPTH
            mbarrier.wait(full.index(slot), (count // DEPTH) & 1)  # BUG: place_is_carried
            acc = warpgroup_mma(a.index(slot), b.index(slot), acc, is_async=True)  # BUG: place_is_carried, both_release
            acc = warpgroup_mma_wait(0, deps=[acc])
            mbarrier.arrive(empty.index(slot), count=2 if BUG == "both_release" else 1)  # BUG: both_release
        place += steps
        if BUG != "turn_kept":
            mbarrier.arrive(turn.index(1 - who), count=1)
        tma.store_wait(0)
        if BUG == "one_staging_buffer":
            c.index(0).store(acc.to(c.dtype))  # BUG: one_staging_buffer
            fence_async_shared()
            tma.async_store(c_desc, [row, tile * b.shape[2]], c.index(0))  # BUG: one_staging_buffer
        else:
            staged.store(acc.to(c.dtype))
            fence_async_shared()
            tma.async_store(c_desc, [row, tile * b.shape[2]], staged)
    tma.store_wait(0)


@gluon.jit
def pingpong_gemm(a_desc, b_desc, c_desc, K, tiles, DEPTH: gl.constexpr, BUG: gl.constexpr):
    a = gl.allocate_shared_memory(a_desc.dtype, [DEPTH] + a_desc.block_shape, a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, [DEPTH] + b_desc.block_shape, b_desc.layout)
    c = gl.allocate_shared_memory(c_desc.dtype, [2] + c_desc.block_shape, c_desc.layout)
    full = mbarrier.allocate_mbarrier(batch=DEPTH)
    empty = mbarrier.allocate_mbarrier(batch=DEPTH)
    turn = mbarrier.allocate_mbarrier(batch=2)
    for s in gl.static_range(DEPTH):
        mbarrier.init(full.index(s), count=1)
        mbarrier.init(empty.index(s), count=1)
    for who in gl.static_range(2):
        mbarrier.init(turn.index(who), count=1)
    steps = gl.cdiv(K, a_desc.block_shape[1])
    gl.warp_specialize([
        (mma_partition, (0, c_desc, a, b, c, full, empty, turn, steps, tiles, BUG)),
        (mma_partition, (1, c_desc, a, b, c, full, empty, turn, steps, tiles, BUG)),
        (load_partition, (a_desc, b_desc, a, b, full, empty, steps, tiles, BUG)),
    ], [4, 1], [240, 24])


CORPUS = [
    Kernel(
        pingpong_gemm, 90,
        dict(a_desc=desc("fp16", 64, 64), b_desc=desc("fp16", 64, 128), c_desc=desc("fp16", 64, 128), K="i32",
             tiles="i32"), dict(DEPTH=4), twins=dict(
                 both_wait_first=Twin(["deadlock"], "each multiplier waits for the other to give it the first turn"),
                 turn_kept=Twin(["deadlock"], "the turn is never given to the other"),
                 place_is_carried=Twin(["phase-mismatch", "deadlock", "missing-forward-barrier", "lapped-wait",
                                        "missing-backward-barrier", "pending-access"],
                                       "the ring place does not jump over the other multiplier's tile"),
                 both_release=Twin(["arrival-overflow"], "a slot is released twice at once"),
                 one_staging_buffer=Twin(["missing-backward-barrier", "missing-forward-barrier", "pending-access",
                                          "missing-proxy-fence"], "both multipliers stage their tiles in one buffer"),
             )),
]
