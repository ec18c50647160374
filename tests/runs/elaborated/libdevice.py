# A function of libdevice that no op of MLIR is.
# y = 4
# fencepost-run: scale x=f32[64]:value(0.5) y=f32[64]
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def scale(x, y):
    i = tl.arange(0, 64)
    tl.store(y + i, libdevice.ldexp(tl.load(x + i), 3))
