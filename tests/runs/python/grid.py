"""Kernels whose programs meet in global memory: a histogram by atomics, a sum handed on from program to program."""

import triton
import triton.language as tl


@triton.jit
def histogram(x, counts, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    bins = tl.load(x + at, mask=at < n, other=0)
    tl.atomic_add(counts + bins, 1, mask=at < n)


@triton.jit
def running_sum(x, y, carry, flags, n, BLOCK: tl.constexpr):
    """Each program adds up its block and waits for the sum of all blocks before it: a chain of spinning programs."""
    pid = tl.program_id(0)
    at = pid * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n, other=0)
    own = tl.sum(value, 0)
    before = 0
    if pid > 0:
        while tl.atomic_cas(flags + pid - 1, 1, 1, sem="acquire") != 1:
            pass
        before = tl.load(carry + pid - 1)
    tl.store(carry + pid, before + own)
    tl.atomic_xchg(flags + pid, 1, sem="release")
    tl.store(y + at, before + tl.cumsum(value, 0), mask=at < n)
