//! What types say of values.

use ttgir::{Ty, ValueId};

use super::value::element_bytes;
use super::{Elements, Extractor, Value};
use terms::Term;

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
