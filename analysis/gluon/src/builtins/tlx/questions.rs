//! What TLX's kernels ask: element types and their sizes, the CTA in its cluster, the thread.

use super::cluster::cta_rank;
use super::operand::scalar;
use builtins::operand::{dtype as element, ints, need, tensor};
use python::interp::{Eval, Interp};
use python::library::{Bound, NOTHING, Part, Row};
use python::value::{DType, Value};

pub(super) const PART: Part = Part {
    rows: &[
        Row::new("tl.extra.tlx.dtype_of", "v", 4, |interp, bound| match need(interp, bound, "v")? {
            Value::TensorDesc(of) => Ok(Value::DType(of.dtype)),
            other => {
                let of = tensor(interp, &other.clone(), "v")?;
                Ok(Value::DType(match of.dtype {
                    DType::Ptr(to) => to.copied().unwrap_or(of.dtype),
                    dtype => dtype,
                }))
            }
        }),
        Row::new("tl.extra.tlx.size_of", "dtype", 4, |interp, bound| {
            let of = element(interp, need(interp, bound, "dtype")?, "dtype")?;
            Ok(Value::Int(i128::from(of.bits() / 8)))
        }),
        Row::new("tl.extra.tlx.get_fp8_format_name", "dtype", 4, |interp, bound| {
            match element(interp, need(interp, bound, "dtype")?, "dtype")? {
                DType::Fp8E5 => Ok(Value::Str("e5m2".into())),
                DType::Fp8E4Nv => Ok(Value::Str("e4m3".into())),
                other => interp.raise(format!("`{}` is no element type of 8 bits for products", other.name())),
            }
        }),
        Row::new("tl.extra.tlx.cluster_cta_rank", "", 4, |interp, _| Ok(scalar(cta_rank(interp)?, DType::Int32))),
        Row::new("tl.extra.tlx.cluster_size_1d", "", 4, |interp, _| {
            Ok(Value::Tensor(interp.constant(interp.num_ctas.into(), DType::Int32)))
        }),
        Row::new("tl.extra.tlx.thread_id", "axis", 4, |interp, _| {
            interp.unknown("threads of a partition are not told apart")
        }),
        Row::new("tl.extra.tlx.clock64", "", 4, |interp, _| Ok(Value::Tensor(interp.free(DType::Int64)))),
        Row::new("tl.extra.tlx.vote_ballot_sync", "mask, pred", 4, |interp, _| {
            Ok(Value::Tensor(interp.free(DType::Int32)))
        }),
        Row::new("tl.extra.tlx.assert_same_layout", "lhs, rhs", 4, nothing),
        Row::new("tl.extra.tlx.dump_layout", "x", 4, nothing),
        Row::new("tl.extra.tlx.zeros", "shape, dtype, layout=None", 4, |interp, bound| {
            let shape = ints(interp, need(interp, bound, "shape")?, "shape")?;
            let dtype = element(interp, need(interp, bound, "dtype")?, "dtype")?;
            Ok(interp.registers(dtype, &shape, Value::None))
        }),
        Row::new("tl.extra.tlx.require_layout", "x, layout, pin=False", 4, |interp, bound| {
            Ok(need(interp, bound, "x")?.clone())
        }),
        Row::new("tl.extra.tlx.prefetch", "pointer, level='L2', mask=None, tensormap=False", 4, nothing),
        Row::new("tl.extra.tlx.stoch_round", "src, dst_ty, rand_bits", 4, |interp, bound| {
            let of = tensor(interp, need(interp, bound, "src")?, "src")?;
            let dtype = element(interp, need(interp, bound, "dst_ty")?, "dst_ty")?;
            Ok(interp.registers(dtype, &of.shape, Value::None))
        }),
    ],
    ..NOTHING
};

fn nothing<'a>(_: &mut Interp<'a>, _: &Bound<'a>) -> Eval<'a> {
    Ok(Value::None)
}
