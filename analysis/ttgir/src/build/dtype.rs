//! Element types.

use super::ty::Type;

/// Element types, by Triton's short names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum DType {
    Void,
    Int1,
    Int8,
    Int16,
    Int32,
    Int64,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    Fp8E4Nv,
    Fp8E5,
    Fp8E4B8,
    Fp8E5B16,
    Fp8E4B15,
    Fp16,
    Bf16,
    Fp32,
    Fp64,
    /// A pointer to an element type; `None` where that is none that is told apart.
    Ptr(Option<&'static DType>),
}

/// Name in `gl`, name in signatures, type in the IR, bits.
static TABLE: &[(DType, &str, &str, &str, u32)] = &[
    (DType::Int1, "int1", "i1", "i1", 1),
    (DType::Int8, "int8", "i8", "i8", 8),
    (DType::Int16, "int16", "i16", "i16", 16),
    (DType::Int32, "int32", "i32", "i32", 32),
    (DType::Int64, "int64", "i64", "i64", 64),
    (DType::UInt8, "uint8", "u8", "i8", 8),
    (DType::UInt16, "uint16", "u16", "i16", 16),
    (DType::UInt32, "uint32", "u32", "i32", 32),
    (DType::UInt64, "uint64", "u64", "i64", 64),
    (DType::Fp8E4Nv, "float8e4nv", "fp8e4nv", "f8E4M3FN", 8),
    (DType::Fp8E5, "float8e5", "fp8e5", "f8E5M2", 8),
    (DType::Fp8E4B8, "float8e4b8", "fp8e4b8", "f8E4M3FNUZ", 8),
    (DType::Fp8E5B16, "float8e5b16", "fp8e5b16", "f8E5M2FNUZ", 8),
    (DType::Fp8E4B15, "float8e4b15", "fp8e4b15", "f8E4M3B11FNUZ", 8),
    (DType::Fp16, "float16", "fp16", "f16", 16),
    (DType::Bf16, "bfloat16", "bf16", "bf16", 16),
    (DType::Fp32, "float32", "fp32", "f32", 32),
    (DType::Fp64, "float64", "fp64", "f64", 64),
];

impl DType {
    /// By the name it has in `gl` (`float16`) or in a signature (`fp16`).
    pub fn named(name: &str) -> Option<DType> {
        TABLE.iter().find(|row| row.1 == name || row.2 == name).map(|row| row.0)
    }

    /// The name in `gl`.
    pub fn name(self) -> &'static str {
        TABLE.iter().find(|row| row.0 == self).map_or(if self == DType::Void { "void" } else { "pointer" }, |row| row.1)
    }

    /// By the type in the IR, where signed and unsigned are one.
    pub fn from_ir(ty: &str) -> Option<DType> {
        TABLE.iter().find(|row| row.3 == ty).map(|row| row.0)
    }

    /// The name in signatures: `fp16`.
    pub fn name_in_signatures(self) -> &'static str {
        TABLE.iter().find(|row| row.0 == self).map_or("void", |row| row.2)
    }

    /// The type in the IR: `f16`, `!tt.ptr<f16>`.
    pub fn ir(self) -> Type {
        match self {
            DType::Ptr(to) => Type::Pointer(to.map_or("i8", |to| to.ir_name())),
            _ => Type::Scalar(self.ir_name()),
        }
    }

    /// The name of the type in the IR; pointers have none.
    pub fn ir_name(self) -> &'static str {
        TABLE.iter().find(|row| row.0 == self).map_or("none", |row| row.3)
    }

    /// How Triton prints it: `fp16`.
    pub fn short_name(self) -> String {
        match self {
            DType::Ptr(to) => format!("pointer<{}>", to.map_or("void", |to| to.name_in_signatures())),
            DType::Int1 => "int1".to_owned(),
            DType::Void => "void".to_owned(),
            _ if self.is_int() => self.name().to_owned(),
            _ => self.name_in_signatures().to_owned(),
        }
    }

    /// `primitive_bitwidth`: 64 for a pointer.
    pub fn bits(self) -> u32 {
        TABLE.iter().find(|row| row.0 == self).map_or(if self == DType::Void { 0 } else { 64 }, |row| row.4)
    }

    /// Integers and booleans.
    pub fn is_int(self) -> bool {
        use DType::{Int1, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64};
        matches!(self, Int1 | Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64)
    }

    /// Unsigned integers; `int1` counts as one, as in Triton.
    pub fn is_unsigned(self) -> bool {
        matches!(self, DType::Int1 | DType::UInt8 | DType::UInt16 | DType::UInt32 | DType::UInt64)
    }

    /// Floating point of any width.
    pub fn is_float(self) -> bool {
        !self.is_int() && !matches!(self, DType::Void | DType::Ptr(_))
    }

    /// A pointer to it.
    pub fn pointer(self) -> DType {
        DType::Ptr(TABLE.iter().find(|row| row.0 == self).map(|row| &row.0))
    }
}
