# exit 1
# says device-assert
# says assert_on.py:13:
# says x is negative
# fencepost-run: positive x=f32[64]:value(-1)
import triton
import triton.language as tl


@triton.jit(debug=True)
def positive(x):
    i = tl.arange(0, 64)
    tl.device_assert(tl.load(x + i) >= 0, "x is negative")
