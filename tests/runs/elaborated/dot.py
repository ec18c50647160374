# A product that is asked to be exact is.
# c = 16.003202438354492
# fencepost-run: dot a=f32[16,16]:value(1.0001) b=f32[16,16]:value(1.0001) c=f32[16,16]:zeros
import triton
import triton.language as tl


@triton.jit
def dot(a, b, c):
    i = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tl.store(c + i, tl.dot(tl.load(a + i), tl.load(b + i), input_precision="ieee"))
