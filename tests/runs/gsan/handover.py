"""Programs that hand data on through flags, counters and locks, right and wrong by their constants."""

import triton
import triton.language as tl


@triton.jit
def handover(data, flag, out, SIZE: tl.constexpr, RELEASE: tl.constexpr, ACQUIRE: tl.constexpr, SCOPE: tl.constexpr):
    at = tl.arange(0, SIZE)
    if tl.program_id(0) == 0:
        tl.store(data + at, at + 1)
        tl.atomic_xchg(flag, 1, sem=RELEASE, scope=SCOPE)  # mark: signal
    else:
        while tl.atomic_add(flag, 0, sem=ACQUIRE, scope=SCOPE) == 0:  # mark: poll
            pass
        tl.store(out + at, tl.load(data + at))  # mark: payload


@triton.jit
def overwrite(data, flag, out, SIZE: tl.constexpr, FIRST: tl.constexpr, RELEASE: tl.constexpr, ACQUIRE: tl.constexpr):
    at = tl.arange(0, SIZE)
    if tl.program_id(0) == 0:
        if FIRST == "read":
            tl.store(out + at, tl.load(data + at))
        else:
            tl.store(data + at, at)
        tl.atomic_xchg(flag, 1, sem=RELEASE)
    else:
        while tl.atomic_add(flag, 0, sem=ACQUIRE) == 0:
            pass
        tl.store(data + at, at * 2)  # mark: second


@triton.jit
def relay(data, first, second, out, SIZE: tl.constexpr, TAKE: tl.constexpr, GIVE: tl.constexpr, END: tl.constexpr,
          SCOPE: tl.constexpr):
    pid = tl.program_id(0)
    at = tl.arange(0, SIZE)
    if pid == 0:
        tl.store(data + at, at + 7)
        tl.atomic_xchg(first, 1, sem=END, scope=SCOPE)  # mark: start
    elif pid == 1:
        while tl.atomic_add(first, 0, sem=TAKE, scope=SCOPE) == 0:  # mark: take
            pass
        tl.atomic_xchg(second, 1, sem=GIVE, scope=SCOPE)  # mark: give
    else:
        while tl.atomic_add(second, 0, sem="acq_rel" if END == "acq_rel" else "acquire", scope=SCOPE) == 0:  # mark: last
            pass
        tl.store(out + at, tl.load(data + at))  # mark: payload


@triton.jit
def release_chain(data, flag, out, SIZE: tl.constexpr, WRITERS: tl.constexpr, SEM: tl.constexpr, SCOPE: tl.constexpr):
    pid = tl.program_id(0)
    at = tl.arange(0, SIZE)
    if pid < WRITERS:
        tl.store(data + pid * SIZE + at, at + pid)
        tl.atomic_add(flag, 1, sem=SEM, scope=SCOPE)
    else:
        while tl.atomic_add(flag, 0, sem="acquire", scope=SCOPE) < WRITERS:
            pass
        for k in range(WRITERS):
            tl.store(out + k * SIZE + at, tl.load(data + k * SIZE + at))  # mark: payload


@triton.jit
def mixed_scopes(data, flag, out, SIZE: tl.constexpr, WAIT: tl.constexpr):
    pid = tl.program_id(0)
    at = tl.arange(0, SIZE)
    if pid == 0:
        tl.store(data + at, at)
        tl.atomic_add(flag, 1, sem="release", scope="gpu")
    else:
        while tl.atomic_or(flag, 0, sem=WAIT, scope="gpu") == 0:
            pass
        tl.atomic_add(flag, 1, sem="release", scope="sys")  # mark: wider


@triton.jit
def last_program(x, partial, counter, out, SIZE: tl.constexpr, SEM: tl.constexpr, SCOPE: tl.constexpr):
    pid = tl.program_id(0)
    programs = tl.num_programs(0)
    tl.store(partial + pid, tl.sum(tl.load(x + pid * SIZE + tl.arange(0, SIZE))))
    done = tl.atomic_add(counter, 1, sem=SEM, scope=SCOPE)  # mark: count
    if done == programs - 1:
        total = 0
        for k in range(programs):
            total += tl.load(partial + k)  # mark: gather
        tl.store(out, total)


