"""Block-scaled Blackwell GEMM whose scales are copied from shared to tensor memory by the MMA warp.

One warp loads four things a step onto one barrier: tiles of A and B and the scales of each, packed
as the copy wants them. One warp copies the scales to tensor memory and issues the scaled MMA;
copies and MMAs of one thread execute in order, so the same scale buffers serve every step without a
wait. One commit hands back the whole slot. Four warps read out the accumulator at the end.
"""

from declare import Kernel, Twin, desc
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout,
    TensorMemoryScalesLayout,
    allocate_tensor_memory,
    mbarrier,
    tcgen05_commit,
    tcgen05_copy,
    tcgen05_mma_scaled,
    tma,
)


@gluon.jit
def unpack(scales, ROWS: gl.constexpr, COUNT: gl.constexpr):
    """View packed scales, blocks of 32 x 4 x 4, as a matrix of rows and groups."""
    blocks = scales.reshape((ROWS // 128, COUNT // 4, 32, 4, 4))
    return blocks.permute((0, 3, 2, 1, 4)).reshape((ROWS, COUNT))


@gluon.jit
def load_partition(a_desc, b_desc, sa_desc, sb_desc, a, b, sa, sb, full, empty, steps, BUG: gl.constexpr):
    DEPTH: gl.constexpr = a.shape[0]
    TILES: gl.constexpr = a_desc.nbytes_per_cta + b_desc.nbytes_per_cta
    row = gl.program_id(0) * a.shape[1]
    col = gl.program_id(1) * b.shape[1]
    for i in range(steps):
        slot = i % DEPTH
        bar = full.index(slot)
        if BUG != "no_empty_wait":
            mbarrier.wait(empty.index(slot), ((i // DEPTH) & 1) ^ 1)  # BUG: scales_unannounced
        if BUG == "scales_unannounced":
            mbarrier.expect(bar, TILES)  # BUG: scales_unannounced
        else:
            mbarrier.expect(bar, TILES + sa_desc.nbytes_per_cta + sb_desc.nbytes_per_cta)
        tma.async_load(a_desc, [row, i * a.shape[2]], bar, a.index(slot))  # BUG: no_empty_wait, handed_back_before_mma, scales_unannounced
        tma.async_load(b_desc, [col, i * b.shape[2]], bar, b.index(slot))  # BUG: no_empty_wait, handed_back_before_mma, scales_unannounced
        tma.async_load(sa_desc, [0, gl.program_id(0), i, 0, 0], bar, sa.index(slot))  # BUG: no_empty_wait, copied_before_wait, scales_unannounced
        tma.async_load(sb_desc, [0, gl.program_id(1), i, 0, 0], bar, sb.index(slot))  # BUG: no_empty_wait, copied_before_wait, scales_unannounced


@gluon.jit
def mma_partition(a, b, sa, sb, acc, a_scale, b_scale, full, empty, ready, steps, BUG: gl.constexpr):
    DEPTH: gl.constexpr = a.shape[0]
    for i in range(steps):
        slot = i % DEPTH
        if BUG == "copied_before_wait":
            tcgen05_copy(unpack(sa.index(slot), a.shape[1], a.shape[2] // 32), a_scale)  # BUG: copied_before_wait
            tcgen05_copy(unpack(sb.index(slot), b.shape[1], b.shape[2] // 32), b_scale)  # BUG: copied_before_wait
            mbarrier.wait(full.index(slot), (i // DEPTH) & 1)
        else:
            mbarrier.wait(full.index(slot), (i // DEPTH) & 1)  # BUG: scales_unannounced
            tcgen05_copy(unpack(sa.index(slot), a.shape[1], a.shape[2] // 32), a_scale)  # BUG: no_empty_wait, scales_unannounced
            tcgen05_copy(unpack(sb.index(slot), b.shape[1], b.shape[2] // 32), b_scale)  # BUG: no_empty_wait, scales_unannounced
        if BUG == "handed_back_before_mma":
            tcgen05_commit(empty.index(slot))  # BUG: handed_back_before_mma
        tcgen05_mma_scaled(a.index(slot), b.index(slot).permute((1, 0)), acc, a_scale, b_scale, "e5m2", "e5m2",  # BUG: handed_back_before_mma, no_empty_wait, result_not_waited, scales_unannounced
                           use_acc=i > 0)
        if BUG != "handed_back_before_mma":
            tcgen05_commit(empty.index(slot))
    tcgen05_commit(ready)


@gluon.jit
def read_partition(out, N, acc, ready, BUG: gl.constexpr):
    if BUG != "result_not_waited":
        mbarrier.wait(ready, 0)
    ACC: gl.constexpr = acc.get_reg_layout()
    rows = gl.program_id(0) * acc.shape[0] + gl.arange(0, acc.shape[0], gl.SliceLayout(1, ACC))
    columns = gl.program_id(1) * acc.shape[1] + gl.arange(0, acc.shape[1], gl.SliceLayout(0, ACC))
    gl.store(out + rows[:, None] * N + columns[None, :], acc.load(ACC))  # BUG: result_not_waited


@gluon.jit
def tc05_scales_copy(a_desc, b_desc, sa_desc, sb_desc, out, N, K, DEPTH: gl.constexpr, BUG: gl.constexpr):
    BLOCK_M: gl.constexpr = a_desc.block_shape[0]
    BLOCK_N: gl.constexpr = b_desc.block_shape[0]
    BLOCK_K: gl.constexpr = a_desc.block_shape[1]
    a = gl.allocate_shared_memory(a_desc.dtype, [DEPTH] + a_desc.block_shape, a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, [DEPTH] + b_desc.block_shape, b_desc.layout)
    sa = gl.allocate_shared_memory(sa_desc.dtype, [DEPTH] + sa_desc.block_shape, sa_desc.layout)
    sb = gl.allocate_shared_memory(sb_desc.dtype, [DEPTH] + sb_desc.block_shape, sb_desc.layout)
    acc = allocate_tensor_memory(gl.float32, [BLOCK_M, BLOCK_N], TensorMemoryLayout([BLOCK_M, BLOCK_N], col_stride=1))
    a_scale = allocate_tensor_memory(gl.uint8, [BLOCK_M, BLOCK_K // 32], TensorMemoryScalesLayout())
    b_scale = allocate_tensor_memory(gl.uint8, [BLOCK_N, BLOCK_K // 32], TensorMemoryScalesLayout())
    full = mbarrier.allocate_mbarrier(batch=DEPTH)
    empty = mbarrier.allocate_mbarrier(batch=DEPTH)
    ready = mbarrier.allocate_mbarrier()
    for s in gl.static_range(DEPTH):
        mbarrier.init(full.index(s), count=1)
        mbarrier.init(empty.index(s), count=1)
    mbarrier.init(ready, count=1)
    # At least one step: past the end of K the loads bring zeros, and the accumulator is defined.
    steps = gl.maximum(gl.cdiv(K, BLOCK_K), 1)
    gl.warp_specialize([
        (read_partition, (out, N, acc, ready, BUG)),
        (load_partition, (a_desc, b_desc, sa_desc, sb_desc, a, b, sa, sb, full, empty, steps, BUG)),
        (mma_partition, (a, b, sa, sb, acc, a_scale, b_scale, full, empty, ready, steps, BUG)),
    ], [1, 1], [24, 24])


PACKED = gl.NVMMASharedLayout(swizzle_byte_width=0, element_bitwidth=8, rank=5)

CORPUS = [
    Kernel(
        tc05_scales_copy, 100,
        dict(a_desc=desc("fp8e5", 128, 128), b_desc=desc("fp8e5", 128, 128),
             sa_desc=desc("u8", 1, 1, 1, 2, 256, layout=PACKED), sb_desc=desc("u8", 1, 1, 1, 2, 256, layout=PACKED),
             out="*fp32", N="i32", K="i32"), dict(DEPTH=3), twins=dict(
                 no_empty_wait=Twin(["missing-backward-barrier", "missing-forward-barrier"],
                                    "the loader overwrites a slot that has not been handed back"),
                 copied_before_wait=Twin(["missing-forward-barrier", "uninitialised-read"],
                                         "the scales are copied before they have arrived"),
                 handed_back_before_mma=Twin(["missing-backward-barrier"],
                                             "the commit covers the copies but not the MMA after it"),
                 scales_unannounced=Twin(["expect-mismatch", "missing-forward-barrier", "deadlock"],
                                         "the bytes of the scales are not announced"),
                 result_not_waited=Twin(["missing-forward-barrier", "uninitialised-read", "missing-backward-barrier"],
                                        "the accumulator is read without waiting for it"),
             )),
]
