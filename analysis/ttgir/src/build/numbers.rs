//! Numbers of Python as numbers of the kernel: which type they have, how they wrap, and how MLIR writes them.

use super::dtype::DType;

/// `value` as a number of this type: sign-extended, or between 0 and its maximum.
pub fn wrap(value: i128, dtype: DType) -> i128 {
    let bits = dtype.bits();
    if bits == 0 || bits > 64 {
        return value;
    }
    let low = value & ((1i128 << bits) - 1);
    if !dtype.is_unsigned() && low >> (bits - 1) & 1 == 1 { low - (1i128 << bits) } else { low }
}

impl DType {
    /// The type of a number of Python with a fraction: `fp32` where that has it.
    pub fn of_float(value: f64) -> DType {
        let size = value.abs();
        let normal = f64::from(f32::MIN_POSITIVE)..=f64::from(f32::MAX);
        if size == 0.0 || !size.is_finite() || normal.contains(&size) { DType::Fp32 } else { DType::Fp64 }
    }

    /// An integer as MLIR writes it, whose types have no sign.
    pub fn signed(self, value: i128) -> i128 {
        let bits = self.bits().clamp(1, 64);
        if value >> (bits - 1) == 1 { value - (1i128 << bits) } else { value }
    }
}

/// A float as MLIR writes it: with as many digits as give the same bits again; the bits of what is no number.
pub fn float_text(value: f64, dtype: DType) -> String {
    let single = value as f32;
    let value = if dtype == DType::Fp64 { value } else { f64::from(single) };
    if !value.is_finite() {
        let sign = value.is_sign_negative() && !value.is_nan();
        let (digits, infinity, quiet) = match dtype {
            DType::Fp64 => (16, 0x7ff0_0000_0000_0000_u64, 0x0008_0000_0000_0000),
            DType::Fp16 => (4, 0x7c00, 0x0200),
            DType::Bf16 => (4, 0x7f80, 0x0040),
            _ => (8, 0x7f80_0000, 0x0040_0000),
        };
        let bits = infinity | if value.is_nan() { quiet } else { 0 } | (u64::from(sign) << (digits * 4 - 1));
        return format!("0x{bits:0digits$X}");
    }
    let short = format!("{value:.6e}");
    let text = match short.parse::<f64>() {
        Ok(read) if read == value => short,
        _ if dtype == DType::Fp64 => format!("{value:e}"),
        _ => format!("{single:e}"),
    };
    // MLIR writes two digits of the exponent and its sign.
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let (sign, size) = exponent.strip_prefix('-').map_or(('+', exponent), |size| ('-', size));
            let point = if digits.contains('.') { "" } else { ".0" };
            format!("{digits}{point}e{sign}{size:0>2}")
        }
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_wrap_like_registers() {
        assert_eq!(wrap(0x8000_0000, DType::Int32), -0x8000_0000);
        assert_eq!(wrap(-1, DType::UInt32), 0xffff_ffff);
        assert_eq!(wrap(3, DType::Int1), 1);
    }

    #[test]
    fn floats_are_written_as_mlir_does() {
        assert_eq!(float_text(1.0, DType::Fp32), "1.000000e+00");
        assert_eq!(float_text(-0.125, DType::Fp16), "-1.250000e-01");
        assert_eq!(float_text(4.656_612_734_2e-10, DType::Fp32), "4.6566126e-10");
        assert_eq!(float_text(1e10, DType::Fp32), "1.000000e+10");
        assert_eq!(float_text(f64::NEG_INFINITY, DType::Fp32), "0xFF800000");
        assert_eq!(float_text(f64::INFINITY, DType::Fp16), "0x7C00");
        assert_eq!(float_text(f64::NAN, DType::Fp64), "0x7FF8000000000000");
    }
}
