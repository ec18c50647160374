//! What the names that a file imports stand for, through files that hand them on.

use std::sync::Arc;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ruff_python_ast::{ExceptHandler, Expr, Stmt};
use rustc_hash::FxHashMap;

use python::syntax::package;
use python::syntax::{Module, Sources};

use crate::limits::imports::FILES;
use gluon::canonical;

/// The imports of a file.
#[derive(Debug)]
pub struct Imports<'m> {
    /// The file's own path.
    path: &'m str,
    sources: &'m dyn Sources,
    /// What is imported, as written, by the name that it has here.
    aliases: FxHashMap<&'m str, String>,
    /// Modules whose names are taken with `*`.
    stars: Vec<String>,
    /// What names were found to stand for.
    known: Mutex<FxHashMap<String, String>>,
}

impl<'m> Imports<'m> {
    /// Those of a file.
    pub fn of(module: &'m Module, sources: &'m dyn Sources) -> Imports<'m> {
        let written = Written::of(module);
        let known = Mutex::default();
        Imports { path: module.path(), sources, aliases: written.aliases, stars: written.stars, known }
    }

    /// The full name of names with dots, `mbarrier.wait`, as the table of builtins spells it; of a name that is not
    /// imported, what it customarily stands for.
    pub fn path(&self, dotted: &str) -> Option<String> {
        let (first, rest) = dotted.split_once('.').unwrap_or((dotted, ""));
        let first = match self.full(first) {
            Some(full) => full,
            None => canonical(package::customary(first)?).into_owned(),
        };
        let full = member_of(&first, rest);
        Some(match package::package(&full) {
            Some(package) if package.root != "triton" && !package.module.is_empty() => {
                canonical(&package.canonical()).into_owned()
            }
            _ => full,
        })
    }

    /// Names of the file that are imported.
    pub fn names(&self) -> impl Iterator<Item = &'m str> {
        self.aliases.keys().copied()
    }

    /// The full name of a name of the file, as the table of builtins spells it (`gl`, `gluon.jit`,
    /// `triton.cdiv`), or as it is imported where it is none of Triton's; `None` where it is not imported.
    pub fn full(&self, name: &str) -> Option<String> {
        if let Some(known) = self.known().get(name) {
            return Some(known.clone());
        }
        let found = match self.aliases.get(name) {
            Some(path) => {
                let found = resolve(self.sources, self.path, path, FILES);
                found.unwrap_or_else(|| match package::customary(name) {
                    Some(module) => canonical(module).into_owned(),
                    None => path.clone(),
                })
            }
            None => starred(self.sources, self.path, &self.stars, name, FILES)?,
        };
        self.known().insert(name.to_owned(), found.clone());
        Some(found)
    }

    /// The file that defines what names with dots stand for, through files that hand it on, and its name there.
    pub(super) fn defined(&self, dotted: &str) -> Option<(Arc<Module>, String)> {
        let (first, rest) = dotted.split_once('.').unwrap_or((dotted, ""));
        let path = match self.aliases.get(first) {
            Some(path) if rest.is_empty() => path.clone(),
            Some(path) => member(path, rest),
            None => return None,
        };
        definition(self.sources, self.path, &path, FILES)
    }

    fn known(&self) -> MutexGuard<'_, FxHashMap<String, String>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a name of a file stands for by its imports: the full name as the table of builtins spells it, or as it is imported
/// where it is none of Triton's; `None` where it is not imported.
pub fn imported(module: &Module, sources: &dyn Sources, name: &str) -> Option<String> {
    Imports::of(module, sources).full(name)
}

/// Imports as they are written.
#[derive(Default)]
struct Written<'m> {
    aliases: FxHashMap<&'m str, String>,
    stars: Vec<String>,
}

