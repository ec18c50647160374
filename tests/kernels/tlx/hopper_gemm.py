"""A product of matrices for Hopper: a producer fills a ring by TMA, two consumers multiply halves of a tile by wgmma."""

import torch
import triton
import triton.language as tl
import triton.language.extra.tlx as tlx
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def gemm(a, b, c, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, SLOTS: tl.constexpr):
    HALF: tl.constexpr = BLOCK_M // 2
    left = tlx.local_alloc((HALF, BLOCK_K), tlx.dtype_of(a), 2 * SLOTS)
    right = tlx.local_alloc((BLOCK_K, BLOCK_N), tlx.dtype_of(b), SLOTS)
    out = tlx.local_alloc((HALF, BLOCK_N), tlx.dtype_of(c), 2)
    full_left = tlx.alloc_barriers(2 * SLOTS)
    full_right = tlx.alloc_barriers(SLOTS)
    empty = tlx.alloc_barriers(SLOTS, arrive_count=2)
    row = tl.program_id(0) * BLOCK_M
    column = tl.program_id(1) * BLOCK_N
    steps = tl.cdiv(K, BLOCK_K)
    with tlx.async_tasks():
        with tlx.async_task("default"):
            for step in range(0, steps):
                slot = step % SLOTS
                tlx.barrier_wait(empty[slot], ((step // SLOTS) & 1) ^ 1)
                tlx.barrier_expect_bytes(full_right[slot], BLOCK_K * BLOCK_N * tlx.size_of(tlx.dtype_of(b)))
                tlx.async_descriptor_load(b, right[slot], [step * BLOCK_K, column], full_right[slot])
                for half in tl.static_range(2):
                    own = slot + half * SLOTS
                    tlx.barrier_expect_bytes(full_left[own], HALF * BLOCK_K * tlx.size_of(tlx.dtype_of(a)))
                    tlx.async_descriptor_load(a, left[own], [row + half * HALF, step * BLOCK_K], full_left[own])
        with tlx.async_task(num_warps=4, replicate=2, registers=232):
            half: tl.constexpr = tlx.async_task_replica_id()
            acc = tl.zeros([HALF, BLOCK_N], dtype=tl.float32)
            for step in range(0, steps):
                slot = step % SLOTS
                phase = (step // SLOTS) & 1
                tlx.barrier_wait(full_left[slot + half * SLOTS], phase)
                tlx.barrier_wait(full_right[slot], phase)
                acc = tlx.async_dot(left[slot + half * SLOTS], right[slot], acc)
                acc = tlx.async_dot_wait(0, acc)
                tlx.barrier_arrive(empty[slot])
            tlx.local_store(out[half], acc.to(tlx.dtype_of(c)))
            tlx.fence("async_shared")
            tlx.async_descriptor_store(c, out[half], [row + half * HALF, column])
            tlx.async_descriptor_store_wait(0)


def matmul(a, b, block_m=128, block_n=128, block_k=64, slots=3):
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), device=a.device, dtype=a.dtype)
    grid = (triton.cdiv(m, block_m), triton.cdiv(n, block_n))
    gemm[grid](
        TensorDescriptor.from_tensor(a, [block_m // 2, block_k]),
        TensorDescriptor.from_tensor(b, [block_k, block_n]),
        TensorDescriptor.from_tensor(c, [block_m // 2, block_n]),
        k,
        block_m,
        block_n,
        block_k,
        slots,
    )
    return c


def test_matmul():
    a = torch.randn(512, 256, device="cuda", dtype=torch.float16)
    b = torch.randn(256, 384, device="cuda", dtype=torch.float16)
    torch.testing.assert_close(matmul(a, b), a @ b)
