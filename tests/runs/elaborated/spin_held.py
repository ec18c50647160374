# exit 1
# says `tt.atomic_cas` is asked for ever for a word that nobody changes any more: lock[0] = 1 (2 times)
# fencepost-run: locks grid=3 lock=i32[8]:zeros count=i32[8]:zeros
import triton
import triton.language as tl


@triton.jit
def locks(lock, count):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(count, tl.load(count) + 1)
    # The lock is kept.
