"""Hopper attention forward: one warp loads Q, K and V, four warps compute.

Online softmax over the key blocks of one query block, causal: the trip count comes from the program
id. Q is loaded once, on a barrier that completes once. K and V live in rings of their own, each
with `full` and `empty` barriers, since K is free as soon as the scores are done and V only after
the second MMA. A small aggregate holds a ring's index and phase and wraps them; the loader starts
its cursor at phase 1.
"""

from declare import Kernel, Twin, desc
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)


@gluon.aggregate
class Cursor:
    """A place in a ring."""

    index: gl.tensor
    phase: gl.tensor
    depth: gl.constexpr

    @gluon.jit
    def start(phase, depth: gl.constexpr):
        return Cursor(gl.to_tensor(0), gl.to_tensor(phase), depth)

    @gluon.jit
    def next(self):
        wraps = self.index == self.depth - 1
        return Cursor(gl.where(wraps, 0, self.index + 1), gl.where(wraps, self.phase ^ 1, self.phase), self.depth)


@gluon.jit
def key_blocks(keys, BLOCK_Q: gl.constexpr, BLOCK_KV: gl.constexpr):
    """Number of key blocks that the query block of this program may see."""
    return gl.cdiv(gl.minimum(keys, (gl.program_id(0) + 1) * BLOCK_Q), BLOCK_KV)


@gluon.jit
def load_partition(q_desc, k_desc, v_desc, q, k, v, q_full, k_full, k_empty, v_full, v_empty, keys,
                   BUG: gl.constexpr):
    BLOCK_Q: gl.constexpr = q.shape[0]
    BLOCK_KV: gl.constexpr = k.shape[1]
    mbarrier.expect(q_full, q_desc.nbytes_per_cta)
    tma.async_load(q_desc, [gl.program_id(0) * BLOCK_Q, 0], q_full, q)  # BUG: q_not_waited
    cursor = Cursor.start(1, k.shape[0])
    for j in range(key_blocks(keys, BLOCK_Q, BLOCK_KV)):
        k_bar = k_full.index(cursor.index)
        mbarrier.wait(k_empty.index(cursor.index), cursor.phase)
        mbarrier.expect(k_bar, k_desc.nbytes_per_cta)
        tma.async_load(k_desc, [j * BLOCK_KV, 0], k_bar, k.index(cursor.index))  # BUG: k_released_before_mma_ends
        v_bar = k_bar if BUG == "v_signals_k" else v_full.index(cursor.index)
        if BUG == "v_guarded_by_k":
            mbarrier.wait(k_empty.index(cursor.index), cursor.phase)  # BUG: v_guarded_by_k
        else:
            mbarrier.wait(v_empty.index(cursor.index), cursor.phase)  # BUG: v_never_released
        mbarrier.expect(v_bar, v_desc.nbytes_per_cta)
        tma.async_load(v_desc, [j * BLOCK_KV, 0], v_bar, v.index(cursor.index))  # BUG: v_guarded_by_k, v_not_waited, v_signals_k
        cursor = cursor.next()


