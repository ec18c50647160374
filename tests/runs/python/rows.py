"""Kernels that reduce rows, in plain Triton: softmax and layer norm."""

import triton
import triton.language as tl


@triton.jit
def softmax(x, y, columns, WIDTH: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, WIDTH)
    value = tl.load(x + row * columns + at, mask=at < columns, other=float("-inf"))
    power = tl.exp(value - tl.max(value, 0))
    tl.store(y + row * columns + at, power / tl.sum(power, 0), mask=at < columns)


@triton.jit
def layer_norm(x, y, gain, bias, columns, eps, WIDTH: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((WIDTH, ), tl.float32)
    for start in range(0, columns, WIDTH):
        at = start + tl.arange(0, WIDTH)
        total += tl.load(x + row * columns + at, mask=at < columns, other=0.0).to(tl.float32)
    mean = tl.sum(total, 0) / columns
    spread = tl.zeros((WIDTH, ), tl.float32)
    for start in range(0, columns, WIDTH):
        at = start + tl.arange(0, WIDTH)
        value = tl.load(x + row * columns + at, mask=at < columns, other=0.0).to(tl.float32)
        spread += tl.where(at < columns, (value - mean) * (value - mean), 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(spread, 0) / columns + eps)
    for start in range(0, columns, WIDTH):
        at = start + tl.arange(0, WIDTH)
        value = tl.load(x + row * columns + at, mask=at < columns, other=0.0).to(tl.float32)
        weight = tl.load(gain + at, mask=at < columns, other=0.0).to(tl.float32)
        shift = tl.load(bias + at, mask=at < columns, other=0.0).to(tl.float32)
        tl.store(y + row * columns + at, ((value - mean) * scale * weight + shift).to(y.dtype.element_ty),
                 mask=at < columns)
