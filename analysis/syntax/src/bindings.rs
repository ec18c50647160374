//! Which top-level statements bind which names.

use ruff_python_ast::visitor::{Visitor, walk_stmt};
use ruff_python_ast::{Expr, Stmt};
use rustc_hash::FxHashMap;

use crate::names::bound_in;

/// Which statements of a file bind which names, or change what they stand for.
#[derive(Debug, Default)]
pub struct Bindings {
    /// By name its number, and the statements in order.
    pub(crate) by_name: FxHashMap<Box<str>, (usize, Vec<u32>)>,
    /// `from module import *`.
    pub(crate) stars: Vec<u32>,
}

impl Bindings {
    /// Those of all statements of a file.
    pub fn of(body: &[Stmt]) -> Bindings {
        let mut all = Bindings::default();
        for (at, stmt) in body.iter().enumerate() {
            let at = at as u32;
            if let Stmt::ImportFrom(import) = stmt
                && import.names.iter().any(|alias| alias.name.as_str() == "*")
            {
                all.stars.push(at);
                continue;
            }
            let mut changed = Changed(bound_in(std::slice::from_ref(stmt)));
            changed.visit_stmt(stmt);
            for name in changed.0 {
                let number = all.by_name.len();
                let (_, places) = all.by_name.entry(name.into()).or_insert_with(|| (number, Vec::new()));
                if places.last() != Some(&at) {
                    places.push(at);
                }
            }
        }
        all
    }

    /// Whether a definition is the only statement that binds its name.
    pub fn alone(&self, definition: &Stmt) -> bool {
        let name = match definition {
            Stmt::FunctionDef(def) => def.name.as_str(),
            Stmt::ClassDef(def) => def.name.as_str(),
            _ => return false,
        };
        self.only(name).is_some()
    }

    /// The number of the only statement that binds a name, or changes what it stands for; `None` where there are several,
    /// or none.
    pub fn only(&self, name: &str) -> Option<usize> {
        match &self.by_name.get(name)?.1[..] {
            [place] if self.stars.is_empty() => Some(*place as usize),
            _ => None,
        }
    }

    /// The names that a statement binds, by its number; `None` where those are all names of a module.
    pub fn bound_by(&self, statement: usize) -> Option<Vec<&str>> {
        let at = statement as u32;
        let bound = self.by_name.iter().filter(|(_, (_, places))| places.contains(&at)).map(|(name, _)| &**name);
        (!self.stars.contains(&at)).then(|| bound.collect())
    }

    /// The names, in no order; `None` where statements take all names of a module.
    pub fn names(&self) -> Option<impl Iterator<Item = &str>> {
        self.stars.is_empty().then(|| self.by_name.keys().map(|name| &**name))
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
