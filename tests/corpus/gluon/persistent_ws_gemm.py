"""Persistent Hopper GEMM whose output store overlaps with the next tile.

Each program walks the output tiles `program_id, program_id + num_programs, …`. The loading
partition does not stop at a tile's end, so the ring of four slots runs across tiles and its index
and phase are carried by both partitions through both loops; the loader starts at phase 1, which
passes on fresh `empty` barriers. The multiplying partition keeps one MMA in flight and hands a slot
back one step late, the last one after the K loop. It leaves its TMA store running and waits for it
only before it writes the staging buffer again.
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
def advance(index, phase, DEPTH: gl.constexpr):
    """The next slot; the phase flips when the index wraps."""
    wraps = index == DEPTH - 1
    return gl.where(wraps, 0, index + 1), gl.where(wraps, phase ^ 1, phase)


@gluon.jit
def tile_origin(tile, tiles_m, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr):
    return (tile % tiles_m) * BLOCK_M, (tile // tiles_m) * BLOCK_N


@gluon.jit
def load_partition(a_desc, b_desc, a, b, full, empty, K, tiles_m, num_tiles, BUG: gl.constexpr):
    DEPTH: gl.constexpr = a.shape[0]
    BLOCK_K: gl.constexpr = a.shape[2]
    index = 0
    phase = 0 if BUG == "loader_starts_at_phase_0" else 1
    for tile in range(gl.program_id(0), num_tiles, gl.num_programs(0)):
        row, col = tile_origin(tile, tiles_m, a.shape[1], b.shape[2])
        for k in range(0, K, BLOCK_K):
            mbarrier.wait(empty.index(index), phase)  # BUG: last_slot_kept, loader_starts_at_phase_0, phase_restarts
            mbarrier.expect(full.index(index), a_desc.nbytes_per_cta + b_desc.nbytes_per_cta)
            tma.async_load(a_desc, [row, k], full.index(index), a.index(index))  # BUG: released_while_read, phase_restarts
            tma.async_load(b_desc, [k, col], full.index(index), b.index(index))  # BUG: released_while_read, phase_restarts
            index, phase = advance(index, phase, DEPTH)


@gluon.jit
def mma_partition(c_desc, a, b, c, full, empty, K, tiles_m, num_tiles, BUG: gl.constexpr):
    DEPTH: gl.constexpr = a.shape[0]
    BLOCK_K: gl.constexpr = a.shape[2]
    ACC: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, c.shape[1], 16])
    index = 0
    phase = 0
    held = 0
    for tile in range(gl.program_id(0), num_tiles, gl.num_programs(0)):
        row, col = tile_origin(tile, tiles_m, c.shape[0], c.shape[1])
        acc = gl.zeros(c.shape, gl.float32, ACC)
        if BUG == "phase_restarts":
            phase = 0
        for k in range(0, K, BLOCK_K):
            mbarrier.wait(full.index(index), phase)  # BUG: phase_restarts, last_slot_kept, loader_starts_at_phase_0
            acc = warpgroup_mma(a.index(index), b.index(index), acc, is_async=True)  # BUG: phase_restarts, released_while_read
            acc = warpgroup_mma_wait(1, deps=[acc])
            if BUG == "released_while_read":
                mbarrier.arrive(empty.index(index), count=1)  # BUG: released_while_read
            else:
                # The MMA before this one is done.
                mbarrier.arrive(empty.index(held), count=1, pred=k > 0)
            held = index
            index, phase = advance(index, phase, DEPTH)
        acc = warpgroup_mma_wait(0, deps=[acc])
        if BUG != "last_slot_kept" and BUG != "released_while_read":
            mbarrier.arrive(empty.index(held), count=1, pred=K > 0)
        # The store of the tile before this one must have read the buffer.
        if BUG == "one_store_pending":
            tma.store_wait(1)  # BUG: one_store_pending
        elif BUG != "no_store_wait":
            tma.store_wait(0)
        c.store(acc.to(c.dtype))  # BUG: one_store_pending, no_store_wait
        fence_async_shared()
        tma.async_store(c_desc, [row, col], c)  # BUG: one_store_pending, no_store_wait
    tma.store_wait(0)


@gluon.jit
def persistent_ws_gemm(a_desc, b_desc, c_desc, K, tiles_m, num_tiles, DEPTH: gl.constexpr, BUG: gl.constexpr):
    a = gl.allocate_shared_memory(a_desc.dtype, [DEPTH] + a_desc.block_shape, a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, [DEPTH] + b_desc.block_shape, b_desc.layout)
    c = gl.allocate_shared_memory(c_desc.dtype, c_desc.block_shape, c_desc.layout)
    full = mbarrier.allocate_mbarrier(batch=DEPTH)
    empty = mbarrier.allocate_mbarrier(batch=DEPTH)
    for s in gl.static_range(DEPTH):
        mbarrier.init(full.index(s), count=1)
        mbarrier.init(empty.index(s), count=1)
    gl.warp_specialize([
        (mma_partition, (c_desc, a, b, c, full, empty, K, tiles_m, num_tiles, BUG)),
        (load_partition, (a_desc, b_desc, a, b, full, empty, K, tiles_m, num_tiles, BUG)),
    ], [1], [24])


CORPUS = [
    Kernel(
        persistent_ws_gemm, 90,
        dict(a_desc=desc("fp16", 128, 64), b_desc=desc("fp16", 64, 128), c_desc=desc("fp16", 128, 128), K="i32",
             tiles_m="i32", num_tiles="i32"), dict(DEPTH=4), twins=dict(
                 no_store_wait=Twin(["pending-access"], "the staging buffer is written while a store reads it"),
                 one_store_pending=Twin(["pending-access"], "the one store that may stay open is the one that matters"),
                 phase_restarts=Twin(["phase-mismatch", "missing-forward-barrier", "lapped-wait", "deadlock"],
                                     "the phase starts at 0 in every tile, the ring does not"),
                 last_slot_kept=Twin(["deadlock"], "the last slot of a tile is never handed back"),
                 loader_starts_at_phase_0=Twin(["deadlock", "phase-mismatch"],
                                               "the loader waits for a release of a slot that was never full"),
                 released_while_read=Twin(["pending-access", "missing-backward-barrier"],
                                          "the slot of the running MMA is handed back"),
             )),
]
