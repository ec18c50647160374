//! What was not run of a file whose statements are run as their names are asked for.

use ruff_python_ast::visitor::{Visitor, walk_stmt};
use ruff_python_ast::{Expr, Stmt};
use rustc_hash::FxHashMap;

use crate::names::bound_in;

/// The statements of a file that were not run.
#[derive(Debug)]
pub struct Pending<'a> {
    /// All of them.
    pub body: &'a [Stmt],
    /// By statement, whether it was run, or is being run.
    pub done: Vec<bool>,
    /// By name, the statements that bind it or change what it stands for.
    pub by_name: FxHashMap<&'a str, Vec<u32>>,
    /// `from module import *`.
    pub stars: Vec<u32>,
    /// The statement that is being run, and all behind it, which it does not see.
    pub limit: u32,
}

impl<'a> Pending<'a> {
    /// All statements of a file.
    pub fn of(body: &'a [Stmt]) -> Pending<'a> {
        let mut by_name: FxHashMap<&'a str, Vec<u32>> = FxHashMap::default();
        let mut stars = Vec::new();
        for (at, stmt) in body.iter().enumerate() {
            let at = at as u32;
            if let Stmt::ImportFrom(import) = stmt
                && import.names.iter().any(|alias| alias.name.as_str() == "*")
            {
                stars.push(at);
                continue;
            }
            let mut changed = Changed(bound_in(std::slice::from_ref(stmt)));
            changed.visit_stmt(stmt);
            for name in changed.0 {
                let places = by_name.entry(name).or_default();
                if places.last() != Some(&at) {
                    places.push(at);
                }
            }
        }
        Pending { body, done: vec![false; body.len()], by_name, stars, limit: u32::MAX }
    }

    /// Takes the next statement of a name that was not run, one of those that are seen first.
    pub fn next(&mut self, name: &str, seen: bool) -> Option<u32> {
        let places = self.by_name.get(name)?;
        let at = *places.iter().find(|at| !self.done[**at as usize] && (**at < self.limit || !seen))?;
        self.done[at as usize] = true;
        Some(at)
    }
}

/// Variables whose elements or fields are assigned, or whose methods are called for what they do.
struct Changed<'a>(Vec<&'a str>);

impl<'a> Changed<'a> {
    fn root(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) if !self.0.contains(&name.id.as_str()) => self.0.push(name.id.as_str()),
            Expr::Attribute(attribute) => self.root(&attribute.value),
            Expr::Subscript(subscript) => self.root(&subscript.value),
            _ => {}
        }
    }
}

impl<'a> Visitor<'a> for Changed<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Assign(assign) => {
                assign.targets.iter().filter(|target| !target.is_name_expr()).for_each(|target| self.root(target));
            }
            Stmt::AugAssign(assign) => self.root(&assign.target),
            Stmt::Expr(stmt) => {
                if let Expr::Call(call) = &*stmt.value
                    && let Expr::Attribute(method) = &*call.func
                {
                    self.root(&method.value);
                }
            }
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
            _ => walk_stmt(self, stmt),
        }
    }
}
