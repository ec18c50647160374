"""Two kernels that load a tile and read it before it has come."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma


# fencepost: desc=fp16[64,64]
@gluon.jit
def first(desc):
    tile: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    smem = gl.allocate_shared_memory(desc.dtype, desc.block_shape, desc.layout)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    mbarrier.expect(full, desc.nbytes_per_cta)
    tma.async_load(desc, [0, 0], full, smem)
    value = smem.load(tile)
    smem.store(value * 2)
    fence_async_shared()
    tma.async_store(desc, [0, 0], smem)
    tma.store_wait(0)


# fencepost: desc=fp16[64,64]
@gluon.jit
def second(desc):
    tile: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    smem = gl.allocate_shared_memory(desc.dtype, desc.block_shape, desc.layout)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    mbarrier.expect(full, desc.nbytes_per_cta)
    tma.async_load(desc, [64, 0], full, smem)
    value = smem.load(tile)
    smem.store(value * 2)
    fence_async_shared()
    tma.async_store(desc, [64, 0], smem)
    tma.store_wait(0)
