"""Row permutation on Blackwell: TMA gathers rows into a ring and scatters them elsewhere.

Each step gathers 32 rows named by one index list into a slot and scatters them to the rows named by
another. The data never passes through registers, so there is no fence. One barrier a slot for the
gathers; a slot is free for the next gather when the scatter that reads it is done, which
`store_wait(1)` says of the scatter one step back. Index and phase are carried.
"""

from declare import Kernel, Twin, desc
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.blackwell import mbarrier, tma

COUNT: gl.constexpr = gl.constexpr(32)


@gluon.jit
def gather(x_desc, source, ring, full, slot, step, steps, BUG: gl.constexpr):
    """Start the gather of step `step` into `slot`, if there is such a step."""
    ROWS: gl.constexpr = gl.SliceLayout(0, gl.BlockedLayout([1, 4], [32, 1], [1, 4], [1, 0]))
    more = step < steps
    rows = gl.load(source + step * COUNT + gl.arange(0, COUNT, ROWS), mask=gl.full([COUNT], more, gl.int1, ROWS), other=0)
    BYTES: gl.constexpr = x_desc.nbytes_per_cta if BUG == "expects_one_row" else COUNT * x_desc.nbytes_per_cta
    mbarrier.expect(full.index(slot), BYTES, pred=more)  # BUG: expects_one_row
    tma.async_gather(x_desc, rows, gl.program_id(0) * ring.shape[2], full.index(slot), ring.index(slot), pred=more)  # BUG: expects_one_row, full_not_waited, scatter_still_reads, refills_current


@gluon.jit
def gather_scatter_rows(x_desc, y_desc, source, target, steps, DEPTH: gl.constexpr, BUG: gl.constexpr):
    ROWS: gl.constexpr = gl.SliceLayout(0, gl.BlockedLayout([1, 4], [32, 1], [1, 4], [1, 0]))
    WIDTH: gl.constexpr = x_desc.block_shape[1]
    ring = gl.allocate_shared_memory(x_desc.dtype, [DEPTH, COUNT, WIDTH], x_desc.layout)
    full = mbarrier.allocate_mbarrier(batch=DEPTH)
    for s in gl.static_range(DEPTH):
        mbarrier.init(full.index(s), count=1)
        if BUG == "initialised_twice":
            mbarrier.init(full.index(s), count=1)  # BUG: initialised_twice
    for s in gl.static_range(DEPTH - 1):
        gather(x_desc, source, ring, full, s, s, steps, BUG)
    index = 0
    phase = 0
    for i in range(steps):
        if BUG != "full_not_waited":
            mbarrier.wait(full.index(index), phase)  # BUG: expects_one_row
        rows = gl.load(target + i * COUNT + gl.arange(0, COUNT, ROWS))
        tma.async_scatter(y_desc, rows, gl.program_id(0) * WIDTH, ring.index(index))  # BUG: expects_one_row, full_not_waited, scatter_still_reads, refills_current
        # The scatter one step back is done, and the slot behind this one free.
        if BUG == "scatter_still_reads":
            tma.store_wait(2)  # BUG: scatter_still_reads
        else:
            tma.store_wait(1)
        behind = gl.where(index == 0, DEPTH - 1, index - 1)
        if BUG == "refills_current":
            behind = index
        gather(x_desc, source, ring, full, behind, i + DEPTH - 1, steps, BUG)
        wraps = index == DEPTH - 1
        index = gl.where(wraps, 0, index + 1)
        phase = gl.where(wraps, phase ^ 1, phase)
    tma.store_wait(0)


CORPUS = [
    Kernel(
        gather_scatter_rows, 100,
        dict(x_desc=desc("bf16", 1, 64, layout=gl.NVMMASharedLayout(128, 16, 2)),
             y_desc=desc("bf16", 1, 64, layout=gl.NVMMASharedLayout(128, 16, 2)), source="*i32", target="*i32",
             steps="i32"), dict(DEPTH=3), twins=dict(
                 full_not_waited=Twin(["missing-forward-barrier"], "rows are scattered before they have arrived"),
                 scatter_still_reads=Twin(["pending-access"], "a slot is refilled while its scatter may read it"),
                 refills_current=Twin(["pending-access", "missing-forward-barrier"],
                                      "the slot that is being scattered is refilled"),
                 expects_one_row=Twin(["expect-mismatch", "missing-forward-barrier", "deadlock"],
                                      "the bytes of one row are announced, not of all 32"),
                 initialised_twice=Twin(["barrier-reinit"], "each barrier is initialised twice"),
             )),
]
