//! What a name of a file means, through imports and classes.

use std::cell::RefCell;
use std::sync::Arc;

use crate::python::names::{BindingKind, NameIndex};
use base::TextRange;
use python::syntax::{CurrentTree, Module, Sources, range};
use ruff_python_ast::{Expr, Stmt, StmtClassDef, StmtFunctionDef};
use rustc_hash::FxHashMap;

use crate::limits::names::STEPS;

/// A place in a file.
#[derive(Clone, Debug)]
pub struct FilePlace {
    /// The file.
    pub module: Arc<Module>,
    /// The place in its text.
    pub range: TextRange,
}

impl PartialEq for FilePlace {
    fn eq(&self, other: &FilePlace) -> bool {
        self.module.path() == other.module.path() && self.range == other.range
    }
}

/// What a name means.
#[derive(Clone, Debug)]
pub(super) enum Meaning {
    /// A file.
    Module(Arc<Module>),
    /// A definition, at its name.
    Place(FilePlace),
}

/// Resolves names, and remembers the names of the files that it has looked at.
pub(super) struct Resolver<'s> {
    pub(super) sources: &'s dyn Sources,
    known: RefCell<FxHashMap<String, Arc<NameIndex>>>,
    /// The classes of variables and parameters, by file and place of the name.
    pub(super) classes: RefCell<FxHashMap<(String, TextRange), Option<FilePlace>>>,
}

impl<'s> Resolver<'s> {
    pub(super) fn new(sources: &'s dyn Sources) -> Resolver<'s> {
        Resolver { sources, known: RefCell::default(), classes: RefCell::default() }
    }

    /// The names of a file.
    pub(super) fn index(&self, module: &Arc<Module>) -> Arc<NameIndex> {
        let mut known = self.known.borrow_mut();
        let made = || Arc::new(NameIndex::of(&CurrentTree::of(module)));
        known.entry(module.path().to_owned()).or_insert_with(made).clone()
    }

    /// What a name of a file's top level means.
    pub(super) fn global(&self, module: &Arc<Module>, name: &str) -> Option<Meaning> {
        self.global_within(module, name, STEPS)
    }

    fn global_within(&self, module: &Arc<Module>, name: &str, steps: u32) -> Option<Meaning> {
        let steps = steps.checked_sub(1)?;
        let index = self.index(module);
        if let Some(binding) = index.global(name).and_then(|binding| index.binding(binding)) {
            return match &binding.kind {
                BindingKind::Import { module: from, name: of } => self.import(module, from, of.as_deref(), steps),
                _ => Some(Meaning::Place(FilePlace { module: module.clone(), range: binding.range })),
            };
        }
        index.stars().iter().find_map(|from| {
            let from = self.sources.import(module.path(), from)?;
            self.global_within(&from, name, steps)
        })
    }

    /// What an import brings.
    pub(super) fn imported(&self, module: &Arc<Module>, from: &str, name: Option<&str>) -> Option<Meaning> {
        self.import(module, from, name, STEPS)
    }

    fn import(&self, module: &Arc<Module>, from: &str, name: Option<&str>, steps: u32) -> Option<Meaning> {
        let file = self.sources.import(module.path(), from);
        let Some(name) = name else { return file.map(Meaning::Module) };
        let defined = file.filter(|file| file.path() != module.path());
        let defined = defined.and_then(|file| self.global_within(&file, name, steps));
        defined.or_else(|| {
            let dot = if from.ends_with('.') { "" } else { "." };
            self.sources.import(module.path(), &format!("{from}{dot}{name}")).map(Meaning::Module)
        })
    }

    /// A name of a module, or a module below it.
    pub(super) fn member_of_module(&self, module: &Arc<Module>, name: &str) -> Option<Meaning> {
        let below = || self.sources.import(module.path(), &format!(".{name}")).map(Meaning::Module);
        let package = module.path().ends_with("__init__.py");
        self.global(module, name).or_else(|| package.then(below).flatten())
    }
}

/// The function or class whose name stands at a place.
pub(super) enum Defined<'t> {
    Function(&'t StmtFunctionDef),
    Class(&'t StmtClassDef),
}

/// Finds what is defined at the range of a name.
pub(super) fn defined_at<'t>(tree: &'t CurrentTree<'_>, at: TextRange) -> Option<Defined<'t>> {
    let mut todo: Vec<&Stmt> = tree.statements().collect();
    while let Some(statement) = todo.pop() {
        if !range(statement).contains(at) {
            continue;
        }
        match statement {
            Stmt::FunctionDef(def) if range(&def.name) == at => return Some(Defined::Function(def)),
            Stmt::ClassDef(def) if range(&def.name) == at => return Some(Defined::Class(def)),
            Stmt::FunctionDef(def) => todo.extend(&def.body),
            Stmt::ClassDef(def) => todo.extend(&def.body),
            Stmt::If(of) => {
                todo.extend(&of.body);
                todo.extend(of.elif_else_clauses.iter().flat_map(|clause| &clause.body));
            }
            Stmt::For(of) => todo.extend(of.body.iter().chain(&of.orelse)),
            Stmt::While(of) => todo.extend(of.body.iter().chain(&of.orelse)),
            Stmt::With(of) => todo.extend(&of.body),
            Stmt::Try(of) => {
                todo.extend(of.body.iter().chain(&of.orelse).chain(&of.finalbody));
                todo.extend(of.handlers.iter().flat_map(|handler| {
                    let ruff_python_ast::ExceptHandler::ExceptHandler(handler) = handler;
                    &handler.body
                }));
            }
            _ => {}
        }
    }
    None
}

/// A field or method of a class by its name, at the place of the name, without those of other classes.
pub(super) fn own_member(class: &StmtClassDef, name: &str) -> Option<TextRange> {
    let in_body = class.body.iter().find_map(|statement| match statement {
        Stmt::FunctionDef(def) => (def.name.as_str() == name).then(|| range(&def.name)),
        Stmt::AnnAssign(field) => named(&field.target, name),
        Stmt::Assign(fields) => fields.targets.iter().find_map(|target| named(target, name)),
        _ => None,
    });
    in_body.or_else(|| {
        let methods = class.body.iter().filter_map(|statement| statement.as_function_def_stmt());
        methods.filter_map(|method| assigned_field(method, name)).next()
    })
}

fn named(target: &Expr, name: &str) -> Option<TextRange> {
    target.as_name_expr().filter(|target| target.id.as_str() == name).map(range)
}

/// `self.name = …` in a method.
fn assigned_field(method: &StmtFunctionDef, name: &str) -> Option<TextRange> {
    let own = method.parameters.iter().next()?.as_parameter().name.as_str();
    let mut found = None;
    python::syntax::each_node(method.body.iter(), |node| {
        let ruff_python_ast::AnyNodeRef::ExprAttribute(attribute) = node else { return };
        let of_self = attribute.value.as_name_expr().is_some_and(|object| object.id.as_str() == own);
        let stored = attribute.ctx == ruff_python_ast::ExprContext::Store;
        if found.is_none() && stored && of_self && attribute.attr.as_str() == name {
            found = Some(range(&attribute.attr));
        }
    });
    found
}
