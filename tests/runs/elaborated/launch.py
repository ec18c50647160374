# Host code hands over a tensor without signs and a truth value.
# says x=u8[64]
# y = 4
import torch
import triton
import triton.language as tl


@triton.jit
def widen(x, y, scale, negative):
    i = tl.arange(0, 64)
    value = (tl.load(x + i) * 0 + 8).to(tl.float32) * scale
    if negative:
        value = -value
    tl.store(y + i, value)


def test_widen():
    x = torch.full((64,), 200, dtype=torch.uint8)
    y = torch.zeros(64)
    widen[(1,)](x, y, 0.5, False)
