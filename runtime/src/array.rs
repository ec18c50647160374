//! Arrays as they lie in global memory: an element type, a shape, and row-major little-endian bytes.

/// The type of an element, named as MLIR names it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
#[allow(missing_docs)]
pub enum DType {
    I1,
    #[default]
    I8,
    I16,
    I32,
    I64,
    /// Four bits, an exponent of 2, no NaN.
    F4E2M1,
    F8E4M3FN,
    F8E5M2,
    F8E4M3FNUZ,
    F8E5M2FNUZ,
    F8E4M3B11FNUZ,
    /// An exponent alone: scales of microscaling formats.
    F8E8M0,
    F16,
    BF16,
    F32,
    F64,
}

/// Names of the types: MLIR's, then Triton's, then NumPy's and PyTorch's where they differ.
const NAMES: &[(DType, &[&str])] = &[
    (DType::I1, &["i1", "bool"]),
    (DType::I8, &["i8", "u8", "int8", "uint8"]),
    (DType::I16, &["i16", "u16", "int16", "uint16"]),
    (DType::I32, &["i32", "u32", "int32", "uint32"]),
    (DType::I64, &["i64", "u64", "int64", "uint64"]),
    (DType::F4E2M1, &["f4E2M1FN", "e2m1"]),
    (DType::F8E4M3FN, &["f8E4M3FN", "fp8e4nv", "float8_e4m3fn", "e4m3"]),
    (DType::F8E5M2, &["f8E5M2", "fp8e5", "float8_e5m2", "e5m2"]),
    (DType::F8E4M3FNUZ, &["f8E4M3FNUZ", "fp8e4b8", "float8_e4m3fnuz"]),
    (DType::F8E5M2FNUZ, &["f8E5M2FNUZ", "fp8e5b16", "float8_e5m2fnuz"]),
    (DType::F8E4M3B11FNUZ, &["f8E4M3B11FNUZ", "fp8e4b15"]),
    (DType::F8E8M0, &["f8E8M0FNU", "float8_e8m0fnu", "e8m0"]),
    (DType::F16, &["f16", "fp16", "float16"]),
    (DType::BF16, &["bf16", "bfloat16"]),
    (DType::F32, &["f32", "fp32", "float32"]),
    (DType::F64, &["f64", "fp64", "float64"]),
];

impl DType {
    /// The type that any of MLIR, Triton, NumPy and PyTorch calls so. Signedness is dropped: as in MLIR, it is
    /// a matter of the operation.
    pub fn named(name: &str) -> Option<DType> {
        NAMES.iter().find(|(_, names)| names.contains(&name)).map(|(dtype, _)| *dtype)
    }

    /// MLIR's name.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(dtype, _)| *dtype == self).map_or("", |(_, names)| names[0])
    }

    /// Bits of an element of a tensor; in global memory `i1` takes a byte.
    pub fn bits(self) -> u32 {
        match self {
            DType::I1 => 1,
            DType::F4E2M1 => 4,
            DType::I8
            | DType::F8E4M3FN
            | DType::F8E5M2
            | DType::F8E4M3FNUZ
            | DType::F8E5M2FNUZ
            | DType::F8E4M3B11FNUZ
            | DType::F8E8M0 => 8,
            DType::I16 | DType::F16 | DType::BF16 => 16,
            DType::I32 | DType::F32 => 32,
            DType::I64 | DType::F64 => 64,
        }
    }

    /// Bytes of an element in global memory (two elements of four bits share one: 1).
    pub fn bytes(self) -> usize {
        (self.bits() as usize).div_ceil(8)
    }

    /// Whether it is an integer.
    pub fn is_int(self) -> bool {
        matches!(self, DType::I1 | DType::I8 | DType::I16 | DType::I32 | DType::I64)
    }
}

/// A dense row-major array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Array {
    /// Of its elements.
    pub dtype: DType,
    /// Elements, outermost dimension first; empty for a scalar.
    pub shape: Vec<u64>,
    /// Row-major, little-endian, [`DType::bytes`] an element.
    pub bytes: Vec<u8>,
}

impl Array {
    /// Elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product::<u64>() as usize
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
