"""Products of matrices: tiles of the result, each of one program, or added up by several."""

import torch
import triton
import triton.language as tl


@triton.jit
def place(tile, m, n, M: tl.constexpr, N: tl.constexpr, GROUP: tl.constexpr):
    across = tl.cdiv(n, N)
    group = tile // (GROUP * across)
    first = group * GROUP
    tall = min(tl.cdiv(m, M) - first, GROUP)
    inner = tile % (GROUP * across)
    return first + inner % tall, inner // tall


@triton.jit
def matmul(a, b, c, m, n, k, am, ak, bk, bn, cm, cn, M: tl.constexpr = 64, N: tl.constexpr = 64,
           K: tl.constexpr = 32, GROUP: tl.constexpr = 8):
    row, column = place(tl.program_id(0), m, n, M, N, GROUP)
    rows = row * M + tl.arange(0, M)
    columns = column * N + tl.arange(0, N)
    depth = tl.arange(0, K)
    left = a + (rows % m)[:, None] * am + depth[None, :] * ak
    right = b + depth[:, None] * bk + (columns % n)[None, :] * bn
    sum = tl.zeros([M, N], dtype=tl.float32)
    for step in range(0, tl.cdiv(k, K)):
        more = depth < k - step * K
        sum = tl.dot(tl.load(left, mask=more[None, :], other=0.0), tl.load(right, mask=more[:, None], other=0.0), sum)
        left += K * ak
        right += K * bk
    inside = (rows < m)[:, None] & (columns < n)[None, :]
    tl.store(c + rows[:, None] * cm + columns[None, :] * cn, sum.to(tl.float16), mask=inside)


@triton.jit
def persistent(a, b, c, m, n, k, M: tl.constexpr = 64, N: tl.constexpr = 64, K: tl.constexpr = 32):
    across = tl.cdiv(n, N)
    tiles = tl.cdiv(m, M) * across
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0)):
        rows = tile // across * M + tl.arange(0, M)
        columns = tile % across * N + tl.arange(0, N)
        sum = tl.zeros([M, N], dtype=tl.float32)
        for start in range(0, k, K):
            depth = start + tl.arange(0, K)
            left = tl.load(a + rows[:, None] * k + depth[None, :], mask=(rows < m)[:, None] & (depth < k)[None, :], other=0.0)
            right = tl.load(b + depth[:, None] * n + columns[None, :], mask=(depth < k)[:, None] & (columns < n)[None, :], other=0.0)
            sum = tl.dot(left, right, sum)
        tl.store(c + rows[:, None] * n + columns[None, :], sum, mask=(rows < m)[:, None] & (columns < n)[None, :])


def run_persistent(a, b):
    m, n, k = 100, 300, 128
    c = torch.empty(m, n, device="cuda")
    persistent[(12, )](a, b, c, m, n, k)


@triton.jit
def split_k(a, b, c, m, n, k, M: tl.constexpr = 64, N: tl.constexpr = 64, K: tl.constexpr = 32):
    across = tl.cdiv(n, N)
    rows = tl.program_id(0) // across * M + tl.arange(0, M)
    columns = tl.program_id(0) % across * N + tl.arange(0, N)
    part = tl.program_id(1)
    sum = tl.zeros([M, N], dtype=tl.float32)
    for start in range(part * K, k, tl.num_programs(1) * K):
        depth = start + tl.arange(0, K)
        left = tl.load(a + rows[:, None] * k + depth[None, :], mask=(rows < m)[:, None] & (depth < k)[None, :], other=0.0)
        right = tl.load(b + depth[:, None] * n + columns[None, :], mask=(depth < k)[:, None] & (columns < n)[None, :], other=0.0)
        sum = tl.dot(left, right, sum)
    inside = (rows < m)[:, None] & (columns < n)[None, :]
    tl.atomic_add(c + rows[:, None] * n + columns[None, :], sum, mask=inside, sem="relaxed")


def run_split_k(a, b):
    m, n, k = 128, 192, 4096
    c = torch.zeros(m, n, device="cuda")
    split_k[(triton.cdiv(m, 64) * triton.cdiv(n, 64), 4)](a, b, c, m, n, k)


@triton.jit
def batched(a, b, c, m, n, k, batch_a, batch_b, batch_c, M: tl.constexpr = 64, N: tl.constexpr = 64, K: tl.constexpr = 32):
    batch = tl.program_id(2).to(tl.int64)
    a_block = tl.make_block_ptr(a + batch * batch_a, (m, k), (k, 1), (tl.program_id(0) * M, 0), (M, K), (1, 0))
    b_block = tl.make_block_ptr(b + batch * batch_b, (k, n), (n, 1), (0, tl.program_id(1) * N), (K, N), (1, 0))
    sum = tl.zeros([M, N], dtype=tl.float32)
    for _ in range(0, k, K):
        left = tl.load(a_block, boundary_check=(0, 1), padding_option="zero")
        right = tl.load(b_block, boundary_check=(0, 1), padding_option="zero")
        sum = tl.dot(left, right, sum)
        a_block = tl.advance(a_block, (0, K))
        b_block = tl.advance(b_block, (K, 0))
    c_block = tl.make_block_ptr(c + batch * batch_c, (m, n), (n, 1), (tl.program_id(0) * M, tl.program_id(1) * N), (M, N), (1, 0))
    tl.store(c_block, sum.to(tl.float16), boundary_check=(0, 1))


def run_batched(a, b):
    batch, m, n, k = 3, 100, 80, 64
    c = torch.empty(batch, m, n, dtype=torch.float16, device="cuda")
    batched[(triton.cdiv(m, 64), triton.cdiv(n, 64), batch)](a, b, c, m, n, k, m * k, k * n, m * n)


@triton.jit
def described(a, b, c, m, n, k, M: tl.constexpr = 64, N: tl.constexpr = 64, K: tl.constexpr = 64):
    left = tl.make_tensor_descriptor(a, [m, k], [k, 1], [M, K])
    right = tl.make_tensor_descriptor(b, [k, n], [n, 1], [K, N])
    result = tl.make_tensor_descriptor(c, [m, n], [n, 1], [M, N])
    row = tl.program_id(0) * M
    column = tl.program_id(1) * N
    sum = tl.zeros([M, N], dtype=tl.float32)
    for start in range(0, k, K):
        sum = tl.dot(left.load([row, start]), right.load([start, column]), sum)
    result.store([row, column], sum.to(tl.float16))


def run_described(a, b):
    m, n, k = 256, 256, 512
    c = torch.empty(m, n, dtype=torch.float16, device="cuda")
    described[(m // 64, n // 64)](a, b, c, m, n, k)
