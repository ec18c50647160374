"""Load, compute and store in three partitions, joined by two rings in shared memory.

One warp loads row blocks by TMA into ring `x`; four warps scale them by a factor per row and write
ring `y`; one warp stores ring `y` by TMA. Each ring has `full` and `empty` barriers with one
arrival. What one partition wrote with ordinary stores the other reads through the asynchronous
proxy, so the computing partition fences between its writes and its arrival, and likewise between
its reads of `x` and handing the slot back. The storing partition keeps one store in flight and
hands the slot of the one before it back.
"""

from declare import Kernel, Twin, desc
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma

TILE: gl.constexpr = gl.constexpr(gl.BlockedLayout([1, 4], [2, 16], [4, 1], [1, 0]))


@gluon.jit
def load_partition(x_desc, x, x_full, x_empty, blocks, BUG: gl.constexpr):
    DEPTH: gl.constexpr = x.shape[0]
    for i in range(blocks):
        slot = i % DEPTH
        mbarrier.wait(x_empty.index(slot), ((i // DEPTH) & 1) ^ 1)
        mbarrier.expect(x_full.index(slot), x_desc.nbytes_per_cta)
        tma.async_load(x_desc, [i * x.shape[1], 0], x_full.index(slot), x.index(slot))


@gluon.jit
def scale_partition(scales, x, x_full, x_empty, y, y_full, y_empty, blocks, BUG: gl.constexpr):
    DEPTH: gl.constexpr = x.shape[0]
    for i in range(blocks):
        slot = i % DEPTH
        parity = (i // DEPTH) & 1
        mbarrier.wait(x_full.index(slot), parity)
        value = x.index(slot).load(TILE)
        fence_async_shared()
        mbarrier.arrive(x_empty.index(slot), count=1)

        rows = i * x.shape[1] + gl.arange(0, x.shape[1], gl.SliceLayout(1, TILE))
        value = value * gl.load(scales + rows)[:, None]

        if BUG == "y_parity_not_inverted":
            mbarrier.wait(y_empty.index(slot), parity)  # BUG: y_parity_not_inverted
        elif BUG != "no_y_empty_wait":
            mbarrier.wait(y_empty.index(slot), parity ^ 1)  # BUG: releases_next_slot
        y.index(slot).store(value)  # BUG: no_fence, fence_after_arrive, no_y_empty_wait, released_while_stored, no_y_full_wait, releases_next_slot
        if BUG != "no_fence" and BUG != "fence_after_arrive":
            fence_async_shared()
        mbarrier.arrive(y_full.index(slot), count=1)
        if BUG == "fence_after_arrive":
            fence_async_shared()


@gluon.jit
def store_partition(y_desc, y, y_full, y_empty, blocks, BUG: gl.constexpr):
    DEPTH: gl.constexpr = y.shape[0]
    for i in range(blocks):
        slot = i % DEPTH
        if BUG != "no_y_full_wait":
            mbarrier.wait(y_full.index(slot), (i // DEPTH) & 1)  # BUG: y_parity_not_inverted
        tma.async_store(y_desc, [i * y.shape[1], 0], y.index(slot))  # BUG: no_fence, fence_after_arrive, no_y_empty_wait, released_while_stored, no_y_full_wait, releases_next_slot
        if BUG == "released_while_stored":
            mbarrier.arrive(y_empty.index(slot), count=1)  # BUG: released_while_stored
        else:
            tma.store_wait(1)
            # The store before this one has read its slot.
            if BUG == "releases_next_slot":
                mbarrier.arrive(y_empty.index((i + 1) % DEPTH), count=1, pred=i > 0)  # BUG: releases_next_slot
            else:
                mbarrier.arrive(y_empty.index((i + DEPTH - 1) % DEPTH), count=1, pred=i > 0)
    tma.store_wait(0)


@gluon.jit
def ws_scale_rows(x_desc, y_desc, scales, blocks, DEPTH: gl.constexpr, BUG: gl.constexpr):
    x = gl.allocate_shared_memory(x_desc.dtype, [DEPTH] + x_desc.block_shape, x_desc.layout)
    y = gl.allocate_shared_memory(y_desc.dtype, [DEPTH] + y_desc.block_shape, y_desc.layout)
    x_full = mbarrier.allocate_mbarrier(batch=DEPTH)
    x_empty = mbarrier.allocate_mbarrier(batch=DEPTH)
    y_full = mbarrier.allocate_mbarrier(batch=DEPTH)
    y_empty = mbarrier.allocate_mbarrier(batch=DEPTH)
    for s in gl.static_range(DEPTH):
        mbarrier.init(x_full.index(s), count=1)
        mbarrier.init(x_empty.index(s), count=1)
        mbarrier.init(y_full.index(s), count=1)
        mbarrier.init(y_empty.index(s), count=1)
    gl.warp_specialize([
        (scale_partition, (scales, x, x_full, x_empty, y, y_full, y_empty, blocks, BUG)),
        (load_partition, (x_desc, x, x_full, x_empty, blocks, BUG)),
        (store_partition, (y_desc, y, y_full, y_empty, blocks, BUG)),
    ], [1, 1], [24, 24])


CORPUS = [
    Kernel(
        ws_scale_rows, 90,
        dict(x_desc=desc("fp32", 32, 64), y_desc=desc("fp32", 32, 64), scales="*fp32", blocks="i32"), dict(DEPTH=3),
        twins=dict(
            no_fence=Twin(["missing-proxy-fence"], "ordinary writes are handed to TMA without a fence"),
            fence_after_arrive=Twin(["missing-proxy-fence"], "the fence comes after the slot was handed over"),
            no_y_full_wait=Twin(["missing-forward-barrier", "missing-proxy-fence"],
                                "the store does not wait for the writes"),
            no_y_empty_wait=Twin(["pending-access", "missing-backward-barrier"],
                                 "a slot is written while its store may read it"),
            y_parity_not_inverted=Twin(["deadlock", "phase-mismatch"], "the first lap waits for a release"),
            released_while_stored=Twin(["pending-access", "missing-backward-barrier"],
                                       "the slot is handed back as soon as its store is started"),
            releases_next_slot=Twin(["pending-access", "missing-backward-barrier", "phase-mismatch", "lapped-wait",
                                     "deadlock"], "the slot after the current one is handed back"),
        )),
]
