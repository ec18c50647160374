"""Rows picked out of one matrix, scaled, and put to other rows of another, by the data mover of CDNA 5.

A gather brings the chosen rows into one of two LDS slots and arrives on its barrier; the rows are read,
scaled and written to a staging tile, and a scatter sends them off. The tile is written again only when
the scatter that read it is over, which a count of the data mover's operations says: they finish in the
order of issue, and only the gather ahead is younger than the scatter.
"""

from declare import Kernel, Twin
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.amd.cdna5 import mbarrier, tdm

TILE: gl.constexpr = gl.constexpr(gl.BlockedLayout([1, 4], [1, 32], [4, 1], [1, 0]))
INDEX: gl.constexpr = gl.constexpr(gl.SliceLayout(1, gl.BlockedLayout([8, 1], [1, 32], [1, 4], [1, 0])))


@gluon.jit
def tdm_rows(x, y, picks, places, count, rows, factor, BLOCK: gl.constexpr, WIDTH: gl.constexpr, BUG: gl.constexpr):
    layout: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    x_desc = tdm.make_tensor_descriptor(x, (rows, WIDTH), (WIDTH, 1), (BLOCK, WIDTH), layout)
    y_desc = tdm.make_tensor_descriptor(y, (rows, WIDTH), (WIDTH, 1), (BLOCK, WIDTH), layout)
    source = gl.allocate_shared_memory(gl.float32, [2, BLOCK, WIDTH], layout)
    staging = gl.allocate_shared_memory(gl.float32, [BLOCK, WIDTH], layout)
    full = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    WARPS: gl.constexpr = 1 if BUG == "counts_one_warp" else 4
    mbarrier.init(full.index(0), count=WARPS)
    mbarrier.init(full.index(1), count=WARPS)
    lines = gl.arange(0, BLOCK, INDEX)

    blocks = gl.cdiv(count, BLOCK)
    tdm.async_gather(x_desc, gl.load(picks + lines), source.index(0), mbarrier=full.index(0))  # BUG: counts_one_warp, not_waited
    for block in range(blocks):
        slot = block % 2
        ahead = (block + 1) % 2
        chosen = gl.load(picks + (block + 1) * BLOCK + lines)
        tdm.async_gather(x_desc, chosen, source.index(ahead), mbarrier=full.index(ahead))  # BUG: not_waited, phase_stuck, counts_one_warp
        if BUG == "phase_stuck":
            mbarrier.wait(full.index(slot), 0)  # BUG: phase_stuck
        elif BUG != "not_waited":
            mbarrier.wait(full.index(slot), (block // 2) & 1)
        tile = source.index(slot).load(TILE) * factor  # BUG: not_waited, phase_stuck
        if BUG == "scatter_open":
            tdm.async_wait(2)
        elif BUG != "scatter_not_waited":
            tdm.async_wait(1)
        staging.store(tile)  # BUG: scatter_open, scatter_not_waited
        tdm.async_scatter(y_desc, gl.load(places + block * BLOCK + lines), staging)  # BUG: scatter_open, scatter_not_waited
    tdm.async_wait(0)


CORPUS = [
    Kernel(
        tdm_rows, "gfx1250",
        dict(x="*fp32", y="*fp32", picks="*i32", places="*i32", count="i32", rows="i32", factor="fp32"),
        dict(BLOCK=16, WIDTH=128), twins=dict(
            not_waited=Twin(["missing-forward-barrier"], "rows are read before they have come"),
            counts_one_warp=Twin(["arrival-overflow"], "the barrier counts one warp, a gather arrives once for each"),
            phase_stuck=Twin(["phase-mismatch", "missing-forward-barrier", "lapped-wait", "deadlock"],
                             "the phase never flips"),
            scatter_open=Twin(["pending-access"], "the wait leaves the scatter open"),
            scatter_not_waited=Twin(["pending-access"], "the tile is written while a scatter reads it"),
        )),
]
