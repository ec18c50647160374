//! AMD: CDNA 3, 4 and 5 (`gfx1250`), RDNA.
//!
//! An arrival on an LDS barrier counts threads, and one that a TDM operation brings counts warps; the lowering
//! knows that. What a stage of a warp pipeline inserts between stages is the compiler's and not said here.

mod async_copy;
mod layouts;
mod matrix;
mod mbarrier;
mod tdm;

use python::emit::Ssa;
use python::interp::{Eval, Interp, Stop};
use python::library::{Bound, Part};
use python::value::{MemDesc, Tensor, Value};

/// AMD's share of the table.
pub const PARTS: [&Part; 5] = [&async_copy::PART, &layouts::PART, &matrix::PART, &mbarrier::PART, &tdm::PART];

/// Registers of the shape that an op asks for: what a mask or an offset is broadcast to.
fn shaped<'a>(interp: &mut Interp<'a>, of: &Tensor<'a>, shape: &[i64]) -> Ssa {
    match interp.registers(of.dtype, shape, (*of.layout).clone()) {
        Value::Tensor(wide) if *of.shape != *shape => interp.ssa(&wide),
        _ => interp.ssa(of),
    }
}

/// Refuses what has another shape than the memory.
fn fits<'a>(interp: &Interp<'a>, what: &str, shape: &[i64], memory: &MemDesc<'a>) -> Result<(), Stop> {
    if *shape == *memory.shape {
        return Ok(());
    }
    interp.raise(format!("{what} have the shape {shape:?}, the memory {:?}", memory.shape))
}

/// No value.
fn none<'a>(_: &mut Interp<'a>, _: &Bound<'a>) -> Eval<'a> {
    Ok(Value::None)
}
