//! A tensor as host code has it.

use std::rc::Rc;

use base::specialization::Contents;
use base::strides::{contiguous, preserved, viewed};
use base::{Operation, Quantity};
use ttgir::build::DType;

use crate::dtypes;
use crate::limits::contents::MOST;
use crate::memory::Memory;

/// A tensor without content.
#[derive(Clone, Debug, PartialEq)]
pub struct Torch {
    /// Where it lies.
    pub memory: Memory,
    /// By torch's name: `float16`.
    pub dtype: Rc<str>,
    /// Elements along each dimension, outermost first.
    pub shape: Vec<i64>,
    /// Elements between neighbours along each dimension.
    pub strides: Vec<i64>,
}

impl Torch {
    /// A contiguous tensor.
    pub fn new(shape: Vec<i64>, dtype: Rc<str>) -> Torch {
        let strides = contiguous(&shape);
        Torch { memory: Memory::fresh(), dtype, shape, strides }
    }

    /// Its element type in signatures.
    pub fn element(&self) -> &'static str {
        dtypes::element(&self.dtype)
    }

    /// Bytes of an element.
    pub fn bytes(&self) -> i64 {
        DType::named(self.element()).map_or(4, |dtype| i64::from(dtype.bits().max(8) / 8))
    }

    /// How many elements it has.
    pub fn count(&self) -> i64 {
        self.shape.iter().fold(1, |all: i64, size| all.saturating_mul(*size))
    }

    /// A new tensor of its element type.
    #[must_use]
    pub fn with(&self, shape: Vec<i64>) -> Torch {
        Torch::new(shape, self.dtype.clone())
    }

    /// A copy of another type.
    pub fn of_type(&self, dtype: Rc<str>) -> Torch {
        let kept = dtypes::is_integer(&self.dtype) && dtypes::is_integer(&dtype);
        let strides = preserved(&self.shape, &self.strides);
        Torch { dtype, memory: Memory::holding(self.contents().filter(|_| kept)), shape: self.shape.clone(), strides }
    }

    /// The same memory, taken for elements of another type.
    pub fn reinterpreted(&self, dtype: Rc<str>) -> Torch {
        Torch { dtype, ..self.clone() }
    }

    /// Itself where it is of that type, else a copy.
    pub fn cast(&self, dtype: Rc<str>) -> Torch {
        if dtype == self.dtype { self.clone() } else { self.of_type(dtype) }
    }

    /// The same with these elements, where they are integers.
    pub fn holding(self, contents: Option<Contents>) -> Torch {
        Torch { memory: Memory::holding(contents.filter(|_| dtypes::is_integer(&self.dtype))), ..self }
    }

    /// The elements of a tensor of integers that is one piece of memory, where they are known and few.
    pub fn contents(&self) -> Option<Contents> {
        let few = u64::try_from(self.count()).ok().filter(|count| *count <= MOST)?;
        let whole = self.memory.offset == Some(0) && self.is_contiguous() && dtypes::is_integer(&self.dtype);
        let contents = self.memory.contents().filter(|_| whole)?;
        contents.elements(few).map(|_| contents)
    }

    /// A copy.
    pub fn copied(&self) -> Torch {
        Torch { memory: Memory::fresh(), strides: preserved(&self.shape, &self.strides), ..self.clone() }
    }

    /// The same where it lies densely, else a copy that does.
    pub fn dense(&self) -> Torch {
        if self.is_contiguous() { self.clone() } else { self.with(self.shape.clone()) }
    }

    /// In the memory of a tensor of which it is a view.
    pub fn within(self, of: &Torch) -> Torch {
        Torch { memory: of.memory.clone(), ..self }
    }

    /// The same, or a tensor of truths.
    pub fn compared(&self, comparison: bool) -> Torch {
        if comparison { self.of_type("bool".into()) } else { self.copied() }
    }

    /// What a loop over it sees, unless that is a lot.
    pub fn rows(&self) -> Option<Vec<Torch>> {
        let (first, rest) = self.shape.split_first()?;
        let row = Torch {
            memory: self.memory.further(None),
            dtype: self.dtype.clone(),
            shape: rest.to_vec(),
            strides: self.strides.get(1..).unwrap_or(&[]).to_vec(),
        };
        (0..=256).contains(first).then(|| vec![row; *first as usize])
    }

    /// A view with its dimensions in another order, counted from the end where negative; `None` where there is none.
    pub fn permuted(&self, order: &[i64]) -> Option<Torch> {
        let at: Vec<usize> = order.iter().map(|at| self.dim(*at)).collect::<Option<_>>()?;
        let pick = |from: &[i64]| at.iter().map(|at| from.get(*at).copied()).collect::<Option<Vec<i64>>>();
        Some(Torch {
            memory: self.memory.clone(),
            dtype: self.dtype.clone(),
            shape: pick(&self.shape)?,
            strides: pick(&self.strides)?,
        })
    }

    /// The number of a dimension that may be counted from the end.
    pub fn dim(&self, at: i64) -> Option<usize> {
        let rank = self.shape.len() as i64;
        let at = if at < 0 { at + rank } else { at };
        (0..rank).contains(&at).then_some(at as usize)
    }

    /// Whether its elements lie one after the other.
    pub fn is_contiguous(&self) -> bool {
        // How far apart the elements of a dimension with one of them are does not matter.
        let mut all = self.strides.iter().zip(contiguous(&self.shape)).zip(&self.shape);
        self.count() == 0 || all.all(|((stride, dense), size)| *size == 1 || *stride == dense)
    }

    /// With these sizes, of which one may be -1: a view where that is possible.
    pub fn reshaped(&self, mut shape: Vec<i64>) -> Option<Torch> {
        if let Some(at) = shape.iter().position(|size| *size == -1) {
            let rest = shape.iter().filter(|size| **size != -1).fold(1i64, |all, size| all.saturating_mul(*size));
            shape[at] = self.count().checked_div(rest)?;
        }
        shape.iter().all(|size| *size >= 0).then_some(())?;
        if let Some(strides) = viewed((&self.shape, &self.strides), &shape) {
            return Some(Torch { shape, strides, ..self.clone() });
        }
        let dense = self.dense();
        Some(dense.with(shape).within(&dense))
    }

    /// How many elements there are along a dimension.
    pub fn size(&self, dim: usize) -> Option<i64> {
        self.shape.get(dim).copied()
    }

    /// So many elements along a dimension from one on: a view.
    pub fn part(&self, dim: usize, start: i64, length: i64) -> Option<Torch> {
        let end = start.checked_add(length)?;
        (start >= 0 && length >= 0 && end <= self.size(dim)?).then_some(())?;
        let bytes = self.strides.get(dim)?.checked_mul(start)?.checked_mul(self.bytes());
        let mut part = Torch { memory: self.memory.further(bytes), ..self.clone() };
        *part.shape.get_mut(dim)? = length;
        Some(part)
    }

    /// Without a dimension that has one element.
    pub fn without(mut self, dim: usize) -> Option<Torch> {
        (dim < self.shape.len()).then(|| self.shape.remove(dim))?;
        (dim < self.strides.len()).then(|| self.strides.remove(dim))?;
        Some(self)
    }

    /// Another tensor, with so many elements along a dimension.
    pub fn resized(&self, dim: usize, size: i64) -> Option<Torch> {
        let mut sizes = self.shape.clone();
        *sizes.get_mut(dim)? = size;
        (size >= 0).then(|| self.with(sizes))
    }

    /// What an operation with a number makes of each element.
    #[must_use]
    pub fn with_number(&self, op: Operation, number: i64) -> Torch {
        let each = |value: i64| {
            let parts = (Quantity::Known(value), Quantity::Known(number));
            let value = Quantity::Made(op, parts.into()).value(&|_| None)?;
            // What a narrower type may not hold is not followed.
            (&*self.dtype == "int64" || i32::try_from(value).is_ok()).then_some(value)
        };
        let contents = self.contents().filter(|_| self.dtype.starts_with("int"));
        let contents = contents.and_then(|contents| match contents {
            Contents::Fill(value) => each(value).map(Contents::Fill),
            all => {
                let elements = all.elements(u64::try_from(self.count()).ok()?)?;
                elements.iter().map(|value| each(*value)).collect::<Option<_>>().map(Contents::List)
            }
        });
        self.copied().holding(contents)
    }
}

/// `a @ b`; `None` for a tensor of no dimensions.
pub fn product(a: &Torch, b: &Torch) -> Option<Torch> {
    let mut shape = a.shape.clone();
    *shape.last_mut()? = *b.shape.last()?;
    Some(a.with(shape))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_and_strides() {
        let tensor = Torch::new(vec![4, 8, 16], "float16".into());
        assert_eq!(tensor.strides, [128, 16, 1]);
        let turned = tensor.permuted(&[0, 2, -2]).unwrap();
        assert_eq!((&turned.shape[..], &turned.strides[..]), (&[4, 16, 8][..], &[128, 1, 16][..]));
        assert!(!turned.is_contiguous());
        assert_eq!(tensor.reshaped(vec![-1, 32]).unwrap().shape, [16, 32]);
        assert_eq!(product(&tensor, &turned).unwrap().shape, [4, 8, 8]);
        assert_eq!((tensor.element(), tensor.bytes()), ("fp16", 2));
    }
}
