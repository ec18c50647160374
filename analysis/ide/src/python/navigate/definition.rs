//! Where the name at a place of a Python file is defined.

use std::sync::Arc;

use crate::python::names::{BindingKind, Mention, NameAccess};
use base::TextRange;
use python::syntax::{CurrentTree, Module, Sources, path_at, range};
use ruff_python_ast::{AnyNodeRef, Expr, ExprAttribute, Stmt, StmtClassDef};

use crate::python::functions::Definitions;
use crate::python::things::{Library, Things};
use gluon::Version;
use specialize::Imports;

use super::infer::Looked;
use super::resolve::{Defined, FilePlace, Meaning, Resolver, defined_at, own_member};
use crate::limits::names::GUESSES;

/// Modules of Triton that define the methods of what kernels handle, where its sources are at hand.
const METHODS: [&str; 2] = ["triton.experimental.gluon.language._core", "triton.language.core"];

/// Where the name at an offset of the text is defined; several places where it may be one of several.
pub fn definition(module: &Arc<Module>, offset: u32, sources: &dyn Sources) -> Vec<FilePlace> {
    let resolver = Resolver::new(sources);
    let (tree, index) = (CurrentTree::of(module), resolver.index(module));
    let looked = Looked { resolver: &resolver, module, tree: &tree, index: &index };
    if let Some(mention) = index.at(offset) {
        return named(&looked, mention, offset);
    }
    let path = path_at(&tree, offset);
    for node in path.iter().rev() {
        let found = match node {
            AnyNodeRef::ExprAttribute(attribute) if range(&attribute.attr).touches(offset) => {
                attribute_of(&looked, attribute)
            }
            AnyNodeRef::Keyword(keyword) if keyword.arg.as_ref().is_some_and(|arg| range(arg).touches(offset)) => {
                let name = keyword.arg.as_ref().map_or("", |arg| arg.as_str());
                let call = path.iter().rev().find_map(|node| match node {
                    AnyNodeRef::ExprCall(call) => Some(*call),
                    _ => None,
                });
                call.and_then(|call| parameter(&looked, &call.func, name)).into_iter().collect()
            }
            AnyNodeRef::Alias(alias) => imported(&looked, &path, alias.name.as_str()),
            AnyNodeRef::StmtImportFrom(import) => {
                let on = import.module.as_ref().is_some_and(|module| range(module).touches(offset));
                let dots = ".".repeat(import.level as usize);
                let name = dots + import.module.as_ref().map_or("", |module| module.as_str());
                on.then(|| resolver.imported(module, &name, None)).flatten().map(place).into_iter().collect()
            }
            _ => continue,
        };
        return found;
    }
    Vec::new()
}

/// The first line of a file, or the definition.
pub(super) fn place(meaning: Meaning) -> FilePlace {
    match meaning {
        Meaning::Module(module) => FilePlace { module, range: TextRange::empty(0) },
        Meaning::Place(place) => place,
    }
}

fn named(looked: &Looked<'_, '_>, mention: &Mention, offset: u32) -> Vec<FilePlace> {
    let Some(binding) = looked.index.binding(mention.binding) else { return Vec::new() };
    let here = |range: TextRange| FilePlace { module: looked.module.clone(), range };
    match &binding.kind {
        BindingKind::Import { module, name } => {
            let found = looked.resolver.imported(looked.module, module, name.as_deref());
            // What cannot be followed is at least imported somewhere.
            found
                .map(place)
                .or_else(|| (mention.access != NameAccess::Bind).then(|| here(binding.range)))
                .into_iter()
                .collect()
        }
        BindingKind::Unbound => looked.resolver.global(looked.module, &binding.name).map(place).into_iter().collect(),
        BindingKind::Variable => {
            // The last place before this one that gives it a value, or else the first of all.
            let binds = looked.index.places(mention.binding).filter(|place| place.access == NameAccess::Bind);
            let same = binds.filter(|place| {
                looked.index.function_around(place.scope) == looked.index.function_around(mention.scope)
            });
            let mut before: Vec<TextRange> =
                same.map(|place| place.range).take_while(|range| range.start <= offset).collect();
            if mention.access != NameAccess::Bind {
                // In `x = x + 1` the value is the one from before.
                let path = path_at(looked.tree, offset);
                let assigned = path.iter().rev().find(|node| {
                    matches!(
                        node,
                        AnyNodeRef::StmtAssign(_) | AnyNodeRef::StmtAnnAssign(_) | AnyNodeRef::StmtAugAssign(_)
                    )
                });
                before.retain(|bind| !assigned.is_some_and(|statement| range(statement).contains(*bind)));
            }
            let last = before.last().copied();
            vec![here(last.unwrap_or(binding.range))]
        }
        _ if binding.bodies.len() > 1 => {
            let binds = looked.index.places(mention.binding).filter(|place| place.access == NameAccess::Bind);
            binds.map(|place| here(place.range)).collect()
        }
        _ => vec![here(binding.range)],
    }
}

