//! Attributes and methods of element types.

use crate::operand;
use crate::values::arg;
use python::interp::{Eval, Interp, Stop};
use python::library::{Bound, NOTHING, Part, Row};
use python::value::{DType, Value};

pub(super) const PART: Part = Part {
    rows: &[
        Row::new("gl.pointer_type", "element_ty, address_space=None, const=False", 4, pointer_type),
        Row::new("tl.core.get_int_dtype", "bitwidth, signed", 4, integer),
        Row::new("dtype.@name", "self", 4, name),
        Row::new("dtype.@primitive_bitwidth", "self", 4, bits),
        Row::new("dtype.@int_bitwidth", "self", 4, bits),
        Row::new("dtype.@itemsize", "self", 4, bytes),
        Row::new("dtype.@scalar", "self", 4, itself),
        Row::new("dtype.@dtype", "self", 4, itself),
        Row::new("dtype.@element_ty", "self", 4, element),
        Row::new("dtype.@fp_mantissa_width", "self", 4, mantissa),
        Row::new("dtype.is_floating", "self", 4, is_floating),
        Row::new("dtype.is_standard_floating", "self", 4, is_standard),
        Row::new("dtype.is_int", "self", 4, is_int),
        Row::new("dtype.is_int_signed", "self", 4, is_signed),
        Row::new("dtype.is_int_unsigned", "self", 4, is_unsigned),
        Row::new("dtype.is_bool", "self", 4, is_int1),
        Row::new("dtype.is_int1", "self", 4, is_int1),
        Row::new("dtype.is_int8", "self", 4, is_int8),
        Row::new("dtype.is_int16", "self", 4, is_int16),
        Row::new("dtype.is_int32", "self", 4, is_int32),
        Row::new("dtype.is_int64", "self", 4, is_int64),
        Row::new("dtype.is_uint8", "self", 4, is_uint8),
        Row::new("dtype.is_uint16", "self", 4, is_uint16),
        Row::new("dtype.is_uint32", "self", 4, is_uint32),
        Row::new("dtype.is_uint64", "self", 4, is_uint64),
        Row::new("dtype.is_fp8", "self", 4, is_fp8),
        Row::new("dtype.is_fp8e4nv", "self", 4, is_fp8e4nv),
        Row::new("dtype.is_fp8e5", "self", 4, is_fp8e5),
        Row::new("dtype.is_fp16", "self", 4, is_fp16),
        Row::new("dtype.is_bf16", "self", 4, is_bf16),
        Row::new("dtype.is_fp32", "self", 4, is_fp32),
        Row::new("dtype.is_fp64", "self", 4, is_fp64),
        Row::new("dtype.is_ptr", "self", 4, is_ptr),
        Row::new("dtype.is_block", "self", 4, no),
        Row::new("dtype.get_int_max_value", "self", 4, greatest),
        Row::new("dtype.get_int_min_value", "self", 4, least),
    ],
    ..NOTHING
};

fn this<'a>(interp: &Interp<'a>, bound: &Bound<'a>) -> Result<DType, Stop> {
    operand::dtype(interp, &arg(bound, 0), "dtype")
}

fn itself<'a>(_: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(arg(bound, 0))
}

fn no<'a>(_: &mut Interp<'a>, _: &Bound<'a>) -> Eval<'a> {
    Ok(Value::Bool(false))
}

fn pointer_type<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(Value::DType(this(interp, bound)?.pointer()))
}

/// The integer of so many bits.
fn integer<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let bits = operand::int(interp, &arg(bound, 0), "bitwidth")?;
    let signed = bits == 1 || operand::flag(interp, bound.at(1), true, "signed")?;
    match DType::named(&format!("{}int{bits}", if signed { "" } else { "u" })) {
        Some(dtype) => Ok(Value::DType(dtype)),
        None => interp.raise(format!("there is no integer of {bits} bits")),
    }
}

fn name<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(Value::Str(this(interp, bound)?.short_name().into()))
}

fn bits<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(Value::Int(this(interp, bound)?.bits().into()))
}

fn bytes<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(Value::Int(this(interp, bound)?.bits().div_ceil(8).into()))
}

fn element<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    match this(interp, bound)? {
        DType::Ptr(to) => match to.copied() {
            Some(dtype) => Ok(Value::DType(dtype)),
            None => interp.unknown("what the pointer points to is not known"),
        },
        other => interp.raise(format!("{} points to nothing", other.name())),
    }
}

fn mantissa<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(Value::Int(match this(interp, bound)? {
        DType::Fp8E4Nv | DType::Fp8E4B8 | DType::Fp8E4B15 => 3,
        DType::Fp8E5 | DType::Fp8E5B16 => 2,
        DType::Fp16 => 10,
        DType::Bf16 => 7,
        DType::Fp32 => 23,
        DType::Fp64 => 52,
        other => return interp.raise(format!("{} is no floating point type", other.name())),
    }))
}

fn greatest<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let dtype = this(interp, bound)?;
    let bits = dtype.bits().clamp(1, 64) - u32::from(!dtype.is_unsigned());
    Ok(Value::Int((1i128 << bits) - 1))
}

fn least<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let dtype = this(interp, bound)?;
    Ok(Value::Int(if dtype.is_unsigned() { 0 } else { -(1i128 << (dtype.bits().clamp(1, 64) - 1)) }))
}

/// A method that asks one thing of the element type.
macro_rules! questions {
    ($($name:ident $dtype:ident => $answer:expr;)*) => {
        $(fn $name<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
            let $dtype = this(interp, bound)?;
            Ok(Value::Bool($answer))
        })*
    };
}

questions! {
    is_floating dtype => dtype.is_float();
    is_standard dtype => matches!(dtype, DType::Fp16 | DType::Bf16 | DType::Fp32 | DType::Fp64);
    is_int dtype => dtype.is_int();
    is_signed dtype => dtype.is_int() && !dtype.is_unsigned();
    is_unsigned dtype => dtype.is_unsigned();
    is_int1 dtype => dtype == DType::Int1;
    is_int8 dtype => dtype == DType::Int8;
    is_int16 dtype => dtype == DType::Int16;
    is_int32 dtype => dtype == DType::Int32;
    is_int64 dtype => dtype == DType::Int64;
    is_uint8 dtype => dtype == DType::UInt8;
    is_uint16 dtype => dtype == DType::UInt16;
    is_uint32 dtype => dtype == DType::UInt32;
    is_uint64 dtype => dtype == DType::UInt64;
    is_fp8 dtype => dtype.is_float() && dtype.bits() == 8;
    is_fp8e4nv dtype => dtype == DType::Fp8E4Nv;
    is_fp8e5 dtype => dtype == DType::Fp8E5;
    is_fp16 dtype => dtype == DType::Fp16;
    is_bf16 dtype => dtype == DType::Bf16;
    is_fp32 dtype => dtype == DType::Fp32;
    is_fp64 dtype => dtype == DType::Fp64;
    is_ptr dtype => matches!(dtype, DType::Ptr(_));
}
