"""Compiles a file of TTGIR with the instrumentation of ConSan, to what a GPU would be given. Prints milliseconds of
processor time of this process and of the assembler that it starts, the import of Triton left out."""

import os
import sys
import tempfile

os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp(prefix="fencepost-bench-")

import triton
from triton.backends.compiler import GPUTarget

triton.knobs.compilation.instrumentation_mode = "consan"
before = os.times()
triton.compile(sys.argv[1], target=GPUTarget("cuda", 90, 32))
after = os.times()
print(sum(after[:4]) * 1e3 - sum(before[:4]) * 1e3)
