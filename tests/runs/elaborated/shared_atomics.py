# Atomics in shared memory see what those before them left, and lanes that are kept out change nothing.
# says 1 run: passed
# fencepost-run: count
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


# fencepost: target=sm_90
@gluon.jit(debug=True)
def count():
    B: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    i = gl.arange(0, 128, B)
    bins = gl.allocate_shared_memory(gl.int32, [128], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    bins.store(i * 0)
    gl.barrier()
    bins.atomic_scatter_add(i * 0 + 1, i % 8, 0)
    bins.atomic_scatter_max(i, i % 16 + 64, 0, mask=i < 100)
    gl.barrier()
    seen = bins.load(B)
    gl.device_assert(gl.where(i < 8, seen == 16, True), "sixteen of each")
    gl.device_assert(gl.where(i >= 80, seen == 0, True), "nothing is elsewhere")
    gl.device_assert(gl.where((i >= 64) & (i < 68), seen == 96 + i - 64, True), "the last that is not kept out")
