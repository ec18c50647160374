//! What a piece of text binds, and whether it returns.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprContext, Stmt};

/// Names that the statements give a value, each once.
pub fn bound_in(stmts: &[Stmt]) -> Vec<&str> {
    let mut found = Found { names: Vec::new(), fields: false };
    found.visit_body(stmts);
    found.names
}

/// The same in a kernel, where a variable whose field is assigned becomes another object.
pub fn changed_in(stmts: &[Stmt]) -> Vec<&str> {
    let mut found = Found { names: Vec::new(), fields: true };
    found.visit_body(stmts);
    found.names
}

/// Whether a `return` of the statements' own function stands in them.
pub fn returns(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match stmt {
        Stmt::Return(_) => true,
        Stmt::If(stmt) => returns(&stmt.body) || stmt.elif_else_clauses.iter().any(|clause| returns(&clause.body)),
        Stmt::For(stmt) => returns(&stmt.body) || returns(&stmt.orelse),
        Stmt::While(stmt) => returns(&stmt.body) || returns(&stmt.orelse),
        Stmt::With(stmt) => returns(&stmt.body),
        Stmt::Try(stmt) => {
            let handlers = stmt.handlers.iter().any(|handler| match handler {
                ruff_python_ast::ExceptHandler::ExceptHandler(handler) => returns(&handler.body),
            });
            returns(&stmt.body) || handlers || returns(&stmt.orelse) || returns(&stmt.finalbody)
        }
        _ => false,
    })
}

struct Found<'a> {
    names: Vec<&'a str>,
    /// Whether an assignment to a field counts as one to its variable.
    fields: bool,
}

impl<'a> Found<'a> {
    fn add(&mut self, name: &'a str) {
        if !self.names.contains(&name) {
            self.names.push(name);
        }
    }
}

impl<'a> Visitor<'a> for Found<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => self.add(def.name.as_str()),
            Stmt::ClassDef(def) => self.add(def.name.as_str()),
            Stmt::Import(import) => {
                for alias in &import.names {
                    let name = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
                    self.add(name.split('.').next().unwrap_or(name));
                }
            }
            Stmt::ImportFrom(import) => {
                for alias in &import.names {
                    self.add(alias.asname.as_ref().unwrap_or(&alias.name).as_str());
                }
            }
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) if name.ctx == ExprContext::Store => self.add(name.id.as_str()),
            // Its object becomes another one.
            Expr::Attribute(attribute) if self.fields && attribute.ctx == ExprContext::Store => {
                let mut of = &*attribute.value;
                while let Expr::Attribute(outer) = of {
                    of = &outer.value;
                }
                match of {
                    Expr::Name(name) => self.add(name.id.as_str()),
                    _ => walk_expr(self, expr),
                }
            }
            // Their names are their own.
            Expr::Lambda(_) | Expr::ListComp(_) | Expr::SetComp(_) | Expr::DictComp(_) | Expr::Generator(_) => {}
            _ => walk_expr(self, expr),
        }
    }
}
