# exit 1
# says error[out-of-bounds]
# says index 999 of 128
# says gather.py:14:
# says 1 run: asserted
# fencepost-run: pick x=f32[128] index=i32[128]:value(999) y=f32[128]
import triton
import triton.language as tl


@triton.jit
def pick(x, index, y):
    i = tl.arange(0, 128)
    tl.store(y + i, tl.gather(tl.load(x + i), tl.load(index + i), 0))
