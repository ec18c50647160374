//! Outputs beside outputs: two schedules on the same inputs, or a run and what was expected of it.

use runtime::element::{bits, decode};
use tensors::array::{Array, ElemType};

use super::plan::LaunchRun;

/// Says where runs of one launch left other outputs than the first of them. The numbers are compared bit by
/// bit, those of runs that came to their ends: what schedules may change is a sum of floats through atomics, and little else.
pub fn schedule_differences(runs: &[LaunchRun]) -> Vec<String> {
    let whole: Vec<&LaunchRun> = runs.iter().filter(|ran| ran.is_whole()).collect();
    let Some((first, others)) = whole.split_first() else { return Vec::new() };
    let mut sentences = Vec::new();
    for (name, output) in &first.report.outputs {
        let mut differing = others.iter().filter_map(|other| {
            let (_, array) = other.report.outputs.iter().find(|(known, _)| known == name)?;
            let (count, at) = differences(output, array, &mut |a, b| a == b || (a.is_nan() && b.is_nan()))?;
            Some((other.seed, array, count, at))
        });
        let Some((seed, array, count, at)) = differing.next() else { continue };
        let more = differing.count();
        let more = if more == 0 { String::new() } else { format!(", and so do {more} further schedules") };
        let place = index(&output.shape, at);
        let value = |array: &Array| element(array, at).map_or_else(String::new, |value| format!("{value}"));
        sentences.push(format!(
            "`{name}` depends on the schedule: {count} of {} elements differ; {place} is {} with seed {} and {} with seed {seed}{more}",
            output.len(),
            value(output),
            first.seed,
            value(array),
        ));
    }
    sentences
}

/// How an output compares with what was expected.
#[derive(Clone, PartialEq, Debug)]
pub struct OutputComparison {
    /// The name of the argument that is compared.
    pub name: String,
    /// Elements that are further off than tolerated.
    pub wrong: usize,
    /// Of how many.
    pub all: usize,
    /// The largest error, in units of the expected value or of the root mean square of all, whichever is larger.
    pub error: f64,
    /// What was tolerated.
    pub tolerance: f64,
    /// The first wrong element in words.
    pub first: Option<String>,
}

/// Compares an output with what is expected.
///
/// # Errors
///
/// Where their shapes differ.
pub fn compare(name: &str, got: &Array, expected: &Array, tolerance: Option<f64>) -> Result<OutputComparison, String> {
    if got.shape != expected.shape {
        return Err(format!("`{name}` has shape {:?}, and {:?} is expected", got.shape, expected.shape));
    }
    let tolerance = tolerance.unwrap_or_else(|| usual(got.dtype).max(usual(expected.dtype)));
    let values = || bits(expected).map(|bits| decode(expected.dtype, bits));
    let (sum, count) =
        values().filter(|value| value.is_finite()).fold((0.0, 0u32), |(sum, n), it| (sum + it * it, n + 1));
    let scale = (sum / f64::from(count.max(1))).sqrt();
    let mut error = 0f64;
    let found = differences(got, expected, &mut |got, expected| {
        if got == expected || (got.is_nan() && expected.is_nan()) {
            return true;
        }
        let off = (got - expected).abs() / expected.abs().max(scale).max(f64::MIN_POSITIVE);
        let off = if off.is_nan() { f64::INFINITY } else { off };
        error = error.max(off);
        off <= tolerance
    });
    let first = found.map(|(_, at)| {
        let value = |array: &Array| element(array, at).unwrap_or(f64::NAN);
        format!("{} is {}, and {} is expected", index(&got.shape, at), value(got), value(expected))
    });
    let wrong = found.map_or(0, |(count, _)| count);
    Ok(OutputComparison { name: name.to_owned(), wrong, all: got.len(), error, tolerance, first })
}

impl OutputComparison {
    /// The comparison in one sentence.
    pub fn describe(&self) -> String {
        let OutputComparison { name, wrong, all, error, tolerance, first } = self;
        match first {
            None => {
                format!("`{name}` is as expected: largest relative error {error:.1e}, {tolerance:.1e} is tolerated")
            }
            Some(first) => format!(
                "`{name}` is not as expected: {wrong} of {all} elements are off by more than {tolerance:.1e} (up to {error:.1e}); {first}"
            ),
        }
    }
}

/// What results of this type are off by where only the order of additions differs.
fn usual(dtype: ElemType) -> f64 {
    match dtype {
        ElemType::F64 => 1e-10,
        ElemType::F32 => 1e-4,
        ElemType::F16 => 4e-3,
        ElemType::BF16 => 2e-2,
        _ if dtype.is_int() => 0.0,
        _ => 0.13,
    }
}

/// How many elements are not the same, and the first of them.
fn differences(a: &Array, b: &Array, same: &mut dyn FnMut(f64, f64) -> bool) -> Option<(usize, usize)> {
    let (mut count, mut first) = (0, None);
    for (at, (x, y)) in bits(a).zip(bits(b)).enumerate() {
        if (a.dtype == b.dtype && x == y) || same(decode(a.dtype, x), decode(b.dtype, y)) {
            continue;
        }
        count += 1;
        first.get_or_insert(at);
    }
    first.map(|first| (count, first))
}

fn element(array: &Array, at: usize) -> Option<f64> {
    bits(array).nth(at).map(|bits| decode(array.dtype, bits))
}

/// The index of an element by dimension, as `[3, 17]`.
fn index(shape: &[u64], at: usize) -> String {
    let mut rest = at as u64;
    let mut places: Vec<String> = Vec::new();
    for size in shape.iter().rev() {
        places.push((rest % size.max(&1)).to_string());
        rest /= size.max(&1);
    }
    places.reverse();
    format!("[{}]", places.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::element::encode;

    fn array(dtype: ElemType, values: &[f64]) -> Array {
        let bytes = values.iter().flat_map(|value| encode(dtype, *value).to_le_bytes().into_iter().take(dtype.bytes()));
        Array { dtype, shape: vec![values.len() as u64], bytes: bytes.collect() }
    }

    #[test]
    fn small_errors_are_tolerated_and_large_ones_told() {
        let expected = array(ElemType::F64, &[1.0, 2.0, 4.0, f64::NAN]);
        let near = compare("c", &array(ElemType::F16, &[1.0, 2.0, 4.004, f64::NAN]), &expected, None);
        assert_eq!(near.map(|it| it.wrong), Ok(0));
        let far = compare("c", &array(ElemType::F16, &[1.0, 3.0, f64::NAN, f64::NAN]), &expected, None);
        let far = far.map(|it| it.describe()).unwrap_or_default();
        assert!(far.contains("2 of 4 elements") && far.contains("[1] is 3, and 2 is expected"), "{far}");
        assert!(compare("c", &array(ElemType::F16, &[1.0]), &expected, None).is_err());
        let whole = compare("n", &array(ElemType::I32, &[1.0, 2.0]), &array(ElemType::I64, &[1.0, 3.0]), None);
        assert_eq!(whole.map(|it| it.wrong), Ok(1));
    }

    #[test]
    fn places_are_told_by_dimension() {
        assert_eq!(index(&[2, 3, 4], 23), "[1, 2, 3]");
        assert_eq!(index(&[], 0), "[]");
    }
}
