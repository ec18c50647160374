"""Attention for CDNA 5: one row block of queries against all keys and values.

Queries come once. Keys and values share a ring of slot pairs that the data mover fills two blocks
ahead. Because it finishes operations in order of issue, one counter serves both: scores need the
key block, and leave its value block and the pair after it open; the value block is waited for only
after the softmax. Scores are rescaled online and the probabilities stay in registers.
"""

from declare import Kernel, Twin
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.amd.cdna5 import tdm, wmma

BASES: gl.constexpr = gl.constexpr([[1, 0], [2, 0]])
ACC: gl.constexpr = gl.constexpr(gl.amd.AMDWMMALayout(3, True, BASES.value, [], [16, 16, 32]))
LEFT: gl.constexpr = gl.constexpr(gl.DotOperandLayout(0, ACC.value, 8))
RIGHT: gl.constexpr = gl.constexpr(gl.DotOperandLayout(1, ACC.value, 8))


@gluon.jit
def load_block(k_desc, v_desc, k_ring, v_ring, block, BUG: gl.constexpr):
    SPAN: gl.constexpr = k_ring.shape[1]
    slot = block % 2
    if BUG == "values_first":
        tdm.async_load(v_desc, [block * SPAN, 0], v_ring.index(slot))
        tdm.async_load(k_desc, [block * SPAN, 0], k_ring.index(slot))  # BUG: values_first
    else:
        tdm.async_load(k_desc, [block * SPAN, 0], k_ring.index(slot))  # BUG: keys_not_waited, queries_not_waited, refilled_early
        tdm.async_load(v_desc, [block * SPAN, 0], v_ring.index(slot))  # BUG: values_not_waited, refilled_early


@gluon.jit
def tdm_attention(q, k, v, out, length, scale, SPAN: gl.constexpr, HEAD: gl.constexpr, BUG: gl.constexpr):
    tile_layout: gl.constexpr = gl.PaddedSharedLayout.with_identity_for([[HEAD, 8]], [SPAN, HEAD], [1, 0])
    q_desc = tdm.make_tensor_descriptor(q, (length, HEAD), (HEAD, 1), (SPAN, HEAD), tile_layout)
    k_desc = tdm.make_tensor_descriptor(k, (length, HEAD), (HEAD, 1), (SPAN, HEAD), tile_layout)
    v_desc = tdm.make_tensor_descriptor(v, (length, HEAD), (HEAD, 1), (SPAN, HEAD), tile_layout)
    q_tile = gl.allocate_shared_memory(gl.float16, [SPAN, HEAD], tile_layout)
    k_ring = gl.allocate_shared_memory(gl.float16, [2, SPAN, HEAD], tile_layout)
    v_ring = gl.allocate_shared_memory(gl.float16, [2, SPAN, HEAD], tile_layout)

    row = gl.program_id(0) * SPAN
    tdm.async_load(q_desc, [row, 0], q_tile)  # BUG: queries_not_waited
    load_block(k_desc, v_desc, k_ring, v_ring, 0, BUG)
    load_block(k_desc, v_desc, k_ring, v_ring, 1, BUG)
    if BUG == "queries_not_waited":
        tdm.async_wait(5)
    else:
        tdm.async_wait(4)
    queries = q_tile.load(LEFT)  # BUG: queries_not_waited

    acc = gl.zeros([SPAN, HEAD], gl.float32, ACC)
    top = gl.full([SPAN], float("-inf"), gl.float32, gl.SliceLayout(1, ACC))
    total = gl.zeros([SPAN], gl.float32, gl.SliceLayout(1, ACC))
    for block in range(gl.cdiv(length, SPAN)):
        slot = block % 2
        if BUG != "keys_not_waited":
            tdm.async_wait(3)
        keys = k_ring.index(slot).permute([1, 0]).load(RIGHT)  # BUG: keys_not_waited, values_first, refilled_early
        scores = wmma(queries, keys, gl.zeros([SPAN, SPAN], gl.float32, ACC)) * scale
        peak = gl.maximum(top, gl.max(scores, 1))
        weights = gl.exp(scores - peak[:, None])
        shrink = gl.exp(top - peak)
        total = total * shrink + gl.sum(weights, 1)
        acc = acc * shrink[:, None]
        top = peak
        if BUG == "refilled_early":
            load_block(k_desc, v_desc, k_ring, v_ring, block + 2, "")
            tdm.async_wait(4)
        elif BUG != "values_not_waited":
            tdm.async_wait(2)
        values = v_ring.index(slot).load(RIGHT)  # BUG: values_not_waited, refilled_early
        acc = wmma(gl.convert_layout(weights.to(gl.float16), LEFT), values, acc)
        if BUG != "refilled_early":
            load_block(k_desc, v_desc, k_ring, v_ring, block + 2, BUG)
    tdm.async_wait(0)

    acc = acc / total[:, None]
    rows = row + gl.arange(0, SPAN, gl.SliceLayout(1, ACC))
    columns = gl.arange(0, HEAD, gl.SliceLayout(0, ACC))
    gl.store(out + rows[:, None] * HEAD + columns[None, :], acc.to(gl.float16))


CORPUS = [
    Kernel(
        tdm_attention, "gfx1250", dict(q="*fp16", k="*fp16", v="*fp16", out="*fp16", length="i32", scale="fp32"),
        dict(SPAN=64, HEAD=64), twins=dict(
            queries_not_waited=Twin(["pending-access"], "the first wait leaves the queries open"),
            keys_not_waited=Twin(["pending-access"], "the keys of a block are used before they have come"),
            values_not_waited=Twin(["pending-access"], "the values of a block are used before they have come"),
            values_first=Twin(["pending-access"], "values are loaded before keys, the waits count on the other order"),
            refilled_early=Twin(["pending-access"], "the pair is refilled before its values are read"),
        )),
]
