"""Blackwell attention forward with scores, probabilities and output in tensor memory.

Three partitions. One warp loads Q once and K and V through a ring each. One warp issues MMAs: it
starts the scores of the next key block, into the other half of `s`, before it waits for the
probabilities of this one and starts their product with V into `o`. Four warps do the softmax: they
read their half of `s`, wait for the product of the block before to be done, rescale `o`, write the
probabilities into `p`, both by ordinary tensor-memory stores, and arrive on `p_full`. That arrival
also says that the half of `s` has been read. `s_full` has a barrier for each half; `p_full` and
`o_full` complete once a block and are waited for at its parity.
"""

from declare import Kernel, Twin, desc
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout,
    allocate_tensor_memory,
    mbarrier,
    tcgen05_commit,
    tcgen05_mma,
    tma,
)


@gluon.jit
def load_partition(q_desc, k_desc, v_desc, q, k, v, q_full, k_full, k_empty, v_full, v_empty, blocks,
                   BUG: gl.constexpr):
    DEPTH: gl.constexpr = k.shape[0]
    BLOCK_KV: gl.constexpr = k.shape[1]
    mbarrier.expect(q_full, q_desc.nbytes_per_cta)
    tma.async_load(q_desc, [gl.program_id(0) * q.shape[0], 0], q_full, q)
    for j in range(blocks):
        slot = j % DEPTH
        parity = (j // DEPTH) & 1
        mbarrier.wait(k_empty.index(slot), parity ^ 1)
        mbarrier.expect(k_full.index(slot), k_desc.nbytes_per_cta)
        tma.async_load(k_desc, [j * BLOCK_KV, 0], k_full.index(slot), k.index(slot))
        if BUG != "v_empty_not_waited":
            mbarrier.wait(v_empty.index(slot), parity ^ 1)
        mbarrier.expect(v_full.index(slot), v_desc.nbytes_per_cta)
        tma.async_load(v_desc, [j * BLOCK_KV, 0], v_full.index(slot), v.index(slot))  # BUG: v_empty_not_waited, v_full_not_waited


@gluon.jit
def start_scores(q, k, s, k_full, k_empty, s_full, j, BUG: gl.constexpr):
    """Multiply Q with key block `j` into its half of `s`."""
    DEPTH: gl.constexpr = k.shape[0]
    slot = j % DEPTH
    mbarrier.wait(k_full.index(slot), (j // DEPTH) & 1)
    tcgen05_mma(q, k.index(slot).permute((1, 0)), s.index(j & 1), use_acc=False)  # BUG: p_full_not_waited, s_read_early, p_parity_of_ring
    tcgen05_commit(k_empty.index(slot))
    tcgen05_commit(s_full.index(0 if BUG == "one_score_barrier" else j & 1))  # BUG: one_score_barrier


@gluon.jit
def mma_partition(q, k, v, s, p, o, q_full, k_full, k_empty, v_full, v_empty, s_full, p_full, o_full, blocks,
                  BUG: gl.constexpr):
    DEPTH: gl.constexpr = k.shape[0]
    mbarrier.wait(q_full, 0)
    if blocks > 0:
        start_scores(q, k, s, k_full, k_empty, s_full, 0, BUG)
    for j in range(blocks):
        if j + 1 < blocks:
            start_scores(q, k, s, k_full, k_empty, s_full, j + 1, BUG)
        slot = j % DEPTH
        parity = (j // DEPTH) & 1
        if BUG != "v_full_not_waited":
            mbarrier.wait(v_full.index(slot), parity)
        if BUG == "p_parity_of_ring":
            mbarrier.wait(p_full, parity)  # BUG: p_parity_of_ring
        elif BUG != "p_full_not_waited":
            mbarrier.wait(p_full, j & 1)  # BUG: p_counts_two
        tcgen05_mma(p, v.index(slot), o)  # BUG: p_full_not_waited, v_full_not_waited, v_empty_not_waited, o_full_not_waited, p_parity_of_ring
        tcgen05_commit(v_empty.index(slot))
        tcgen05_commit(o_full)


@gluon.jit
def softmax_partition(out, s, p, o, s_full, p_full, o_full, blocks, scale, BUG: gl.constexpr):
    BLOCK_Q: gl.constexpr = s.shape[1]
    HEAD: gl.constexpr = o.shape[1]
    S_REGS: gl.constexpr = s.index(0).get_reg_layout()
    O_REGS: gl.constexpr = o.get_reg_layout()
    P_REGS: gl.constexpr = p.get_reg_layout()
    ROWS: gl.constexpr = gl.SliceLayout(1, S_REGS)
    O_ROWS: gl.constexpr = gl.SliceLayout(1, O_REGS)
    high = gl.full([BLOCK_Q], float("-inf"), gl.float32, ROWS)
    total = gl.zeros([BLOCK_Q], gl.float32, ROWS)
    for j in range(blocks):
        if BUG == "one_score_barrier":
            mbarrier.wait(s_full.index(0), j & 1)  # BUG: one_score_barrier
        elif BUG != "s_read_early":
            mbarrier.wait(s_full.index(j & 1), (j >> 1) & 1)  # BUG: p_counts_two
        scores = s.index(j & 1).load(S_REGS) * scale  # BUG: s_read_early, p_full_not_waited, p_parity_of_ring
        top = gl.maximum(high, gl.max(scores, 1))
        shrink = gl.exp2(high - top)
        weights = gl.exp2(scores - top[:, None])
        total = total * shrink + gl.sum(weights, 1)
        high = top
        # The product of the block before reads `p` and writes `o`.
        if BUG != "o_full_not_waited":
            mbarrier.wait(o_full, (j & 1) ^ 1)
        o.store(o.load(O_REGS) * gl.convert_layout(shrink, O_ROWS)[:, None])  # BUG: o_full_not_waited, p_full_not_waited
        p.store(gl.convert_layout(weights.to(p.dtype), P_REGS))  # BUG: o_full_not_waited, p_full_not_waited, p_parity_of_ring
        mbarrier.arrive(p_full, count=1)
    if BUG != "result_not_waited":
        mbarrier.wait(o_full, (blocks & 1) ^ 1)
    result = o.load(O_REGS) / gl.convert_layout(total, O_ROWS)[:, None]  # BUG: result_not_waited
    rows = gl.program_id(0) * BLOCK_Q + gl.arange(0, BLOCK_Q, O_ROWS)
    heads = gl.arange(0, HEAD, gl.SliceLayout(0, O_REGS))
    gl.store(out + rows[:, None] * HEAD + heads[None, :], result.to(p.dtype))


@gluon.jit
def tc05_attention(q_desc, k_desc, v_desc, out, keys, scale, DEPTH: gl.constexpr, BUG: gl.constexpr):
    BLOCK_Q: gl.constexpr = q_desc.block_shape[0]
    HEAD: gl.constexpr = q_desc.block_shape[1]
    BLOCK_KV: gl.constexpr = k_desc.block_shape[0]
    q = gl.allocate_shared_memory(q_desc.dtype, q_desc.block_shape, q_desc.layout)
    k = gl.allocate_shared_memory(k_desc.dtype, [DEPTH] + k_desc.block_shape, k_desc.layout)
    v = gl.allocate_shared_memory(v_desc.dtype, [DEPTH] + v_desc.block_shape, v_desc.layout)
    s = allocate_tensor_memory(gl.float32, [2, BLOCK_Q, BLOCK_KV], TensorMemoryLayout([BLOCK_Q, BLOCK_KV], col_stride=1))
    p = allocate_tensor_memory(q_desc.dtype, [BLOCK_Q, BLOCK_KV], TensorMemoryLayout([BLOCK_Q, BLOCK_KV], col_stride=1))
    o = allocate_tensor_memory(gl.float32, [BLOCK_Q, HEAD], TensorMemoryLayout([BLOCK_Q, HEAD], col_stride=1))
    o.store(gl.zeros([BLOCK_Q, HEAD], gl.float32, o.get_reg_layout()))
    q_full = mbarrier.allocate_mbarrier()
    s_full = mbarrier.allocate_mbarrier(batch=2)
    p_full = mbarrier.allocate_mbarrier()
    o_full = mbarrier.allocate_mbarrier()
    k_full = mbarrier.allocate_mbarrier(batch=DEPTH)
    k_empty = mbarrier.allocate_mbarrier(batch=DEPTH)
    v_full = mbarrier.allocate_mbarrier(batch=DEPTH)
    v_empty = mbarrier.allocate_mbarrier(batch=DEPTH)
    mbarrier.init(q_full, count=1)
    mbarrier.init(s_full.index(0), count=1)
    mbarrier.init(s_full.index(1), count=1)
    mbarrier.init(p_full, count=2 if BUG == "p_counts_two" else 1)
    mbarrier.init(o_full, count=1)
    for i in gl.static_range(DEPTH):
        mbarrier.init(k_full.index(i), count=1)
        mbarrier.init(k_empty.index(i), count=1)
        mbarrier.init(v_full.index(i), count=1)
        mbarrier.init(v_empty.index(i), count=1)
    blocks = gl.cdiv(keys, BLOCK_KV)
    gl.warp_specialize([
        (softmax_partition, (out, s, p, o, s_full, p_full, o_full, blocks, scale, BUG)),
        (load_partition, (q_desc, k_desc, v_desc, q, k, v, q_full, k_full, k_empty, v_full, v_empty, blocks, BUG)),
        (mma_partition, (q, k, v, s, p, o, q_full, k_full, k_empty, v_full, v_empty, s_full, p_full, o_full, blocks,
                         BUG)),
    ], [1, 1], [24, 24])


CORPUS = [
    Kernel(
        tc05_attention, 100,
        dict(q_desc=desc("fp16", 128, 64), k_desc=desc("fp16", 128, 64), v_desc=desc("fp16", 128, 64), out="*fp16",
             keys="i32", scale="fp32"), dict(DEPTH=2), twins=dict(
                 p_full_not_waited=Twin(["missing-forward-barrier", "missing-backward-barrier", "uninitialised-read"],
                                        "the second MMA does not wait for the probabilities"),
                 v_full_not_waited=Twin(["missing-forward-barrier"], "the second MMA does not wait for V"),
                 v_empty_not_waited=Twin(["missing-backward-barrier", "missing-forward-barrier"],
                                         "V is overwritten while an MMA may read it"),
                 s_read_early=Twin(["missing-forward-barrier", "uninitialised-read", "missing-backward-barrier"],
                                   "the scores are read without waiting for them"),
                 o_full_not_waited=Twin(["missing-forward-barrier", "missing-backward-barrier"],
                                        "output and probabilities are touched while an MMA uses them"),
                 result_not_waited=Twin(["missing-forward-barrier", "missing-backward-barrier"], "the output is read while the last MMA writes it"),
                 p_parity_of_ring=Twin(["phase-mismatch", "missing-forward-barrier", "lapped-wait", "deadlock",
                                        "missing-backward-barrier"],
                                       "the parity of a two-slot ring on a barrier that flips every block"),
                 one_score_barrier=Twin(["lapped-wait", "deadlock", "missing-forward-barrier"],
                                        "both halves of the scores signal one barrier, which can flip twice"),
                 p_counts_two=Twin(["deadlock"], "an arrival for the scores is counted for, only one is made"),
             )),
]
