//! What other files say of a parameter.

use std::sync::Arc;

use python::syntax::{CurrentTree, Module, each_node};
use ruff_python_ast::{AnyNodeRef, Expr};

use super::parameter::Parameter;
use super::text::spells;
use crate::Refused;
use crate::python::names::{BindingKind, ScopeKind, called};
use crate::python::navigate::infer::Looked;
use crate::python::navigate::resolve::{FilePlace, Meaning, Resolver};
use crate::python::navigate::uses::importers;

/// Refuses where a file that has the function or its class may name the parameter.
pub(super) fn parameter(of: &Parameter<'_, '_, '_>) -> Result<(), Refused> {
    let (module, name) = (of.looked.module, &of.binding.name);
    let Some((_, around)) = of.around().filter(|(_, kind)| *kind != ScopeKind::Function) else { return Ok(()) };
    let Some(function) = of.looked.index.binding(of.function) else { return Ok(()) };
    let place = FilePlace { module: module.clone(), range: function.range };
    let method = of.method();
    let word = method.unwrap_or(&function.name);
    let imports = match around {
        ScopeKind::Module => importers(of.looked.resolver, &place, module),
        _ if method.is_none() => importers(of.looked.resolver, &place, module),
        _ => Vec::new(),
    };
    for file in of.looked.resolver.sources.mentions(word) {
        if file.path() == module.path() || !file.text().contains(name.as_str()) {
            continue;
        }
        let named = match method {
            Some(method) => calls_method(of.looked.resolver, &file, method, name, &place),
            None => {
                let has = imports.iter().any(|place| place.module.path() == file.path());
                (has || may_import(of.looked.resolver, &file, word, module)) && spells(&file, name)
            }
        };
        if named {
            return Err(format!("`{name}` is named as a keyword in {}", file.path()));
        }
    }
    Ok(())
}

/// Whether a file takes a name from a module that is not at hand and is called as this one.
fn may_import(resolver: &Resolver<'_>, file: &Arc<Module>, name: &str, from: &Module) -> bool {
    let stem = from.path().rsplit(['/', '\\']).next().unwrap_or("").trim_end_matches(".py");
    let folder = from.path().rsplit(['/', '\\']).nth(1).unwrap_or("");
    let wanted = if stem == "__init__" { folder } else { stem };
    let index = resolver.index(file);
    index.mentions().iter().filter_map(|mention| index.binding(mention.binding)).any(|binding| match &binding.kind {
        BindingKind::Import { module, name: Some(of) } => {
            of == name
                && module.rsplit('.').next() == Some(wanted)
                && resolver.imported(file, module, Some(of)).is_none()
        }
        _ => false,
    })
}

/// Whether a file calls a method with a keyword, or another of which that is not known.
fn calls_method(resolver: &Resolver<'_>, file: &Arc<Module>, method: &str, name: &str, place: &FilePlace) -> bool {
    let (tree, index) = (CurrentTree::of(file), resolver.index(file));
    let looked = Looked { resolver, module: file, tree: &tree, index: &index };
    let mut found = false;
    each_node(tree.statements(), |node| {
        let AnyNodeRef::ExprCall(call) = node else { return };
        let callee = called(call);
        let Expr::Attribute(of) = callee else { return };
        let named = || call.arguments.keywords.iter().any(|it| it.arg.as_ref().is_some_and(|it| it.as_str() == name));
        if found || of.attr.as_str() != method || !named() {
            return;
        }
        found = match looked.meaning(callee) {
            Some(Meaning::Place(other)) => other == *place || other.module.path() == place.module.path(),
            Some(Meaning::Module(_)) => false,
            None => !looked.imported(callee),
        };
    });
    found && may_have(resolver, file, &place.module)
}

/// Whether a file imports anything of another, or of what is not at hand.
fn may_have(resolver: &Resolver<'_>, file: &Arc<Module>, from: &Module) -> bool {
    let index = resolver.index(file);
    index.mentions().iter().filter_map(|mention| index.binding(mention.binding)).any(|binding| match &binding.kind {
        BindingKind::Import { module, name } => match resolver.imported(file, module, name.as_deref()) {
            Some(Meaning::Module(of)) => of.path() == from.path(),
            Some(Meaning::Place(of)) => of.module.path() == from.path(),
            None => !["triton", "torch", "math", "os"].contains(&module.split('.').next().unwrap_or("")),
        },
        _ => false,
    })
}
