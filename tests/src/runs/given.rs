//! A launch's arguments as a reference takes them: numbers in double precision, by name.

use std::collections::BTreeMap;

use tensors::array::{Array, ElemType};

/// A tensor of numbers.
#[derive(Clone, Debug)]
pub struct Numbers {
    /// Elements, outermost first.
    pub shape: Vec<usize>,
    /// Row-major.
    pub values: Vec<f64>,
}

impl Numbers {
    /// The number of columns of a matrix.
    pub fn width(&self) -> usize {
        self.shape.last().copied().unwrap_or(1)
    }

    /// An element of a matrix.
    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.width() + column]
    }

    /// A matrix made of its elements.
    pub fn matrix(rows: usize, columns: usize, mut each: impl FnMut(usize, usize) -> f64) -> Numbers {
        let values = (0..rows * columns).map(|at| each(at / columns, at % columns)).collect();
        Numbers { shape: vec![rows, columns], values }
    }
}

/// All arguments.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// Tensors.
    pub tensors: BTreeMap<String, Numbers>,
    /// Integers and floats.
    pub scalars: BTreeMap<String, f64>,
}

impl Given {
    /// A tensor by name.
    pub fn tensor(&self, name: &str) -> &Numbers {
        &self.tensors[name]
    }

    /// A number by name.
    pub fn scalar(&self, name: &str) -> f64 {
        self.scalars[name]
    }
}

/// The numbers of an array.
pub fn numbers(array: &Array) -> Numbers {
    let width = array.dtype.bytes();
    let values = array.bytes.chunks_exact(width).map(|bytes| number(array.dtype, bytes)).collect();
    Numbers { shape: array.shape.iter().map(|&size| size as usize).collect(), values }
}

fn number(dtype: ElemType, bytes: &[u8]) -> f64 {
    let mut wide = [0u8; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    let word = u64::from_le_bytes(wide);
    match dtype {
        ElemType::I1 => f64::from(u8::from(word & 1 == 1)),
        ElemType::I8 => f64::from(word as i8),
        ElemType::I16 => f64::from(word as i16),
        ElemType::I32 => f64::from(word as i32),
        ElemType::I64 => word as i64 as f64,
        ElemType::F32 => f64::from(f32::from_bits(word as u32)),
        ElemType::F64 => f64::from_bits(word),
        ElemType::BF16 => f64::from(f32::from_bits((word as u32) << 16)),
        ElemType::F16 => small(word, 5, 10, true),
        ElemType::F8E5M2 => small(word, 5, 2, true),
        ElemType::F8E4M3FN => small(word, 4, 3, false),
        other => panic!("no reference reads {}", other.name()),
    }
}

/// A float of few bits; `infinite`: its largest exponent means infinity and NaN, else all ones mean NaN.
fn small(word: u64, exponent: u32, mantissa: u32, infinite: bool) -> f64 {
    let fraction = word & ((1 << mantissa) - 1);
    let power = (word >> mantissa) & ((1 << exponent) - 1);
    let sign = if word >> (mantissa + exponent) & 1 == 1 { -1.0 } else { 1.0 };
    let (top, bias) = ((1 << exponent) - 1, (1i32 << (exponent - 1)) - 1);
    let scale = f64::from(1u32 << mantissa);
    if power == top && infinite {
        return if fraction == 0 { sign * f64::INFINITY } else { f64::NAN };
    }
    if power == top && fraction == (1 << mantissa) - 1 {
        return f64::NAN;
    }
    match power {
        0 => sign * fraction as f64 / scale * 2f64.powi(1 - bias),
        _ => sign * (1.0 + fraction as f64 / scale) * 2f64.powi(power as i32 - bias),
    }
}
