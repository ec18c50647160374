//! Values of a kernel, as far as addresses, masks and conditions depend on them.

use crate::program::Base;
use terms::Term;

/// What a pointer points into, while a kernel is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    Tensor(Base),
    /// One of two, by a condition: a number among the choices of the kernel.
    Choice(u32),
}

/// Where a pointer goes by a condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Choice {
    pub(crate) condition: Term,
    pub(crate) yes: Target,
    pub(crate) no: Target,
}

/// An integer, or a tensor of integers: the element of the lane at hand.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Elements {
    /// How many along each dimension; empty for a scalar.
    pub(crate) lanes: Box<[i64]>,
    pub(crate) term: Term,
}

/// A pointer, or a tensor of pointers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pointer {
    pub(crate) lanes: Box<[i64]>,
    pub(crate) base: Target,
    /// In bytes.
    pub(crate) offset: Term,
    /// Bytes of what it points to.
    pub(crate) bytes: u32,
}

/// A described tensor: a tensor descriptor, or a block pointer, which has a place of its own too.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Descriptor {
    pub(crate) base: Target,
    pub(crate) offset: Term,
    pub(crate) bytes: u32,
    /// Elements along each dimension, of 64 bits.
    pub(crate) sizes: Vec<Term>,
    /// Elements from one index to the next along each dimension, of 64 bits.
    pub(crate) strides: Vec<Term>,
    /// Elements of a block along each dimension.
    pub(crate) block: Box<[i64]>,
    /// Where the block of a block pointer begins, or of a descriptor that was moved, of 64 bits; empty for another one.
    pub(crate) place: Vec<Term>,
    /// Whether it copies anything, where that was written into it.
    pub(crate) enabled: Option<Term>,
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
