# exit 0
# says it ran to its end, and nothing was asserted
# fencepost-run: waits grid=2 flag=i32[8]:zeros
import triton
import triton.language as tl


@triton.jit
def waits(flag):
    if tl.program_id(0) == 0:
        while tl.atomic_add(flag, 0, sem="acquire") == 0:
            pass
    else:
        # The other one has gone round often before this one, which counts, is through.
        steps = 0
        for step in range(5000):
            steps += step
        tl.atomic_xchg(flag, steps, sem="release")
