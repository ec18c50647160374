"""Blackwell: a persistent copy whose tiles come from cluster launch control.

While a tile is copied, CTA 0 has asked for the next one; the answer comes into every CTA, with 16
bytes on its barrier. All CTAs must have read an answer before the next one is asked for into the
same place, so they meet in between.
"""

from declare import Kernel, Twin, desc
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.blackwell import clc, fence_async_shared, mbarrier, tma
from triton.experimental.gluon.language.nvidia.hopper import cluster


@gluon.jit
def clc_copy_rows(x_desc, y_desc, NONE: gl.constexpr, BUG: gl.constexpr):
    x = gl.allocate_shared_memory(x_desc.dtype, x_desc.block_shape, x_desc.layout)
    answer = gl.allocate_shared_memory(gl.int64, [2], gl.SwizzledSharedLayout(1, 1, 1, [0], cga_layout=NONE))
    ready = mbarrier.allocate_mbarrier()
    asked = mbarrier.allocate_mbarrier()
    mbarrier.init(ready, count=1)
    mbarrier.init(asked, count=1)
    tile = gl.program_id(0)
    more = gl.to_tensor(True)
    phase = 0
    while more:
        mbarrier.expect(asked, 8 if BUG == "half_an_answer" else 16)
        clc.try_cancel(answer, asked)  # BUG: answer_not_waited, no_rendezvous, half_an_answer
        mbarrier.expect(ready, x_desc.nbytes_per_cta)
        tma.async_load(x_desc, [tile * x_desc.block_shape[0], 0], ready, x)  # BUG: store_not_waited
        mbarrier.wait(ready, phase)
        tma.async_store(y_desc, [tile * x_desc.block_shape[0], 0], x)  # BUG: store_not_waited
        if BUG != "answer_not_waited":
            mbarrier.wait(asked, phase)  # BUG: half_an_answer
        got = clc.load_result(answer)  # BUG: answer_not_waited, no_rendezvous, half_an_answer
        more = got.is_canceled()
        tile = got.program_id(0)
        phase ^= 1
        if BUG != "no_rendezvous":
            cluster.barrier()
            fence_async_shared(cluster=True)
        if BUG != "store_not_waited":
            tma.store_wait(0)
    tma.store_wait(0)


def rows(ctas: int) -> dict:
    cut = tuple((1 << bit, 0) for bit in range(ctas.bit_length() - 1))
    shape = [64 * ctas, 32]
    ty = desc("fp32", *shape, layout=gl.NVMMASharedLayout.get_default_for(shape, gl.float32, cga_layout=cut))
    return dict(signature=dict(x_desc=ty, y_desc=ty), constexprs=dict(NONE=tuple((0, ) for _ in cut)), num_ctas=ctas)


CORPUS = [
    Kernel(clc_copy_rows, 100, **rows(4), name="clc_copy_rows_4"),
    Kernel(
        clc_copy_rows, 100, **rows(2), twins=dict(
            answer_not_waited=Twin(["missing-forward-barrier"], "the answer is read before it has come"),
            no_rendezvous=Twin(["missing-backward-barrier", "phase-mismatch"],
                               "CTA 0 asks again while CTA 1 may not have read the answer"),
            half_an_answer=Twin(["expect-mismatch", "deadlock"], "an answer has 16 bytes, and 8 are expected"),
            store_not_waited=Twin(["pending-access"], "the tile is loaded over while its store still reads it"),
        )),
]
