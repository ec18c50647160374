"""What PyTorch's compiler calls in the kernels that it generates, for code bases that have no PyTorch beside them.

The names and what they give are those of `torch._inductor.runtime.triton_helpers`. Where that file is in the workspace, it is
followed instead.
"""

import torch
import triton
import triton.language as tl
from triton.language import math
from triton.language.extra import libdevice


def __getattr__(name):
    # What is not written below is not followed, and is not missing either.
    return getattr(torch._inductor.runtime, "triton_helpers." + name)


@triton.jit
def promote_to_tensor(x):
    return x + tl.zeros([1], tl.int1)


@triton.constexpr_function
def constexpr_next_power_of_2(n):
    return triton.next_power_of_2(n)


@triton.jit
def is_floating(x):
    return promote_to_tensor(x).dtype.is_floating()


@triton.jit
def div_floor_integer(a, b):
    quotient = a // b
    uneven = (a % b) != 0
    return tl.where(((a < 0) != (b < 0)) & uneven, quotient - 1, quotient)


@triton.jit
def remainder_integer(a, b):
    rest = a % b
    return tl.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)


@triton.jit
def minimum(a, b):
    first = a < b
    if is_floating(a):
        first |= a != a
    return tl.where(first, a, b)


@triton.jit
def maximum(a, b):
    first = a > b
    if is_floating(a):
        first |= a != a
    return tl.where(first, a, b)


@triton.jit
def min2(a, dim):
    return tl.reduce(a, dim, minimum)


@triton.jit
def max2(a, dim):
    return tl.reduce(a, dim, maximum)


@triton.jit
def _product(a, b):
    return a * b


@triton.jit
def prod(input, axis):
    return tl.reduce(input, axis, _product)


@triton.jit
def _either(a, b):
    return a | b


@triton.jit
def any(a, dim):
    return tl.reduce(a, dim, _either)


@triton.jit
def _keeps_first(value, index, other, other_index, is_better):
    number = is_better | ((value == other) & (index < other_index))
    return tl.where(value != value, (other == other) | (index < other_index), number)


@triton.jit
def minimum_with_index(a_value, a_index, b_value, b_index):
    first = _keeps_first(a_value, a_index, b_value, b_index, a_value < b_value)
    return tl.where(first, a_value, b_value), tl.where(first, a_index, b_index)


@triton.jit
def maximum_with_index(a_value, a_index, b_value, b_index):
    first = _keeps_first(a_value, a_index, b_value, b_index, a_value > b_value)
    return tl.where(first, a_value, b_value), tl.where(first, a_index, b_index)


@triton.jit
def min_with_index(value, index, dim):
    return tl.reduce((value, index), dim, minimum_with_index)


@triton.jit
def max_with_index(value, index, dim):
    return tl.reduce((value, index), dim, maximum_with_index)


@triton.jit
def welford_combine(mean_1, m2_1, weight_1, mean_2, m2_2, weight_2):
    weight = weight_1 + weight_2
    share = tl.where(weight == 0.0, 0.0, weight_2 / weight)
    apart = mean_2 - mean_1
    return mean_1 + apart * share, m2_1 + m2_2 + apart * apart * weight_1 * share, weight


@triton.jit
def welford(mean, m2, weight, dim):
    return tl.reduce((mean, m2, weight), dim, welford_combine)


@triton.jit
def welford_reduce(value, mean, m2, weight, first_iteration):
    if first_iteration:
        new_weight = tl.full(weight.shape, 1, weight.dtype)
        new_mean = value
        new_m2 = tl.zeros_like(m2)
    else:
        apart = value - mean
        new_weight = weight + 1
        new_mean = mean + apart / new_weight
        new_m2 = m2 + apart * (value - new_mean)
    return new_mean, new_m2, new_weight


@triton.jit
def device_assert_then(cond, msg, r):
    tl.device_assert(cond, msg)
    return r


@triton.jit
def select_one(x, mask, dim, keep_dims=False):
    return tl.sum(tl.where(mask, x, tl.zeros_like(x)), dim, keep_dims)


