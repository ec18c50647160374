//! What the body of a function is asked at each of its calls, found out once.

use std::cell::OnceCell;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, Stmt, StmtFunctionDef};

use crate::{Asked, names};

/// The body of a function, with what was found out of it by now.
#[derive(Debug)]
pub struct Body<'a> {
    def: &'a StmtFunctionDef,
    asked: OnceCell<Asked<'a>>,
    yields: OnceCell<bool>,
    builds_ops: OnceCell<bool>,
}

impl<'a> Body<'a> {
    /// Of a function, of which nothing is found out yet.
    pub fn of(def: &'a StmtFunctionDef) -> Body<'a> {
        Body { def, asked: OnceCell::new(), yields: OnceCell::new(), builds_ops: OnceCell::new() }
    }

    /// What it does with its names.
    pub fn asked(&self) -> &Asked<'a> {
        self.asked.get_or_init(|| Asked::of(&self.def.body))
    }

    /// Whether it has a `yield`, or an `await`: a call of it runs nothing yet.
    pub fn yields(&self) -> bool {
        *self.yields.get_or_init(|| {
            let mut yields = Yields(false);
            yields.visit_body(&self.def.body);
            yields.0
        })
    }

    /// Whether it builds ops by itself, see [`names::builds_ops`].
    pub fn builds_ops(&self) -> bool {
        *self.builds_ops.get_or_init(|| names::builds_ops(self.def))
    }
}

/// Whether there is a `yield` outside the functions that a body defines.
struct Yields(bool);

impl<'a> Visitor<'a> for Yields {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if !matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_)) && !self.0 {
            walk_stmt(self, stmt);
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        self.0 |= matches!(expr, Expr::Yield(_) | Expr::YieldFrom(_) | Expr::Await(_));
        if !self.0 && !matches!(expr, Expr::Lambda(_)) {
            walk_expr(self, expr);
        }
    }
}
