"""Root-mean-square normalisation of rows, streamed in and out by TMA, in one group of warps.

Row blocks come through a ring of three input slots and leave through two output slots. Input slots
have a `full` barrier; a slot is refilled by the same warps right after they have read it, so it
needs no `empty`. Output slots are guarded by `store_wait(1)`: of two stores in flight the older one
has read its slot. The fences between ordinary accesses and TMA within the partition are left to the
compiler, but for the one before the store.
"""

from declare import Kernel, Twin, desc
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma


@gluon.jit
def rms_norm_rows(x_desc, y_desc, gain, eps, blocks, STAGES_IN: gl.constexpr, STAGES_OUT: gl.constexpr,
                  BUG: gl.constexpr):
    ROWS: gl.constexpr = x_desc.block_shape[0]
    WIDTH: gl.constexpr = x_desc.block_shape[1]
    TILE: gl.constexpr = gl.BlockedLayout([1, 8], [2, 16], [4, 1], [1, 0])
    x = gl.allocate_shared_memory(x_desc.dtype, [STAGES_IN, ROWS, WIDTH], x_desc.layout)
    y = gl.allocate_shared_memory(y_desc.dtype, [STAGES_OUT, ROWS, WIDTH], y_desc.layout)
    full = mbarrier.allocate_mbarrier(batch=STAGES_IN)
    for s in gl.static_range(STAGES_IN):
        mbarrier.init(full.index(s), count=1)

    first = gl.program_id(0)
    stride = gl.num_programs(0)
    steps = gl.cdiv(blocks - first, stride)
    for s in gl.static_range(STAGES_IN):
        mbarrier.expect(full.index(s), x_desc.nbytes_per_cta, pred=s < steps)
        tma.async_load(x_desc, [(first + s * stride) * ROWS, 0], full.index(s), x.index(s), pred=s < steps)  # BUG: phase_starts_at_1, no_full_wait

    weight = gl.load(gain + gl.arange(0, WIDTH, gl.SliceLayout(0, TILE))).to(gl.float32)
    slot = 0
    phase = 1 if BUG == "phase_starts_at_1" else 0
    for i in range(steps):
        if BUG != "no_full_wait":
            mbarrier.wait(full.index(slot), phase)  # BUG: phase_starts_at_1, expects_float32
        if BUG != "refills_before_read":
            value = x.index(slot).load(TILE).to(gl.float32)  # BUG: phase_starts_at_1, no_full_wait, expects_float32
        ahead = i + STAGES_IN
        BYTES: gl.constexpr = ROWS * WIDTH * 4 if BUG == "expects_float32" else x_desc.nbytes_per_cta
        mbarrier.expect(full.index(slot), BYTES, pred=ahead < steps)  # BUG: expects_float32
        tma.async_load(x_desc, [(first + ahead * stride) * ROWS, 0], full.index(slot), x.index(slot),  # BUG: refills_before_read, expects_float32
                       pred=ahead < steps)
        if BUG == "refills_before_read":
            value = x.index(slot).load(TILE).to(gl.float32)  # BUG: refills_before_read
        mean = gl.sum(value * value, 1) / WIDTH
        result = value * gl.rsqrt(mean + eps)[:, None] * weight[None, :]

        if BUG == "waits_for_no_store":
            tma.store_wait(STAGES_OUT)  # BUG: waits_for_no_store
        else:
            tma.store_wait(STAGES_OUT - 1)
        staged = y.index(i % STAGES_OUT)
        staged.store(result.to(y_desc.dtype))  # BUG: waits_for_no_store
        fence_async_shared()
        tma.async_store(y_desc, [(first + i * stride) * ROWS, 0], staged)  # BUG: waits_for_no_store
        wraps = slot == STAGES_IN - 1
        slot = gl.where(wraps, 0, slot + 1)
        phase = gl.where(wraps, phase ^ 1, phase)
    tma.store_wait(0)
    for s in gl.static_range(STAGES_IN):
        mbarrier.invalidate(full.index(s))


CORPUS = [
    Kernel(
        rms_norm_rows, 90,
        dict(x_desc=desc("bf16", 32, 128), y_desc=desc("bf16", 32, 128), gain="*bf16", eps="fp32", blocks="i32"),
        dict(STAGES_IN=3, STAGES_OUT=2), twins=dict(
            no_full_wait=Twin(["missing-forward-barrier"], "a row block is read before it has arrived"),
            phase_starts_at_1=Twin(["phase-mismatch", "missing-forward-barrier", "deadlock"],
                                   "the phase of a side that waits for an empty ring, used on the full one"),
            expects_float32=Twin(["expect-mismatch", "deadlock"],
                                 "refills announce four bytes an element, the rows have two"),
            refills_before_read=Twin(["missing-forward-barrier", "missing-backward-barrier"],
                                     "the slot is refilled before it has been read"),
            waits_for_no_store=Twin(["pending-access"], "both stores may be in flight, one reads the slot"),
        )),
]
