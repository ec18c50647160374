# Where the mask is off nothing is asserted.
# says nothing was asserted
# fencepost-run: positive x=f32[64]:value(-1) n=0
import triton
import triton.language as tl


@triton.jit(debug=True)
def positive(x, n):
    i = tl.arange(0, 64)
    tl.device_assert(tl.load(x + i) >= 0, "x is negative", mask=i < n)
