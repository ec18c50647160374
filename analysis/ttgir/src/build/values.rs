//! Values, with their types and names.

use std::rc::Rc;

use super::ty::Type;

/// An SSA value of a [`Builder`](super::Builder).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Ssa(pub(super) u32);

/// What is known of all values, by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    pub(super) types: Vec<Type>,
    /// The name in the source, given by the first assignment.
    pub(super) names: Vec<Option<Rc<str>>>,
    /// Other names in the source, given by later assignments.
    pub(super) also_named: Vec<(Ssa, Rc<str>)>,
    /// Values that are named after another one, with what is put behind that one's name, where nothing else
    /// names them.
    pub(super) named_after: Vec<(Ssa, Ssa, String)>,
}

impl Values {
    /// The type of a value; all values come from one builder, so there is one.
    pub(super) fn ty(&self, value: Ssa) -> &Type {
        self.types.get(value.0 as usize).unwrap_or(&Type::Token)
    }
}
