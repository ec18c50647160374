//! The nodes around a place of a file.

use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, TraversalSignal};
use ruff_python_ast::{AnyNodeRef, Stmt};
use ruff_text_size::{Ranged, TextSize};

use super::CurrentTree;

/// The nodes that touch an offset, outer before inner.
pub fn path_at<'t>(tree: &'t CurrentTree<'_>, offset: u32) -> Vec<AnyNodeRef<'t>> {
    path_in(tree.statements(), offset)
}

/// The same of the nodes of some statements.
pub fn path_in<'t>(statements: impl Iterator<Item = &'t Stmt>, offset: u32) -> Vec<AnyNodeRef<'t>> {
    let offset = TextSize::new(offset);
    let mut path = Path { offset, nodes: Vec::new() };
    for statement in statements.filter(|statement| touches(*statement, offset)) {
        path.visit_stmt(statement);
        if !path.nodes.is_empty() {
            break;
        }
    }
    path.nodes
}

/// Every node of the statements, outer before inner, in the order of the text.
pub fn each_node<'t>(statements: impl Iterator<Item = &'t Stmt>, visit: impl FnMut(AnyNodeRef<'t>)) {
    let mut each = Each { visit };
    statements.for_each(|statement| each.visit_stmt(statement));
}

fn touches(node: impl Ranged, offset: TextSize) -> bool {
    node.range().start() <= offset && offset <= node.range().end()
}

struct Path<'t> {
    offset: TextSize,
    nodes: Vec<AnyNodeRef<'t>>,
}

impl<'t> SourceOrderVisitor<'t> for Path<'t> {
    fn enter_node(&mut self, node: AnyNodeRef<'t>) -> TraversalSignal {
        if !touches(node, self.offset) {
            return TraversalSignal::Skip;
        }
        // Of two that meet at the offset the later one starts there.
        while self.nodes.last().is_some_and(|last| !last.range().contains_range(node.range())) {
            self.nodes.pop();
        }
        self.nodes.push(node);
        TraversalSignal::Traverse
    }
}

struct Each<F> {
    visit: F,
}

impl<'t, F: FnMut(AnyNodeRef<'t>)> SourceOrderVisitor<'t> for Each<F> {
    fn enter_node(&mut self, node: AnyNodeRef<'t>) -> TraversalSignal {
        (self.visit)(node);
        TraversalSignal::Traverse
    }
}
