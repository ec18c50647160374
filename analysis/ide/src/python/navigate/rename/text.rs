//! What the text of a file says: the line of a place, and whether it spells a name where names of parameters stand.

use base::{LineIndex, TextRange};
use python::syntax::{CurrentTree, Module, each_node};
use ruff_python_ast::AnyNodeRef;

/// The line of a place, as people count.
pub(super) fn line(module: &Module, at: TextRange) -> u32 {
    LineIndex::new(module.text()).line_col(at.start).line + 1
}

/// Whether a keyword or string of a file is a name.
pub(super) fn spells(file: &Module, name: &str) -> bool {
    let mut found = false;
    each_node(CurrentTree::of(file).statements(), |node| {
        found |= match node {
            AnyNodeRef::Keyword(keyword) => keyword.arg.as_ref().is_some_and(|arg| arg.as_str() == name),
            AnyNodeRef::ExprStringLiteral(text) => text.value.to_str() == name,
            _ => false,
        };
    });
    found
}
