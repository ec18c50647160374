"""Attention forward in plain Triton: online softmax over key blocks, with a causal mask."""

import triton
import triton.language as tl


@triton.jit
def attention(q, k, v, out, keys, scale, BLOCK_Q: tl.constexpr, BLOCK_KV: tl.constexpr, HEAD: tl.constexpr,
              CAUSAL: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_Q + tl.arange(0, BLOCK_Q)
    heads = tl.arange(0, HEAD)
    base = tl.program_id(1) * keys * HEAD
    query = tl.load(q + base + rows[:, None] * HEAD + heads[None, :])
    high = tl.full((BLOCK_Q, ), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK_Q, ), tl.float32)
    acc = tl.zeros((BLOCK_Q, HEAD), tl.float32)
    end = (tl.program_id(0) + 1) * BLOCK_Q if CAUSAL else keys
    for start in range(0, end, BLOCK_KV):
        at = start + tl.arange(0, BLOCK_KV)
        key = tl.load(k + base + at[None, :] * HEAD + heads[:, None])
        scores = tl.dot(query, key) * scale
        if CAUSAL:
            scores = tl.where(rows[:, None] >= at[None, :], scores, float("-inf"))
        top = tl.maximum(high, tl.max(scores, 1))
        p = tl.exp2(scores - top[:, None])
        shrink = tl.exp2(high - top)
        total = total * shrink + tl.sum(p, 1)
        value = tl.load(v + base + at[:, None] * HEAD + heads[None, :])
        acc = tl.dot(p.to(value.dtype), value, acc * shrink[:, None])
        high = top
    tl.store(out + base + rows[:, None] * HEAD + heads[None, :], (acc / total[:, None]).to(out.dtype.element_ty))
