//! What a piece of text binds, and whether it returns.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprContext, Keyword, Stmt, StmtFunctionDef};

/// Fixtures of pytest and of Triton's tests that have no part in a launch.
pub const FIXTURES: &[&str] = &[
    "monkeypatch",
    "fresh_knobs",
    "tmp_path",
    "tmpdir",
    "capfd",
    "capsys",
    "caplog",
    "request",
    "with_allocator",
    "fresh_triton_cache",
    "fresh_cache",
    "recwarn",
];

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

/// What the last assignment to a variable among some statements gives it, or changes it by.
pub fn assigned<'a>(stmts: &'a [Stmt], name: &str) -> Option<&'a Expr> {
    let is = |target: &Expr| matches!(target, Expr::Name(own) if own.id.as_str() == name);
    stmts.iter().rev().find_map(|stmt| match stmt {
        Stmt::Assign(stmt) => stmt.targets.iter().any(is).then_some(&*stmt.value),
        Stmt::AugAssign(stmt) => is(&stmt.target).then_some(&*stmt.value),
        Stmt::AnnAssign(stmt) if is(&stmt.target) => stmt.value.as_deref(),
        Stmt::If(stmt) => {
            let otherwise = stmt.elif_else_clauses.iter().rev().find_map(|clause| assigned(&clause.body, name));
            otherwise.or_else(|| assigned(&stmt.body, name))
        }
        Stmt::For(stmt) => assigned(&stmt.body, name),
        Stmt::While(stmt) => assigned(&stmt.body, name),
        _ => None,
    })
}

/// Whether a function of a library builds ops by itself: it does something with what the compiler hands it beside handing
/// it on.
pub fn builds_ops(def: &StmtFunctionDef) -> bool {
    let mut used = Compiler(false);
    if def.parameters.iter_non_variadic_params().any(|param| COMPILER.contains(&param.name().as_str())) {
        used.visit_body(&def.body);
    }
    used.0
}

/// What Triton's compiler hands a builtin.
const COMPILER: [&str; 3] = ["_semantic", "_builder", "_generator"];

/// Whether one of these is used.
struct Compiler(bool);

impl<'a> Visitor<'a> for Compiler {
    fn visit_expr(&mut self, expr: &'a Expr) {
        self.0 |= matches!(expr, Expr::Name(name) if COMPILER.contains(&name.id.as_str()));
        walk_expr(self, expr);
    }

    fn visit_keyword(&mut self, keyword: &'a Keyword) {
        if !keyword.arg.as_ref().is_some_and(|name| COMPILER.contains(&name.as_str())) {
            self.visit_expr(&keyword.value);
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Module;

    #[test]
    fn builtins_that_do_something_with_the_compiler() {
        let text = "def a(x, _semantic=None):\n    return f(x, _semantic=_semantic)\n\n\ndef b(x, _semantic=None):\n    \
                    return _semantic.builder.make(x)\n\n\ndef c(x, _builder=None):\n    return f(x, _builder)\n\n\n\
                    def d(_builder_of):\n    return _builder_of\n";
        let module = Module::parse("a.py", text, None);
        let builds: Vec<bool> = module.body().iter().filter_map(Stmt::as_function_def_stmt).map(builds_ops).collect();
        assert_eq!(builds, [false, true, true, false]);
    }
}
