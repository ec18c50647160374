//! What element types of PyTorch say of themselves.

use python::library::{Fixed, NOTHING, Part};

/// Of each its name, whether its numbers are floating, and the bytes of one.
macro_rules! types {
    ($($name:literal $floating:literal $bytes:literal)*) => {
        &[$(
            (concat!("torch.", $name, ".is_floating_point"), Fixed::Bool($floating)),
            (concat!("torch.", $name, ".is_complex"), Fixed::Bool(false)),
            (concat!("torch.", $name, ".itemsize"), Fixed::Int($bytes)),
        )*]
    };
}

pub(super) const PART: Part = Part {
    constants: types!(
        "float16" true 2 "half" true 2 "bfloat16" true 2 "float32" true 4 "float" true 4 "float64" true 8
        "double" true 8 "float8_e4m3fn" true 1 "float8_e5m2" true 1 "float8_e4m3fnuz" true 1 "float8_e5m2fnuz" true 1
        "int8" false 1 "int16" false 2 "short" false 2 "int32" false 4 "int" false 4 "int64" false 8 "long" false 8
        "uint8" false 1 "uint16" false 2 "uint32" false 4 "uint64" false 8 "bool" false 1
    ),
    ..NOTHING
};
