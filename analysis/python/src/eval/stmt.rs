//! Statements.

use std::rc::Rc;

use ruff_python_ast::{
    ElifElseClause, ExceptHandler, Expr, Stmt, StmtFor, StmtFunctionDef, StmtTry, StmtWhile, StmtWith,
};

use super::{Flow, Rest};
use crate::doubt::DoubtKind;
use crate::interp::{Interp, Stop};
use crate::limits::host::TURNS;
use crate::limits::run::DECORATOR;
use crate::reason::chained;
use crate::scope::NameTable;
use crate::syntax::bodies::{gives_up, may_return, only_raises, spelled};
use crate::syntax::names::{bound_in, changed_in, returns};
use crate::syntax::package::{importing_triton, is_transparent};
use crate::syntax::refused;
use crate::value::{FnKind, Function, FunctionNode, Role, Value};

type Ran<'a> = Result<Flow<'a>, Stop>;

impl<'a> Interp<'a> {
    /// Runs statements until one leaves the block.
    pub(super) fn block(&mut self, stmts: &'a [Stmt]) -> Ran<'a> {
        self.nested(|interp| {
            let outer = interp.state.rest.clone();
            for (at, stmt) in stmts.iter().enumerate() {
                if interp.in_kernel() && may_return(stmt) {
                    let rest = stmts.get(at + 1..).unwrap_or_default();
                    interp.state.rest = Some(Rc::new(Rest::Block(rest, outer.clone())));
                }
                let flow = interp.statement(stmt);
                interp.state.rest.clone_from(&outer);
                match flow {
                    Ok(Flow::Next) => {}
                    left => return left,
                }
            }
            Ok(Flow::Next)
        })
    }

    /// Runs a statement; one that cannot be followed is said, and what it defines is not known.
    fn statement(&mut self, stmt: &'a Stmt) -> Ran<'a> {
        self.step()?;
        let outer = (self.at, self.what);
        (self.at, self.what) = (Interp::range(stmt), "");
        if self.in_kernel()
            && let Some(trial) = &mut self.state.trial
        {
            trial.reached.insert((self.file, self.at.start));
        }
        let ran = match self.execute(stmt) {
            Err(Stop::Unknown(range, reason)) if self.recovers(stmt) => {
                if self.in_kernel() {
                    self.not_followed(self.file, range, reason.to_string());
                }
                let stmt_alone = std::slice::from_ref(stmt);
                for name in if self.in_kernel() { changed_in(stmt_alone) } else { bound_in(stmt_alone) } {
                    self.scope.set(name, Value::Unknown(reason.clone()));
                }
                Ok(if stmt.is_return_stmt() { Flow::Return(Value::Unknown(reason)) } else { Flow::Next })
            }
            Err(Stop::Raised(range, message)) => {
                let here = (self.file, self.frame);
                self.state.raised.get_or_insert(here);
                Err(Stop::Raised(range, message))
            }
            ran => ran,
        };
        (self.at, self.what) = outer;
        ran
    }

    /// Whether what comes behind a statement that was not followed can be run. By Python, a block that was
    /// left half-way may have returned.
    fn recovers(&self, stmt: &Stmt) -> bool {
        self.in_kernel() || !may_return(stmt)
    }

    fn execute(&mut self, stmt: &'a Stmt) -> Ran<'a> {
        if self.in_kernel()
            && let Some(what) = refused::statement(stmt)
        {
            return self.raise(format!("a kernel has no {what}"));
        }
        match stmt {
            Stmt::Expr(stmt) => {
                let value = self.expr(&stmt.value)?;
                self.unheard(&stmt.value, &value);
            }
            Stmt::Assign(stmt) => self.assign_statement(stmt)?,
            Stmt::AugAssign(stmt) => self.augmented(stmt)?,
            Stmt::AnnAssign(stmt) => self.annotated(stmt)?,
            Stmt::Return(stmt) => {
                let value = match &stmt.value {
                    Some(value) => self.expr(value)?,
                    None => Value::None,
                };
                return Ok(Flow::Return(value));
            }
            // A kernel is compiled where Triton is, whatever stands in for it elsewhere.
            Stmt::If(branch) => match importing_triton(stmt).filter(|_| self.scope.parent.is_none()) {
                Some(part) => return self.block(part),
                None => return self.if_else(&branch.test, &branch.body, &branch.elif_else_clauses),
            },
            Stmt::For(stmt) => return self.for_loop(stmt),
            Stmt::While(stmt) => return self.while_loop(stmt),
            Stmt::With(stmt) => return self.with(stmt),
            Stmt::FunctionDef(def) => self.function_def(def)?,
            Stmt::ClassDef(def) => self.class_def(def)?,
            Stmt::Import(stmt) => self.import(stmt)?,
            Stmt::ImportFrom(stmt) => self.import_from(stmt)?,
            Stmt::Try(stmt) => return self.try_except(stmt),
            Stmt::Assert(stmt) if !self.in_kernel() => {
                let test = self.expr(&stmt.test)?;
                let holds = self.truth(&test);
                if holds.is_none() && self.follows_ways() {
                    self.take(&test, true);
                    self.refine(&stmt.test, true);
                }
                if holds == Some(false) {
                    let message = match &stmt.msg {
                        Some(message) => self.expr(message).map(|message| self.str(&message)).unwrap_or_default(),
                        None => String::new(),
                    };
                    let colon = if message.is_empty() { "" } else { ": " };
                    return self.raise(format!("the assertion fails{colon}{message}"));
                }
            }
            // An assertion of the device changes nothing.
            Stmt::Assert(stmt) => {
                if self.state.trial.is_some()
                    && let Ok(test) = self.expr(&stmt.test)
                    && self.truth(&test) == Some(false)
                {
                    self.doubt(DoubtKind::Assertion);
                }
            }
            Stmt::Pass(_) => {}
            Stmt::Raise(stmt) => {
                let said = match &stmt.exc {
                    Some(exc) => self.exception(exc),
                    None => "an exception is raised again".to_owned(),
                };
                return self.raise(said);
            }
            Stmt::Break(_) => return Ok(Flow::Break),
            Stmt::Continue(_) => return Ok(Flow::Continue),
            Stmt::Global(_) | Stmt::Nonlocal(_) | Stmt::TypeAlias(_) => {}
            Stmt::Delete(stmt) => {
                for target in &stmt.targets {
                    self.delete(target)?;
                }
            }
            Stmt::Match(_) | Stmt::IpyEscapeCommand(_) => return self.unknown("this kind of statement is not run"),
        }
        Ok(Flow::Next)
    }

    /// What `raise` says.
    fn exception(&mut self, exc: &'a Expr) -> String {
        if let Expr::Call(call) = exc {
            let name = spelled(&call.func);
            let first = call.arguments.args.first();
            let said = first.and_then(|first| self.expr(first).ok()).map(|value| self.str(&value));
            return match said {
                Some(said) => format!("{name}: {said}"),
                None => format!("{name} is raised"),
            };
        }
        format!("{} is raised", spelled(exc))
    }

    fn if_else(&mut self, test: &'a Expr, body: &'a [Stmt], clauses: &'a [ElifElseClause]) -> Ran<'a> {
        let condition = self.expr(test)?;
        if self.in_kernel() {
            if let Value::Tensor(condition) = &condition {
                return self.computed_if(test, &condition.clone(), body, clauses);
            }
            self.at(test, |interp| interp.is_condition(&condition))?;
        }
        match self.truth(&condition) {
            Some(true) => self.block(body),
            Some(false) => self.otherwise(clauses),
            None => match self.way(test, &condition, body, clauses)? {
                Some(holds) => {
                    self.refine(test, holds);
                    if holds { self.block(body) } else { self.otherwise(clauses) }
                }
                None => self.unknown_if(test, &condition, body, clauses),
            },
        }
    }

    /// Which way host code takes at a condition that is not known; `None` where ways are not told apart. One that
    /// ends in an exception is not taken.
    fn way(
        &mut self,
        test: &'a Expr,
        condition: &Value<'a>,
        body: &'a [Stmt],
        clauses: &'a [ElifElseClause],
    ) -> Result<Option<bool>, Stop> {
        if !self.follows_ways() {
            return Ok(None);
        }
        let only = match clauses {
            _ if gives_up(body) => Some(false),
            [ElifElseClause { test: None, body, .. }] if gives_up(body) => Some(true),
            _ => None,
        };
        match only {
            Some(holds) => {
                self.take(condition, holds);
                Ok(Some(holds))
            }
            None => self.decide(test, !(clauses.is_empty() && returns(body)), Some(condition)),
        }
    }

    /// Runs what stands behind `elif` and `else`.
    pub(super) fn otherwise(&mut self, clauses: &'a [ElifElseClause]) -> Ran<'a> {
        let Some((first, rest)) = clauses.split_first() else { return Ok(Flow::Next) };
        match &first.test {
            Some(test) => {
                let outer = std::mem::replace(&mut self.at, Interp::range(first));
                let ran = self.if_else(test, &first.body, rest);
                self.at = outer;
                ran
            }
            None => self.block(&first.body),
        }
    }

    /// A condition that is not known.
    fn unknown_if(
        &mut self,
        test: &'a Expr,
        condition: &Value<'a>,
        body: &'a [Stmt],
        clauses: &'a [ElifElseClause],
    ) -> Ran<'a> {
        let reason: Rc<str> = match condition {
            Value::Unknown(reason) => chained("the condition", reason).into(),
            _ => "the condition is not known".into(),
        };
        let range = Interp::range(test);
        if self.in_kernel() {
            let outer = std::mem::replace(&mut self.at, range);
            self.unmodelled(reason.to_string());
            self.at = outer;
            for part in std::iter::once(body).chain(clauses.iter().map(|clause| &clause.body[..])) {
                for name in changed_in(part) {
                    self.scope.set(name, Value::Unknown(reason.clone()));
                }
            }
            return Ok(Flow::Next);
        }
        if returns(body) || clauses.iter().any(|clause| returns(&clause.body)) {
            return Err(Stop::Unknown(range, reason));
        }
        // Each way for what it defines; what several define otherwise is not known.
        self.finish_before_this()?;
        let before = self.scope.snapshot();
        let mut seen = before.clone();
        for part in std::iter::once(body).chain(clauses.iter().map(|clause| &clause.body[..])) {
            self.scope.replace(before.clone());
            match self.block(part) {
                Ok(_) | Err(Stop::Raised(..) | Stop::Unknown(..)) => self.state.raised = None,
                Err(stop) => return Err(stop),
            }
            for name in bound_in(part) {
                let Some(now) = self.scope.own(name) else { continue };
                let value = match seen.get(name) {
                    // The way is not taken that imports what this release has not.
                    Some(earlier) if self.is_missing(&now) && !self.is_missing(earlier) => earlier.clone(),
                    Some(earlier) if self.is_missing(earlier) => now,
                    // Nor that whose functions only say that they cannot be called.
                    Some(earlier) if is_stub(&now) && !is_stub(earlier) => earlier.clone(),
                    Some(earlier) if is_stub(earlier) => now,
                    Some(earlier) if !super::host::equal(earlier, &now) => Value::Unknown(reason.clone()),
                    _ => now,
                };
                seen.set(name, value);
            }
        }
        self.scope.replace(seen);
        Ok(Flow::Next)
    }

    /// Whether a value is a name of one of Triton's modules that the module does not have.
    fn is_missing(&self, value: &Value<'a>) -> bool {
        let Value::Lib(path) = value else { return false };
        let path = self.library.canonical(path);
        let Some((module, _)) = path.rsplit_once('.') else { return false };
        (module == "tl" || module.starts_with("tl."))
            && self.library.lookup(module, self.version).is_some()
            && self.library.lookup(&path, self.version).is_none()
    }

    fn for_loop(&mut self, stmt: &'a StmtFor) -> Ran<'a> {
        if self.in_kernel() {
            return self.kernel_for(stmt);
        }
        let over = self.expr(&stmt.iter)?;
        let (items, open) = match self.items(&over) {
            // For what it launches, in the first round and in a later one.
            Err(Stop::Unknown(..)) if self.follows_ways() => (vec![crate::host::element(&over); 2], true),
            items => (items?, false),
        };
        let before = open.then(|| self.scope.snapshot());
        for item in items {
            self.step()?;
            self.bind(&stmt.target, item)?;
            match self.block(&stmt.body)? {
                Flow::Break => return Ok(Flow::Next),
                Flow::Return(value) => return Ok(Flow::Return(value)),
                Flow::Next | Flow::Continue => {}
            }
            if let Some(before) = &before
                && !self.loosen(before, &stmt.body)
            {
                break;
            }
        }
        self.block(&stmt.orelse)
    }

    /// Makes numbers that rounds of a loop change such as may be any: how many rounds there are is not known. Whether there
    /// were some.
    fn loosen(&mut self, before: &NameTable<'a>, body: &'a [Stmt]) -> bool {
        let mut any = false;
        for name in changed_in(body) {
            let (Some(first), Some(now)) = (before.get(name), self.scope.own(name)) else { continue };
            let is_number = matches!(now, Value::Int(_)) || crate::host::is_number(&now);
            if matches!(first, Value::Int(_)) && is_number && !super::host::equal(first, &now) {
                self.scope.set(name, crate::host::number(crate::host::OpenNumber::Int));
                any = true;
            }
        }
        any
    }

    fn while_loop(&mut self, stmt: &'a StmtWhile) -> Ran<'a> {
        if self.in_kernel() {
            return self.kernel_while(stmt);
        }
        let mut turns = 0u32;
        let mut before = None;
        loop {
            self.step()?;
            let test = self.expr(&stmt.test)?;
            turns += 1;
            if turns > TURNS {
                // What it has filled so far must not count as what it would have filled.
                return Err(Stop::Limit(format!("a loop of host code that runs more than {TURNS} times").into()));
            }
            match self.truth(&test) {
                Some(true) => {}
                Some(false) => return self.block(&stmt.orelse),
                // For what it launches, in the first round and in a later one.
                None if self.follows_ways() && turns == 1 => before = Some(self.scope.snapshot()),
                None if self.follows_ways()
                    && turns == 2
                    && before.as_ref().is_some_and(|before| self.loosen(before, &stmt.body)) => {}
                None if self.follows_ways() => return Ok(Flow::Next),
                None => return self.unknown("the condition of the loop is not known"),
            }
            match self.block(&stmt.body)? {
                Flow::Break => return Ok(Flow::Next),
                Flow::Return(value) => return Ok(Flow::Return(value)),
                Flow::Next | Flow::Continue => {}
            }
        }
    }

    /// A context manager's own doing is that of the call that makes it, and the ops that it leaves to the end.
    fn with(&mut self, stmt: &'a StmtWith) -> Ran<'a> {
        let around = self.state.leaving.len();
        for item in &stmt.items {
            let value = self.expr(&item.context_expr)?;
            if let Value::Object(object) = &value
                && let Some(run) = object.class.block
            {
                return run(self, object, &stmt.body).map(|()| Flow::Next);
            }
            if let Some(target) = &item.optional_vars {
                self.bind(target, value)?;
            }
        }
        let ran = self.enclosed(&stmt.body);
        let mut leaving = self.state.leaving.split_off(around.min(self.state.leaving.len()));
        if matches!(ran, Ok(Flow::Next)) {
            while let Some(op) = leaving.pop() {
                self.emit(op)?;
            }
        }
        ran
    }

    fn enclosed(&mut self, stmts: &'a [Stmt]) -> Ran<'a> {
        let closed = u32::from(self.in_kernel());
        self.state.closed += closed;
        let ran = self.block(stmts);
        self.state.closed -= closed;
        ran
    }

    /// Runs statements out of which the kernel cannot return.
    pub fn run_enclosed(&mut self, stmts: &'a [Stmt]) -> Result<(), Stop> {
        self.enclosed(stmts).map(|_| ())
    }

    fn try_except(&mut self, stmt: &'a StmtTry) -> Ran<'a> {
        self.state.tries += 1;
        let tried = self.block(&stmt.body);
        self.state.tries -= 1;
        let ran = match tried {
            Ok(Flow::Next) => self.block(&stmt.orelse),
            Err(Stop::Raised(..)) if !stmt.handlers.is_empty() => {
                self.state.raised = None;
                // Which exception it was is not told apart: the first handler.
                match stmt.handlers.first() {
                    Some(ExceptHandler::ExceptHandler(handler)) => {
                        if let Some(name) = &handler.name {
                            self.scope.set(name.as_str(), Value::Unknown("an exception".into()));
                        }
                        self.block(&handler.body)
                    }
                    None => Ok(Flow::Next),
                }
            }
            ran => ran,
        };
        if let left @ (Ok(Flow::Return(_)) | Err(_)) = self.block(&stmt.finalbody) {
            return left;
        }
        ran
    }

    fn function_def(&mut self, def: &'a StmtFunctionDef) -> Result<(), Stop> {
        if self.in_kernel() {
            return self.raise("a kernel defines no functions");
        }
        let outer = self.scope.clone();
        let value = self.function(def, outer)?;
        self.scope.set(def.name.as_str(), value);
        Ok(())
    }

    /// The value of a `def`; its free names are looked up in `outer`.
    pub(super) fn function(
        &mut self,
        def: &'a StmtFunctionDef,
        outer: Rc<crate::scope::Scope<'a>>,
    ) -> Result<Value<'a>, Stop> {
        let at_top = outer.parent.is_none();
        let (mut kind, mut role, mut others, mut strange) = (FnKind::Host, Role::Plain, Vec::new(), None);
        for decorator in &def.decorator_list {
            let expr = &decorator.expression;
            let path = self.decorator(expr);
            match path.as_deref().map(crate::syntax::texts::last_part) {
                Some("jit") => kind = FnKind::Jit,
                Some("constexpr_function") => kind = FnKind::Constexpr,
                Some("staticmethod") => role = Role::Static,
                Some("classmethod") => role = Role::ClassMethod,
                Some("property" | "cached_property") => role = Role::Property,
                Some("autotune" | "heuristics") if self.follows_host() => others.push(expr),
                Some(_) if path.as_deref().is_some_and(is_transparent) => {}
                Some(name) => strange = Some(name.to_owned()),
                None => others.push(expr),
            }
        }
        let mut defaults = Vec::new();
        for parameter in def.parameters.iter_non_variadic_params() {
            defaults.push(match &parameter.default {
                Some(default) => Some(self.expr(default).or_else(|stop| self.or_unknown(stop))?),
                None => None,
            });
        }
        let function = Rc::new(Function { def: FunctionNode::Def(def), kind, scope: outer, defaults, role });
        if kind == FnKind::Host && self.follows_host() && (self.depth <= 2 || at_top) {
            self.state.hosts.push(function.clone());
        }
        if self.state.wanted == Some((function.scope.file, Interp::range(def).start)) {
            self.state.found.push(function.clone());
        }
        // What the program's own decorators make of a kernel launches it.
        let is_wanted = self.state.found.last().is_some_and(|found| Rc::ptr_eq(found, &function));
        if kind == FnKind::Jit && (is_wanted || self.follows_host()) {
            let launched = Value::Function(function);
            return if self.follows_host() { self.tuned(launched, def) } else { Ok(launched) };
        }
        // What the kernel would call is whatever the decorator made of it.
        if let Some(name) = strange.filter(|_| kind != FnKind::Host) {
            return Ok(Value::Unknown(
                format!("what the decorator `{name}` makes of `{}` is not known", def.name).into(),
            ));
        }
        let mut value = Value::Function(function);
        for expr in others.into_iter().rev() {
            let decorated = self.expr(expr).and_then(|decorator| {
                let args = crate::library::Args { pos: vec![value.clone()], named: Vec::new() };
                self.call(&decorator, args, Interp::range(expr))
            });
            let decorated = decorated.or_else(|stop| self.or_unknown(stop))?;
            // A kernel in a class of the program's own is that kernel.
            if let (Value::Instance(made), Value::Function(of)) = (&decorated, &value)
                && made.is_kernel()
            {
                let Function { def, role, .. } = **of;
                let (kind, scope, defaults) = (FnKind::Jit, of.scope.clone(), of.defaults.clone());
                value = Value::Function(Rc::new(Function { def, kind, scope, defaults, role }));
                continue;
            }
            // A decorator that is not known changes nothing of what a function of the host launches.
            if kind != FnKind::Host
                || !self.follows_host()
                || !(crate::host::is_unknown(&decorated) || matches!(decorated, Value::Lib(_)))
            {
                value = decorated;
            }
        }
        Ok(value)
    }

    /// A kernel with what its decorators say of its launches: configurations and heuristics, also where a decorator of
    /// the program's own has them.
    fn tuned(&mut self, kernel: Value<'a>, def: &'a StmtFunctionDef) -> Result<Value<'a>, Stop> {
        let mut value = kernel;
        let most = self.most_steps;
        for expr in def.decorator_list.iter().rev().map(|decorator| &decorator.expression) {
            self.most_steps = most.min(self.steps.saturating_add(DECORATOR));
            let tuner = self.tuner(expr);
            self.most_steps = most;
            value = match tuner {
                Ok(tuner @ Value::Host(_)) => {
                    let args = crate::library::Args { pos: vec![value.clone()], named: Vec::new() };
                    self.call(&tuner, args, Interp::range(expr)).unwrap_or(value)
                }
                Err(Stop::Limit(_)) if self.steps > most => return Err(Stop::Limit(STEPS_SPENT.into())),
                Err(Stop::Cancelled) => return Err(Stop::Cancelled),
                _ => value,
            };
        }
        self.state.raised = None;
        Ok(value)
    }

    /// What a decorator of a kernel tunes it by.
    fn tuner(&mut self, expr: &'a Expr) -> Result<Value<'a>, Stop> {
        if self
            .decorator(expr)
            .is_some_and(|path| matches!(crate::syntax::texts::last_part(&path), "autotune" | "heuristics"))
        {
            return self.expr(expr);
        }
        let Expr::Call(call) = expr else { return Ok(Value::None) };
        let mut named = Vec::new();
        for name in ["configs", "prune_configs_by"] {
            match call.arguments.find_keyword(name) {
                Some(word) => named.push((name.into(), self.expr(&word.value)?)),
                None if named.is_empty() => return Ok(Value::None),
                None => {}
            }
        }
        Ok(crate::host::tuner(named))
    }

    /// What a decorator is, by its library name; `None` for one of the program's own.
    pub(super) fn decorator(&mut self, expr: &'a Expr) -> Option<String> {
        let (callee, called) = match expr {
            Expr::Call(call) => (&*call.func, true),
            _ => (expr, false),
        };
        let callee = match self.by_python(|interp| interp.expr(callee)) {
            Ok(Value::Lib(path)) => path.to_string(),
            Ok(Value::Builtin(row)) => row.path.to_owned(),
            Ok(Value::LibClass(class)) => class.path.to_owned(),
            Ok(Value::Type(name)) => name.to_string(),
            Ok(Value::Unknown(_)) | Err(_) => spelled(callee),
            // `functools.partial(gluon.jit, …)` and the like.
            Ok(Value::Partial(partial)) if !called => match &partial.function {
                Value::Lib(path) => path.to_string(),
                Value::Builtin(row) => row.path.to_owned(),
                _ => return None,
            },
            Ok(_) => return None,
        };
        Some(callee)
    }

    /// An expression whose value is not needed at once may be unknown.
    pub(super) fn or_unknown(&mut self, stop: Stop) -> Result<Value<'a>, Stop> {
        match stop {
            Stop::Unknown(_, reason) => Ok(Value::Unknown(reason)),
            stop => Err(stop),
        }
    }
}

const STEPS_SPENT: &str = "what the decorators of a kernel say takes too long";

/// Whether a value is a function that does nothing but end in an exception.
fn is_stub(value: &Value<'_>) -> bool {
    let Value::Function(function) = value else { return false };
    matches!(function.def, FunctionNode::Def(def) if only_raises(&def.body))
}
