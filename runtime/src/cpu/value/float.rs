//! Floating-point formats.

use crate::array::DType;

/// The bits of a NaN of a type; of one that has none, all ones.
pub fn nan(dtype: DType) -> u64 {
    match dtype {
        DType::F64 => f64::NAN.to_bits(),
        DType::F32 => u64::from(f32::NAN.to_bits()),
        DType::BF16 => 0x7fc0,
        DType::F16 => 0x7e00,
        DType::F8E4M3FN | DType::F8E5M2 => 0x7f,
        DType::F8E4M3FNUZ | DType::F8E5M2FNUZ | DType::F8E4M3B11FNUZ => 0x80,
        _ => u64::MAX,
    }
}