@gluon.jit
def softmax_partition(q, k, v, q_full, k_full, k_empty, v_full, v_empty, keys, out, scale, BUG: gl.constexpr):
    BLOCK_Q: gl.constexpr = q.shape[0]
    HEAD: gl.constexpr = q.shape[1]
    BLOCK_KV: gl.constexpr = k.shape[1]
    SCORES: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BLOCK_KV, 16])
    ACC: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, HEAD, 16])
    P: gl.constexpr = gl.DotOperandLayout(0, ACC, 2)
    ROWS: gl.constexpr = gl.SliceLayout(1, SCORES)
    ACC_ROWS: gl.constexpr = gl.SliceLayout(1, ACC)

    high = gl.full([BLOCK_Q], float("-inf"), gl.float32, ROWS)
    total = gl.zeros([BLOCK_Q], gl.float32, ROWS)
    acc = gl.zeros([BLOCK_Q, HEAD], gl.float32, ACC)
    row = gl.program_id(0) * BLOCK_Q + gl.arange(0, BLOCK_Q, ROWS)
    if BUG != "q_not_waited":
        mbarrier.wait(q_full, 0)
    cursor = Cursor.start(0, k.shape[0])
    for j in range(key_blocks(keys, BLOCK_Q, BLOCK_KV)):
        mbarrier.wait(k_full.index(cursor.index), cursor.phase)  # BUG: v_signals_k
        scores = gl.zeros([BLOCK_Q, BLOCK_KV], gl.float32, SCORES)
        scores = warpgroup_mma(q, k.index(cursor.index).permute((1, 0)), scores, is_async=True)  # BUG: q_not_waited, k_released_before_mma_ends
        if BUG == "k_released_before_mma_ends":
            mbarrier.arrive(k_empty.index(cursor.index), count=1)  # BUG: k_released_before_mma_ends
        scores = warpgroup_mma_wait(0, deps=[scores])
        if BUG != "k_released_before_mma_ends":
            mbarrier.arrive(k_empty.index(cursor.index), count=1)

        column = j * BLOCK_KV + gl.arange(0, BLOCK_KV, gl.SliceLayout(0, SCORES))
        scores = gl.where(row[:, None] >= column[None, :], scores * scale, float("-inf"))
        top = gl.maximum(high, gl.max(scores, 1))
        shrink = gl.exp2(high - top)
        p = gl.exp2(scores - top[:, None])
        total = total * shrink + gl.sum(p, 1)
        high = top
        acc = acc * gl.convert_layout(shrink, ACC_ROWS)[:, None]

        if BUG != "v_not_waited":
            mbarrier.wait(v_full.index(cursor.index), cursor.phase)  # BUG: v_signals_k, v_never_released
        acc = warpgroup_mma(gl.convert_layout(p.to(v.dtype), P), v.index(cursor.index), acc, is_async=True)  # BUG: v_not_waited, v_guarded_by_k, v_signals_k
        acc = warpgroup_mma_wait(0, deps=[acc])
        if BUG != "v_never_released":
            mbarrier.arrive(v_empty.index(cursor.index), count=1)
        cursor = cursor.next()

    acc = acc / gl.convert_layout(total, ACC_ROWS)[:, None]
    rows = gl.program_id(0) * BLOCK_Q + gl.arange(0, BLOCK_Q, ACC_ROWS)
    heads = gl.arange(0, HEAD, gl.SliceLayout(0, ACC))
    gl.store(out + rows[:, None] * HEAD + heads[None, :], acc.to(v.dtype))


@gluon.jit
def attention_ws(q_desc, k_desc, v_desc, out, keys, scale, DEPTH: gl.constexpr, BUG: gl.constexpr):
    q = gl.allocate_shared_memory(q_desc.dtype, q_desc.block_shape, q_desc.layout)
    k = gl.allocate_shared_memory(k_desc.dtype, [DEPTH] + k_desc.block_shape, k_desc.layout)
    v = gl.allocate_shared_memory(v_desc.dtype, [DEPTH] + v_desc.block_shape, v_desc.layout)
    q_full = mbarrier.allocate_mbarrier()
    k_full = mbarrier.allocate_mbarrier(batch=DEPTH)
    k_empty = mbarrier.allocate_mbarrier(batch=DEPTH)
    v_full = mbarrier.allocate_mbarrier(batch=DEPTH)
    v_empty = mbarrier.allocate_mbarrier(batch=DEPTH)
    mbarrier.init(q_full, count=1)
    for s in gl.static_range(DEPTH):
        mbarrier.init(k_full.index(s), count=1)
        mbarrier.init(k_empty.index(s), count=1)
        mbarrier.init(v_full.index(s), count=1)
        mbarrier.init(v_empty.index(s), count=1)
    gl.warp_specialize([
        (softmax_partition, (q, k, v, q_full, k_full, k_empty, v_full, v_empty, keys, out, scale, BUG)),
        (load_partition, (q_desc, k_desc, v_desc, q, k, v, q_full, k_full, k_empty, v_full, v_empty, keys, BUG)),
    ], [1], [24])


CORPUS = [
    Kernel(
        attention_ws, 90,
        dict(q_desc=desc("fp16", 64, 64), k_desc=desc("fp16", 128, 64), v_desc=desc("fp16", 128, 64), out="*fp16",
             keys="i32", scale="fp32"), dict(DEPTH=2), twins=dict(
                 q_not_waited=Twin(["missing-forward-barrier"], "Q's barrier is never waited for"),
                 v_not_waited=Twin(["missing-forward-barrier"], "nothing orders the second MMA after the load of V"),
                 v_guarded_by_k=Twin(["deadlock", "lapped-wait", "missing-backward-barrier", "pending-access",
                                      "missing-forward-barrier"],
                                     "V waits for K's release, for a parity that may be gone when it looks"),
                 v_signals_k=Twin(["deadlock", "expect-mismatch", "arrival-overflow", "phase-mismatch"],
                                  "V's load and bytes are announced on K's barrier"),
                 v_never_released=Twin(["deadlock"], "V's slots are never handed back"),
                 k_released_before_mma_ends=Twin(["pending-access", "missing-backward-barrier"],
                                                 "K is handed back while the first MMA reads it"),
             )),
]
