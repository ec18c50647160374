# Values that a kernel prints.
# says printed: program (1, 0, 0): x is:  [0, 1, 2, 3]
# says printed: program (0, 0, 0): grid:  2
# fencepost-run: says grid=2 x=f32[4]:arange
import triton
import triton.language as tl


@triton.jit
def says(x):
    tl.device_print("grid", tl.num_programs(0))
    tl.device_print("x is", tl.load(x + tl.arange(0, 4)))
