# Past the end of the described tensor there is what the descriptor says.
# y = 1 1 nan nan
# fencepost-run: padded x=f32[4,8]:ones y=f32[4,8]:zeros
import triton
import triton.language as tl


@triton.jit
def padded(x, y):
    d = tl.make_tensor_descriptor(x, [4, 8], [8, 1], [4, 8], padding_option="nan")
    p = tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :]
    tl.store(y + p, d.load([0, 6]))
