//! `libdevice`: functions of a device library on each element, by their symbols.
//!
//! Deviation: on AMD all are called as `ocml` calls those that it has.

use std::rc::Rc;

use super::shapes::{opaque, together};
use crate::operand;
use dialects::Tt;
use python::emit::{Attr, Op};
use python::interp::{Eval, Interp};
use python::library::{Bound, Gone, NOTHING, Part, Row};
use python::target::{Target, Version};
use python::value::{DType, Value};

macro_rules! rows {
    ($($name:literal)*) => {
        &[$(Row::new(concat!("gl.extra.libdevice.", $name), "*args, **kwargs", 4, |i, b| call(i, b, $name)),)*]
    };
}

/// Functions of `triton.language.extra.cuda.inline_ptx_lib`: some lines of assembly on each element.
macro_rules! assembly {
    ($($name:literal)*) => {
        &[$(Row::new(concat!("tl.extra.cuda.inline_ptx_lib.", $name), "*args, **kwargs", 4, |i, b| call(i, b, $name)),)*]
    };
}

/// The same for another library of facebookexperimental's release.
pub(super) const PTX: Part =
    Part { rows: assembly!("_mul_f32x2" "_sub_f32x2" "_add_f32x2" "_fma_f32x2" "tanh_approx_fp32"), ..NOTHING };

/// Those that were functions of `tl.math` before Triton 3.
macro_rules! gone {
    ($($name:literal)*) => {
        &[$(Gone {
            path: concat!("tl.math.", $name),
            until: Version(2, 3),
            instead: concat!("gl.extra.libdevice.", $name),
        },)*]
    };
}

pub(super) const PART: Part = Part {
    rows: rows!(
        "abs" "acos" "acosh" "add_rn" "asin" "asinh" "atan" "atan2" "atanh" "brev" "byte_perm" "cbrt" "ceil"
        "clz" "copysign" "cos" "cosh" "cospi" "div_rn" "erf" "erfc" "erfinv" "exp" "exp10" "exp2" "expm1"
        "fast_cosf" "fast_dividef" "fast_exp10f" "fast_expf" "fast_log10f" "fast_log2f" "fast_logf" "fast_powf"
        "fast_sinf" "fast_tanf" "fast_tanhf" "fdim" "ffs" "finitef" "float2int_rn" "float2int_rz" "float_as_int"
        "floor" "fma" "fma_rn" "fmod" "hypot" "ilogb" "isfinited" "isinf" "isnan" "ldexp" "lgamma" "llrint"
        "llround" "log" "log10" "log1p" "log2" "logb" "mul_rn" "mulhi" "nearbyint" "nextafter" "norm3d" "norm4d"
        "normcdf" "popc" "pow" "rcbrt" "rcp_rn" "remainder" "rhypot" "rint" "round" "rsqrt" "rsqrt_rn"
        "saturatef" "scalbn" "signbit" "sin" "sinh" "sinpi" "sqrt" "sqrt_rn" "sub_rn" "tan" "tanh" "tgamma"
        "trunc"),
    gone: gone!(
        "acos" "acosh" "asin" "asinh" "atan" "atan2" "atanh" "byte_perm" "cbrt" "copysign" "cosh" "erfc" "erfinv"
        "expm1" "fast_cosf" "fast_dividef" "fast_exp10f" "fast_expf" "fast_log10f" "fast_log2f" "fast_logf"
        "fast_powf" "fast_sinf" "fast_tanf" "fdim" "ffs" "fmod" "hypot" "ilogb" "isinf" "isnan" "ldexp" "lgamma"
        "llrint" "llround" "log10" "log1p" "logb" "nearbyint" "nextafter" "normcdf" "popc" "pow" "rcbrt" "remainder"
        "rint" "round" "saturatef" "scalbn" "signbit" "sinh" "tan" "tanh" "tgamma" "trunc"),
    ..NOTHING
};

