"""Persistent Blackwell GEMM: load, MMA and epilogue overlap across output tiles.

The operand ring runs through all tiles without a break. The accumulator is double-buffered in
tensor memory: the MMA partition fills one while the epilogue empties the other. `acc_full` is
arrived on by a commit after a tile's last MMA, `acc_empty` by the epilogue once the accumulator is
in registers, before it is stored. The epilogue stages its tile in two buffers and keeps one TMA
store in flight. Ring positions are counted in steps and tiles; slot and phase are derived.
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
def load_partition(a_desc, b_desc, a, b, full, empty, steps, tiles_m, num_tiles, BUG: gl.constexpr):
    DEPTH: gl.constexpr = a.shape[0]
    count = 0
    for tile in range(gl.program_id(0), num_tiles, gl.num_programs(0)):
        row = (tile % tiles_m) * a.shape[1]
        col = (tile // tiles_m) * b.shape[2]
        for i in range(steps):
            slot = count % DEPTH
            mbarrier.wait(empty.index(slot), (count // DEPTH) & 1 ^ 1)
            mbarrier.expect(full.index(slot), a_desc.nbytes_per_cta + b_desc.nbytes_per_cta)
            tma.async_load(a_desc, [row, i * a.shape[2]], full.index(slot), a.index(slot))  # BUG: step_count_restarts
            tma.async_load(b_desc, [i * a.shape[2], col], full.index(slot), b.index(slot))  # BUG: step_count_restarts
            count += 1


@gluon.jit
def mma_partition(a, b, acc, full, empty, acc_full, acc_empty, steps, num_tiles, BUG: gl.constexpr):
    DEPTH: gl.constexpr = a.shape[0]
    count = 0
    done = 0
    for tile in range(gl.program_id(0), num_tiles, gl.num_programs(0)):
        buffer = done % 2
        if BUG == "acc_parity_not_inverted":
            mbarrier.wait(acc_empty.index(buffer), (done // 2) & 1)  # BUG: acc_parity_not_inverted
        elif BUG != "no_acc_empty_wait":
            mbarrier.wait(acc_empty.index(buffer), (done // 2) & 1 ^ 1)  # BUG: acc_never_released
        if BUG == "step_count_restarts":
            count = 0
        for i in range(steps):
            slot = count % DEPTH
            mbarrier.wait(full.index(slot), (count // DEPTH) & 1)  # BUG: step_count_restarts
            tcgen05_mma(a.index(slot), b.index(slot), acc.index(buffer), use_acc=i > 0)  # BUG: no_acc_empty_wait, acc_released_before_load, step_count_restarts, committed_before_mma, wrong_buffer_read
            tcgen05_commit(empty.index(slot))
            count += 1
            if BUG == "committed_before_mma" and i == 0:
                tcgen05_commit(acc_full.index(buffer))  # BUG: committed_before_mma
        if BUG != "committed_before_mma":
            tcgen05_commit(acc_full.index(buffer))
        done += 1


@gluon.jit
def epilogue_partition(c_desc, acc, c, acc_full, acc_empty, tiles_m, num_tiles, BUG: gl.constexpr):
    BLOCK_M: gl.constexpr = c.shape[1]
    BLOCK_N: gl.constexpr = c.shape[2]
    done = 0
    for tile in range(gl.program_id(0), num_tiles, gl.num_programs(0)):
        buffer = done % 2
        mbarrier.wait(acc_full.index(buffer), (done // 2) & 1)  # BUG: acc_never_released, acc_parity_not_inverted
        if BUG == "acc_released_before_load":
            mbarrier.arrive(acc_empty.index(buffer), count=1)  # BUG: acc_released_before_load
        if BUG == "wrong_buffer_read":
            value = acc.index(buffer ^ 1).load()  # BUG: wrong_buffer_read
        else:
            value = acc.index(buffer).load()  # BUG: no_acc_empty_wait, acc_released_before_load, committed_before_mma
        if BUG != "acc_released_before_load" and BUG != "acc_never_released":
            mbarrier.arrive(acc_empty.index(buffer), count=1)
        # Of the two stores that may be in flight the older one has read its buffer.
        if BUG != "staging_not_waited":
            tma.store_wait(1)
        c.index(buffer).store(value.to(c.dtype))  # BUG: staging_not_waited
        fence_async_shared()
        tma.async_store(c_desc, [(tile % tiles_m) * BLOCK_M, (tile // tiles_m) * BLOCK_N], c.index(buffer))  # BUG: staging_not_waited
        done += 1
    tma.store_wait(0)


@gluon.jit
def tc05_persistent(a_desc, b_desc, c_desc, K, tiles_m, num_tiles, DEPTH: gl.constexpr, BUG: gl.constexpr):
    BLOCK_M: gl.constexpr = c_desc.block_shape[0]
    BLOCK_N: gl.constexpr = c_desc.block_shape[1]
    a = gl.allocate_shared_memory(a_desc.dtype, [DEPTH] + a_desc.block_shape, a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, [DEPTH] + b_desc.block_shape, b_desc.layout)
    c = gl.allocate_shared_memory(c_desc.dtype, [2, BLOCK_M, BLOCK_N], c_desc.layout)
    acc = allocate_tensor_memory(gl.float32, [2, BLOCK_M, BLOCK_N], TensorMemoryLayout([BLOCK_M, BLOCK_N], col_stride=1))
    full = mbarrier.allocate_mbarrier(batch=DEPTH)
    empty = mbarrier.allocate_mbarrier(batch=DEPTH)
    acc_full = mbarrier.allocate_mbarrier(batch=2)
    acc_empty = mbarrier.allocate_mbarrier(batch=2)
    for s in gl.static_range(DEPTH):
        mbarrier.init(full.index(s), count=1)
        mbarrier.init(empty.index(s), count=1)
    for s in gl.static_range(2):
        mbarrier.init(acc_full.index(s), count=1)
        mbarrier.init(acc_empty.index(s), count=1)
    # At least one step: past the end of K the loads bring zeros, and the accumulator is defined.
    steps = gl.maximum(gl.cdiv(K, a_desc.block_shape[1]), 1)
    gl.warp_specialize([
        (epilogue_partition, (c_desc, acc, c, acc_full, acc_empty, tiles_m, num_tiles, BUG)),
        (load_partition, (a_desc, b_desc, a, b, full, empty, steps, tiles_m, num_tiles, BUG)),
        (mma_partition, (a, b, acc, full, empty, acc_full, acc_empty, steps, num_tiles, BUG)),
    ], [1, 1], [24, 24])


CORPUS = [
    Kernel(
        tc05_persistent, 100,
        dict(a_desc=desc("fp16", 128, 64), b_desc=desc("fp16", 64, 128), c_desc=desc("fp16", 128, 128), K="i32",
             tiles_m="i32", num_tiles="i32"), dict(DEPTH=4), twins=dict(
                 no_acc_empty_wait=Twin(["missing-backward-barrier", "missing-forward-barrier"],
                                        "an accumulator is overwritten before the epilogue has read it"),
                 acc_parity_not_inverted=Twin(["deadlock", "phase-mismatch"],
                                              "the first use of each accumulator waits for a release"),
                 acc_released_before_load=Twin(["missing-backward-barrier", "missing-forward-barrier"],
                                               "the accumulator is handed back before it has been read"),
                 acc_never_released=Twin(["deadlock"], "accumulators are never handed back"),
                 committed_before_mma=Twin(["missing-forward-barrier", "missing-backward-barrier"],
                                           "the commit covers the first MMA of the tile only"),
                 wrong_buffer_read=Twin(["missing-forward-barrier", "uninitialised-read"],
                                        "the epilogue reads the accumulator that is being filled"),
                 step_count_restarts=Twin(["phase-mismatch", "missing-forward-barrier", "lapped-wait", "deadlock",
                                           "missing-backward-barrier"],
                                          "the MMA side counts its steps from 0 in every tile"),
                 staging_not_waited=Twin(["pending-access"], "a staging buffer is written while a store reads it"),
             )),
]
