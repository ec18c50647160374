//! How far apart the elements of a tensor lie, and those of its copies and views: by the rules of torch.

/// The strides of a copy (`torch.preserve_format`): its own where it fills its memory without gaps in some order of
/// its dimensions, else those of a dense tensor.
pub fn preserved(shape: &[i64], strides: &[i64]) -> Vec<i64> {
    let mut order: Vec<(i64, i64)> = strides.iter().copied().zip(shape.iter().copied()).collect();
    order.retain(|(_, size)| *size != 1);
    order.sort_unstable();
    let mut next = 1i64;
    let fills = order.iter().all(|&(stride, size)| {
        let fits = stride == next;
        next = next.saturating_mul(size);
        fits
    });
    if fills { strides.to_vec() } else { contiguous(shape) }
}

/// The strides of a view of another shape, of a tensor of this one and these strides; `None` where only a copy has that shape.
pub fn viewed(own: (&[i64], &[i64]), shape: &[i64]) -> Option<Vec<i64>> {
    let count = |sizes: &[i64]| sizes.iter().fold(1i64, |all, size| all.saturating_mul(*size));
    if count(shape) != count(own.0) || count(own.0) == 0 {
        return None;
    }
    let mut strides = vec![1; shape.len()];
    let mut at = shape.len();
    let mut dims = own.0.iter().zip(own.1).rev().filter(|(size, _)| **size != 1).peekable();
    while let Some((&size, &innermost)) = dims.next() {
        // Dimensions that lie in each other without a gap are one stretch.
        let (mut elements, mut next) = (size, innermost.saturating_mul(size));
        while let Some((&outer, _)) = dims.next_if(|(_, stride)| **stride == next) {
            elements = elements.saturating_mul(outer);
            next = next.saturating_mul(outer);
        }
        let (mut covered, mut stride) = (1i64, innermost);
        while covered < elements {
            at = at.checked_sub(1)?;
            strides[at] = stride;
            covered = covered.saturating_mul(shape[at]);
            stride = stride.saturating_mul(shape[at]);
        }
        if covered != elements {
            return None;
        }
    }
    // What is left has one element.
    for rest in (0..at).rev() {
        strides[rest] =
            strides.get(rest + 1).zip(shape.get(rest + 1)).map_or(1, |(stride, size)| stride.saturating_mul(*size));
    }
    Some(strides)
}

/// The strides of a dense tensor.
pub fn contiguous(shape: &[i64]) -> Vec<i64> {
    let mut strides = vec![1i64; shape.len()];
    for at in (1..shape.len()).rev() {
        strides[at - 1] = strides[at].saturating_mul(shape[at].max(1));
    }
    strides
}
