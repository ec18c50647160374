"""Attention and what surrounds it."""

import torch
import triton
import triton.language as tl


@triton.jit
def attention(q, k, v, out, lse, scale, batch_stride, head_stride, token_stride, heads, tokens,
              M: tl.constexpr = 64, N: tl.constexpr = 64, D: tl.constexpr = 64):
    head = tl.program_id(1) % heads
    batch = tl.program_id(1) // heads
    base = batch.to(tl.int64) * batch_stride + head.to(tl.int64) * head_stride
    rows = tl.program_id(0) * M + tl.arange(0, M)
    lane = tl.arange(0, D)
    query = tl.load(q + base + rows[:, None] * token_stride + lane[None, :], mask=(rows < tokens)[:, None], other=0.0)
    most = tl.full([M], -float("inf"), dtype=tl.float32)
    total = tl.zeros([M], dtype=tl.float32)
    sum = tl.zeros([M, D], dtype=tl.float32)
    for start in range(0, tokens, N):
        columns = start + tl.arange(0, N)
        seen = (columns < tokens)[:, None]
        key = tl.load(k + base + columns[:, None] * token_stride + lane[None, :], mask=seen, other=0.0)
        value = tl.load(v + base + columns[:, None] * token_stride + lane[None, :], mask=seen, other=0.0)
        score = tl.dot(query, tl.trans(key)) * scale
        score = tl.where((columns < tokens)[None, :], score, -float("inf"))
        bigger = tl.maximum(most, tl.max(score, axis=1))
        power = tl.exp(score - bigger[:, None])
        shrink = tl.exp(most - bigger)
        total = total * shrink + tl.sum(power, axis=1)
        sum = sum * shrink[:, None] + tl.dot(power.to(value.dtype), value)
        most = bigger
    tl.store(out + base + rows[:, None] * token_stride + lane[None, :], (sum / total[:, None]).to(tl.float16),
             mask=(rows < tokens)[:, None])
    tl.store(lse + tl.program_id(1) * tokens + rows, most + tl.log(total), mask=rows < tokens)


def run_attention(k, v):
    q = torch.empty(2, 8, 200, 64, dtype=torch.float16, device="cuda")
    lse = torch.empty(2, 8, 200, device="cuda")
    strides = q.stride(0), q.stride(1), q.stride(2)
    attention[(triton.cdiv(200, 64), 16)](q, k, v, torch.empty_like(q), lse, 0.125, *strides, 8, 200)


@triton.jit
def split_decode(q, k, v, part, lse, tokens, heads, N: tl.constexpr = 64, D: tl.constexpr = 64):
    # Each program looks at a part of the keys; another kernel merges the parts.
    head = tl.program_id(0)
    split = tl.program_id(1)
    splits = tl.num_programs(1)
    lane = tl.arange(0, D)
    query = tl.load(q + head * D + lane)
    length = tl.cdiv(tokens, splits)
    total = 0.0
    sum = tl.zeros([D], dtype=tl.float32)
    for start in range(split * length, min(split * length + length, tokens), N):
        token = start + tl.arange(0, N)
        inside = token < min(split * length + length, tokens)
        key = tl.load(k + (token[:, None] * heads + head) * D + lane[None, :], mask=inside[:, None], other=0.0)
        value = tl.load(v + (token[:, None] * heads + head) * D + lane[None, :], mask=inside[:, None], other=0.0)
        power = tl.exp(tl.sum(key * query[None, :], axis=1))
        total += tl.sum(power)
        sum += tl.sum(power[:, None] * value, axis=0)
    tl.store(part + (head * splits + split) * D + lane, sum)
    tl.store(lse + head * splits + split, tl.log(total))


def run_split_decode(q, k, v):
    part = torch.empty(8, 4, 64, device="cuda")
    split_decode[(8, 4)](q, k, v, part, torch.empty(8, 4, device="cuda"), 1000, 8)


@triton.jit
def append_cache(keys, cache, length, head_dim, batch_stride, slot_stride, BLOCK: tl.constexpr):
    batch = tl.program_id(0)
    token = tl.program_id(1)
    lane = tl.arange(0, BLOCK)
    inside = lane < head_dim
    value = tl.load(keys + batch * batch_stride + token * slot_stride + lane, mask=inside)
    tl.store(cache + batch * batch_stride + (length + token) * slot_stride + lane, value, mask=inside)
