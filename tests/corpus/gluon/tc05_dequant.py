"""Blackwell GEMM with 8-bit weights that are widened on the way, in three partitions.

One warp loads A (16 bit) and the packed weights by TMA, each into a ring of its own. Four warps
read the packed weights, widen and scale them and write ring `wide` with ordinary stores; the MMA
warp reads that ring through the asynchronous proxy, so they fence before they announce a slot. They
fence as well between reading a packed slot and handing it back to TMA. The MMA warp returns A's and
the wide slots with commits. At the end the widening warps store the result.
"""

from declare import Kernel, Twin, desc
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout,
    allocate_tensor_memory,
    fence_async_shared,
    mbarrier,
    tcgen05_commit,
    tcgen05_mma,
    tma,
)


@gluon.jit
def load_partition(a_desc, w_desc, a, packed, a_full, a_empty, packed_full, packed_empty, row, col, steps,
                   BUG: gl.constexpr):
    DEPTH: gl.constexpr = a.shape[0]
    for i in range(steps):
        slot = i % DEPTH
        parity = (i // DEPTH) & 1
        mbarrier.wait(packed_empty.index(slot), parity ^ 1)
        mbarrier.expect(packed_full.index(slot), w_desc.nbytes_per_cta)
        tma.async_load(w_desc, [i * packed.shape[1], col], packed_full.index(slot), packed.index(slot))  # BUG: packed_not_waited
        mbarrier.wait(a_empty.index(slot), parity ^ 1)
        mbarrier.expect(a_full.index(slot), a_desc.nbytes_per_cta)
        tma.async_load(a_desc, [row, i * a.shape[2]], a_full.index(slot), a.index(slot))


@gluon.jit
def widen_partition(scale, c_desc, packed, packed_full, packed_empty, wide, wide_full, wide_empty, acc, ready, row, col,
                    steps, BUG: gl.constexpr):
    DEPTH: gl.constexpr = packed.shape[0]
    STAGES: gl.constexpr = wide.shape[0]
    TILE: gl.constexpr = gl.BlockedLayout([1, 16], [4, 8], [4, 1], [1, 0])
    for i in range(steps):
        slot = i % DEPTH
        if BUG != "packed_not_waited":
            mbarrier.wait(packed_full.index(slot), (i // DEPTH) & 1)
        weights = packed.index(slot).load(TILE)  # BUG: packed_not_waited
        fence_async_shared()
        mbarrier.arrive(packed_empty.index(slot), count=1)
        stage = i % STAGES
        if BUG != "wide_empty_not_waited":
            mbarrier.wait(wide_empty.index(stage), ((i // STAGES) & 1) ^ 1)  # BUG: wide_counts_warps
        if BUG == "announced_before_write":
            mbarrier.arrive(wide_full.index(stage), count=1)  # BUG: announced_before_write
        wide.index(stage).store((weights.to(gl.float32) * scale).to(wide.dtype))  # BUG: wide_empty_not_waited, announced_before_write, no_fence, fence_after_arrive, wide_full_not_waited
        if BUG != "no_fence" and BUG != "fence_after_arrive":
            fence_async_shared()
        if BUG != "announced_before_write":
            mbarrier.arrive(wide_full.index(stage), count=1)
        if BUG == "fence_after_arrive":
            fence_async_shared()

    mbarrier.wait(ready, 0)
    c = gl.allocate_shared_memory(c_desc.dtype, c_desc.block_shape, c_desc.layout)
    c.store(acc.load().to(c_desc.dtype))
    fence_async_shared()
    tma.async_store(c_desc, [row, col], c)
    tma.store_wait(0)


@gluon.jit
def mma_partition(a, a_full, a_empty, wide, wide_full, wide_empty, acc, ready, steps, BUG: gl.constexpr):
    DEPTH: gl.constexpr = a.shape[0]
    STAGES: gl.constexpr = wide.shape[0]
    for i in range(steps):
        slot = i % DEPTH
        stage = i % STAGES
        mbarrier.wait(a_full.index(slot), (i // DEPTH) & 1)
        if BUG != "wide_full_not_waited":
            mbarrier.wait(wide_full.index(stage), (i // STAGES) & 1)  # BUG: wide_counts_warps
        tcgen05_mma(a.index(slot), wide.index(stage), acc, use_acc=i > 0)  # BUG: wide_empty_not_waited, announced_before_write, no_fence, fence_after_arrive, wide_full_not_waited
        tcgen05_commit(a_empty.index(slot))
        tcgen05_commit(wide_empty.index(stage))
    tcgen05_commit(ready)


@gluon.jit
def tc05_dequant(a_desc, w_desc, c_desc, scale, K, DEPTH: gl.constexpr, STAGES: gl.constexpr, BUG: gl.constexpr):
    row = gl.program_id(0) * c_desc.block_shape[0]
    col = gl.program_id(1) * c_desc.block_shape[1]
    a = gl.allocate_shared_memory(a_desc.dtype, [DEPTH] + a_desc.block_shape, a_desc.layout)
    packed = gl.allocate_shared_memory(w_desc.dtype, [DEPTH] + w_desc.block_shape, w_desc.layout)
    WIDE: gl.constexpr = gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2)
    wide = gl.allocate_shared_memory(a_desc.dtype, [STAGES] + w_desc.block_shape, WIDE)
    acc = allocate_tensor_memory(gl.float32, c_desc.block_shape, TensorMemoryLayout(c_desc.block_shape, col_stride=1))
    a_full = mbarrier.allocate_mbarrier(batch=DEPTH)
    a_empty = mbarrier.allocate_mbarrier(batch=DEPTH)
    packed_full = mbarrier.allocate_mbarrier(batch=DEPTH)
    packed_empty = mbarrier.allocate_mbarrier(batch=DEPTH)
    wide_full = mbarrier.allocate_mbarrier(batch=STAGES)
    wide_empty = mbarrier.allocate_mbarrier(batch=STAGES)
    ready = mbarrier.allocate_mbarrier()
    for s in gl.static_range(DEPTH):
        mbarrier.init(a_full.index(s), count=1)
        mbarrier.init(a_empty.index(s), count=1)
        mbarrier.init(packed_full.index(s), count=1)
        mbarrier.init(packed_empty.index(s), count=1)
    for s in gl.static_range(STAGES):
        mbarrier.init(wide_full.index(s), count=4 if BUG == "wide_counts_warps" else 1)
        mbarrier.init(wide_empty.index(s), count=1)
    mbarrier.init(ready, count=1)
    # At least one step: past the end of K the loads bring zeros, and the accumulator is defined.
    steps = gl.maximum(gl.cdiv(K, a_desc.block_shape[1]), 1)
    gl.warp_specialize([
        (widen_partition, (scale, c_desc, packed, packed_full, packed_empty, wide, wide_full, wide_empty, acc, ready, row,
                           col, steps, BUG)),
        (load_partition, (a_desc, w_desc, a, packed, a_full, a_empty, packed_full, packed_empty, row, col, steps, BUG)),
        (mma_partition, (a, a_full, a_empty, wide, wide_full, wide_empty, acc, ready, steps, BUG)),
    ], [1, 1], [24, 24])


CORPUS = [
    Kernel(
        tc05_dequant, 100,
        dict(a_desc=desc("fp16", 128, 64), w_desc=desc("i8", 64, 128), c_desc=desc("fp16", 128, 128), scale="fp32",
             K="i32"), dict(DEPTH=3, STAGES=2), twins=dict(
                 no_fence=Twin(["missing-proxy-fence"], "ordinary writes are handed to the MMA without a fence"),
                 fence_after_arrive=Twin(["missing-proxy-fence"], "the fence comes after the slot was announced"),
                 announced_before_write=Twin(["missing-forward-barrier", "missing-backward-barrier",
                                              "missing-proxy-fence", "uninitialised-read"],
                                             "the slot is announced before it is written"),
                 wide_empty_not_waited=Twin(["missing-backward-barrier", "missing-proxy-fence"],
                                            "a wide slot is written while an MMA may read it"),
                 wide_full_not_waited=Twin(["missing-forward-barrier", "missing-proxy-fence", "uninitialised-read",
                                            "missing-backward-barrier"],
                                           "the MMA does not wait for the widened weights"),
                 packed_not_waited=Twin(["missing-forward-barrier", "uninitialised-read"],
                                        "packed weights are read before they have arrived"),
                 wide_counts_warps=Twin(["deadlock"], "an arrival a warp is counted for, there is one a partition"),
             )),
]
