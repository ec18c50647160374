//! What host code asks of the device that kernels are compiled for.

use super::thing::any;
use crate::interp::Interp;
use crate::library::Args;
use crate::target::Target;
use crate::value::Value;

/// Functions of `torch` that are not about tensors.
pub(super) fn torch<'a>(interp: &Interp<'a>, name: &str, args: &Args<'a>) -> Option<Value<'a>> {
    Some(match name {
        "finfo" | "iinfo" => limits(args),
        "cuda.is_available" => Value::Bool(true),
        "cuda.get_device_capability" => {
            let (major, minor) = capability(interp.target);
            Value::Tuple([Value::Int(major), Value::Int(minor)].into())
        }
        "cuda.get_device_properties" => any("device properties"),
        "cuda.current_device" => Value::Int(0),
        "cuda.device_count" => Value::Int(1),
        "device" => any("device"),
        "manual_seed" | "cuda.synchronize" | "cuda.set_device" | "testing.assert_close" => Value::None,
        _ => return None,
    })
}

/// How the limits of a type are told from other things, with torch's name of the type behind it.
pub(super) const LIMITS: &str = "limits of ";

/// `torch.finfo(type)`, `torch.iinfo(type)`.
fn limits<'a>(args: &Args<'a>) -> Value<'a> {
    limits_of(args.pos.first().or_else(|| args.named.first().map(|(_, value)| value)))
}

/// The limits of a type of elements, as `torch.finfo` and `torch.iinfo` tell them.
pub fn limits_of<'a>(dtype: Option<&Value<'a>>) -> Value<'a> {
    any(format!("{LIMITS}{}", dtype.and_then(super::torch::dtype_name).unwrap_or_default()))
}

/// A limit of a type; a number that is not known where the type is not.
pub(super) fn limit<'a>(limits: &str, name: &str) -> Value<'a> {
    let dtype = limits.trim_start_matches(LIMITS);
    let (float, bits, max) = match dtype {
        "float16" => (true, 16, 65504.0),
        "bfloat16" => (true, 16, 3.389_531_389_251_535_5e38),
        "float32" => (true, 32, f64::from(f32::MAX)),
        "float64" => (true, 64, f64::MAX),
        "float8_e4m3fn" => (true, 8, 448.0),
        "float8_e4m3fnuz" => (true, 8, 240.0),
        "float8_e5m2" | "float8_e5m2fnuz" => (true, 8, 57344.0),
        "int8" => (false, 8, 127.0),
        "uint8" => (false, 8, 255.0),
        "int16" => (false, 16, 32767.0),
        "int32" => (false, 32, f64::from(i32::MAX)),
        _ => return super::open::number(super::thing::OpenNumber::Float),
    };
    let (digits, least) = match dtype {
        "float16" => (10, -14),
        "bfloat16" => (7, -126),
        "float32" => (23, -126),
        "float64" => (52, -1022),
        "float8_e4m3fn" => (3, -6),
        "float8_e4m3fnuz" => (3, -7),
        "float8_e5m2" => (2, -14),
        _ => (2, -15),
    };
    match (name, float) {
        ("eps" | "resolution", true) => Value::Float(f64::powi(2.0, -digits)),
        ("tiny" | "smallest_normal", true) => Value::Float(f64::powi(2.0, least)),
        ("bits", _) => Value::Int(bits),
        ("max", true) => Value::Float(max),
        ("min", true) => Value::Float(-max),
        ("max", false) => Value::Int(max as i128),
        ("min", false) if dtype == "uint8" => Value::Int(0),
        ("min", false) => Value::Int(-(max as i128) - 1),
        _ => super::open::number(super::thing::OpenNumber::Float),
    }
}

/// The compute capability that a device of this target says it has, major and minor.
pub(super) fn capability(target: Target) -> (i128, i128) {
    match target {
        Target::Cuda(capability) => (i128::from(capability / 10), i128::from(capability % 10)),
        // What torch says of these machines.
        Target::Gfx942 => (9, 4),
        Target::Gfx950 => (9, 5),
        Target::Gfx1250 => (12, 5),
    }
}
