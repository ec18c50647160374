"""Block-scaled Blackwell GEMM (mxfp8) with scales that go through registers.

Tiles of A and B come by TMA through two slots; the scales of a step are read from global memory
into registers and stored to tensor memory, where the scaled MMA reads them. There is one set of
scale buffers, so it is written only after the MMA of the step before is done, on barrier `done`.
That wait also frees the other slot for the next load. The accumulator starts at zero.
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
    tcgen05_mma_scaled,
    tma,
)


@gluon.jit
def start_load(a_desc, b_desc, a, b, full, step, steps, row, col, BUG: gl.constexpr):
    slot = step & 1
    more = step < steps
    mbarrier.expect(full.index(slot), a_desc.nbytes_per_cta + b_desc.nbytes_per_cta, pred=more)
    tma.async_load(a_desc, [row, step * a.shape[2]], full.index(slot), a.index(slot), pred=more)  # BUG: done_not_waited, no_full_wait
    tma.async_load(b_desc, [col, step * b.shape[2]], full.index(slot), b.index(slot), pred=more)  # BUG: done_not_waited, no_full_wait


@gluon.jit
def read_scales(scales, first, step, steps, ROWS: gl.constexpr, COUNT: gl.constexpr, LAYOUT: gl.constexpr):
    rows = first + gl.arange(0, ROWS, gl.SliceLayout(1, LAYOUT))
    columns = step * COUNT + gl.arange(0, COUNT, gl.SliceLayout(0, LAYOUT))
    return gl.load(scales + rows[:, None] * (steps * COUNT) + columns[None, :])


@gluon.jit
def tc05_scaled(a_desc, b_desc, a_scales, b_scales, out, steps, N, BUG: gl.constexpr):
    BLOCK_M: gl.constexpr = a_desc.block_shape[0]
    BLOCK_N: gl.constexpr = b_desc.block_shape[0]
    COUNT: gl.constexpr = a_desc.block_shape[1] // 32
    row = gl.program_id(0) * BLOCK_M
    col = gl.program_id(1) * BLOCK_N
    a = gl.allocate_shared_memory(a_desc.dtype, [2] + a_desc.block_shape, a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, [2] + b_desc.block_shape, b_desc.layout)
    full = mbarrier.allocate_mbarrier(batch=2)
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(full.index(0), count=1)
    mbarrier.init(full.index(1), count=1)
    mbarrier.init(done, count=1)
    acc = allocate_tensor_memory(gl.float32, [BLOCK_M, BLOCK_N], TensorMemoryLayout([BLOCK_M, BLOCK_N], col_stride=1))
    a_scale = allocate_tensor_memory(gl.uint8, [BLOCK_M, COUNT], TensorMemoryScalesLayout())
    b_scale = allocate_tensor_memory(gl.uint8, [BLOCK_N, COUNT], TensorMemoryScalesLayout())
    ACC: gl.constexpr = acc.get_reg_layout()
    A_SCALE: gl.constexpr = a_scale.get_reg_layout()
    B_SCALE: gl.constexpr = b_scale.get_reg_layout()
    acc.store(gl.zeros([BLOCK_M, BLOCK_N], gl.float32, ACC))

    start_load(a_desc, b_desc, a, b, full, 0, steps, row, col, BUG)
    for i in range(steps):
        slot = i & 1
        a_values = read_scales(a_scales, row, i, steps, BLOCK_M, COUNT, A_SCALE)
        b_values = read_scales(b_scales, col, i, steps, BLOCK_N, COUNT, B_SCALE)
        # Parity 1 passes at the first step; from then on it is the MMA of the step before.
        if BUG == "done_parity":
            mbarrier.wait(done, i & 1)  # BUG: done_parity
        elif BUG != "done_not_waited":
            mbarrier.wait(done, (i & 1) ^ 1)  # BUG: commit_before_mma
        start_load(a_desc, b_desc, a, b, full, i + 1, steps, row, col, BUG)
        a_scale.store(a_values)  # BUG: done_not_waited, commit_before_mma
        b_scale.store(b_values)  # BUG: done_not_waited, commit_before_mma
        if BUG != "no_full_wait":
            mbarrier.wait(full.index(slot), (i >> 1) & 1)
        if BUG == "commit_before_mma":
            tcgen05_commit(done)  # BUG: commit_before_mma
        tcgen05_mma_scaled(a.index(slot), b.index(slot).permute((1, 0)), acc, a_scale, b_scale, "e4m3", "e4m3")  # BUG: no_full_wait, done_not_waited, commit_before_mma
        if BUG != "commit_before_mma":
            tcgen05_commit(done)

    if BUG != "result_not_waited":
        mbarrier.wait(done, (steps & 1) ^ 1)
    rows = row + gl.arange(0, BLOCK_M, gl.SliceLayout(1, ACC))
    columns = col + gl.arange(0, BLOCK_N, gl.SliceLayout(0, ACC))
    gl.store(out + rows[:, None] * N + columns[None, :], acc.load(ACC))  # BUG: result_not_waited, commit_before_mma


CORPUS = [
    Kernel(
        tc05_scaled, 100,
        dict(a_desc=desc("fp8e4nv", 128, 128), b_desc=desc("fp8e4nv", 128, 128), a_scales="*u8", b_scales="*u8",
             out="*fp32", steps="i32", N="i32"), twins=dict(
                 no_full_wait=Twin(["missing-forward-barrier"], "the MMA does not wait for its tiles"),
                 done_not_waited=Twin(["missing-backward-barrier"], "the scales are overwritten while an MMA reads them"),
                 done_parity=Twin(["deadlock", "phase-mismatch"], "the first step waits for an MMA of its own future"),
                 commit_before_mma=Twin(["missing-backward-barrier", "missing-forward-barrier"],
                                        "the commit does not cover the MMA after it"),
                 result_not_waited=Twin(["missing-forward-barrier"], "the accumulator is read while MMAs write it"),
             )),
]
