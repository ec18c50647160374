//! What host code asks of the device that kernels are compiled for.

use super::thing::any;
use crate::interp::Interp;
use crate::library::Args;
use crate::target::Target;
use crate::value::Value;

/// Functions of `torch` that are not about tensors.
pub(super) fn torch<'a>(interp: &Interp<'a>, name: &str, _: &Args<'a>) -> Option<Value<'a>> {
    Some(match name {
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
