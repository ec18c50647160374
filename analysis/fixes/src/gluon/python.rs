//! Statements and calls of a Python file, and edits that keep indentation and line ends.

use python::syntax::range;
use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprCall, Stmt};

use base::TextRange;
use findings::Edit;
use python::syntax::Module;

/// A file, to be asked.
pub(super) struct Python<'p> {
    pub(super) module: &'p Module,
    calls: Vec<Call<'p>>,
    statements: Vec<Statement<'p>>,
}

/// A call.
#[derive(Clone, Copy)]
pub(super) struct Call<'p> {
    pub(super) range: TextRange,
    pub(super) node: &'p ExprCall,
    /// The variable that its value is assigned to, where that is all that its statement does.
    pub(super) target: Option<&'p str>,
    /// Whether its statement is nothing but this call.
    pub(super) alone: bool,
}

/// A statement.
#[derive(Clone, Copy)]
pub(super) struct Statement<'p> {
    pub(super) range: TextRange,
    pub(super) node: &'p Stmt,
    /// Whether it is all of its suite.
    only: bool,
    /// Which suite it stands in, and at which place.
    pub(super) suite: u32,
    /// Whether statements can stand in it.
    compound: bool,
}

impl<'p> Python<'p> {
    pub(super) fn new(module: &'p Module) -> Python<'p> {
        let mut python = Python { module, calls: Vec::new(), statements: Vec::new() };
        let mut suites = 0;
        python.suite(module.body(), &mut suites);
        python
    }

    fn suite(&mut self, body: &'p [Stmt], suites: &mut u32) {
        let suite = *suites;
        *suites += 1;
        for node in body {
            let inner = inner(node);
            self.statements.push(Statement {
                range: range(node),
                node,
                only: body.len() == 1,
                suite,
                compound: !inner.is_empty(),
            });
            if inner.is_empty() {
                let mut found = Calls(Vec::new());
                found.visit_stmt(node);
                let (target, whole) = match node {
                    Stmt::Assign(assign) => match assign.targets.as_slice() {
                        [Expr::Name(name)] => (Some(name.id.as_str()), Some(range(&*assign.value))),
                        _ => (None, None),
                    },
                    Stmt::Expr(stmt) => (None, Some(range(&*stmt.value))),
                    _ => (None, None),
                };
                for call in found.0 {
                    let own = range(call);
                    let is_all = whole == Some(own);
                    self.calls.push(Call {
                        range: own,
                        node: call,
                        target: target.filter(|_| is_all),
                        alone: is_all && target.is_none(),
                    });
                }
            }
            inner.into_iter().for_each(|body| self.suite(body, suites));
        }
    }

    /// The call at exactly this range.
    pub(super) fn call(&self, at: TextRange) -> Option<Call<'p>> {
        self.calls.iter().copied().find(|call| call.range == at)
    }

