"""Which slot of a ring, and which phase of its barrier, a count of tiles comes to."""

import triton
import triton.language as tl


@triton.jit
def get_bufidx_phase(accum_cnt, NUM_BUFFERS: tl.constexpr):
    slot = accum_cnt % NUM_BUFFERS
    return slot, (accum_cnt // NUM_BUFFERS) & 1
