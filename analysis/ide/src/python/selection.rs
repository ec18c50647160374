//! What a selection grows by in Python: word, expression, statement, block, function, file.

use base::TextRange;
use python::syntax::{CurrentTree, range};
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, TraversalSignal};
use ruff_python_ast::{AnyNodeRef, Stmt};

use crate::selection::nested;
use engine::instances::PythonFile;

/// The ranges around an offset, the innermost first, each inside of the next; `None` for a file without kernels.
pub fn selection(file: &PythonFile, offset: u32) -> Option<Vec<TextRange>> {
    if !file.mentions_kernels() {
        return None;
    }
    let text = file.text();
    let present = CurrentTree::of(file.module());
    let mut around = Around { text, at: offset, found: vec![TextRange::new(0, text.len() as u32)] };
    around.found.extend(super::word(text, offset));
    for stmt in present.in_order() {
        around.visit_stmt(stmt);
    }
    Some(nested(around.found, offset))
}

struct Around<'t> {
    text: &'t str,
    at: u32,
    found: Vec<TextRange>,
}

impl Around<'_> {
    fn add(&mut self, range: TextRange) {
        if range.touches(self.at) {
            self.found.push(range);
        }
    }

    fn body(&mut self, body: &[Stmt]) {
        if let (Some(first), Some(last)) = (body.first(), body.last()) {
            self.add(range(first).cover(range(last)));
        }
    }

    /// What stands between the brackets of a range.
    fn inside(&mut self, range: TextRange) {
        let text = range.of(self.text);
        if text.len() > 2 && text.starts_with(['(', '[', '{']) && text.ends_with([')', ']', '}']) {
            self.add(TextRange::new(range.start + 1, range.end - 1));
        }
    }
}

impl<'a> SourceOrderVisitor<'a> for Around<'_> {
    fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
        let range = range(&node);
        if !range.touches(self.at) {
            return TraversalSignal::Skip;
        }
        self.found.push(range);
        match node {
            AnyNodeRef::StmtFunctionDef(it) => self.body(&it.body),
            AnyNodeRef::StmtClassDef(it) => self.body(&it.body),
            AnyNodeRef::StmtFor(it) => {
                self.body(&it.body);
                self.body(&it.orelse);
            }
            AnyNodeRef::StmtWhile(it) => {
                self.body(&it.body);
                self.body(&it.orelse);
            }
            AnyNodeRef::StmtIf(it) => self.body(&it.body),
            AnyNodeRef::ElifElseClause(it) => self.body(&it.body),
            AnyNodeRef::StmtWith(it) => self.body(&it.body),
            AnyNodeRef::StmtTry(it) => {
                self.body(&it.body);
                self.body(&it.orelse);
                self.body(&it.finalbody);
            }
            AnyNodeRef::ExceptHandlerExceptHandler(it) => self.body(&it.body),
            AnyNodeRef::MatchCase(it) => self.body(&it.body),
            AnyNodeRef::ExprSubscript(it) => {
                let slice = python::syntax::range(&*it.slice);
                self.add(slice);
            }
            AnyNodeRef::Arguments(_)
            | AnyNodeRef::Parameters(_)
            | AnyNodeRef::ExprList(_)
            | AnyNodeRef::ExprTuple(_)
            | AnyNodeRef::ExprDict(_)
            | AnyNodeRef::ExprSet(_) => self.inside(range),
            _ => {}
        }
        TraversalSignal::Traverse
    }
}
