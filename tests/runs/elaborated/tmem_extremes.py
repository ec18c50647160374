# What a load of tensor memory gives beside the tensor is what a reduction of the tensor gives.
# says 1 run: passed
# fencepost-run: extremes x=f32[128,32]:normal
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.blackwell import TensorMemoryLayout, allocate_tensor_memory


# fencepost: target=sm_103
@gluon.jit(debug=True)
def extremes(x):
    acc = allocate_tensor_memory(gl.float32, [128, 32], TensorMemoryLayout([128, 32], col_stride=1))
    L: gl.constexpr = acc.get_reg_layout()
    rows = gl.arange(0, 128, gl.SliceLayout(1, L))
    cols = gl.arange(0, 32, gl.SliceLayout(0, L))
    acc.store(gl.load(x + rows[:, None] * 32 + cols[None, :]))
    v, most = acc.load_max()
    w, least = acc.load_min(abs=True)
    gl.device_assert(most == gl.max(v, 1), "the greatest of each row")
    gl.device_assert(least == gl.min(gl.abs(w), 1), "the least magnitude of each row")