    /// The innermost statement around a range: one that starts there, if it is compound.
    pub(super) fn statement(&self, at: TextRange) -> Option<Statement<'p>> {
        let around = self.statements.iter().copied().filter(|statement| statement.range.contains(at));
        let innermost = around.max_by_key(|statement| statement.range.start)?;
        // In the head of a loop or a condition; what stands before it comes before all of it.
        (!innermost.compound || innermost.range.start == at.start).then_some(innermost)
    }

    /// The last statement of a suite before another that assigns a name.
    pub(super) fn assigned_before(&self, at: Statement<'p>, name: &str) -> Option<&'p Expr> {
        let earlier =
            self.statements.iter().filter(|other| other.suite == at.suite && other.range.end <= at.range.start);
        let value = |statement: &Statement<'p>| match statement.node {
            Stmt::Assign(assign) => match assign.targets.as_slice() {
                [Expr::Name(target)] if target.id.as_str() == name => Some(&*assign.value),
                _ => None,
            },
            _ => None,
        };
        earlier.rev().find_map(value)
    }

    fn indent(&self, at: TextRange) -> Option<&'p str> {
        let text = self.module.source();
        let start = text.get(..at.start as usize)?.rfind('\n').map_or(0, |newline| newline + 1);
        text.get(start..at.start as usize).filter(|indent| indent.chars().all(|c| c == ' ' || c == '\t'))
    }

    fn newline(&self) -> &'static str {
        if self.module.source().contains("\r\n") { "\r\n" } else { "\n" }
    }

    /// Statements before one.
    pub(super) fn before(&self, at: Statement<'p>, lines: &[String]) -> Option<Edit> {
        let (indent, newline) = (self.indent(at.range)?, self.newline());
        let text = lines.iter().flat_map(|line| [line.as_str(), newline, indent]).collect();
        Some(Edit { range: TextRange::empty(at.range.start), text })
    }

    /// Statements after one, behind the comment on its line.
    pub(super) fn after(&self, at: Statement<'p>, lines: &[String]) -> Option<Edit> {
        let (indent, newline) = (self.indent(at.range)?, self.newline());
        let rest = self.module.source().get(at.range.end as usize..)?;
        let line = rest.split(['\n', '\r']).next().unwrap_or("");
        if !(line.trim().is_empty() || line.trim_start().starts_with('#')) {
            return None;
        }
        let end = at.range.end + line.trim_end().len() as u32;
        let text = lines.iter().flat_map(|line| [newline, indent, line.as_str()]).collect();
        Some(Edit { range: TextRange::empty(end), text })
    }

    /// Takes a statement away with its line, or puts `pass` in its place.
    pub(super) fn delete(&self, at: Statement<'p>) -> Option<Edit> {
        if at.only {
            return Some(Edit { range: at.range, text: "pass".to_owned() });
        }
        let indent = self.indent(at.range)?.len() as u32;
        let rest = self.module.source().get(at.range.end as usize..)?;
        let line = rest.split_inclusive('\n').next().unwrap_or("");
        if !(line.trim().is_empty() || line.trim_start().starts_with('#')) {
            return None;
        }
        Some(Edit {
            range: TextRange::new(at.range.start - indent, at.range.end + line.len() as u32),
            text: String::new(),
        })
    }

    /// Another expression in the place of one.
    pub(super) fn replace(&self, at: TextRange, text: impl Into<String>) -> Edit {
        Edit { range: at, text: text.into() }
    }

    /// The argument of a call by name, or by place from 0.
    pub(super) fn argument(&self, call: Call<'p>, names: &[&str], place: Option<usize>) -> Option<&'p Expr> {
        let arguments = &call.node.arguments;
        let named = arguments
            .keywords
            .iter()
            .find(|keyword| keyword.arg.as_ref().is_some_and(|name| names.contains(&name.as_str())));
        match named {
            Some(keyword) => Some(&keyword.value),
            None => arguments.args.get(place?).filter(|arg| !matches!(arg, Expr::Starred(_))),
        }
    }

    /// A keyword argument more.
    pub(super) fn append(&self, call: Call<'p>, argument: &str) -> Option<Edit> {
        let close = call.range.end.checked_sub(1)?;
        let empty = call.node.arguments.args.is_empty() && call.node.arguments.keywords.is_empty();
        let inside = self.module.source().get(..close as usize)?.trim_end();
        let comma = if empty || inside.ends_with(',') { "" } else { ", " };
        Some(Edit { range: TextRange::empty(close), text: format!("{comma}{argument}") })
    }
}

/// The suites of a statement.
fn inner(stmt: &Stmt) -> Vec<&[Stmt]> {
    match stmt {
        Stmt::FunctionDef(def) => vec![&def.body],
        Stmt::ClassDef(def) => vec![&def.body],
        Stmt::If(stmt) => {
            let clauses = stmt.elif_else_clauses.iter().map(|clause| &*clause.body);
            std::iter::once(&*stmt.body).chain(clauses).collect()
        }
        Stmt::For(stmt) => vec![&*stmt.body, &*stmt.orelse],
        Stmt::While(stmt) => vec![&*stmt.body, &*stmt.orelse],
        Stmt::With(stmt) => vec![&stmt.body],
        Stmt::Try(stmt) => {
            let handlers = stmt.handlers.iter().map(|handler| match handler {
                ruff_python_ast::ExceptHandler::ExceptHandler(handler) => &*handler.body,
            });
            let ends = [&*stmt.orelse, &*stmt.finalbody];
            std::iter::once(&*stmt.body).chain(handlers).chain(ends).collect()
        }
        _ => Vec::new(),
    }
}

struct Calls<'p>(Vec<&'p ExprCall>);

impl<'p> Visitor<'p> for Calls<'p> {
    fn visit_stmt(&mut self, stmt: &'p Stmt) {
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'p Expr) {
        if let Expr::Call(call) = expr {
            self.0.push(call);
        }
        walk_expr(self, expr);
    }
}