impl<'m> Written<'m> {
    fn of(module: &'m Module) -> Written<'m> {
        let mut written = Written::default();
        written.collect(module.body());
        written
    }

    /// Imports wherever they stand, since decorators above may use them.
    fn collect(&mut self, body: &'m [Stmt]) {
        for stmt in body {
            match stmt {
                Stmt::Import(import) => {
                    for alias in &import.names {
                        let name = alias.name.as_str();
                        match &alias.asname {
                            Some(own) => self.add(own.as_str(), name.to_owned()),
                            None => {
                                let root = name.split('.').next().unwrap_or(name);
                                self.add(root, root.to_owned());
                            }
                        }
                    }
                }
                Stmt::ImportFrom(import) => {
                    let dots = ".".repeat(import.level as usize);
                    let from = format!("{dots}{}", import.module.as_ref().map_or("", |name| name.as_str()));
                    for alias in &import.names {
                        if alias.name.as_str() == "*" {
                            self.stars.push(from.clone());
                            continue;
                        }
                        let own = alias.asname.as_ref().unwrap_or(&alias.name);
                        self.add(own.as_str(), member(&from, alias.name.as_str()));
                    }
                }
                // `gl = triton.experimental.gluon.language`, `mod = importlib.import_module("…")`.
                Stmt::Assign(assign) => {
                    if let [Expr::Name(own)] = &assign.targets[..]
                        && let Some(path) = self.dotted(&assign.value)
                    {
                        self.add(own.id.as_str(), path);
                    }
                }
                Stmt::Try(body) => {
                    self.collect(&body.body);
                    for handler in &body.handlers {
                        let ExceptHandler::ExceptHandler(handler) = handler;
                        self.collect(&handler.body);
                    }
                    self.collect(&body.orelse);
                }
                Stmt::If(body) => {
                    self.collect(&body.body);
                    for clause in &body.elif_else_clauses {
                        self.collect(&clause.body);
                    }
                }
                Stmt::With(body) => self.collect(&body.body),
                _ => {}
            }
        }
    }

    /// The first import of a name counts: what comes later stands for where that fails.
    fn add(&mut self, own: &'m str, path: String) {
        let own_triton = |path: &String| package::package(path).is_some();
        match self.aliases.get(own) {
            Some(before) if own_triton(before) || !own_triton(&path) => {}
            _ => {
                self.aliases.insert(own, path);
            }
        }
    }

    /// The module or the member of one that an expression of names and dots is.
    fn dotted(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::Name(name) => self.aliases.get(name.id.as_str()).cloned(),
            Expr::Attribute(attribute) => Some(member(&self.dotted(&attribute.value)?, attribute.attr.as_str())),
            Expr::Call(call) => match (&*call.func, call.arguments.args.first()) {
                (Expr::Attribute(function), Some(Expr::StringLiteral(name)))
                    if function.attr.as_str() == "import_module" =>
                {
                    Some(name.value.to_str().to_owned())
                }
                (Expr::Name(function), Some(Expr::StringLiteral(name)))
                    if matches!(function.id.as_str(), "import_module" | "__import__") =>
                {
                    Some(name.value.to_str().to_owned())
                }
                _ => None,
            },
            _ => None,
        }
    }
}

fn member(module: &str, name: &str) -> String {
    let dot = if module.is_empty() || module.ends_with('.') { "" } else { "." };
    format!("{module}{dot}{name}")
}

/// The name that the table of builtins has for one of Triton's, followed through the files of the workspace;
/// `None` where it is none of Triton's.
fn resolve(sources: &dyn Sources, from: &str, path: &str, left: u32) -> Option<String> {
    if let Some(package) = package::package(path)
        && (package.root == "triton" || package.is_copy(sources, from, path))
    {
        return Some(canonical(&package.canonical()).into_owned());
    }
    if left == 0 {
        return None;
    }
    let (file, name, rest) = longest(sources, from, path)?;
    handed(sources, &file, name, left - 1).map(|full| member_of(&full, rest))
}

/// `acme.compat.gl.program_id`: the longest file that there is, a name of it, and the rest.
fn longest<'p>(sources: &dyn Sources, from: &str, path: &'p str) -> Option<(Arc<Module>, &'p str, &'p str)> {
    let dots = path.bytes().take_while(|byte| *byte == b'.').count();
    let mut ends: Vec<usize> = path.match_indices('.').map(|(at, _)| at).filter(|at| *at >= dots).collect();
    // `from . import gl` names the folder itself.
    ends.extend((dots > 0).then_some(dots));
    ends.sort_unstable_by(|a, b| b.cmp(a));
    ends.into_iter().find_map(|end| {
        let (module, rest) = (path.get(..end)?, path.get(end..)?.trim_start_matches('.'));
        let file = sources.import(from, module)?;
        let (name, rest) = rest.split_once('.').unwrap_or((rest, ""));
        Some((file, name, rest))
    })
}

/// The file in which a path ends, and the name that is left of it.
fn definition(sources: &dyn Sources, from: &str, path: &str, left: u32) -> Option<(Arc<Module>, String)> {
    if left == 0 || package::package(path).is_some() {
        return None;
    }
    let (file, name, rest) = longest(sources, from, path)?;
    match Written::of(&file).aliases.get(name) {
        Some(path) if rest.is_empty() => definition(sources, file.path(), path, left - 1),
        Some(path) => definition(sources, file.path(), &member(path, rest), left - 1),
        None => rest.is_empty().then(|| (file.clone(), name.to_owned())),
    }
}

/// What a file hands on under a name of its own.
fn handed(sources: &dyn Sources, file: &Arc<Module>, name: &str, left: u32) -> Option<String> {
    let written = Written::of(file);
    match written.aliases.get(name) {
        Some(path) => {
            let found = resolve(sources, file.path(), path, left);
            found.or_else(|| package::customary(name).map(|module| canonical(module).into_owned()))
        }
        None => starred(sources, file.path(), &written.stars, name, left),
    }
}

/// A name that comes from one of the modules that were taken with `*`.
fn starred(sources: &dyn Sources, from: &str, stars: &[String], name: &str, left: u32) -> Option<String> {
    stars.iter().find_map(|star| {
        let full = resolve(sources, from, &member(star, name), left)?;
        let (module, _) = full.rsplit_once('.')?;
        // Triton's module has to have the name.
        let version = python::target::Version::default();
        (!module.is_empty() && gluon::library().lookup(&full, version).is_some()).then_some(full)
    })
}

fn member_of(full: &str, rest: &str) -> String {
    if rest.is_empty() { full.to_owned() } else { canonical(&format!("{full}.{rest}")).into_owned() }
}
