"""Sums rows that a loading partition brings through a ring of slots."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma

from ring_tools import signal


@gluon.jit
def fill(desc, ring, ready, slot, row):
    mbarrier.expect(ready.index(slot), desc.nbytes_per_cta)
    tma.async_load(desc, [row, 0], ready.index(slot), ring.index(slot))


@gluon.jit
def producer(desc, ring, ready, free, rows):
    depth: gl.constexpr = ring.shape[0]
    for i in range(rows):
        slot = i % depth
        mbarrier.wait(free.index(slot), ((i // depth) & 1) ^ 1)
        fill(desc, ring, ready, slot, i)


@gluon.jit
def consumer(ring, ready, free, rows):
    depth: gl.constexpr = ring.shape[0]
    tile: gl.constexpr = gl.BlockedLayout([1, 4], [1, 32], [4, 1], [1, 0])
    for i in range(rows):
        slot = i % depth
        mbarrier.wait(ready.index(slot), (i // depth) & 1)
        value = ring.index(slot).load(tile)
        fence_async_shared()
        signal(free, slot)


@gluon.jit
def sum_rows(desc, rows, num_slots: gl.constexpr):
    ring = gl.allocate_shared_memory(desc.dtype, [num_slots] + desc.block_shape, desc.layout)
    ready = mbarrier.allocate_mbarrier(batch=num_slots)
    free = mbarrier.allocate_mbarrier(batch=num_slots)
    for s in gl.static_range(num_slots):
        mbarrier.init(ready.index(s), count=1)
        mbarrier.init(free.index(s), count=1)
    gl.warp_specialize([
        (consumer, (ring, ready, free, rows)),
        (producer, (desc, ring, ready, free, rows)),
    ], [1], [24])
