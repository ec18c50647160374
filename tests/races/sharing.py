"""Programs that share memory, in the order that atomics make."""

import triton
import triton.language as tl


# fencepost: bins=*i32, x=*i32
@triton.jit
def histogram(x, bins, n, BLOCK: tl.constexpr = 256):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    bin = at % 8
    tl.atomic_add(bins + bin, 1, mask=at < n, sem="relaxed")


# fencepost: lock=*i32, taken=*i32
@triton.jit
def partial_sums(x, sums, lock, taken, stride, columns, GROUPS: tl.constexpr = 2, BLOCK: tl.constexpr = 64):
    # Rows are added up into a few groups; a lock keeps one program at a time in each.
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * stride + at, mask=inside, other=0.0)
    group = row % GROUPS
    sums += group * stride + at
    lock += group
    taken += group
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.load(taken) == 0:
        tl.store(taken, 1)
    else:
        value += tl.load(sums, mask=inside)
    tl.store(sums, value, mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


# fencepost: count=*i32, programs=4
@triton.jit
def last_adds(x, part, count, out, programs: tl.constexpr, BLOCK: tl.constexpr = 64):
    # The program that comes last adds up what the others have left.
    pid = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    tl.store(part + pid, tl.sum(tl.load(x + pid * BLOCK + at)))
    tl.debug_barrier()
    if tl.atomic_add(count, 1, sem="acq_rel") == tl.num_programs(0) - 1:
        sum = 0.0
        for other in range(0, tl.num_programs(0)):
            sum += tl.load(part + other)
        tl.store(out, sum)


# fencepost: flags=*i32
@triton.jit
def running_sum(x, out, ends, flags, BLOCK: tl.constexpr = 64):
    # Each program waits for the sum of those before it.
    pid = tl.program_id(0)
    at = pid * BLOCK + tl.arange(0, BLOCK)
    sums = tl.cumsum(tl.load(x + at), axis=0)
    before = 0.0
    if pid > 0:
        while tl.atomic_add(flags + pid - 1, 0, sem="acquire") == 0:
            pass
        before = tl.load(ends + pid - 1)
    tl.store(ends + pid, before + tl.sum(tl.load(x + at)))
    tl.debug_barrier()
    tl.atomic_xchg(flags + pid, 1, sem="release")
    tl.store(out + at, sums + before)


# fencepost: ticket=*i32
@triton.jit
def work_queue(x, out, ticket, tiles, BLOCK: tl.constexpr = 64):
    tile = tl.atomic_add(ticket, 1, sem="relaxed")
    while tile < tiles:
        at = tile * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + at, tl.load(x + at) * 2)
        tile = tl.atomic_add(ticket, 1, sem="relaxed")


# fencepost: count=*i32
@triton.jit
def two_phases(x, halfway, out, count, BLOCK: tl.constexpr = 64):
    # All programs write, meet, and read what a neighbour wrote.
    pid = tl.program_id(0)
    programs = tl.num_programs(0)
    at = tl.arange(0, BLOCK)
    tl.store(halfway + pid * BLOCK + at, tl.load(x + pid * BLOCK + at) + 1)
    tl.debug_barrier()
    tl.atomic_add(count, 1, sem="release")
    while tl.atomic_add(count, 0, sem="acquire") < programs:
        pass
    next = (pid + 1) % programs
    tl.store(out + pid * BLOCK + at, tl.load(halfway + next * BLOCK + at))


# fencepost: most=*i32
@triton.jit
def greatest(x, most, n, BLOCK: tl.constexpr = 128):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n, other=0).to(tl.int32)
    tl.atomic_max(most, tl.max(value, axis=0), sem="relaxed")
