# An op that no elaboration follows has its name in Python, and no array is compared with one that was not written.
# args --expect y=zeros.npy
# says `tl.sort` at unfollowed.py:14 is not followed without Triton
# says 1 run: undecided
# says is not compared
# fencepost-run: order x=f32[8,16] y=f32[8,16]:ones
import triton
import triton.language as tl


@triton.jit
def order(x, y):
    i = tl.arange(0, 8)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tl.store(y + i, tl.sort(tl.load(x + i)))
