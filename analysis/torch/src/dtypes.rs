//! Element types by PyTorch's names.

/// Torch's name, ours, and in signatures where it has no type of its own.
const DTYPES: &[(&str, &str)] = &[
    ("float16", "fp16"),
    ("bfloat16", "bf16"),
    ("float32", "fp32"),
    ("float64", "fp64"),
    ("int8", "i8"),
    ("int16", "i16"),
    ("int32", "i32"),
    ("int64", "i64"),
    ("uint8", "u8"),
    ("uint16", "u16"),
    ("uint32", "u32"),
    ("uint64", "u64"),
    ("bool", "i1"),
    ("float8_e4m3fn", "fp8e4nv"),
    ("float8_e5m2", "fp8e5"),
    ("float8_e4m3fnuz", "fp8e4b8"),
    ("float8_e5m2fnuz", "fp8e5b16"),
    ("float8_e8m0fnu", "u8"),
    ("float4_e2m1fn_x2", "u8"),
];

/// Torch's other names of the same types.
const OTHER: &[(&str, &str)] = &[
    ("half", "float16"),
    ("float", "float32"),
    ("double", "float64"),
    ("short", "int16"),
    ("int", "int32"),
    ("long", "int64"),
];

/// What a type is called in signatures; `fp32` of one that is not known.
pub fn element(name: &str) -> &'static str {
    DTYPES.iter().find(|row| row.0 == name).map_or("fp32", |row| row.1)
}

/// PyTorch's first name of a type that it has under this name.
pub fn known(name: &str) -> Option<&'static str> {
    let name = OTHER.iter().find(|row| row.0 == name).map_or(name, |row| row.1);
    DTYPES.iter().find(|row| row.0 == name).map(|row| row.0)
}

/// PyTorch's name of a type that is called so in signatures.
pub fn of_element(element: &str) -> Option<&'static str> {
    DTYPES.iter().find(|row| row.1 == element).map(|row| row.0)
}

/// The type of the parts of complex numbers of a type; `None` of other numbers.
pub fn part_of_complex(dtype: &str) -> Option<&'static str> {
    Some(match dtype {
        "complex32" => "float16",
        "complex64" | "cfloat" => "float32",
        "complex128" | "cdouble" => "float64",
        _ => return None,
    })
}

/// Whether elements of a type are integers.
pub fn is_integer(dtype: &str) -> bool {
    dtype.starts_with("int") || dtype.starts_with("uint")
}
