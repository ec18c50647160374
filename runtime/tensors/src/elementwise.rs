//! Element by element: loops over typed buffers, without a decision inside.

use super::tensor::{Sizes, TensorValue, Word, each};
use super::trap::Trap;

/// One result an element.
pub(crate) fn map<A: Copy, R>(a: &[A], f: impl Fn(A) -> R) -> Vec<R> {
    a.iter().map(|a| f(*a)).collect()
}

/// One result a pair; a buffer of one element stands for as many as the other has.
pub(crate) fn zip<A: Copy, B: Copy, R>(a: &[A], b: &[B], f: impl Fn(A, B) -> R) -> Vec<R> {
    match (a, b) {
        ([a], b) => b.iter().map(|b| f(*a, *b)).collect(),
        (a, [b]) => a.iter().map(|a| f(*a, *b)).collect(),
        (a, b) => a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect(),
    }
}

/// One result of three.
pub(crate) fn zip3<A: Copy, B: Copy, C: Copy, R>(a: &[A], b: &[B], c: &[C], f: impl Fn(A, B, C) -> R) -> Vec<R> {
    match (a, b, c) {
        ([a], b, c) => zip(b, c, |b, c| f(*a, b, c)),
        (a, [b], c) => zip(a, c, |a, c| f(a, *b, c)),
        (a, b, [c]) => zip(a, b, |a, b| f(a, b, *c)),
        (a, b, c) => a.iter().zip(b).zip(c).map(|((a, b), c)| f(*a, *b, *c)).collect(),
    }
}

/// The shape of a result: a scalar goes with any tensor.
pub(crate) fn common(tensors: &[&TensorValue]) -> Sizes {
    let longest = tensors.iter().max_by_key(|tensor| tensor.shape().len());
    longest.map_or_else(|| Sizes::from([]), |tensor| tensor.shape().clone())
}

/// The words of a tensor; none if they are of another width.
pub(crate) fn words<W: Word>(tensor: &TensorValue) -> &[W] {
    tensor.words().unwrap_or(&[])
}

/// One of two, by a truth value.
pub(crate) fn select(condition: &TensorValue, a: &TensorValue, b: &TensorValue) -> Result<TensorValue, Trap> {
    let shape = common(&[condition, a, b]);
    let Some(truths) = condition.words::<u8>() else {
        return Err(Trap::not_followed("a condition that is no truth value is not followed"));
    };
    if let [truth] = truths {
        let chosen = if *truth != 0 { a } else { b };
        return Ok(if chosen.shape().len() == shape.len() { chosen.clone() } else { chosen.with_shape(shape) });
    }
    Ok(each!(a.data(), left => {
        let right = words(b);
        TensorValue::of(a.dtype(), shape, zip3(truths, left, right, |truth, a, b| if truth != 0 { a } else { b }))
    }))
}
