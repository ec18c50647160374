//! New names in Python: of variables, parameters, functions and classes of one file, by Python's scoping rules.

mod member;
mod other_files;
mod parameter;
#[cfg(test)]
mod tests;
mod text;

use std::sync::Arc;

use crate::python::names::{Binding, BindingId, BindingKind, NameIndex, ScopeKind, is_identifier};
use base::TextRange;
use python::syntax::{CurrentTree, Module, Sources, each_node, range};
use ruff_python_ast::AnyNodeRef;

use super::infer::Looked;
use super::members;
use super::resolve::{FilePlace, Resolver};
use super::uses::importers;
use crate::{NewTexts, Refused, Renamable};
use parameter::Parameter;
use text::line;

/// What can be renamed at an offset of the text.
///
/// # Errors
///
/// Where it cannot be, with the reason.
pub fn renamable(module: &Arc<Module>, offset: u32, sources: &dyn Sources) -> Result<Renamable, Refused> {
    let resolver = Resolver::new(sources);
    let (tree, index) = (CurrentTree::of(module), resolver.index(module));
    let looked = Looked { resolver: &resolver, module, tree: &tree, index: &index };
    if let Some(member) = own_member(&looked, offset)? {
        let range = crate::python::word(module.text(), offset).unwrap_or(member.range);
        return Ok(Renamable { range, name: member.range.of(module.text()).to_owned() });
    }
    let (_, range, binding) = target(module, &index, offset)?;
    Ok(Renamable { range, name: binding.name.clone() })
}

/// The field or method at an offset, where this file defines it.
fn own_member(looked: &Looked<'_, '_>, offset: u32) -> Result<Option<FilePlace>, Refused> {
    match members::member_at(looked, offset) {
        Some(member) if member.module.path() != looked.module.path() => {
            let name = member.range.of(member.module.text());
            Err(format!("`{name}` is defined in {}; rename it there", member.module.path()))
        }
        found => Ok(found),
    }
}

/// The name at an offset, if this file may rename it.
fn target<'i>(
    module: &Module,
    index: &'i NameIndex,
    offset: u32,
) -> Result<(BindingId, TextRange, &'i Binding), Refused> {
    let mention = index.at(offset).ok_or("there is no name here that this file defines")?;
    let binding = index.binding(mention.binding).ok_or("there is no name here")?;
    let name = &binding.name;
    match binding.kind {
        BindingKind::Import { .. } => return Err(format!("`{name}` is imported; rename it where it is defined")),
        BindingKind::Unbound => return Err(format!("`{name}` is not defined in this file")),
        _ => {}
    }
    // PyTorch's compiler quotes what its kernels are called, and tells names of one text apart.
    if let Some(string) = module.strings().iter().find(|of| of.name == *name || !is_identifier(name)) {
        let line = line(module, string.name_range);
        return Err(format!("`{name}` stands in a string with a kernel too, such as that of line {line}"));
    }
    Ok((mention.binding, mention.range, binding))
}

