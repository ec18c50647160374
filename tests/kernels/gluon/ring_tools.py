"""Helpers of the kernels beside it."""

from triton.experimental import gluon
from triton.experimental.gluon.language.nvidia.hopper import mbarrier


@gluon.jit
def signal(barriers, slot):
    mbarrier.arrive(barriers.index(slot), count=1)
