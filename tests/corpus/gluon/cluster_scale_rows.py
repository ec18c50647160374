"""Hopper: rows scaled by one tile of factors, fetched once for the whole cluster.

Each CTA works on rows of its own. The factors are multicast into one buffer that is used again for
every step, so all CTAs meet after reading it: only then may CTA 0 ask for the next ones.
"""

from declare import Kernel, Twin, desc
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import cluster, fence_async_shared, mbarrier, tma


@gluon.jit
def cluster_scale_rows(x_desc, f_desc, y_desc, N, REGS: gl.constexpr, BUG: gl.constexpr):
    row = gl.program_id(0) * x_desc.block_shape[0]
    x = gl.allocate_shared_memory(x_desc.dtype, x_desc.block_shape, x_desc.layout)
    f = gl.allocate_shared_memory(f_desc.dtype, f_desc.block_shape, f_desc.layout)
    y = gl.allocate_shared_memory(y_desc.dtype, y_desc.block_shape, y_desc.layout)
    ready = mbarrier.allocate_mbarrier(two_ctas=BUG == "leader_waits")
    mbarrier.init(ready, count=1)
    phase = 0
    for col in range(0, N, x_desc.block_shape[1]):
        mbarrier.expect(ready, x_desc.nbytes_per_cta + f_desc.nbytes_per_cta)
        tma.async_load(x_desc, [row, col], ready, x)  # BUG: no_wait
        tma.async_load(f_desc, [0, col], ready, f, multicast=True)  # BUG: no_wait, no_rendezvous, relaxed_rendezvous, early_rendezvous
        if BUG != "no_wait":
            mbarrier.wait(ready, phase)
        phase ^= 1
        if BUG == "early_rendezvous":
            cluster.barrier()
        factors = f.load(REGS)  # BUG: no_wait, no_rendezvous, relaxed_rendezvous, early_rendezvous
        values = x.load(REGS) * factors  # BUG: no_wait
        if BUG == "relaxed_rendezvous":
            cluster.barrier(relaxed=True)
        elif BUG != "no_rendezvous" and BUG != "early_rendezvous":
            cluster.barrier()
        tma.store_wait(0)
        y.store(values)
        fence_async_shared()
        tma.async_store(y_desc, [row, col], y)
    tma.store_wait(0)


CUT = ((1, 0), )
WHOLE = ((0, 0), )


def tile(rows: int, cga) -> str:
    return desc("fp32", rows, 32, layout=gl.NVMMASharedLayout.get_default_for([rows, 32], gl.float32, cga_layout=cga))


CORPUS = [
    Kernel(
        cluster_scale_rows, 90, dict(x_desc=tile(128, CUT), f_desc=tile(128, WHOLE), y_desc=tile(128, CUT), N="i32"),
        dict(REGS=gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0], cga_layout=CUT)), num_ctas=2, twins=dict(
            no_wait=Twin(["missing-forward-barrier"], "nobody waits for the tiles"),
            no_rendezvous=Twin(["missing-backward-barrier"], "the next factors may come while a CTA reads these"),
            early_rendezvous=Twin(["missing-backward-barrier"], "the CTAs meet before they read"),
            relaxed_rendezvous=Twin(["missing-backward-barrier"], "a relaxed meeting orders nothing in memory"),
        )),
]
