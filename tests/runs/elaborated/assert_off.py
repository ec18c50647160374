# Triton compiles asserts in only where it is asked to.
# says note: `device_assert` is off
# fencepost-run: positive x=f32[64]:value(-1)
import triton
import triton.language as tl


@triton.jit
def positive(x):
    i = tl.arange(0, 64)
    tl.device_assert(tl.load(x + i) >= 0, "x is negative")
