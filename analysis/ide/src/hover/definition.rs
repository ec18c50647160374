//! The names and definitions of values.

use ttgir::queries::expr::{known_name, name};
use ttgir::{Def, OpId, Tree, ValueId};

/// A value's name, and the one that its location gives: `%47 (accum_cnt)`.
pub(super) fn titled(tree: &Tree, value: ValueId) -> String {
    let (own, known) = (name(tree, value), known_name(tree, value));
    if own == known { own } else { format!("{own} ({known})") }
}

/// The operation that a value's definition belongs to.
pub(crate) fn defining_op(tree: &Tree, value: ValueId) -> Option<OpId> {
    match tree.value_def(value) {
        Def::Result(op, _) => Some(op),
        Def::BlockArg(block, _) => tree.parent_op(tree.parent_region(block)),
        Def::Undefined => None,
    }
}

/// The definition without its location and regions.
pub(super) fn definition_line(tree: &Tree, value: ValueId) -> String {
    let range = match tree.value_def(value) {
        Def::Result(op, _) => tree.op_header_range(op),
        Def::BlockArg(..) | Def::Undefined => return String::new(),
    };
    let text = range.of(tree.text());
    let text = text.split(" loc(").next().unwrap_or(text);
    let first = text.lines().next().unwrap_or("").trim();
    first.to_owned()
}
