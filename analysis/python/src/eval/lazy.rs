//! Imported files, whose statements are run as the names are asked for that they bind.
//!
//! A kernel takes a helper or a constant of a package whose files import each other, and most of what they define has
//! nothing to do with it. Of an imported file the statements are run that bind the name, or change what it stands for,
//! in their order, and by the same rule what these ask for in turn.
//!
//! Deviations: a statement sees what stands before it, and of what stands behind it only what nothing before it
//! binds. What a statement does to the rest of the program beside binding names is done when one of its names is asked
//! for, or never.

use std::rc::Rc;

use ruff_python_ast::Stmt;

use super::{Interp, Stop};
use crate::origin::FileId;
use crate::scope::Scope;
use crate::syntax::Pending;
use crate::value::Value;

impl<'a> Interp<'a> {
    /// What a name stands for in a scope or further out.
    pub(crate) fn find_name(&mut self, scope: &Rc<Scope<'a>>, name: &str) -> Result<Option<Value<'a>>, Stop> {
        let mut scope = scope;
        while let Some(parent) = &scope.parent {
            if let found @ Some(_) = scope.own(name) {
                return Ok(found);
            }
            scope = parent;
        }
        self.demand(scope, name)?;
        Ok(scope.own(name))
    }

    /// Lets the statements of a file be run as their names are asked for.
    pub fn open_file(&mut self, id: FileId) {
        if let Some(file) = self.files.get_mut(id.0 as usize)
            && !std::mem::replace(&mut file.run, true)
        {
            file.pending = Some(Box::new(Pending::of(file.module)));
        }
    }

    /// Runs the statement of a file around a place, unless it was run.
    pub fn run_around(&mut self, id: FileId, place: u32) -> Result<(), Stop> {
        let Some(pending) = self.pending(id) else { return Ok(()) };
        let around = |stmt: &Stmt| (Interp::range(stmt).start..=Interp::range(stmt).end).contains(&place);
        let Some(at) = pending.body.iter().position(around) else { return Ok(()) };
        if std::mem::replace(&mut pending.done[at], true) {
            return Ok(());
        }
        let Some(scope) = self.files.get(id.0 as usize).map(|file| file.scope.clone()) else { return Ok(()) };
        self.run_pending(&scope, at as u32)
    }

    /// Whether statements of the file whose names these are were not run.
    fn is_pending(&self, scope: &Rc<Scope<'a>>) -> bool {
        let file = self.files.get(scope.file.0 as usize);
        file.is_some_and(|file| file.pending.is_some() && Rc::ptr_eq(&file.scope, scope))
    }

    fn pending(&mut self, file: FileId) -> Option<&mut Pending<'a>> {
        self.files.get_mut(file.0 as usize)?.pending.as_deref_mut()
    }

    /// Runs what binds a name of an imported file.
    pub(super) fn demand(&mut self, scope: &Rc<Scope<'a>>, name: &str) -> Result<(), Stop> {
        if !self.is_pending(scope) {
            return Ok(());
        }
        let file = scope.file;
        while let Some(at) = self.pending(file).and_then(|pending| pending.next(name, true)) {
            self.run_pending(scope, at)?;
        }
        if scope.own(name).is_none()
            && let Some(value) = self.star_imported(scope, name)?
        {
            scope.set(name, value);
        }
        while scope.own(name).is_none()
            && let Some(at) = self.pending(file).and_then(|pending| pending.next(name, false))
        {
            self.run_pending(scope, at)?;
        }
        Ok(())
    }

    /// Runs all that was not run of a file.
    pub(super) fn finish_file(&mut self, scope: &Rc<Scope<'a>>) -> Result<(), Stop> {
        if self.is_pending(scope) {
            self.finish_before(scope, u32::MAX)?;
        }
        Ok(())
    }

    /// Runs what stands before the statement of a file that is being run: a block is about to replace the names of
    /// the file as a whole.
    pub(super) fn finish_before_this(&mut self) -> Result<(), Stop> {
        let scope = self.scope.clone();
        if !self.is_pending(&scope) {
            return Ok(());
        }
        let limit = self.pending(scope.file).map_or(0, |pending| pending.limit);
        self.finish_before(&scope, limit)
    }

