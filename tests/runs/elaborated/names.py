# exit 1
# says `store` writes `ring` of default; `tma.async_load` of default may still be writing it
# says default waits for phase 0 of `ready[1]`
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma


@gluon.jit
def two_slots(desc):
    tile: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    ring = gl.allocate_shared_memory(desc.dtype, [2] + desc.block_type.shape, desc.layout)
    ready = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    for slot in gl.static_range(2):
        mbarrier.init(ready.index(slot), count=1)
    mbarrier.expect(ready.index(0), desc.block_type.nbytes)
    tma.async_load(desc, [0, 0], ready.index(0), ring.index(0))
    value = ring.index(0).load(tile)
    ring.index(0).store(value * 2)
    mbarrier.wait(ready.index(1), 0)
