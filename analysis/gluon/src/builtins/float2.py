"""Pairs of floats, as Blackwell adds and multiplies two at once: each pair is one integer of 64 bits.

The names and what they give are those of `triton.experimental.gluon.language.nvidia.blackwell.float2`. A kernel that uses
them is elaborated with these functions in place of Triton's.
"""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.language.core import _aggregate as aggregate


@gluon.constexpr_function
def _halves(shape, axis):
    # Neighbours along the axis go to a dimension of two, which takes the last place.
    sizes = list(shape)
    assert sizes[axis] >= 2, f"there are no pairs along axis {axis}"
    sizes[axis : axis + 1] = [sizes[axis] // 2, 2]
    order = list(range(len(sizes)))
    order[axis + 1], order[-1] = order[-1], order[axis + 1]
    return gl.tuple(sizes), gl.tuple(order)


@gluon.constexpr_function
def _doubled(shape, axis):
    # The last dimension of two goes behind the axis, and becomes one with it.
    sizes = list(shape)
    order = list(range(len(sizes)))
    order.insert(axis + 1, len(sizes))
    sizes[axis] *= 2
    return gl.tuple(sizes), gl.tuple(order)


@gluon.jit
def _of_two(asm: gl.constexpr, a, b):
    return gl.inline_asm_elementwise(asm, "=l,l,l", [a, b], dtype=gl.int64, is_pure=True, pack=1)


@gluon.jit
def _sum_of_pairs(a, b):
    return _of_two("add.f32x2 $0, $1, $2;", a, b)


@aggregate
class Float2Tensor:
    value: gl.tensor

    def __init__(self, value: gl.tensor):
        self.value = value

    @property
    def _value(self):
        # What releases before 3.9 call it.
        return self.value

    @gluon.jit
    def __add__(self, other):
        gl.static_assert(isinstance(other, Float2Tensor), "a Float2Tensor is added to another")
        return Float2Tensor(_sum_of_pairs(self.value, other.value))

    @gluon.jit
    def __sub__(self, other):
        gl.static_assert(isinstance(other, Float2Tensor), "a Float2Tensor is taken from another")
        return Float2Tensor(_of_two("sub.f32x2 $0, $1, $2;", self.value, other.value))

    @gluon.jit
    def __mul__(self, other):
        gl.static_assert(isinstance(other, Float2Tensor), "a Float2Tensor is multiplied with another")
        return Float2Tensor(_of_two("mul.f32x2 $0, $1, $2;", self.value, other.value))

    @gluon.jit
    def sum(self, axis: gl.constexpr):
        return Float2Tensor(gl.reduce(self.value, axis, _sum_of_pairs))


@gluon.jit
def pack2(x0, x1):
    asm: gl.constexpr = "mov.b64 $0, { $1, $2 };"
    return Float2Tensor(gl.inline_asm_elementwise(asm, "=l,r,r", [x0, x1], dtype=gl.int64, is_pure=True, pack=1))


@gluon.jit
def unpack2(x):
    asm: gl.constexpr = "mov.b64 { $0, $1 }, $2;"
    both: gl.constexpr = [gl.float32, gl.float32]
    return gl.inline_asm_elementwise(asm, "=r,=r,l", [x.value], dtype=both, is_pure=True, pack=1)


@gluon.jit
def pack(x, axis: gl.constexpr):
    way: gl.constexpr = _halves(x.shape, axis)
    x0, x1 = gl.split(gl.permute(gl.reshape(x, way[0]), way[1]))
    return pack2(x0, x1)


@gluon.jit
def unpack(x, axis: gl.constexpr):
    way: gl.constexpr = _doubled(x.value.shape, axis)
    x0, x1 = unpack2(x)
    return gl.reshape(gl.permute(gl.join(x0, x1), way[1]), way[0])


@gluon.jit
def full_like(x, fill_value):
    fill = gl.full_like(x.value, fill_value, dtype=gl.float32)
    return pack2(fill, fill)


@gluon.jit
def fma(a, b, c):
    factors = [a.value, b.value, c.value]
    asm: gl.constexpr = "fma.rn.f32x2 $0, $1, $2, $3;"
    return Float2Tensor(gl.inline_asm_elementwise(asm, "=l,l,l,l", factors, dtype=gl.int64, is_pure=True, pack=1))
