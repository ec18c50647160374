# args --steps 20000
# exit 1
# says spin.py:11 for a word that does not change: flag[0] = 0
# fencepost-run: waits grid=2 flag=i32[8]:zeros
import triton
import triton.language as tl


@triton.jit
def waits(flag):
    while tl.atomic_add(flag, 0, sem="acquire") == 0:
        pass
