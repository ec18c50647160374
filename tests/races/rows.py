"""Kernels that give each program rows of its own."""

import torch
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


def run_add(x, y):
    out = torch.empty_like(x)
    add[(triton.cdiv(x.numel(), 1024), )](x, y, out, x.numel(), BLOCK=1024)
    return out


@triton.jit
def softmax(out, scores, out_stride, scores_stride, rows, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < columns
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0)):
        score = tl.load(scores + row * scores_stride + at, mask=inside, other=-float("inf"))
        power = tl.exp(score - tl.max(score, axis=0))
        tl.store(out + row * out_stride + at, power / tl.sum(power, axis=0), mask=inside)


def run_softmax():
    scores = torch.empty(1823, 781, device="cuda")
    out = torch.empty_like(scores)
    softmax[(132, )](out, scores, out.stride(0), scores.stride(0), 1823, 781, BLOCK=1024)


@triton.jit
def normalise(x, out, weight, bias, mean_out, rstd_out, stride, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        value = tl.load(x + row * stride + at, mask=at < columns, other=0.0).to(tl.float32)
        total += value
        squares += value * value
    mean = tl.sum(total, axis=0) / columns
    variance = tl.sum(squares, axis=0) / columns - mean * mean
    rstd = 1 / tl.sqrt(variance + eps)
    tl.store(mean_out + row, mean)
    tl.store(rstd_out + row, rstd)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        inside = at < columns
        value = tl.load(x + row * stride + at, mask=inside, other=0.0).to(tl.float32)
        scaled = (value - mean) * rstd * tl.load(weight + at, mask=inside) + tl.load(bias + at, mask=inside)
        tl.store(out + row * stride + at, scaled, mask=inside)


def run_normalise(weight, bias):
    x = torch.empty(64, 1000, device="cuda")
    means, rstds = torch.empty(64, device="cuda"), torch.empty(64, device="cuda")
    normalise[(64, )](x, torch.empty_like(x), weight, bias, means, rstds, x.stride(0), 1000, 1e-5, BLOCK=256)


@triton.jit
def rotate(q, cos, sin, batch_stride, head_stride, token_stride, tokens, half, HALF: tl.constexpr):
    # Each program turns both halves of one head of one token, in place.
    token = tl.program_id(0)
    head = tl.program_id(1)
    lane = tl.arange(0, HALF)
    inside = lane < half
    base = q + (token // tokens) * batch_stride + (token % tokens) * token_stride + head * head_stride
    c = tl.load(cos + (token % tokens) * half + lane, mask=inside)
    s = tl.load(sin + (token % tokens) * half + lane, mask=inside)
    low = tl.load(base + lane, mask=inside)
    high = tl.load(base + half + lane, mask=inside)
    tl.store(base + lane, low * c - high * s, mask=inside)
    tl.store(base + half + lane, high * c + low * s, mask=inside)


def run_rotate(cos, sin):
    batch, tokens, heads, size = 2, 16, 4, 64
    q = torch.empty(batch, tokens, heads, size, device="cuda")
    rotate[(batch * tokens, heads)](q, cos, sin, q.stride(0), q.stride(2), q.stride(1), tokens, size // 2, HALF=32)


@triton.jit
def transpose(x, out, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = (row < rows)[:, None] & (column < columns)[None, :]
    tile = tl.load(x + row[:, None] * columns + column[None, :], mask=inside)
    tl.store(out + column[:, None] * rows + row[None, :], tl.trans(tile), mask=tl.trans(inside))


def run_transpose():
    x = torch.empty(100, 70, device="cuda")
    out = torch.empty(70, 100, device="cuda")
    transpose[(triton.cdiv(100, 32), triton.cdiv(70, 32))](x, out, 100, 70, ROWS=32, COLUMNS=32)


@triton.jit
def cross_entropy(logits, labels, loss, stride, classes, BLOCK: tl.constexpr):
    # The gradient takes the place of the logits.
    row = tl.program_id(0).to(tl.int64)
    logits += row * stride
    label = tl.load(labels + row)
    most = -float("inf")
    total = 0.0
    for start in range(0, classes, BLOCK):
        at = start + tl.arange(0, BLOCK)
        value = tl.load(logits + at, mask=at < classes, other=-float("inf")).to(tl.float32)
        bigger = tl.maximum(most, tl.max(value))
        total = total * tl.exp(most - bigger) + tl.sum(tl.exp(value - bigger))
        most = bigger
    for start in range(0, classes, BLOCK):
        at = start + tl.arange(0, BLOCK)
        value = tl.load(logits + at, mask=at < classes, other=-float("inf")).to(tl.float32)
        share = tl.exp(value - most) / total
        tl.store(logits + at, tl.where(at == label, share - 1.0, share), mask=at < classes)
    tl.store(loss + row, tl.log(total) + most)


def run_cross_entropy(labels):
    logits = torch.empty(8, 3000, device="cuda")
    cross_entropy[(8, )](logits, labels, torch.empty(8, device="cuda"), logits.stride(0), 3000, BLOCK=1024)


@triton.jit
def dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    kept = tl.rand(seed, at) > p
    value = tl.load(x + at, mask=at < n)
    tl.store(out + at, tl.where(kept, value / (1 - p), 0.0), mask=at < n)