@triton.jit
def mutex(lock, total, SIZE: tl.constexpr, TAKE: tl.constexpr, GIVE: tl.constexpr):
    at = tl.arange(0, SIZE)
    while tl.atomic_cas(lock, 0, 1, sem=TAKE) != 0:  # mark: take
        pass
    tl.store(total + at, tl.load(total + at) + 1)  # mark: body
    if GIVE == "store":
        tl.store(lock, 0)  # mark: unlock
    else:
        tl.atomic_xchg(lock, 0, sem=GIVE)


@triton.jit
def lookback(x, sums, flags, y, SIZE: tl.constexpr, SCOPE: tl.constexpr, GIVE: tl.constexpr):
    pid = tl.program_id(0)
    at = pid * SIZE + tl.arange(0, SIZE)
    value = tl.load(x + at)
    before = 0
    if pid > 0:
        while tl.atomic_add(flags + pid - 1, 0, sem="acquire", scope=SCOPE) == 0:  # mark: poll
            pass
        before = tl.load(sums + pid - 1)  # mark: prefix
    tl.store(y + at, tl.cumsum(value, 0) + before)
    tl.store(sums + pid, before + tl.sum(value))
    tl.atomic_xchg(flags + pid, 1, sem=GIVE, scope=SCOPE)  # mark: signal


@triton.jit
def grid_barrier(x, counter, y, SIZE: tl.constexpr, WAITS: tl.constexpr):
    pid = tl.program_id(0)
    programs = tl.num_programs(0)
    at = tl.arange(0, SIZE)
    tl.store(x + pid * SIZE + at, at + pid)  # mark: first
    tl.atomic_add(counter, 1, sem="release")
    if WAITS:
        while tl.atomic_add(counter, 0, sem="acquire") < programs:
            pass
    else:
        tl.atomic_cas(counter, programs, programs, sem="acquire")
    other = (pid + 1) % programs
    tl.store(y + pid * SIZE + at, tl.load(x + other * SIZE + at))  # mark: across


@triton.jit
def work_queue(x, counter, y, tiles, SIZE: tl.constexpr, ATOMIC: tl.constexpr):
    if ATOMIC:
        tile = tl.atomic_add(counter, 1, sem="relaxed")
    else:
        tile = tl.load(counter)  # mark: fetch
        tl.store(counter, tile + 1)  # mark: bump
    while tile < tiles:
        at = tile * SIZE + tl.arange(0, SIZE)
        tl.store(y + at, tl.load(x + at) * 2)  # mark: tile
        if ATOMIC:
            tile = tl.atomic_add(counter, 1, sem="relaxed")
        else:
            tile = tl.load(counter)  # mark: fetch_again
            tl.store(counter, tile + 1)  # mark: bump_again


@triton.jit
def polled(data, flag, out, SIZE: tl.constexpr, RELEASE: tl.constexpr, ACQUIRE: tl.constexpr, SCOPE: tl.constexpr):
    at = tl.arange(0, SIZE)
    if tl.program_id(0) == 0:
        tl.store(data + at, at + 1)
        tl.atomic_store(flag, 1, sem=RELEASE, scope=SCOPE)  # mark: signal
    else:
        tl.atomic_poll(flag, 1, sem=ACQUIRE, scope=SCOPE)  # mark: poll
        tl.store(out + at, tl.load(data + at))  # mark: payload


@triton.jit
def looked_at(data, flag, out, SIZE: tl.constexpr, PLAIN: tl.constexpr):
    at = tl.arange(0, SIZE)
    if tl.program_id(0) == 0:
        tl.store(data + at, at + 1)
        tl.atomic_store(flag, 1, sem="release")  # mark: signal
    else:
        if PLAIN:
            while tl.load(flag, volatile=True) == 0:  # mark: look
                pass
        else:
            while tl.atomic_load(flag, sem="acquire") == 0:
                pass
        tl.store(out + at, tl.load(data + at))  # mark: payload
