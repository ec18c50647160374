//! Values of a kernel, as far as addresses, masks and conditions depend on them.

use ttgir::{Ty, ValueId};

use super::Extractor;
use crate::program::Base;
use crate::term::Term;

/// An integer, or a tensor of integers: the element of the lane at hand.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Elements {
    /// How many along each dimension; empty for a scalar.
    pub(crate) lanes: Box<[i64]>,
    pub(crate) term: Term,
}

/// A pointer, or a tensor of pointers into one tensor.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pointer {
    pub(crate) lanes: Box<[i64]>,
    pub(crate) base: Base,
    /// In bytes.
    pub(crate) offset: Term,
    /// Bytes of what it points to.
    pub(crate) bytes: u32,
}

/// A described tensor: a tensor descriptor, or a block pointer, which has a place of its own too.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Descriptor {
    pub(crate) base: Base,
    pub(crate) offset: Term,
    pub(crate) bytes: u32,
    /// Elements along each dimension, of 64 bits.
    pub(crate) sizes: Vec<Term>,
    /// Elements from one index to the next along each dimension, of 64 bits.
    pub(crate) strides: Vec<Term>,
    /// Elements of a block along each dimension.
    pub(crate) block: Box<[i64]>,
    /// Where the block of a block pointer begins, of 64 bits; empty for a descriptor.
    pub(crate) place: Vec<Term>,
}

/// What an SSA value is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Int(Elements),
    Pointer(Pointer),
    Descriptor(Box<Descriptor>),
    /// Floats and what else no address depends on.
    Opaque,
}

impl Extractor<'_> {
    /// The lanes and the width of an integer or a tensor of integers.
    pub(crate) fn int_type(&self, value: ValueId) -> Option<(Box<[i64]>, u8)> {
        let width = |bits: u32| u8::try_from(bits).ok().filter(|bits| (1..=64).contains(bits));
        match self.tree.ty(self.tree.value_type(value)?) {
            Ty::Int(bits) => Some(([].into(), width(bits)?)),
            Ty::Index => Some(([].into(), 64)),
            Ty::Tensor { shape, elem }
                if elem.name == "index" || elem.name.trim_start_matches(['s', 'u']).starts_with('i') =>
            {
                Some((shape.into(), width(elem.bits)?))
            }
            _ => None,
        }
    }

    /// The lanes of any tensor; empty for what is none.
    pub(crate) fn lanes(&self, value: ValueId) -> Box<[i64]> {
        match self.tree.value_type(value).map(|ty| self.tree.ty(ty)) {
            Some(Ty::Tensor { shape, .. }) => shape.into(),
            _ => [].into(),
        }
    }

    /// Bytes of what a pointer, or each of a tensor of them, points to.
    pub(crate) fn pointee_bytes(&self, value: ValueId) -> u32 {
        let text = self.tree.value_type(value).map_or("", |ty| self.tree.type_canonical(ty));
        let inner = text.split_once("!tt.ptr<").map_or("", |(_, inner)| inner);
        element_bytes(inner.split([',', '>']).next().unwrap_or("").trim())
    }

    /// The integer term of an operand, as it is.
    pub(crate) fn int(&mut self, value: ValueId) -> Option<Elements> {
        match self.value(value) {
            Value::Int(elements) => Some(elements),
            _ => None,
        }
    }

    /// The term of an operand as a number of 64 bits with its sign.
    pub(crate) fn wide(&mut self, value: ValueId) -> Option<Term> {
        let elements = self.int(value)?;
        Some(self.program.terms.resize(elements.term, 64, true))
    }
}

/// Bytes of an element of a type by its name; 8 for a pointer, 1 for a truth value.
pub(crate) fn element_bytes(name: &str) -> u32 {
    if name.starts_with("!tt.ptr") {
        return 8;
    }
    if name.starts_with("f8") {
        return 1;
    }
    if name == "tf32" {
        return 4;
    }
    let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse::<u32>().map_or(4, |bits| bits.div_ceil(8))
}
