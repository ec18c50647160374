"""Asynchronous copies of global memory, waited for in time or not: TMA, cp.async, several partitions, several CTAs."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.experimental.gluon.language.nvidia.hopper import cluster, fence_async_shared, mbarrier, tma

ROW: gl.constexpr = gl.constexpr(gl.BlockedLayout([1], [32], [4], [0]))
BOX: gl.constexpr = gl.constexpr(gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=32, rank=2))
TILE: gl.constexpr = gl.constexpr(gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0]))


@gluon.jit
def store_then_flag(x, flag, out, WAITS: gl.constexpr, REDUCES: gl.constexpr):
    box = tma.make_tensor_descriptor(x, [32, 32], [32, 1], [16, 32], BOX)
    lanes = gl.arange(0, 32, ROW)
    if gl.program_id(0) == 0:
        tile = gl.allocate_shared_memory(box.dtype, box.block_shape, box.layout)
        tile.store(gl.full(box.block_shape, 2.0, box.dtype, TILE))
        fence_async_shared()
        if REDUCES:
            tma.async_atomic_add(box, [0, 0], tile)  # mark: reduce
        else:
            tma.async_store(box, [0, 0], tile)  # mark: store
        if WAITS == "before":
            tma.store_wait(0, read_only=False)
        elif WAITS == "read":
            tma.store_wait(0)
        gl.atomic_xchg(flag, 1, sem="release")
        if WAITS == "after":
            tma.store_wait(0, read_only=False)
    else:
        while gl.atomic_add(flag, 0, sem="acquire") == 0:
            pass
        gl.store(out + lanes, gl.load(x + lanes))  # mark: payload


@gluon.jit
def store_then_load(x, out, WAITS: gl.constexpr):
    box = tma.make_tensor_descriptor(x, [32, 32], [32, 1], [16, 32], BOX)
    lanes = gl.arange(0, 32, ROW)
    row = gl.program_id(0) * 16
    tile = gl.allocate_shared_memory(box.dtype, box.block_shape, box.layout)
    tile.store(gl.full(box.block_shape, 2.0, box.dtype, TILE))
    fence_async_shared()
    tma.async_store(box, [row, 0], tile)  # mark: store
    if WAITS:
        tma.store_wait(0, read_only=False)
    gl.store(out + row * 32 + lanes, gl.load(x + row * 32 + lanes))  # mark: load
    tma.store_wait(0)


@gluon.jit
def two_stores(x, out, WAITS: gl.constexpr):
    box = tma.make_tensor_descriptor(x, [32, 32], [32, 1], [16, 32], BOX)
    row = gl.program_id(0) * 16
    first = gl.allocate_shared_memory(box.dtype, box.block_shape, box.layout)
    second = gl.allocate_shared_memory(box.dtype, box.block_shape, box.layout)
    first.store(gl.full(box.block_shape, 1.0, box.dtype, TILE))
    second.store(gl.full(box.block_shape, 2.0, box.dtype, TILE))
    fence_async_shared()
    tma.async_store(box, [row, 0], first)  # mark: first
    if WAITS:
        tma.store_wait(0, read_only=False)
    tma.async_store(box, [row, 0], second)  # mark: second
    tma.store_wait(0)


@gluon.jit
def load_then_write(x, out, WAITS: gl.constexpr):
    box = tma.make_tensor_descriptor(x, [32, 32], [32, 1], [16, 32], BOX)
    lanes = gl.arange(0, 32, ROW)
    row = gl.program_id(0) * 16
    tile = gl.allocate_shared_memory(box.dtype, box.block_shape, box.layout)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    mbarrier.expect(full, box.nbytes_per_cta)
    tma.async_load(box, [row, 0], full, tile)  # mark: load
    if WAITS:
        mbarrier.wait(full, 0)
    gl.store(x + row * 32 + lanes, lanes.to(gl.float32))  # mark: write
    if not WAITS:
        mbarrier.wait(full, 0)
    gl.store(out + row * 32 + lanes, lanes.to(gl.float32))
    mbarrier.invalidate(full)


@gluon.jit
def copy_then_write(x, out, flag, WAITS: gl.constexpr):
    lanes = gl.arange(0, 128, ROW)
    shared: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    line = gl.allocate_shared_memory(gl.float32, [128], shared)
    place = gl.program_id(0) * 128 + lanes
    async_copy.async_load(line, x + place)  # mark: copy
    async_copy.commit_group()
    if WAITS:
        async_copy.wait_group(0)
    gl.store(x + place, lanes.to(gl.float32))  # mark: write
    async_copy.wait_group(0)
    gl.store(out + place, line.load(ROW))


@gluon.jit
def copy_then_flag(x, out, flag, WAITS: gl.constexpr):
    lanes = gl.arange(0, 128, ROW)
    if gl.program_id(0) == 0:
        shared: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
        line = gl.allocate_shared_memory(gl.float32, [128], shared)
        async_copy.async_load(line, x + lanes)  # mark: copy
        async_copy.commit_group()
        if WAITS:
            async_copy.wait_group(0)
        gl.atomic_xchg(flag, 1, sem="release")
        async_copy.wait_group(0)
        gl.store(out + lanes, line.load(ROW))
    else:
        while gl.atomic_add(flag, 0, sem="acquire") == 0:
            pass
        gl.store(x + lanes, lanes.to(gl.float32))  # mark: write


@gluon.jit
def fill(x, ready, ARRIVES: gl.constexpr):
    lanes = gl.arange(0, 128, ROW)
    gl.store(x + gl.program_id(0) * 128 + lanes, lanes.to(gl.float32))  # mark: fill
    if ARRIVES:
        mbarrier.arrive(ready, count=1)


@gluon.jit
def drain(x, out, ready, ARRIVES: gl.constexpr):
    lanes = gl.arange(0, 128, ROW)
    place = gl.program_id(0) * 128 + lanes
    if ARRIVES:
        mbarrier.wait(ready, 0)
    gl.store(out + place, gl.load(x + place))  # mark: drain


@gluon.jit
def partitions(x, out, flag, WAITS: gl.constexpr):
    ready = mbarrier.allocate_mbarrier()
    mbarrier.init(ready, count=1)
    gl.warp_specialize([(drain, (x, out, ready, WAITS)), (fill, (x, ready, WAITS))], [4], [64])
    mbarrier.invalidate(ready)


@gluon.jit
def receive(flag, ready):
    while gl.atomic_add(flag, 0, sem="acquire") == 0:
        pass
    mbarrier.arrive(ready, count=1)


@gluon.jit
def use(x, out, ready, WAITS: gl.constexpr):
    lanes = gl.arange(0, 128, ROW)
    if WAITS:
        mbarrier.wait(ready, 0)
    gl.store(out + lanes, gl.load(x + lanes))  # mark: use


@gluon.jit
def acquired_elsewhere(x, out, flag, WAITS: gl.constexpr):
    lanes = gl.arange(0, 128, ROW)
    if gl.program_id(0) == 0:
        gl.store(x + lanes, lanes.to(gl.float32))  # mark: produce
        gl.atomic_xchg(flag, 1, sem="release")
    else:
        ready = mbarrier.allocate_mbarrier()
        mbarrier.init(ready, count=1)
        gl.warp_specialize([(use, (x, out, ready, WAITS)), (receive, (flag, ready))], [4], [64])
        mbarrier.invalidate(ready)


@gluon.jit
def exchange(x, out, flag, WAITS: gl.constexpr):
    halves: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0], [[1]])
    lanes = gl.arange(0, 256, halves)
    gl.store(x + lanes, lanes.to(gl.float32))  # mark: first
    if WAITS:
        cluster.barrier()
    gl.store(out + lanes, gl.load(x + 255 - lanes))  # mark: second
