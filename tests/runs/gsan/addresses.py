"""Programs whose addresses meet, or just do not: bytes, masks, atomics, descriptors."""

import triton
import triton.language as tl


@triton.jit
def histogram(x, bins, n, SIZE: tl.constexpr, ATOMIC: tl.constexpr):
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    bin = tl.load(x + at, mask=at < n, other=0) & 63
    if ATOMIC:
        tl.atomic_add(bins + bin, 1, mask=at < n, sem="relaxed")
    else:
        count = tl.load(bins + bin, mask=at < n)  # mark: count
        tl.store(bins + bin, count + 1, mask=at < n)  # mark: bump


@triton.jit
def neighbours(out, STEP: tl.constexpr):
    # Programs write neighbouring elements; four bytes hold those of several.
    pid = tl.program_id(0)
    at = pid * STEP + tl.arange(0, 4)
    tl.store(out + at, at.to(out.dtype.element_ty))  # mark: store


@triton.jit
def tail(x, y, n, SIZE: tl.constexpr, MASKED: tl.constexpr):
    at = tl.program_id(0) * n + tl.arange(0, SIZE)
    inside = tl.arange(0, SIZE) < (n if MASKED else SIZE)
    tl.store(y + at, tl.load(x + at, mask=inside), mask=inside)  # mark: store


@triton.jit
def shift(x, OFFSET: tl.constexpr, SIZE: tl.constexpr):
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    value = tl.load(x + at + OFFSET)  # mark: load
    tl.store(x + at, value)  # mark: store


@triton.jit
def count(counter, out, PER_PROGRAM: tl.constexpr, SEM: tl.constexpr, SCOPE: tl.constexpr):
    pid = tl.program_id(0)
    tl.atomic_add(counter + (pid if PER_PROGRAM else 0), 1, sem=SEM, scope=SCOPE)  # mark: add


@triton.jit
def elect(winner, out, PLAIN: tl.constexpr):
    pid = tl.program_id(0)
    won = tl.atomic_cas(winner, -1, pid, sem="relaxed")  # mark: cas
    if won == -1:
        tl.store(out, pid)
        if PLAIN:
            tl.store(winner, pid)  # mark: plain


@triton.jit
def described(x, out, flag, rows, SIZE: tl.constexpr, RELEASE: tl.constexpr, READS: tl.constexpr):
    box = tl.make_tensor_descriptor(x, [rows, SIZE], [SIZE, 1], [8, SIZE])
    at = tl.arange(0, SIZE)
    if tl.program_id(0) == 0:
        if READS:
            tl.store(out + at, tl.sum(box.load([0, 0]), 0))
        else:
            box.store([0, 0], tl.full((8, SIZE), 3.0, tl.float32))
        tl.atomic_xchg(flag, 1, sem=RELEASE)
    else:
        while tl.atomic_add(flag, 0, sem="acquire") == 0:
            pass
        if READS:
            tl.store(x + 3 * SIZE + at, at.to(tl.float32))  # mark: write
        else:
            tl.store(out + at, tl.load(x + 3 * SIZE + at))  # mark: read


@triton.jit
def described_flag(payload, flags, out, SIZE: tl.constexpr, DESCRIBED: tl.constexpr):
    at = tl.arange(0, SIZE)
    box = tl.make_tensor_descriptor(flags, [8, 32], [32, 1], [8, 32])
    if tl.program_id(0) == 0:
        tl.store(payload + at, at)
        if DESCRIBED:
            box.atomic_add([0, 0], tl.full((8, 32), 1, tl.int32))
        else:
            tl.atomic_add(flags, 1, sem="release")
    else:
        while tl.atomic_add(flags, 0, sem="acquire") == 0:
            pass
        tl.store(out + at, tl.load(payload + at))  # mark: payload


@triton.jit
def rows(x, picks, out, flag, height, WIDTH: tl.constexpr, RELEASE: tl.constexpr, SCATTERS: tl.constexpr):
    box = tl.make_tensor_descriptor(x, [height, WIDTH], [WIDTH, 1], [1, WIDTH])
    at = tl.arange(0, WIDTH)
    chosen = tl.load(picks + tl.arange(0, 8))
    if tl.program_id(0) == 0:
        if SCATTERS:
            tl.store(out + at, tl.load(x + 5 * WIDTH + at))
        else:
            tl.store(out + at, tl.sum(box.gather(chosen, 0), 0))
        tl.atomic_xchg(flag, 1, sem=RELEASE)
    else:
        while tl.atomic_add(flag, 0, sem="acquire") == 0:
            pass
        if SCATTERS:
            box.scatter(tl.full((8, WIDTH), 1.0, tl.float32), chosen, 0)  # mark: scatter
        else:
            tl.store(x + 5 * WIDTH + at, at.to(tl.float32))  # mark: write
