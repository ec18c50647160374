# The recipe says that there is no sign, and nothing else says of what type the elements are.
# y = 2000000000
# x is <u4
# fencepost-run: half x=u32[128]:value(4000000000) y=f32[128]
import triton
import triton.language as tl


@triton.jit
def half(x, y):
    i = tl.arange(0, 128)
    tl.store(y + i, (tl.load(x + i) // 2).to(tl.float32))