/// The edits of the file that give the name at an offset another one.
///
/// # Errors
///
/// Where the program would not mean the same then, with the reason.
pub fn rename(module: &Arc<Module>, offset: u32, name: &str, sources: &dyn Sources) -> Result<NewTexts, Refused> {
    let resolver = Resolver::new(sources);
    let (tree, index) = (CurrentTree::of(module), resolver.index(module));
    let looked = Looked { resolver: &resolver, module, tree: &tree, index: &index };
    if let Some(member) = own_member(&looked, offset)? {
        if !is_identifier(name) {
            return Err(format!("`{name}` is no name of Python"));
        }
        if name == member.range.of(module.text()) {
            return Ok(Vec::new());
        }
        let places = member::places(&looked, &member, name)?;
        return Ok(places.into_iter().map(|range| (range, name.to_owned())).collect());
    }
    let (id, _, binding) = target(module, &index, offset)?;
    if !is_identifier(name) {
        return Err(format!("`{name}` is no name of Python"));
    }
    if name == binding.name {
        return Ok(Vec::new());
    }
    if let Some(other) = index.conflict(id, name) {
        let line = line(module, other.range);
        return Err(match other.kind {
            BindingKind::Unbound => format!("`{name}` already means something else in line {line}"),
            _ => format!("`{name}` is already there, in line {line}"),
        });
    }
    let global = index.scope(binding.scope).is_some_and(|scope| scope.kind == ScopeKind::Module);
    if global {
        let place = FilePlace { module: module.clone(), range: binding.range };
        if let Some(used) = importers(&resolver, &place, module).first() {
            return Err(format!("`{}` is used in {}", binding.name, used.module.path()));
        }
        if index.mentions().iter().any(|it| index.binding(it.binding).is_some_and(|it| it.name == "__all__")) {
            quoted(&tree, module, &binding.name)?;
        }
    }
    let along = match binding.kind {
        BindingKind::Parameter => match Parameter::of(&looked, binding) {
            Some(parameter) => {
                let along = parameter.along()?;
                other_files::parameter(&parameter)?;
                along
            }
            None => parameter::of_lambda(&looked, binding)?,
        },
        _ if global => annotations(&tree, module, &binding.name),
        _ => Vec::new(),
    };
    let mut edits: NewTexts = index.places(id).map(|place| (place.range, name.to_owned())).collect();
    edits.extend(along.into_iter().map(|range| (range, name.to_owned())));
    if binding.kind == BindingKind::Parameter {
        edits.extend(directives(&index, binding, module).into_iter().map(|range| (range, name.to_owned())));
    }
    edits.sort();
    edits.dedup();
    Ok(edits)
}

/// Where annotations that are strings have a name of the file's top level.
fn annotations(tree: &CurrentTree<'_>, module: &Module, name: &str) -> Vec<TextRange> {
    let mut within: Vec<TextRange> = Vec::new();
    let mut found = Vec::new();
    each_node(tree.statements(), |node| match node {
        AnyNodeRef::Parameter(parameter) => within.extend(parameter.annotation.as_deref().map(range)),
        AnyNodeRef::StmtAnnAssign(assign) => within.push(range(&*assign.annotation)),
        AnyNodeRef::StmtFunctionDef(def) => within.extend(def.returns.as_deref().map(range)),
        AnyNodeRef::StringLiteral(text) if within.iter().any(|it| it.contains(range(text))) => {
            let whole = range(text);
            let source = whole.of(module.text());
            let word = |c: char| c == '_' || c.is_alphanumeric();
            found.extend(source.match_indices(name).filter_map(|(at, _)| {
                let (before, behind) = (source.get(..at)?, source.get(at + name.len()..)?);
                let free = !before.ends_with(word) && !before.ends_with('.') && !behind.starts_with(word);
                let start = whole.start + at as u32;
                free.then(|| TextRange::new(start, start + name.len() as u32))
            }));
        }
        _ => {}
    });
    found
}

/// Strings may name what a file exports: `__all__`.
fn quoted(tree: &CurrentTree<'_>, module: &Module, name: &str) -> Result<(), Refused> {
    let mut found = None;
    each_node(tree.statements(), |node| {
        if let AnyNodeRef::StringLiteral(text) = node
            && &*text.value == name
        {
            found = found.or(Some(range(text)));
        }
    });
    match found {
        Some(at) => Err(format!("a string in line {} names `{name}`; rename it there first", line(module, at))),
        None => Ok(()),
    }
}

/// Where directives above the kernel give the parameter a value: `# fencepost: name=3`.
fn directives(index: &NameIndex, binding: &Binding, module: &Module) -> Vec<TextRange> {
    let Some(function) = index.scope(binding.scope) else { return Vec::new() };
    let text = module.text();
    // The scope starts at the name; its statement at the decorators.
    let def = module.body().iter().map(range).find(|range| range.contains(function.range));
    let all = def.map_or_else(Vec::new, |def| specialize::directives(module, def));
    let given = all.iter().flat_map(|directive| &directive.values).filter(|(name, ..)| *name == binding.name);
    let ranges = given.filter_map(|(name, _, at)| {
        let lead = at.of(text).find(name.as_str())? as u32;
        Some(TextRange::new(at.start + lead, at.start + lead + name.len() as u32))
    });
    ranges.collect()
}
