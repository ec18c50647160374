# A race between the CTAs of one program needs the layouts that Triton makes: that is said.
# says races between them are not seen
# x is <f4
# fencepost-run: swap num_ctas=2 x=f32[256] o=f32[256]
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def swap(x, o):
    C: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0], cga_layout=((1,),))
    i = gl.arange(0, 256, C)
    gl.store(x + i, i.to(gl.float32))
    gl.store(o + i, gl.load(x + (255 - i)))