@triton.jit
def if_mask(mask, val):
    return tl.where(mask, val, tl.zeros_like(val))


@triton.jit
def frexp(x):
    exponent = tl.where(x == 0, 0, libdevice.ilogb(x) + 1)
    return tl.where(x == 0, 0, libdevice.ldexp(x, -exponent)), exponent


@triton.jit
def pack_value_flag(value, flag, DTYPE_VALUE_AS_UINT: tl.constexpr, DTYPE_PACK: tl.constexpr):
    bits: tl.constexpr = DTYPE_VALUE_AS_UINT.primitive_bitwidth
    high = value.to(DTYPE_VALUE_AS_UINT, bitcast=True).to(DTYPE_PACK) << bits
    return high | flag.to(DTYPE_PACK)


@triton.jit
def unpack_value(pack, DTYPE_VALUE: tl.constexpr, DTYPE_VALUE_AS_UINT: tl.constexpr):
    bits: tl.constexpr = DTYPE_VALUE_AS_UINT.primitive_bitwidth
    return (pack >> bits).to(DTYPE_VALUE_AS_UINT).to(DTYPE_VALUE, bitcast=True)


@triton.jit
def unpack_flag(pack, DTYPE_FLAG: tl.constexpr):
    return pack.to(DTYPE_FLAG)


@triton.jit
def exclusive_scan_decoupled_lookback(
    scratch_base, block_value, index, combine_fn, DTYPE_VALUE_AS_UINT: tl.constexpr, DTYPE_PACK: tl.constexpr
):
    # A word of the scratch holds a value and what it is: 1 that of a block, 2 that of all blocks up to it.
    one = tl.full(block_value.shape, 1, DTYPE_VALUE_AS_UINT)
    own = pack_value_flag(block_value, one, DTYPE_VALUE_AS_UINT, DTYPE_PACK)
    if index > 0:
        tl.atomic_xchg(scratch_base + index, own, sem="relaxed")
    word = own
    before = tl.zeros([], block_value.dtype)
    some = False
    at = index - 1
    while at >= 0:
        flag = tl.full([], 0, DTYPE_VALUE_AS_UINT)
        while flag == 0:
            word = tl.atomic_add(scratch_base + at, 0, sem="relaxed")
            flag = unpack_flag(word, DTYPE_VALUE_AS_UINT)
        value = unpack_value(word, block_value.dtype, DTYPE_VALUE_AS_UINT)
        if some:
            before = combine_fn(value, before)
        else:
            before = value
            some = True
        at = tl.where(flag == 2, -1, at - 1)
    total = block_value
    if some:
        total = combine_fn(before, block_value)
    two = tl.full([], 2, DTYPE_VALUE_AS_UINT)
    tl.atomic_xchg(scratch_base + index, pack_value_flag(total, two, DTYPE_VALUE_AS_UINT, DTYPE_PACK), sem="relaxed")
    return before


@triton.jit
def exclusive_scan_decoupled_lookback_64(scratch_base, block_value, index, combine_fn):
    # Three words a block: which of the other two is there, its value, that of all blocks up to it.
    mine = scratch_base + 3 * index
    if index > 0:
        tl.store(mine + 1, block_value.to(tl.uint64, bitcast=True))
        tl.debug_barrier()
        tl.atomic_xchg(mine, tl.full([], 1, tl.uint64), sem="release")
    before = tl.zeros([], block_value.dtype)
    some = False
    at = index - 1
    while at >= 0:
        other = scratch_base + 3 * at
        flag = tl.full([], 0, tl.uint64)
        while flag == 0:
            flag = tl.atomic_add(other, 0, sem="acquire")
        value = tl.load(other + flag.to(tl.int32)).to(block_value.dtype, bitcast=True)
        if some:
            before = combine_fn(value, before)
        else:
            before = value
            some = True
        at = tl.where(flag == 2, -1, at - 1)
    total = block_value
    if some:
        total = combine_fn(before, block_value)
    tl.store(mine + 2, total.to(tl.uint64, bitcast=True))
    tl.debug_barrier()
    tl.atomic_xchg(mine, tl.full([], 2, tl.uint64), sem="release")
    return before
