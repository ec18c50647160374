//! Arrays as they lie in global memory: an element type, a shape, and row-major little-endian bytes.

/// The type of an element, named as MLIR names it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
#[allow(missing_docs)]
pub enum ElemType {
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
const NAMES: &[(ElemType, &[&str])] = &[
    (ElemType::I1, &["i1", "bool"]),
    (ElemType::I8, &["i8", "u8", "int8", "uint8"]),
    (ElemType::I16, &["i16", "u16", "int16", "uint16"]),
    (ElemType::I32, &["i32", "u32", "int32", "uint32"]),
    (ElemType::I64, &["i64", "u64", "int64", "uint64"]),
    (ElemType::F4E2M1, &["f4E2M1FN", "e2m1"]),
    (ElemType::F8E4M3FN, &["f8E4M3FN", "fp8e4nv", "float8_e4m3fn", "e4m3"]),
    (ElemType::F8E5M2, &["f8E5M2", "fp8e5", "float8_e5m2", "e5m2"]),
    (ElemType::F8E4M3FNUZ, &["f8E4M3FNUZ", "fp8e4b8", "float8_e4m3fnuz"]),
    (ElemType::F8E5M2FNUZ, &["f8E5M2FNUZ", "fp8e5b16", "float8_e5m2fnuz"]),
    (ElemType::F8E4M3B11FNUZ, &["f8E4M3B11FNUZ", "fp8e4b15"]),
    (ElemType::F8E8M0, &["f8E8M0FNU", "float8_e8m0fnu", "e8m0"]),
    (ElemType::F16, &["f16", "fp16", "float16"]),
    (ElemType::BF16, &["bf16", "bfloat16"]),
    (ElemType::F32, &["f32", "fp32", "float32"]),
    (ElemType::F64, &["f64", "fp64", "float64"]),
];

impl ElemType {
    /// The type that any of MLIR, Triton, NumPy and PyTorch calls so. Signedness is dropped: as in MLIR, it is
    /// a matter of the operation; [`ElemType::is_unsigned_name`] tells it.
    pub fn named(name: &str) -> Option<ElemType> {
        NAMES.iter().find(|(_, names)| names.contains(&name)).map(|(dtype, _)| *dtype)
    }

    /// Whether a name, as [`ElemType::named`] takes it, is that of an unsigned integer.
    pub fn is_unsigned_name(name: &str) -> bool {
        ["u8", "u16", "u32", "u64", "uint8", "uint16", "uint32", "uint64"].contains(&name)
    }

    /// The name that MLIR has for it.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(dtype, _)| *dtype == self).map_or("", |(_, names)| names[0])
    }

    /// Bits of an element of a tensor; in global memory `i1` takes a byte.
    pub fn bits(self) -> u32 {
        match self {
            ElemType::I1 => 1,
            ElemType::F4E2M1 => 4,
            ElemType::I8
            | ElemType::F8E4M3FN
            | ElemType::F8E5M2
            | ElemType::F8E4M3FNUZ
            | ElemType::F8E5M2FNUZ
            | ElemType::F8E4M3B11FNUZ
            | ElemType::F8E8M0 => 8,
            ElemType::I16 | ElemType::F16 | ElemType::BF16 => 16,
            ElemType::I32 | ElemType::F32 => 32,
            ElemType::I64 | ElemType::F64 => 64,
        }
    }

    /// Bytes of an element in global memory (two elements of four bits share one: 1).
    pub fn bytes(self) -> usize {
        (self.bits() as usize).div_ceil(8)
    }

    /// The integer type of as many bits; of fewer than eight, other than one, that of a byte.
    pub fn int_of_width(self) -> ElemType {
        match self.bits() {
            1 => ElemType::I1,
            16 => ElemType::I16,
            32 => ElemType::I32,
            64 => ElemType::I64,
            _ => ElemType::I8,
        }
    }

    /// Whether it is an integer.
    pub fn is_int(self) -> bool {
        matches!(self, ElemType::I1 | ElemType::I8 | ElemType::I16 | ElemType::I32 | ElemType::I64)
    }
}

/// A dense row-major array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Array {
    /// Of its elements.
    pub dtype: ElemType,
    /// Elements, outermost dimension first; empty for a scalar.
    pub shape: Vec<u64>,
    /// Row-major, little-endian, [`ElemType::bytes`] an element.
    pub bytes: Vec<u8>,
}

impl Array {
    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.shape.iter().product::<u64>() as usize
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of a buffer in which the elements lie at these strides, zeros between them; `None` where it would span
    /// 2^32 elements or more.
    pub fn to_strided(&self, strides: &[u64]) -> Option<Vec<u8>> {
        let size = self.dtype.bytes();
        let mut last = 0u64;
        for (length, stride) in self.shape.iter().zip(strides) {
            last = last.checked_add(length.saturating_sub(1).checked_mul(*stride)?)?;
        }
        let span = if self.is_empty() { 0 } else { usize::try_from(last).ok().filter(|last| *last < 1 << 32)? + 1 };
        let mut out = vec![0; span * size];
        for (element, offset) in self.bytes.chunks_exact(size).zip(offsets(&self.shape, strides)) {
            let start = offset as usize * size;
            if let Some(place) = out.get_mut(start..start + size) {
                place.copy_from_slice(element);
            }
        }
        Some(out)
    }

    /// The dense array whose elements lie in a buffer at these strides; `None` where the buffer is too small.
    pub fn from_strided(dtype: ElemType, shape: &[u64], strides: &[u64], buffer: &[u8]) -> Option<Array> {
        let size = dtype.bytes();
        let mut bytes = Vec::new();
        for offset in offsets(shape, strides) {
            let start = usize::try_from(offset).ok()?.checked_mul(size)?;
            bytes.extend_from_slice(buffer.get(start..start.checked_add(size)?)?);
        }
        Some(Array { dtype, shape: shape.to_vec(), bytes })
    }
}

/// Row-major strides of a shape, in elements.
pub fn strides(shape: &[u64]) -> Vec<u64> {
    let mut out = vec![1u64; shape.len()];
    for dim in (1..shape.len()).rev() {
        out[dim - 1] = out[dim].saturating_mul(shape[dim]);
    }
    out
}

/// Offsets of elements that lie at these strides, in the row-major order of the shape.
pub fn offsets(shape: &[u64], strides: &[u64]) -> impl Iterator<Item = u64> + use<> {
    let dims: Vec<(u64, u64)> = shape.iter().copied().zip(strides.iter().copied()).collect();
    let (mut index, mut next) = (vec![0; dims.len()], 0u64);
    (0..shape.iter().product()).map(move |_| {
        let offset = next;
        for (index, (size, stride)) in index.iter_mut().zip(&dims).rev() {
            *index += 1;
            next = next.wrapping_add(*stride);
            if *index < *size {
                break;
            }
            next = next.wrapping_sub(stride.wrapping_mul(*size));
            *index = 0;
        }
        offset
    })
}
