# Constants, floats, truth values, wide integers, strings and types are in the recipe alone.
# o = 9 10 11 12
# fencepost-run: shift x=f16[64]:arange o=f64[64] far=4294967304 eps=0.5 up=True N=64 MODE='twice'
import triton
import triton.language as tl


@triton.jit
def shift(x, o, far, eps, up, N: tl.constexpr, MODE: tl.constexpr):
    i = tl.arange(0, N)
    value = tl.load(x + i).to(tl.float64)
    if MODE == "twice":
        value = value * 2 * eps
    if up:
        value += 1
    tl.store(o + i, value + (far - 4294967296))
