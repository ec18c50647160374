//! What was not run of a file whose statements are run as their names are asked for.

use ruff_python_ast::visitor::{Visitor, walk_stmt};
use ruff_python_ast::{Expr, Stmt};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::names::bound_in;
use crate::{Module, range};
use base::TextRange;

/// What something that was run depends on of the statements of a file, beside the functions that it called: others may
/// come and go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demanded {
    /// The names that it asked the file for, bound or not, in order.
    names: Vec<Box<str>>,
    /// The statements that were run.
    ran: Vec<TextRange>,
}

impl Demanded {
    /// Whether nothing is another thing to it if these statements go and others come, of which all bind these names.
    pub fn ignores(&self, gone: &[TextRange], names: &[String]) -> bool {
        !gone.iter().any(|gone| self.ran.contains(gone))
            && !names.iter().any(|name| self.names.binary_search_by(|asked| (**asked).cmp(name.as_str())).is_ok())
    }
}

/// Which statements of a file bind which names, or change what they stand for.
#[derive(Debug, Default)]
pub struct Bindings {
    /// By name its number, and the statements in order.
    by_name: FxHashMap<Box<str>, (usize, Vec<u32>)>,
    /// `from module import *`.
    stars: Vec<u32>,
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
        self.stars.is_empty() && self.by_name.get(name).is_some_and(|(_, places)| places.len() == 1)
    }

    /// The names, in no order; `None` where statements take all names of a module.
    pub fn names(&self) -> Option<impl Iterator<Item = &str>> {
        self.stars.is_empty().then(|| self.by_name.keys().map(|name| &**name))
    }
}

/// The statements of a file that were not run.
#[derive(Debug)]
pub struct Pending<'a> {
    /// All of them.
    pub body: &'a [Stmt],
    /// By statement, whether it was run, or is being run.
    pub done: Vec<bool>,
    /// What they bind.
    bindings: &'a Bindings,
    /// By the number of a name, whether it was asked for.
    asked: Vec<bool>,
    /// Names that were asked for and that no statement binds.
    unbound: FxHashSet<Box<str>>,
    /// Whether all statements up to some place were run, whatever they bind.
    pub finished: bool,
    /// `from module import *`.
    pub stars: &'a [u32],
    /// The statement that is being run, and all behind it, which it does not see.
    pub limit: u32,
}

impl<'a> Pending<'a> {
    /// All statements of a file.
    pub fn of(module: &'a Module) -> Pending<'a> {
        let (body, bindings) = (module.body(), module.bindings());
        let (done, asked) = (vec![false; body.len()], vec![false; bindings.by_name.len()]);
        let (unbound, stars) = (FxHashSet::default(), &*bindings.stars);
        Pending { body, done, bindings, asked, unbound, finished: false, stars, limit: u32::MAX }
    }

    /// What was asked for so far; `None` where that is all that the file does.
    pub fn demanded(&self) -> Option<Demanded> {
        if self.finished {
            return None;
        }
        let asked = |number: usize| self.asked.get(number) == Some(&true);
        let bound = self.bindings.by_name.iter().filter(|(_, (number, _))| asked(*number)).map(|(name, _)| name);
        let mut names: Vec<Box<str>> = bound.chain(&self.unbound).cloned().collect();
        names.sort_unstable();
        let ran = self.body.iter().zip(&self.done).filter(|(_, done)| **done).map(|(stmt, _)| range(stmt)).collect();
        Some(Demanded { names, ran })
    }

    /// Takes the next statement of a name that was not run, one of those that are seen first.
    pub fn next(&mut self, name: &str, seen: bool) -> Option<u32> {
        let Some((number, places)) = self.bindings.by_name.get(name) else {
            if !self.unbound.contains(name) {
                self.unbound.insert(name.into());
            }
            return None;
        };
        if let Some(asked) = self.asked.get_mut(*number) {
            *asked = true;
        }
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