    fn finish_before(&mut self, scope: &Rc<Scope<'a>>, limit: u32) -> Result<(), Stop> {
        let mut at = 0;
        loop {
            let Some(pending) = self.pending(scope.file) else { return Ok(()) };
            pending.finished = true;
            if at >= limit || at as usize >= pending.body.len() {
                return Ok(());
            }
            if !std::mem::replace(&mut pending.done[at as usize], true) {
                self.run_pending(scope, at)?;
            }
            at += 1;
        }
    }

    fn run_pending(&mut self, scope: &Rc<Scope<'a>>, at: u32) -> Result<(), Stop> {
        if self.depth >= super::CALLS {
            return self.unknown("imports nest too deep");
        }
        let Some(pending) = self.pending(scope.file) else { return Ok(()) };
        let outer = std::mem::replace(&mut pending.limit, at);
        let Some(stmt) = pending.body.get(at as usize) else { return Ok(()) };
        // A file is run once, so that it cannot go another way the next time.
        let ways = self.session.as_mut().and_then(|session| session.ways.take());
        let (inner, before) = (std::mem::replace(&mut self.state.loading, true), self.steps);
        let ran = self.run_statements(scope, std::slice::from_ref(stmt));
        self.state.loading = inner;
        if !inner {
            self.state.loading_steps += self.steps - before;
        }
        if let Some(session) = &mut self.session {
            session.ways = ways;
        }
        if let Some(pending) = self.pending(scope.file) {
            pending.limit = outer;
        }
        ran
    }

    /// A name that one of the modules has that a file takes all names of, the last one first.
    fn star_imported(&mut self, scope: &Rc<Scope<'a>>, name: &str) -> Result<Option<Value<'a>>, Stop> {
        let Some(pending) = self.pending(scope.file) else { return Ok(None) };
        let (body, limit) = (pending.body, pending.limit);
        let stars: Vec<u32> = pending.stars.iter().rev().copied().filter(|at| *at < limit).collect();
        for at in stars {
            let Some(pending) = self.pending(scope.file) else { break };
            // One that is being asked is not asked again; those of libraries are run once.
            if std::mem::replace(&mut pending.done[at as usize], true) {
                continue;
            }
            let Some(Stmt::ImportFrom(import)) = body.get(at as usize) else { continue };
            let outer = std::mem::replace(&mut self.file, scope.file);
            let found = self.star(scope, import, at, name);
            self.file = outer;
            if let Some(value) = found? {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    fn star(
        &mut self,
        scope: &Rc<Scope<'a>>,
        import: &'a ruff_python_ast::StmtImportFrom,
        at: u32,
        name: &str,
    ) -> Result<Option<Value<'a>>, Stop> {
        let module = import.module.as_ref().map_or("", |module| module.as_str());
        let from = format!("{}{module}", ".".repeat(import.level as usize));
        let Some(Value::Module(of)) = self.imported(&from)? else {
            self.run_pending(scope, at)?;
            return Ok(scope.own(name));
        };
        if let Some(pending) = self.pending(scope.file) {
            pending.done[at as usize] = false;
        }
        if Rc::ptr_eq(&of, scope) || (name.starts_with('_') && !self.lists(&of, name)?) {
            return Ok(None);
        }
        if let Some(pending) = self.pending(scope.file) {
            pending.done[at as usize] = true;
        }
        let found = self.module_attribute(&of, name);
        if let Some(pending) = self.pending(scope.file) {
            pending.done[at as usize] = false;
        }
        found
    }

    /// Whether a file names something in its `__all__`.
    fn lists(&mut self, scope: &Rc<Scope<'a>>, name: &str) -> Result<bool, Stop> {
        self.demand(scope, "__all__")?;
        let is = |item: &Value<'a>| matches!(item, Value::Str(item) if **item == *name);
        Ok(match scope.own("__all__") {
            Some(Value::List(names)) => names.borrow().iter().any(is),
            Some(Value::Tuple(names)) => names.iter().any(is),
            _ => false,
        })
    }

    /// What a name stands for in the present scope.
    pub(crate) fn found(&mut self, name: &str) -> Result<Option<Value<'a>>, Stop> {
        let scope = self.scope.clone();
        self.find_name(&scope, name)
    }

    /// `module.name` where the file binds the name itself.
    pub(super) fn bound_by(&mut self, scope: &Rc<Scope<'a>>, name: &str) -> Result<Option<Value<'a>>, Stop> {
        self.demand(scope, name)?;
        Ok(scope.own(name))
    }
}
