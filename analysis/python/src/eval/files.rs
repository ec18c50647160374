//! Files and imports.

use std::rc::Rc;
use std::sync::Arc;

use ruff_python_ast::{Expr, ExprAttribute, Stmt, StmtImport, StmtImportFrom};

use super::{Flow, Interp, Stop};
use crate::interp::{Eval, ExecMode, File};
use crate::library::Args;
use crate::limits::files::{HOST as HOST_FILES, KERNEL as FILES};
use crate::origin::FileId;
use crate::syntax::Module;
use crate::syntax::bodies::spelled;
use crate::syntax::package;
use crate::value::Value;

impl<'a> Interp<'a> {
    /// Adds a file; it is not run yet.
    pub fn add_file(&mut self, module: Arc<Module>) -> FileId {
        if let Some(known) = self.state.by_path.get(module.path()) {
            return *known;
        }
        let id = FileId(self.files.len() as u32);
        self.state.by_path.insert(module.path().to_owned(), id);
        let module: &'a Module = self.trees.modules.alloc(module);
        let scope = self.scopes.open(id, None);
        self.files.push(File { module, scope, run: false, pending: None });
        id
    }

    /// Runs the statements of a file, once.
    pub fn run_file(&mut self, id: FileId) -> Result<(), Stop> {
        let Some(file) = self.files.get_mut(id.0 as usize) else { return Ok(()) };
        let (module, scope) = (file.module, file.scope.clone());
        if std::mem::replace(&mut file.run, true) {
            return self.finish_file(&scope);
        }
        // A file is run once, so that it cannot go another way the next time.
        let ways = self.session.as_mut().and_then(|session| session.ways.take());
        let ran = self.run_statements(&scope, module.body());
        if let Some(session) = &mut self.session {
            session.ways = ways;
        }
        ran
    }

    /// Runs statements of a file one by one in its scope, whatever becomes of those before.
    pub fn run_body(&mut self, id: FileId, body: &'a [Stmt]) -> Result<(), Stop> {
        let Some(scope) = self.files.get(id.0 as usize).map(|file| file.scope.clone()) else { return Ok(()) };
        self.run_statements(&scope, body)
    }

    pub(super) fn run_statements(&mut self, scope: &Rc<crate::scope::Scope<'a>>, body: &'a [Stmt]) -> Result<(), Stop> {
        let tries = std::mem::take(&mut self.state.tries);
        let ran = self.inside(scope.clone(), ExecMode::Host, None, |interp| {
            for stmt in body {
                match interp.block(std::slice::from_ref(stmt)) {
                    Ok(Flow::Next) => {}
                    // The rest of the file may well do without it.
                    ran @ (Ok(_) | Err(Stop::Raised(..) | Stop::Unknown(..) | Stop::Deep(..))) => {
                        interp.state.raised = None;
                        let why = match &ran {
                            Err(Stop::Raised(_, why) | Stop::Unknown(_, why) | Stop::Deep(_, why)) => {
                                format!(": {why}")
                            }
                            _ => String::new(),
                        };
                        for name in crate::syntax::names::bound_in(std::slice::from_ref(stmt)) {
                            if interp.scope.own(name).is_none() {
                                interp.scope.set(
                                    name,
                                    Value::Unknown(format!("the statement that defines it fails{why}").into()),
                                );
                            }
                        }
                    }
                    Err(stop) => return Err(stop),
                }
            }
            Ok(())
        });
        self.state.tries = tries;
        ran
    }

