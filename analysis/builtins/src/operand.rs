//! Arguments of builtins as what an op needs: SSA values of a type, host numbers, lists of them.

use std::rc::Rc;

use python::emit::Ssa;
use python::interp::{Interp, Stop};
use python::library::Bound;
use python::value::{DType, MemDesc, Object, Tensor, TensorDesc, Value};

/// A scalar or register tensor; numbers become constants of the smallest type that Triton gives them.
pub fn tensor<'a>(interp: &mut Interp<'a>, value: &Value<'a>, name: &str) -> Result<Tensor<'a>, Stop> {
    match value {
        Value::Tensor(tensor) => Ok(tensor.clone()),
        Value::Bool(value) => Ok(interp.constant(i128::from(*value), DType::Int1)),
        Value::Int(value) => {
            let dtype = match *value {
                v if v >= i128::from(i32::MIN) && v <= i128::from(i32::MAX) => DType::Int32,
                v if v >= 0 && v <= i128::from(u32::MAX) => DType::UInt32,
                v if v >= i128::from(i64::MIN) && v <= i128::from(i64::MAX) => DType::Int64,
                v if v >= 0 && v <= i128::from(u64::MAX) => DType::UInt64,
                _ => return interp.raise(format!("`{name}`: {value} fits no integer type")),
            };
            Ok(interp.constant(*value, dtype))
        }
        Value::Float(value) => Ok(interp.float(*value, DType::of_float(*value))),
        Value::Unknown(reason) => interp.unknown(reason.clone()),
        other => match other.member_number() {
            Some(number) => tensor(interp, &number, name),
            None => interp.raise(format!("`{name}` is a {} and no tensor", other.class_name())),
        },
    }
}

/// Registers that an op moves somewhere, of this type and shape. What is in them does not change who writes where
/// and when, so a value that is not followed is said, and stands for any registers.
pub fn moved<'a>(
    interp: &mut Interp<'a>,
    value: &Value<'a>,
    name: &str,
    dtype: DType,
    shape: &[i64],
) -> Result<Tensor<'a>, Stop> {
    if let Value::Unknown(reason) = value {
        interp.not_followed(interp.file, interp.at, reason.to_string());
        return Ok(Tensor { ssa: None, dtype, shape: shape.into(), layout: Rc::new(Value::None), constant: None });
    }
    tensor(interp, value, name)
}

/// A scalar of the kernel of exactly this type; host numbers become constants of it.
pub fn scalar<'a>(interp: &mut Interp<'a>, value: &Value<'a>, dtype: DType, name: &str) -> Result<Ssa, Stop> {
    let member = value.member_number();
    let number = match member.as_ref().unwrap_or(value) {
        Value::Bool(value) => Some(i128::from(*value)),
        Value::Int(value) => Some(*value),
        _ => None,
    };
    if let Some(number) = number {
        if dtype == DType::Int1 && !matches!(number, 0 | 1) {
            return interp.raise(format!("`{name}` is {number}, and no boolean"));
        }
        let constant = interp.constant(number, dtype);
        return Ok(interp.ssa(&constant));
    }
    let tensor = tensor(interp, value, name)?;
    if !tensor.shape.is_empty() {
        return interp.raise(format!("`{name}` is a tensor and no scalar"));
    }
    if tensor.dtype.ir() != dtype.ir() {
        return interp.raise(format!("`{name}` is {}, and {} is asked for", tensor.dtype.name(), dtype.name()));
    }
    Ok(interp.ssa(&tensor))
}

/// A predicate, or true where it is not given.
pub fn predicate<'a>(interp: &mut Interp<'a>, value: Option<&Value<'a>>, name: &str) -> Result<Ssa, Stop> {
    match value {
        None => scalar(interp, &Value::Bool(true), DType::Int1, name),
        // Any integer is given to the op as it is, which then asks for `i1`; Triton's own kernels pass 0 and 1.
        Some(value) => scalar(interp, value, DType::Int1, name),
    }
}

/// Scalars of a list (`coord`), all `i32`.
pub fn coordinates<'a>(interp: &mut Interp<'a>, value: &Value<'a>, name: &str) -> Result<Vec<Ssa>, Stop> {
    let items = list(interp, value, name)?;
    let mut one = |item: &Value<'a>| match item {
        // Where in global memory something lies is not for the barriers.
        Value::Unknown(_) => {
            let free = moved(interp, item, name, DType::Int32, &[])?;
            Ok(interp.ssa(&free))
        }
        item => scalar(interp, item, DType::Int32, name),
    };
    items.iter().map(&mut one).collect()
}

