"""How a kernel file says what is compiled from it, and what is expected of it.

A kernel file ends in `CORPUS`, a list of `Kernel`. A twin is the same kernel compiled with
`BUG=<name>`; the places where its finding may be drawn carry a comment `# BUG: <name>` (several
names are separated by commas), on the line where the call starts.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from triton.experimental.gluon import language as gl


@dataclass
class Twin:
    """A broken sibling: the acceptable kinds, the best one first."""

    kinds: list[str]
    why: str


@dataclass
class Kernel:
    """One compiled kernel; `fn` is the jitted entry and `name` the stem of the compiled file.

    In `signature` an integer type followed by `:16` says that the argument is a multiple of 16.
    `arch` is a compute capability (90) or the name of an AMD architecture ("gfx1250").
    """

    fn: object
    arch: int | str
    signature: dict[str, str]
    constexprs: dict[str, object] = field(default_factory=dict)
    twins: dict[str, Twin] = field(default_factory=dict)
    name: str = ""
    num_warps: int = 4
    num_ctas: int = 1
    stages: tuple[str, ...] = ("ttgir", )

    def __post_init__(self):
        self.name = self.name or self.fn.__name__


_DTYPES = {
    "fp16": gl.float16,
    "bf16": gl.bfloat16,
    "fp32": gl.float32,
    "fp8e4nv": gl.float8e4nv,
    "fp8e5": gl.float8e5,
    "i8": gl.int8,
    "u8": gl.uint8,
}


def desc(dtype: str, *block: int, layout=None) -> str:
    """The signature of a TMA descriptor with this block, in its default swizzled layout."""
    layout = layout or gl.NVMMASharedLayout.get_default_for(list(block), _DTYPES[dtype])
    return f"tensordesc<{dtype}[{','.join(map(str, block))}],{layout!r}>"
