//! Arguments of TLX's functions as what an op needs.

use std::rc::Rc;

use builtins::operand::{given, int, tensor};
use python::emit::Ssa;
use python::interp::{Interp, Stop};
use python::library::Bound;
use python::value::{DType, DescSpace, Tensor, Value};

/// How the table says that tensor memory is asked for.
pub(super) const TENSOR: &str = "tlx.storage_kind.tmem";

/// A host integer that may be left out.
pub(super) fn int_or<'a>(interp: &Interp<'a>, bound: &Bound<'a>, name: &str, otherwise: i64) -> Result<i64, Stop> {
    given(bound, name).map_or(Ok(otherwise), |value| int(interp, value, name))
}

/// A scalar that the kernel computes.
pub(super) fn scalar<'a>(ssa: Ssa, dtype: DType) -> Value<'a> {
    let (shape, layout) = (Rc::from([]), Rc::new(Value::None));
    Value::Tensor(Tensor { ssa: Some(ssa), dtype, shape, layout, constant: None })
}

/// A number as `i32`: wider and narrower ones are cast.
pub(super) fn number<'a>(interp: &mut Interp<'a>, value: &Value<'a>, name: &str) -> Result<Ssa, Stop> {
    if let Value::Int(_) | Value::Bool(_) = value {
        let number = i128::from(int(interp, value, name)?);
        let constant = interp.constant(number, DType::Int32);
        return Ok(interp.ssa(&constant));
    }
    let of = tensor(interp, value, name)?;
    if !of.shape.is_empty() || !of.dtype.is_int() {
        return interp.raise(format!("`{name}` is no integer"));
    }
    let of = interp.cast(&of, DType::Int32)?;
    Ok(interp.ssa(&of))
}

/// The kind of memory that is asked for.
pub(super) fn space<'a>(interp: &Interp<'a>, bound: &Bound<'a>) -> Result<DescSpace, Stop> {
    match given(bound, "storage") {
        Some(Value::Type(name)) if **name == *TENSOR => Ok(DescSpace::Tensor),
        Some(Value::Unknown(reason)) => interp.unknown(reason.clone()),
        _ => Ok(DescSpace::Shared),
    }
}