/// Items of a tuple or list.
pub fn list<'a>(interp: &Interp<'a>, value: &Value<'a>, name: &str) -> Result<Vec<Value<'a>>, Stop> {
    match value {
        Value::Tuple(items) => Ok(items.to_vec()),
        Value::List(items) => Ok(items.borrow().clone()),
        Value::Unknown(reason) => interp.unknown(reason.clone()),
        other => interp.raise(format!("`{name}` is a {} and no list", other.class_name())),
    }
}

/// A host integer.
pub fn int(interp: &Interp<'_>, value: &Value<'_>, name: &str) -> Result<i64, Stop> {
    match value {
        Value::Int(value) => match i64::try_from(*value) {
            Ok(value) => Ok(value),
            Err(_) => interp.raise(format!("`{name}` is out of range: {value}")),
        },
        Value::Bool(value) => Ok(i64::from(*value)),
        // Division with `/` by Python leaves whole numbers as floats.
        Value::Unknown(reason) => interp.unknown(reason.clone()),
        Value::Tensor(_) => interp.raise(format!("`{name}` must be known when the kernel is compiled")),
        other => match other.member_number() {
            Some(number) => int(interp, &number, name),
            None => interp.raise(format!("`{name}` is a {} and no integer", other.class_name())),
        },
    }
}

/// Host integers of a list.
pub fn ints<'a>(interp: &Interp<'a>, value: &Value<'a>, name: &str) -> Result<Vec<i64>, Stop> {
    list(interp, value, name)?.iter().map(|item| int(interp, item, name)).collect()
}

/// A host boolean, `otherwise` where it is not given.
pub fn flag(interp: &Interp<'_>, value: Option<&Value<'_>>, otherwise: bool, name: &str) -> Result<bool, Stop> {
    match value {
        None => Ok(otherwise),
        Some(Value::None) => Ok(false),
        Some(value) => int(interp, value, name).map(|value| value != 0),
    }
}

/// A memory descriptor.
pub fn memory<'a>(interp: &Interp<'a>, value: &Value<'a>, name: &str) -> Result<Rc<MemDesc<'a>>, Stop> {
    match value {
        Value::MemDesc(memory) => Ok(memory.clone()),
        Value::Unknown(reason) => interp.unknown(reason.clone()),
        other => interp.raise(format!("`{name}` is a {} and no memory descriptor", other.class_name())),
    }
}

/// A tensor descriptor.
pub fn descriptor<'a>(interp: &Interp<'a>, value: &Value<'a>, name: &str) -> Result<Rc<TensorDesc<'a>>, Stop> {
    match value {
        Value::TensorDesc(descriptor) => Ok(descriptor.clone()),
        Value::Unknown(reason) => interp.unknown(reason.clone()),
        other => interp.raise(format!("`{name}` is a {} and no tensor descriptor", other.class_name())),
    }
}

/// An element type.
pub fn dtype(interp: &Interp<'_>, value: &Value<'_>, name: &str) -> Result<DType, Stop> {
    match value {
        Value::DType(dtype) => Ok(*dtype),
        Value::Unknown(reason) => interp.unknown(reason.clone()),
        other => interp.raise(format!("`{name}` is a {} and no element type", other.class_name())),
    }
}

/// Argument `name`, which [`Bound::bind`] has seen to be there.
pub fn need<'b, 'a>(interp: &Interp<'a>, bound: &'b Bound<'a>, name: &str) -> Result<&'b Value<'a>, Stop> {
    match bound.get(name) {
        Some(value) => Ok(value),
        None => interp.raise(format!("`{name}` is not given")),
    }
}

/// An argument that is not there where it is `None`.
pub fn given<'b, 'a>(bound: &'b Bound<'a>, name: &str) -> Option<&'b Value<'a>> {
    bound.get(name).filter(|value| !matches!(value, Value::None))
}

/// A list of host integers as a value.
pub fn int_list<'a>(values: impl IntoIterator<Item = i64>) -> Value<'a> {
    let items: Vec<Value<'a>> = values.into_iter().map(|value| Value::Int(value.into())).collect();
    Value::List(Rc::new(items.into()))
}

/// A field of an object.
pub fn field<'o, 'a>(object: &'o Object<'a>, name: &str) -> Option<&'o Value<'a>> {
    object.fields.iter().find(|(field, _)| *field == name).map(|(_, value)| value)
}
