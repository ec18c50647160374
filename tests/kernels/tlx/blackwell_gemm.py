"""A persistent product of matrices for Blackwell: one partition loads, one multiplies in two slots of tensor memory, and one
stores what came out while the next tile is multiplied. Tiles are handed out by cluster launch control."""

import torch
import triton
import triton.language as tl
import triton.language.extra.tlx as tlx
from triton.language.extra.tlx.warp_spec import get_bufidx_phase
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def place(tile, columns, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    return (tile // columns) * BLOCK_M, (tile % columns) * BLOCK_N


@triton.jit
def gemm(a, b, c, K, columns, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, SLOTS: tl.constexpr):
    left = tlx.local_alloc((BLOCK_M, BLOCK_K), tlx.dtype_of(a), SLOTS)
    right = tlx.local_alloc((BLOCK_K, BLOCK_N), tlx.dtype_of(b), SLOTS)
    out = tlx.local_alloc((BLOCK_M, BLOCK_N), tlx.dtype_of(c), 1)
    acc = tlx.local_alloc((BLOCK_M, BLOCK_N), tl.float32, 2, tlx.storage_kind.tmem)
    full, empty = tlx.alloc_barriers(SLOTS), tlx.alloc_barriers(SLOTS)
    acc_full, acc_empty = tlx.alloc_barriers(2), tlx.alloc_barriers(2)
    tiles = tlx.clc_create_context(num_consumers=3, num_stages=2)
    with tlx.async_tasks():
        with tlx.async_task("default"):
            tile = tl.program_id(0)
            count = 0
            while tile != -1:
                slot, phase = get_bufidx_phase(count, 2)
                tlx.clc_producer(tiles, p_producer=phase ^ 1, k=slot)
                row, column = place(tile, columns, BLOCK_M, BLOCK_N)
                tlx.barrier_wait(acc_full[slot], phase)
                result = tlx.local_load(acc[slot])
                tlx.barrier_arrive(acc_empty[slot])
                tlx.async_descriptor_store_wait(0)
                tlx.local_store(out[0], result.to(tlx.dtype_of(c)))
                tlx.fence("async_shared")
                tlx.async_descriptor_store(c, out[0], [row, column])
                tile = tlx.clc_consumer(tiles, p_consumer=phase, k=slot)
                count += 1
            tlx.async_descriptor_store_wait(0)
        with tlx.async_task(num_warps=1, registers=24):
            tile = tl.program_id(0)
            count = 0
            step = 0
            while tile != -1:
                slot, phase = get_bufidx_phase(count, 2)
                tlx.barrier_wait(acc_empty[slot], phase ^ 1)
                for k in range(0, K, BLOCK_K):
                    part, part_phase = get_bufidx_phase(step, SLOTS)
                    tlx.barrier_wait(full[part], part_phase)
                    tlx.async_dot(left[part], right[part], acc[slot], use_acc=k > 0, mBarriers=[empty[part]])
                    step += 1
                tlx.tcgen05_commit(acc_full[slot])
                tile = tlx.clc_consumer(tiles, p_consumer=phase, k=slot)
                count += 1
        with tlx.async_task(num_warps=1, registers=24):
            tile = tl.program_id(0)
            count = 0
            step = 0
            while tile != -1:
                slot, phase = get_bufidx_phase(count, 2)
                row, column = place(tile, columns, BLOCK_M, BLOCK_N)
                for k in range(0, K, BLOCK_K):
                    part, part_phase = get_bufidx_phase(step, SLOTS)
                    tlx.barrier_wait(empty[part], part_phase ^ 1)
                    tlx.barrier_expect_bytes(full[part], 2 * BLOCK_K * (BLOCK_M + BLOCK_N))
                    tlx.async_descriptor_load(a, left[part], [row, k], full[part])
                    tlx.async_descriptor_load(b, right[part], [k, column], full[part])
                    step += 1
                tile = tlx.clc_consumer(tiles, p_consumer=phase, k=slot)
                count += 1


def matmul(a, b, block_m=128, block_n=128, block_k=64, slots=2):
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), device=a.device, dtype=a.dtype)
    rows, columns = triton.cdiv(m, block_m), triton.cdiv(n, block_n)
    gemm[(rows * columns, )](
        TensorDescriptor.from_tensor(a, [block_m, block_k]),
        TensorDescriptor.from_tensor(b, [block_k, block_n]),
        TensorDescriptor.from_tensor(c, [block_m, block_n]),
        k,
        columns,
        block_m,
        block_n,
        block_k,
        slots,
        launch_cluster=True,
    )
    return c


def test_matmul():
    a = torch.randn(512, 256, device="cuda", dtype=torch.float16)
    b = torch.randn(256, 384, device="cuda", dtype=torch.float16)
    torch.testing.assert_close(matmul(a, b), a @ b)
