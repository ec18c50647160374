"""Matrix product in plain Triton, which pipelines the K loop itself: C = A @ B with masks at the edges."""

import triton
import triton.language as tl


@triton.jit
def matmul(a, b, c, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    # Programs that follow each other share rows of A: GROUP tiles of a column, then the next column.
    band = pid // (GROUP * tiles_n)
    height = min(tiles_m - band * GROUP, GROUP)
    tile_m = band * GROUP + (pid % (GROUP * tiles_n)) % height
    tile_n = (pid % (GROUP * tiles_n)) // height
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    steps = tl.arange(0, BLOCK_K)
    a_at = a + rows[:, None] * K + steps[None, :]
    b_at = b + steps[:, None] * N + cols[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(0, K, BLOCK_K):
        left = tl.load(a_at, mask=(rows[:, None] < M) & (steps[None, :] + k < K), other=0.0)
        right = tl.load(b_at, mask=(steps[:, None] + k < K) & (cols[None, :] < N), other=0.0)
        acc = tl.dot(left, right, acc)
        a_at += BLOCK_K
        b_at += BLOCK_K * N
    tl.store(c + rows[:, None] * N + cols[None, :], acc.to(c.dtype.element_ty),
             mask=(rows[:, None] < M) & (cols[None, :] < N))
