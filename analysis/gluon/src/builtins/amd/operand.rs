//! Operands as AMD's ops ask for them.

use python::emit::Ssa;
use python::interp::{Eval, Interp, Stop};
use python::library::Bound;
use python::value::{DType, MemDesc, Tensor, Value};

/// Registers of the shape that an op asks for: what a mask or an offset is broadcast to.
pub(super) fn shaped<'a>(interp: &mut Interp<'a>, of: &Tensor<'a>, shape: &[i64]) -> Ssa {
    let wide = interp.shaped(of, &(shape.into(), of.layout.clone()));
    interp.ssa(&wide)
}

/// Refuses what has another shape than the memory.
pub(super) fn fits<'a>(interp: &Interp<'a>, what: &str, shape: &[i64], memory: &MemDesc<'a>) -> Result<(), Stop> {
    if *shape == *memory.shape {
        return Ok(());
    }
    interp.raise(format!("{what} have the shape {shape:?}, the memory {:?}", memory.shape))
}

/// No value.
pub(super) fn none<'a>(_: &mut Interp<'a>, _: &Bound<'a>) -> Eval<'a> {
    Ok(Value::None)
}

/// Refuses offsets into a buffer that are not of 32 bits, as Triton does.
pub(super) fn demand_offsets<'a>(interp: &Interp<'a>, offsets: &Tensor<'a>) -> Result<(), Stop> {
    if matches!(offsets.dtype, DType::Int32 | DType::UInt32) {
        return Ok(());
    }
    interp.raise(format!("`offsets` hold {}, and int32 or uint32 is asked for", offsets.dtype.name()))
}