/// The element type of what a function gives.
fn result(name: &str, of: DType) -> DType {
    match name {
        "ffs" | "finitef" | "ilogb" | "isfinited" | "isinf" | "isnan" | "signbit" | "float_as_int" | "float2int_rn"
        | "float2int_rz" | "clz" | "popc" => DType::Int32,
        "llrint" | "llround" => DType::Int64,
        _ => of,
    }
}

/// What the library calls a function for elements of a type; none where it has none.
fn symbol(name: &str, of: DType, cuda: bool) -> Option<String> {
    let (single, wide) = (of == DType::Fp32, of == DType::Fp64);
    if !cuda {
        return (single || wide).then(|| format!("__ocml_{name}_{}", if single { "f32" } else { "f64" }));
    }
    let word = match (name, of) {
        ("abs", DType::Int32) => "abs".to_owned(),
        ("abs", DType::Int64) => "llabs".to_owned(),
        ("mulhi", DType::Int32) => "mulhi".to_owned(),
        ("mulhi", DType::UInt32) => "umulhi".to_owned(),
        ("mulhi", DType::Int64) => "mul64hi".to_owned(),
        ("mulhi", DType::UInt64) => "umul64hi".to_owned(),
        ("brev" | "clz" | "ffs" | "popc", _) if of.is_int() && of.bits() == 32 => name.to_owned(),
        ("brev" | "clz" | "ffs" | "popc", _) if of.is_int() && of.bits() == 64 => format!("{name}ll"),
        ("byte_perm", _) if of.is_int() => name.to_owned(),
        _ if !single && !wide => return None,
        ("abs", _) => if single { "fabsf" } else { "fabs" }.to_owned(),
        ("fma_rn", _) => if single { "fmaf_rn" } else { "fma_rn" }.to_owned(),
        ("isinf" | "isnan" | "signbit", _) => format!("{name}{}", if single { 'f' } else { 'd' }),
        ("finitef" | "isfinited" | "float_as_int" | "float2int_rn" | "float2int_rz" | "saturatef", _) => {
            name.to_owned()
        }
        _ if name.ends_with("_rn") => format!("{}{name}", if single { 'f' } else { 'd' }),
        _ if single && !name.starts_with("fast_") => format!("{name}f"),
        _ => name.to_owned(),
    };
    Some(format!("__nv_{word}"))
}

fn call<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, name: &str) -> Eval<'a> {
    let all: Vec<Value<'a>> = bound.rest.iter().chain(bound.more.iter().map(|(_, value)| value)).cloned().collect();
    let operands: Vec<&Value<'a>> = all.iter().collect();
    let extent = together(interp, &operands)?;
    let mut tensors = Vec::with_capacity(all.len());
    for value in &all {
        tensors.push(operand::tensor(interp, value, "x")?);
    }
    let widest = tensors.iter().find(|tensor| !tensor.shape.is_empty()).or(tensors.first());
    let of = widest.map_or(DType::Fp32, |tensor| tensor.dtype);
    let dtype = result(name, of);
    let Some(symbol) = symbol(name, of, matches!(interp.target, Target::Cuda(_))) else {
        return Ok(opaque(interp, dtype, &extent.0, Value::clone(&extent.1)));
    };
    let mut ssas = Vec::with_capacity(all.len());
    for (value, tensor) in all.iter().zip(&tensors) {
        // A number takes the type of the tensors beside it; `ldexp` and its like have an integer besides.
        let own = if matches!(value, Value::Tensor(_)) || tensor.dtype.is_int() { tensor.dtype } else { of };
        let value = interp.filled(value, own, &extent)?;
        ssas.push(interp.ssa(&value));
    }
    let text = |text: &str| Attr::Text(text.to_owned());
    let op = Op::new(Tt::ExternElementwise)
        .operands("srcs", &ssas)
        .attr("libname", text(""))
        .attr("libpath", text(""))
        .attr("pure", true)
        .attr("symbol", Attr::Text(symbol));
    let extent = (extent.0, Rc::clone(&extent.1));
    Ok(Value::Tensor(interp.register_op(op, "result", dtype, &extent)))
}
