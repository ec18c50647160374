//! The least or the greatest element of each row: what a load of tensor memory gives beside the tensor, if it is asked to.

use super::float_format::{Rounding, decode, encode};
use super::tensor::{Sizes, TensorValue, count};
use super::trap::Trap;

/// Which element a row gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extreme {
    /// The greatest, not the least.
    pub greatest: bool,
    /// Of the absolute values.
    pub absolute: bool,
    /// NaN where there is one, which is left out else.
    pub nan: bool,
}

impl Extreme {
    /// The element of each row of a tensor of floats, along its last axis.
    ///
    /// # Errors
    ///
    /// Where the tensor is none of floats, or has no axis.
    pub fn of(self, tensor: &TensorValue) -> Result<TensorValue, Trap> {
        let dtype = tensor.dtype();
        let Some((&columns, rows)) = tensor.shape().split_last().filter(|_| !dtype.is_int()) else {
            return Err(Trap::not_followed("a reduction of what is no tensor of floats"));
        };
        let columns = columns as usize;
        let element = |at: usize| {
            let number = decode(dtype, tensor.bits(at));
            if self.absolute { number.abs() } else { number }
        };
        let pick = |a: f64, b: f64| match (a.is_nan(), b.is_nan()) {
            (true, _) if self.nan => a,
            (_, true) if self.nan => b,
            (true, _) => b,
            (_, true) => a,
            _ if self.greatest => a.max(b),
            _ => a.min(b),
        };
        let row = |number: usize| {
            let elements = (number * columns..(number + 1) * columns).map(element);
            encode(dtype, elements.reduce(pick).unwrap_or(f64::NAN), Rounding::Nearest)
        };
        Ok(TensorValue::from_bits(dtype, Sizes::from(rows), (0..count(rows)).map(row)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::ElemType;

    #[test]
    fn a_row_gives_its_extreme() {
        let bits = [1.0f32, -3.0, 2.0, f32::NAN, -1.0, 0.5].map(|number| u64::from(number.to_bits()));
        let tensor = TensorValue::from_bits(ElemType::F32, Sizes::from([2, 3]), bits.into_iter());
        let of = |greatest, absolute, nan| -> Vec<f32> {
            let rows = Extreme { greatest, absolute, nan }.of(&tensor);
            rows.map_or(Vec::new(), |rows| (0..rows.len()).map(|at| f32::from_bits(rows.bits(at) as u32)).collect())
        };
        assert_eq!(of(true, false, false), [2.0, 0.5]);
        assert_eq!(of(false, false, false), [-3.0, -1.0]);
        assert_eq!(of(true, true, false), [3.0, 1.0]);
        assert!(of(true, false, true)[1].is_nan());
    }
}
