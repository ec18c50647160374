//! The functions of a file by its text: kernels, helpers, the rest.

use python::syntax::{CurrentTree, range};
use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Decorator, Expr, Stmt, StmtClassDef, StmtFunctionDef};
use rustc_hash::{FxHashMap, FxHashSet};
use specialize::Imports;

/// What a function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It runs on the device, and no function that does so calls it.
    Kernel,
    /// It runs on the device, called by others.
    Helper,
    /// It runs while kernels are compiled.
    Constexpr,
    /// It runs on the host.
    Host,
}

/// A function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Function<'m> {
    pub def: &'m StmtFunctionDef,
    pub role: Role,
    /// The class that it is a method of.
    pub owner: Option<&'m str>,
}

impl Function<'_> {
    /// Whether it runs on the device.
    pub(super) fn device(&self) -> bool {
        matches!(self.role, Role::Kernel | Role::Helper)
    }
}

/// The functions and classes of a text.
#[derive(Debug, Default)]
pub(super) struct Definitions<'m> {
    pub functions: Vec<Function<'m>>,
    pub classes: Vec<&'m StmtClassDef>,
    /// The numbers of the functions that calls on the device find, by name.
    by_name: FxHashMap<&'m str, usize>,
}

impl<'m> Definitions<'m> {
    /// Those of the present text.
    pub(super) fn of(present: &'m CurrentTree<'m>, names: &Imports<'_>) -> Definitions<'m> {
        let mut found = Definitions::default();
        for stmt in present.in_order() {
            found.collect(stmt, None, names);
        }
        let mut called: FxHashSet<&str> = FxHashSet::default();
        for function in found.functions.iter().filter(|function| function.device()) {
            let mut mentions = Mentions { own: function.def.name.as_str(), names: &mut called };
            function.def.body.iter().for_each(|stmt| mentions.visit_stmt(stmt));
        }
        for function in &mut found.functions {
            let helper = function.owner.is_some() || called.contains(function.def.name.as_str());
            if function.role == Role::Kernel && helper {
                function.role = Role::Helper;
            }
        }
        for (at, function) in found.functions.iter().enumerate() {
            if function.owner.is_none() && function.role != Role::Host {
                found.by_name.entry(function.def.name.as_str()).or_insert(at);
            }
        }
        found
    }

    fn collect(&mut self, stmt: &'m Stmt, owner: Option<&'m str>, names: &Imports<'_>) {
        let mut inside = |body: &'m [Stmt], owner| body.iter().for_each(|stmt| self.collect(stmt, owner, names));
        match stmt {
            Stmt::FunctionDef(def) => {
                inside(&def.body, None);
                let role = role(&def.decorator_list, names);
                self.functions.push(Function { def, role, owner });
            }
            Stmt::ClassDef(class) => {
                inside(&class.body, Some(class.name.as_str()));
                self.classes.push(class);
            }
            Stmt::If(it) => {
                inside(&it.body, owner);
                it.elif_else_clauses.iter().for_each(|clause| inside(&clause.body, owner));
            }
            Stmt::Try(it) => {
                inside(&it.body, owner);
                inside(&it.orelse, owner);
            }
            Stmt::With(it) => inside(&it.body, owner),
            Stmt::For(it) => inside(&it.body, owner),
            _ => {}
        }
    }

    /// The function of a name that calls on the device find, with its number.
    pub(super) fn device(&self, name: &str) -> Option<(usize, &Function<'m>)> {
        let at = *self.by_name.get(name)?;
        Some((at, self.functions.get(at)?))
    }

    /// The innermost function around an offset, with its number.
    pub(super) fn around(&self, offset: u32) -> Option<(usize, &Function<'m>)> {
        let all = self.functions.iter().enumerate();
        let inside = all.filter(|(_, function)| range(function.def).touches(offset));
        inside.min_by_key(|(_, function)| range(function.def).len())
    }
}

/// What decorators make of a function.
fn role(decorators: &[Decorator], names: &Imports<'_>) -> Role {
    let mut role = Role::Host;
    for decorator in decorators {
        let expr = match &decorator.expression {
            Expr::Call(call) => &*call.func,
            other => other,
        };
        let path = dotted(expr).and_then(|path| names.path(&path)).unwrap_or_default();
        match path.rsplit('.').next() {
            Some("jit") => role = Role::Kernel,
            Some("constexpr_function") => role = Role::Constexpr,
            _ => {}
        }
    }
    role
}

/// An expression of names and dots as it is written.
pub(super) fn dotted(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Name(name) => Some(name.id.to_string()),
        Expr::Attribute(attribute) => Some(format!("{}.{}", dotted(&attribute.value)?, attribute.attr)),
        _ => None,
    }
}

/// The names that a function mentions besides its own.
struct Mentions<'m, 's> {
    own: &'m str,
    names: &'s mut FxHashSet<&'m str>,
}

impl<'m> Visitor<'m> for Mentions<'m, '_> {
    fn visit_stmt(&mut self, stmt: &'m Stmt) {
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'m Expr) {
        if let Expr::Name(name) = expr
            && name.id.as_str() != self.own
        {
            self.names.insert(name.id.as_str());
        }
        walk_expr(self, expr);
    }
}