    pub(super) fn module(&mut self, module: Arc<Module>) -> Result<Value<'a>, Stop> {
        let most = if self.session.is_some() { HOST_FILES } else { FILES };
        if self.files.len() >= most && !self.state.by_path.contains_key(module.path()) {
            return self.unknown(format!("more than {most} files are not followed"));
        }
        let id = self.add_file(module);
        if self.depth >= super::CALLS {
            return self.unknown("imports nest too deep");
        }
        self.open_file(id);
        match self.files.get(id.0 as usize) {
            Some(file) => Ok(Value::Module(file.scope.clone())),
            None => self.unknown("the file is not there"),
        }
    }

    fn path(&self) -> String {
        self.files.get(self.file.0 as usize).map_or_else(String::new, |file| file.module.path().to_owned())
    }

    /// The name that Triton itself has for a module or a member of a copy of it; `None` where the name is no
    /// copy's.
    pub(super) fn triton(&mut self, name: &str) -> Option<String> {
        let Some(package) = package::package(name) else {
            // `acme.language`, once `acme.experimental.gluon` was asked for.
            let mut dots = name.match_indices('.').map(|(at, _)| at).chain([name.len()]);
            let at = dots.find(|at| self.state.copies.get(name.get(..*at).unwrap_or("")) == Some(&true))?;
            return Some(format!("triton{}", name.get(at..)?));
        };
        if package.root == "triton" {
            return Some(name.to_owned());
        }
        if let Some(known) = self.state.copies.get(package.root) {
            return known.then(|| package.canonical());
        }
        let from = self.path();
        let copy = package.is_copy(self.sources, &from, name);
        // What a relative name means depends on the file; what only a name gives away may be shown otherwise.
        if !package.root.starts_with('.') && (copy != package.module.is_empty()) {
            self.state.copies.insert(package.root.to_owned(), copy);
            self.state.of_libraries.clear();
        }
        copy.then(|| package.canonical())
    }

    /// `value.name` where nothing tells what the value is but how it is asked for: `….experimental.gluon` of
    /// anything, and what Triton has of a name that is customary for one of its modules.
    pub(super) fn by_custom(&mut self, value: &Value<'a>, attribute: &ExprAttribute) -> Option<Value<'a>> {
        let name = attribute.attr.as_str();
        let module = match &*attribute.value {
            Expr::Name(base) => package::customary(base.id.as_str()),
            _ => None,
        };
        if module.is_none() && name != "gluon" {
            return None;
        }
        match value {
            Value::Unknown(_) => {}
            Value::Lib(path) if !self.library.has(path, self.version) => {}
            _ => return None,
        }
        if let Some(module) = module {
            return self.library.lookup(&format!("{module}.{name}"), self.version);
        }
        let name = spelled(&attribute.value);
        name.ends_with(".experimental").then(|| self.library("triton.experimental.gluon"))
    }

    /// A module of the library that is written in Python.
    pub(super) fn python_module(&mut self, path: &str) -> Option<Value<'a>> {
        let module = self.library.python_module(path, self.version)?;
        let id = self.add_file(module.clone());
        self.open_file(id);
        Some(Value::Module(self.files.get(id.0 as usize)?.scope.clone()))
    }

    /// The file that a dotted name means here; `None` where the workspace has none.
    pub fn imported(&mut self, name: &str) -> Result<Option<Value<'a>>, Stop> {
        // Triton itself is known, also where its sources are in the workspace.
        if let Some(name) = self.triton(name) {
            return Ok(self.python_module(&name));
        }
        let from = self.path();
        match self.sources.import(&from, name) {
            Some(module) => self.module(module).map(Some),
            None => Ok(self.python_module(name)),
        }
    }

    /// `importlib.import_module(name)`.
    pub fn import_module(&mut self, name: &str) -> Eval<'a> {
        match self.imported(name)? {
            Some(module) => Ok(module),
            None => Ok(self.library(name)),
        }
    }

    /// The file at a path that the program put together.
    pub fn file_at(&mut self, path: &str) -> Eval<'a> {
        let from = self.path();
        match self.sources.file(&from, path) {
            Some(module) => self.module(module),
            None => self.unknown(format!("there is no file {path}")),
        }
    }

    pub(super) fn import(&mut self, stmt: &'a StmtImport) -> Result<(), Stop> {
        for alias in &stmt.names {
            self.step()?;
            let name = alias.name.as_str();
            let module = self.imported(name)?;
            match (&alias.asname, module) {
                (Some(own), Some(module)) => self.scope.set(own.as_str(), module),
                (Some(own), None) => {
                    let module = self.library(name);
                    self.scope.set(own.as_str(), module);
                }
                (None, module) => {
                    let first = name.split('.').next().unwrap_or(name);
                    if let Some(module) = module {
                        self.state.imported.insert(name.to_owned(), module.clone());
                        self.state.of_libraries.clear();
                        if first == name {
                            self.scope.set(first, module);
                            continue;
                        }
                    }
                    // `import a.b` after `import a` keeps what `a` is.
                    if !matches!(self.scope.own(first), Some(Value::Module(_))) {
                        self.scope.set(first, Value::Lib(first.into()));
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn import_from(&mut self, stmt: &'a StmtImportFrom) -> Result<(), Stop> {
        let base = stmt.module.as_ref().map_or("", |module| module.as_str());
        let dots = ".".repeat(stmt.level as usize);
        let mut name = format!("{dots}{base}");
        if name == "__future__" {
            return Ok(());
        }
        if let Some(triton) = self.triton(&name) {
            name = triton;
        }
        let module = self.imported(&name)?;
        for alias in &stmt.names {
            // A name is looked for in several places: an import in a loop costs what its names cost.
            self.step()?;
            let own = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
            if alias.name.as_str() == "*" {
                self.take_all(module.as_ref(), &name)?;
                continue;
            }
            let value = self.taken(module.as_ref(), &name, alias.name.as_str())?;
            self.scope.set(own, value);
        }
        Ok(())
    }

    fn take_all(&mut self, module: Option<&Value<'a>>, name: &str) -> Result<(), Stop> {
        let file = self.scope.file;
        match module {
            Some(Value::Module(scope)) if !Rc::ptr_eq(scope, &self.scope) => {
                self.finish_file(scope)?;
                let listed: Option<Vec<Value<'a>>> = match scope.own("__all__") {
                    Some(Value::List(names)) => Some(names.borrow().clone()),
                    Some(Value::Tuple(names)) => Some(names.to_vec()),
                    _ => None,
                };
                let is = |item: &Value<'a>, name: &str| matches!(item, Value::Str(item) if **item == *name);
                for (name, value) in scope.snapshot().iter() {
                    let taken = match &listed {
                        Some(listed) => listed.iter().any(|item| is(item, name)),
                        None => !name.starts_with('_'),
                    };
                    if taken {
                        self.scope.set(name, value.clone());
                    }
                }
                // What that file took from libraries in the same way comes along.
                let of = scope.file;
                let further: Vec<Rc<str>> =
                    self.state.stars.iter().filter(|(file, _)| *file == of).map(|(_, path)| path.clone()).collect();
                self.state.stars.extend(further.into_iter().map(|path| (file, path)));
            }
            _ => self.state.stars.push((file, name.into())),
        }
        Ok(())
    }

    /// A name of a file that it does not define itself: what it took from libraries with `*`, then what its own
    /// `__getattr__` gives.
    pub(super) fn module_attribute(
        &mut self,
        scope: &Rc<crate::scope::Scope<'a>>,
        name: &str,
    ) -> Result<Option<Value<'a>>, Stop> {
        if let Some(found) = self.bound_by(scope, name)? {
            return Ok(Some(found));
        }
        if let Some(found @ (Value::Builtin(_) | Value::LibClass(_) | Value::Lib(_) | Value::DType(_))) =
            self.starred(scope.file, name)
        {
            return Ok(Some(found));
        }
        match self.bound_by(scope, "__getattr__")? {
            Some(getter @ Value::Function(_)) if !name.starts_with("__") => {
                let args = Args { pos: vec![Value::Str(name.into())], named: Vec::new() };
                let at = self.at;
                match self.by_python(|interp| interp.call(&getter, args, at)) {
                    Ok(found) => Ok(Some(found)),
                    Err(Stop::Raised(..)) => {
                        self.state.raised = None;
                        Ok(None)
                    }
                    Err(stop) => Err(stop),
                }
            }
            _ => Ok(None),
        }
    }

    /// A name that a file took from a library with `*`.
    pub(super) fn starred(&self, file: FileId, name: &str) -> Option<Value<'a>> {
        let stars = || self.state.stars.iter().filter(|(of, _)| *of == file).map(|(_, path)| path);
        if let Some(value) = stars().find_map(|path| self.library.lookup(&format!("{path}.{name}"), self.version)) {
            return Some(value);
        }
        // One of the modules that are not known may have it.
        let strange = stars().find(|path| self.library.lookup(path, self.version).is_none());
        strange.map(|path| Value::Unknown(format!("`{name}` may come from `{path}`").into()))
    }

    /// What `from module import name` gives.
    fn taken(&mut self, module: Option<&Value<'a>>, path: &str, name: &str) -> Eval<'a> {
        if let Some(Value::Module(scope)) = module
            && let Some(value) = self.module_attribute(scope, name)?
        {
            return Ok(value);
        }
        // A file of the folder.
        let dot = if path.ends_with('.') || path.is_empty() { "" } else { "." };
        let full = format!("{path}{dot}{name}");
        if let Some(module) = self.imported(&full)? {
            return Ok(module);
        }
        if module.is_some() {
            return self.raise(format!("`{path}` has no `{name}`"));
        }
        let value = self.library(&full);
        // Of other libraries not all names are listed.
        let missing = package::package(path).is_some_and(|package| package.root == "triton")
            && matches!(&value, Value::Lib(known) if **known == *full)
            && self.library.lookup(path, self.version).is_some();
        if missing && self.state.tries > 0 && self.library.lookup(&full, self.version).is_none() {
            return self.raise(format!("cannot import `{name}` from `{path}`"));
        }
        Ok(value)
    }

    /// A file below a package that was imported as a whole.
    pub(super) fn submodule(
        &mut self,
        scope: &Rc<crate::scope::Scope<'a>>,
        name: &str,
    ) -> Result<Option<Value<'a>>, Stop> {
        let outer = std::mem::replace(&mut self.file, scope.file);
        let found = self.imported(&format!(".{name}"));
        self.file = outer;
        found
    }
}
