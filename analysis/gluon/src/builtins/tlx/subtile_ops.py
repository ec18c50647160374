"""Tiles cut along their columns, and put together again."""

import triton
import triton.language as tl


@triton.jit
def _split_n_2D(x, SPLIT_FACTOR: tl.constexpr):
    if SPLIT_FACTOR == 1:
        return (x, )
    rows: tl.constexpr = x.shape[0]
    half: tl.constexpr = x.shape[1] // 2
    left, right = tl.split(tl.permute(tl.reshape(x, (rows, 2, half)), (0, 2, 1)))
    return _split_n_2D(left, SPLIT_FACTOR // 2) + _split_n_2D(right, SPLIT_FACTOR // 2)


@triton.jit
def _join_n_2D(xs):
    if len(xs) == 1:
        return xs[0]
    middle: tl.constexpr = len(xs) // 2
    left = _join_n_2D(xs[:middle])
    right = _join_n_2D(xs[middle:])
    rows: tl.constexpr = left.shape[0]
    half: tl.constexpr = left.shape[1]
    return tl.reshape(tl.permute(tl.join(left, right), (0, 2, 1)), (rows, 2 * half))
