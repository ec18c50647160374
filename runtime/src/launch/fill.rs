//! Tensors made for a launch.
//!
//! A random element depends on the seed, the argument's name and its own index, and on nothing else: shapes and
//! other arguments may change beside it.

use std::f64::consts::TAU;

use base::Cancel;
use base::rng::{mix, unit};

use super::npy;
use super::spec::{ArraySpec, Fill};
use crate::element::{decode, encode, exact_integers};
use crate::error::RunError;
use crate::limits::tensors::BYTES;
use tensors::array::{Array, ElemType};

/// Elements that are filled before it is asked whether somebody still waits for them.
const CHECKED: u64 = 1 << 16;

/// Makes the tensor of an argument, dense and row-major: the strides of the recipe are for whoever lays it out.
///
/// # Errors
///
/// Where it is too large, its file cannot be read or holds something else, or `cancel` says so.
pub fn fill(spec: &ArraySpec, name: &str, seed: u64, cancel: &Cancel<'_>) -> Result<Array, RunError> {
    let elements = spec.shape.iter().try_fold(1u64, |product, size| product.checked_mul(*size));
    let bytes = elements.and_then(|elements| elements.checked_mul(spec.dtype.bytes() as u64));
    let (Some(elements), Some(_)) = (elements, bytes.filter(|bytes| *bytes <= BYTES)) else {
        return Err(RunError(format!("`{name}` has more than {} GiB: give it a smaller shape", BYTES >> 30)));
    };
    if let Fill::File(path, member) = &spec.fill {
        let array =
            npy::load(path, member.as_deref(), Some(spec.dtype)).map_err(|why| RunError(format!("`{name}`: {why}")))?;
        if array.shape != spec.shape {
            let (is, said) = (shape(&array.shape), shape(&spec.shape));
            return Err(RunError(format!("`{name}`: {} holds {is} elements, the recipe says {said}", path.display())));
        }
        return Ok(array);
    }
    if spec.fill == Fill::Empty {
        let bytes = if spec.dtype == ElemType::I1 { 1 } else { u8::MAX };
        return Ok(Array {
            dtype: spec.dtype,
            shape: spec.shape.clone(),
            bytes: vec![bytes; elements as usize * spec.dtype.bytes()],
        });
    }
    let key = key(name, seed);
    let size = spec.dtype.bytes();
    let mut out = Vec::new();
    for index in 0..elements {
        if index > 0 && index % CHECKED == 0 && cancel.is_cancelled() {
            return Err(RunError(format!("there was no time to fill `{name}`: give it a smaller shape")));
        }
        let value = element(spec, key, index);
        out.extend_from_slice(encode(spec.dtype, value).to_le_bytes().get(..size).unwrap_or(&[]));
    }
    Ok(Array { dtype: spec.dtype, shape: spec.shape.clone(), bytes: out })
}

/// Sizes as a list, `[64, 32]`.
pub(super) fn shape(sizes: &[u64]) -> String {
    format!("{sizes:?}")
}

fn element(spec: &ArraySpec, key: u64, index: u64) -> f64 {
    match &spec.fill {
        Fill::Value(value) => *value,
        Fill::Arange => (index % exact_integers(spec.dtype)) as f64,
        Fill::Normal(mean, deviation) => {
            let (radius, angle) = (1.0 - unit(key, 2 * index), unit(key, 2 * index + 1));
            mean + deviation * (-2.0 * radius.ln()).sqrt() * (TAU * angle).cos()
        }
        Fill::Uniform(low, high) if spec.dtype.is_int() => (low + (high - low) * unit(key, index)).floor(),
        Fill::Uniform(low, high) => low + (high - low) * unit(key, index),
        // Read above.
        Fill::File(..) | Fill::Empty => decode(spec.dtype, 0),
    }
}

fn key(name: &str, seed: u64) -> u64 {
    name.bytes().fold(mix(seed ^ 0x5851_f42d_4c95_7f2d), |key, byte| mix(key ^ u64::from(byte)))
}

/// What a tensor of this type holds where the recipe does not say: values of the size that kernels meet, and
/// zeros where integers may be locks and counters.
pub fn default_fill(dtype: ElemType, unsigned: bool) -> Fill {
    match dtype {
        ElemType::I1 => Fill::Uniform(0.0, 2.0),
        ElemType::I8 if unsigned => Fill::Uniform(0.0, 256.0),
        ElemType::I8 => Fill::Uniform(-8.0, 8.0),
        ElemType::I16 | ElemType::I32 | ElemType::I64 => Fill::Value(0.0),
        ElemType::F8E8M0 => Fill::Value(1.0),
        _ => Fill::Normal(0.0, 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::numbers;

    fn made(dtype: ElemType, shape: &[u64], fill: Fill, seed: u64) -> Vec<f64> {
        let spec = ArraySpec { dtype, unsigned: false, shape: shape.to_vec(), strides: None, fill };
        super::fill(&spec, "a", seed, &Cancel::never()).map(|array| numbers(&array).collect()).unwrap_or_default()
    }

    #[test]
    fn a_fill_is_what_it_says() {
        assert_eq!(made(ElemType::F16, &[2, 2], Fill::Value(0.5), 0), [0.5; 4]);
        assert_eq!(made(ElemType::I32, &[4], Fill::Arange, 0), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(made(ElemType::F8E5M2, &[10], Fill::Arange, 0)[8..], [0.0, 1.0]);
        let ints = made(ElemType::I8, &[1000], Fill::Uniform(-3.0, 3.0), 1);
        assert!((-3..3).all(|whole| ints.contains(&f64::from(whole))) && !ints.contains(&3.0));
        let normal = made(ElemType::F32, &[100, 100], Fill::Normal(2.0, 0.5), 1);
        let mean = normal.iter().sum::<f64>() / 1e4;
        let variance = normal.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 1e4;
        assert!((mean - 2.0).abs() < 0.02 && (variance - 0.25).abs() < 0.02, "{mean} {variance}");
    }

    #[test]
    fn random_values_hang_on_seed_and_name_alone() {
        let normal = || Fill::Normal(0.0, 1.0);
        let first = made(ElemType::F64, &[8], normal(), 1);
        assert_eq!(first, made(ElemType::F64, &[8], normal(), 1));
        assert_eq!(first, made(ElemType::F64, &[2, 8], normal(), 1)[..8]);
        assert_ne!(first, made(ElemType::F64, &[8], normal(), 2));
        let spec = ArraySpec { dtype: ElemType::F64, unsigned: false, shape: vec![8], strides: None, fill: normal() };
        let other: Vec<f64> =
            super::fill(&spec, "b", 1, &Cancel::never()).map(|array| numbers(&array).collect()).unwrap_or_default();
        assert_ne!(first, other);
    }

    #[test]
    fn what_nobody_waits_for_is_not_filled() {
        let shape = vec![1 << 30];
        let spec = ArraySpec { dtype: ElemType::F32, unsigned: false, shape, strides: None, fill: Fill::Arange };
        let cancel = || true;
        assert!(super::fill(&spec, "big", 0, &Cancel::when(&cancel)).is_err_and(|error| error.0.contains("no time")));
    }

    #[test]
    fn what_is_too_large_is_an_error() {
        for shape in [vec![u64::MAX, 2], vec![1 << 40]] {
            let spec = ArraySpec { dtype: ElemType::F32, unsigned: false, shape, strides: None, fill: Fill::Arange };
            assert!(super::fill(&spec, "big", 0, &Cancel::never()).is_err_and(|error| error.0.contains("`big`")));
        }
    }
}
