//! How far two tensors are apart.

use tensors::array::ElemType;

use super::given::Numbers;

/// The largest distance between two tensors.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Distance {
    /// Relative to an element of the reference plus the mean size of all of them.
    pub relative: f64,
    /// At which element.
    pub at: usize,
    /// What the kernel wrote there.
    pub got: f64,
    /// What the reference says.
    pub want: f64,
}

impl Distance {
    /// What a correct kernel that writes this type, and rounds what goes into its products to `inner`, may be away.
    pub fn allowed(written: ElemType, inner: ElemType) -> f64 {
        let step = |dtype| match dtype {
            ElemType::F16 => 2f64.powi(-11),
            ElemType::BF16 => 2f64.powi(-8),
            ElemType::F32 => 2f64.powi(-20),
            _ => 0.0,
        };
        // One rounding of the result, and a few on the way.
        step(written) * 1.5 + 3.0 * step(inner)
    }
}

/// Compares what was written with a reference.
pub fn compare(got: &Numbers, want: &Numbers) -> Distance {
    assert_eq!(got.values.len(), want.values.len(), "a tensor of another size");
    let mean = want.values.iter().map(|value| value.abs()).sum::<f64>() / want.values.len().max(1) as f64;
    let mut worst = Distance { relative: 0.0, at: 0, got: 0.0, want: 0.0 };
    for (at, (&got, &want)) in got.values.iter().zip(&want.values).enumerate() {
        let relative = if got == want { 0.0 } else { (got - want).abs() / (want.abs() + mean) };
        // NaN is farther away than anything.
        if relative > worst.relative || relative.is_nan() {
            worst = Distance { relative, at, got, want };
            if relative.is_nan() {
                return worst;
            }
        }
    }
    worst
}