/// `object.name`.
fn attribute_of(looked: &Looked<'_, '_>, attribute: &ExprAttribute) -> Vec<FilePlace> {
    let name = attribute.attr.as_str();
    let object = looked.meaning(&attribute.value);
    if let Some(Meaning::Module(module)) = &object {
        return looked.resolver.member_of_module(module, name).map(place).into_iter().collect();
    }
    let expr = Expr::Attribute(attribute.clone());
    if let Some(found) = looked.meaning(&expr) {
        return vec![place(found)];
    }
    // A module that is not at hand has no fields that are.
    let imported = attribute.value.as_name_expr().and_then(|object| looked.index.at(range(object).start));
    let imported = imported.and_then(|mention| looked.index.binding(mention.binding));
    if imported.is_some_and(|binding| matches!(binding.kind, BindingKind::Import { .. })) && object.is_none() {
        return Vec::new();
    }
    let class = class_of_things(looked, &attribute.value);
    guesses(looked, name, class)
}

/// The class in Triton of what an expression stands for, as far as it is memory or a descriptor.
pub(super) fn class_of_things(looked: &Looked<'_, '_>, expr: &Expr) -> Option<&'static str> {
    let names = Imports::of(looked.module, looked.resolver.sources);
    let definitions = Definitions::of(looked.tree, &names);
    let library = Library::new(&names, Version::default());
    let (function, _) = definitions.around(range(expr).start)?;
    Things::of(&definitions, &library).thing(function, expr, &library)?.class()
}

/// The fields and methods of this name in the classes of the file and of those from which it imports; of a class that is
/// known, its own where they are at hand.
fn guesses(looked: &Looked<'_, '_>, name: &str, class: Option<&str>) -> Vec<FilePlace> {
    let mut files: Vec<Arc<Module>> = vec![looked.module.clone()];
    for mention in looked.index.mentions() {
        let Some(binding) = looked.index.binding(mention.binding) else { continue };
        let BindingKind::Import { module, .. } = &binding.kind else { continue };
        if mention.access == NameAccess::Bind
            && let Some(file) = looked.resolver.sources.import(looked.module.path(), module)
            && !files.iter().any(|known| known.path() == file.path())
        {
            files.push(file);
        }
    }
    let triton: Vec<Arc<Module>> =
        METHODS.iter().filter_map(|file| looked.resolver.sources.import(looked.module.path(), file)).collect();
    if class.is_some() {
        let known = members(&[&triton[..], &files].concat(), name, class);
        if !known.is_empty() {
            return known;
        }
    }
    let own = members(&files, name, None);
    if own.is_empty() { members(&triton, name, None) } else { own }
}

/// The fields and methods of a name in the classes of files; in those of one class alone, where that is known.
fn members(files: &[Arc<Module>], name: &str, class: Option<&str>) -> Vec<FilePlace> {
    let wanted = |def: &StmtClassDef| class.is_none_or(|class| def.name.as_str() == class);
    let mut found: Vec<FilePlace> = Vec::new();
    for file in files {
        let tree = CurrentTree::of(file);
        let classes = tree.statements().filter_map(|statement| match statement {
            Stmt::ClassDef(def) if wanted(def) => own_member(def, name),
            _ => None,
        });
        let places = classes.map(|range| FilePlace { module: file.clone(), range });
        found.extend(places.filter(|place| !found.contains(place)).collect::<Vec<_>>());
    }
    found.truncate(GUESSES);
    found
}

/// The parameter or field that a keyword of a call names.
pub(super) fn parameter(looked: &Looked<'_, '_>, function: &ruff_python_ast::Expr, name: &str) -> Option<FilePlace> {
    let function = match function {
        ruff_python_ast::Expr::Subscript(launch) => &launch.value,
        other => other,
    };
    let Meaning::Place(place) = looked.meaning(function)? else { return None };
    let tree = CurrentTree::of(&place.module);
    let of = |def: &ruff_python_ast::StmtFunctionDef| {
        let all = def.parameters.iter().map(|parameter| &parameter.as_parameter().name);
        all.filter(|parameter| parameter.as_str() == name).map(range).next()
    };
    let found = match defined_at(&tree, place.range)? {
        Defined::Function(def) => of(def),
        Defined::Class(class) => {
            let methods = class.body.iter().filter_map(|statement| statement.as_function_def_stmt());
            let init = methods.filter(|method| method.name.as_str() == "__init__").find_map(of);
            init.or_else(|| own_member(class, name))
        }
    };
    found.map(|range| FilePlace { module: place.module.clone(), range })
}

/// `name` or `a.name` of an import statement, under another name in the file.
fn imported(looked: &Looked<'_, '_>, path: &[AnyNodeRef<'_>], name: &str) -> Vec<FilePlace> {
    let from = path.iter().find_map(|node| match node {
        AnyNodeRef::StmtImportFrom(import) => {
            Some(".".repeat(import.level as usize) + import.module.as_ref().map_or("", |module| module.as_str()))
        }
        _ => None,
    });
    let found = match from {
        Some(from) => looked.resolver.imported(looked.module, &from, Some(name)),
        None => looked.resolver.imported(looked.module, name, None),
    };
    found.map(place).into_iter().collect()
}
