//! Arguments and parameters in the tree of a Python file: what a call gives, and who names it.

use python::syntax::range;
use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprCall, ExprContext, ExprName, Stmt, StmtFunctionDef};

use base::TextRange;
use python::syntax::Module;

/// The call with this range.
pub(super) fn call_at(module: &Module, at: TextRange) -> Option<&ExprCall> {
    struct Find<'a> {
        at: TextRange,
        found: Option<&'a ExprCall>,
    }
    impl<'a> Visitor<'a> for Find<'a> {
        fn visit_stmt(&mut self, stmt: &'a Stmt) {
            if range(stmt).contains(self.at) {
                walk_stmt(self, stmt);
            }
        }
        fn visit_expr(&mut self, expr: &'a Expr) {
            match expr {
                Expr::Call(call) if range(call) == self.at => self.found = Some(call),
                _ if range(expr).contains(self.at) => walk_expr(self, expr),
                _ => {}
            }
        }
    }
    let mut find = Find { at, found: None };
    module.body().iter().for_each(|stmt| find.visit_stmt(stmt));
    find.found
}

/// The innermost function around a place.
pub(super) fn function_at(module: &Module, at: TextRange) -> Option<&StmtFunctionDef> {
    struct Find<'a> {
        at: TextRange,
        found: Option<&'a StmtFunctionDef>,
    }
    impl<'a> Visitor<'a> for Find<'a> {
        fn visit_stmt(&mut self, stmt: &'a Stmt) {
            if !range(stmt).contains(self.at) {
                return;
            }
            if let Stmt::FunctionDef(def) = stmt {
                self.found = Some(def);
            }
            walk_stmt(self, stmt);
        }
    }
    let mut find = Find { at, found: None };
    module.body().iter().for_each(|stmt| find.visit_stmt(stmt));
    find.found
}

/// Which parameter of a function a name is; `None` where the function gives it another value.
pub(super) fn parameter(function: &StmtFunctionDef, name: &str) -> Option<usize> {
    struct Stores<'n> {
        name: &'n str,
        found: bool,
    }
    impl<'a> Visitor<'a> for Stores<'_> {
        fn visit_expr(&mut self, expr: &'a Expr) {
            if let Expr::Name(ExprName { id, ctx: ExprContext::Store, .. }) = expr {
                self.found |= id.as_str() == self.name;
            }
            walk_expr(self, expr);
        }
    }
    let mut all = function.parameters.iter_non_variadic_params();
    let at = all.position(|parameter| parameter.parameter.name.as_str() == name)?;
    let mut stores = Stores { name, found: false };
    function.body.iter().for_each(|stmt| stores.visit_stmt(stmt));
    (!stores.found).then_some(at)
}

/// How many parameters of a function its call does not spell: the receiver of a method.
pub(super) fn receiver(function: &StmtFunctionDef, call: &ExprCall) -> usize {
    let first = function.parameters.iter_non_variadic_params().next();
    let method = first.is_some_and(|first| first.parameter.name.as_str() == "self");
    usize::from(method && matches!(&*call.func, Expr::Attribute(_)))
}

/// An argument by its name, or by its number; without a name the first of all.
pub(super) fn argument<'a>(call: &'a ExprCall, number: usize, name: Option<&str>) -> Option<&'a Expr> {
    let mut keywords = call.arguments.keywords.iter();
    let keyword = keywords.find(|keyword| name.is_none_or(|name| keyword.arg.as_ref().is_some_and(|it| it == name)));
    let positional = call.arguments.args.get(number);
    match name {
        Some(_) => keyword.map(|keyword| &keyword.value).or(positional),
        None => positional.or(keyword.map(|keyword| &keyword.value)),
    }
}
