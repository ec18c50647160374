# exit 1
# says `tt.atomic_rmw` is asked for ever for a word that nobody changes any more: flag[0] = 0
# fencepost-run: waits grid=2 flag=i32[8]:zeros
import triton
import triton.language as tl


@triton.jit
def waits(flag):
    while tl.atomic_add(flag, 0, sem="acquire") == 0:
        pass
