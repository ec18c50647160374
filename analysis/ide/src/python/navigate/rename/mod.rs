//! New names in Python: of variables, parameters, functions and classes of one file, by Python's scoping rules.

mod other_files;
mod parameter;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::python::names::{Binding, BindingId, BindingKind, NameIndex, ScopeKind, is_identifier};
use base::{LineIndex, TextRange};
use python::syntax::{CurrentTree, Module, Sources, each_node};
use ruff_python_ast::AnyNodeRef;

use super::infer::Looked;
use super::resolve::{FilePlace, Resolver};
use super::uses::importers;
use parameter::Parameter;
use crate::{NewTexts, Refused, Renamable};
use python::syntax::range;

/// What can be renamed at an offset of the text.
///
/// # Errors
///
/// Where it cannot be, with the reason.
pub fn renamable(module: &Arc<Module>, offset: u32) -> Result<Renamable, Refused> {
    let tree = CurrentTree::of(module);
    let index = NameIndex::of(&tree);
    let (_, range, binding) = target(&index, offset)?;
    Ok(Renamable { range, name: binding.name.clone() })
}

/// The name at an offset, if this file may rename it.
fn target(index: &NameIndex, offset: u32) -> Result<(BindingId, TextRange, &Binding), Refused> {
    let mention = index.at(offset).ok_or("there is no name here that this file defines")?;
    let binding = index.binding(mention.binding).ok_or("there is no name here")?;
    let name = &binding.name;
    match binding.kind {
        BindingKind::Import { .. } => return Err(format!("`{name}` is imported; rename it where it is defined")),
        BindingKind::Unbound => return Err(format!("`{name}` is not defined in this file")),
        _ => {}
    }
    let scope = index.scope(binding.scope).map(|scope| scope.kind);
    if scope == Some(ScopeKind::Class) {
        return Err(format!("`{name}` belongs to a class, and not every use of it can be found by its text"));
    }
    Ok((mention.binding, mention.range, binding))
}

/// The edits of the file that give the name at an offset another one.
///
/// # Errors
///
/// Where the program would not mean the same then, with the reason.
pub fn rename(module: &Arc<Module>, offset: u32, name: &str, sources: &dyn Sources) -> Result<NewTexts, Refused> {
    let tree = CurrentTree::of(module);
    let index = NameIndex::of(&tree);
    let (id, _, binding) = target(&index, offset)?;
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
        if let Some(used) = importers(&Resolver::new(sources), &place, module).first() {
            return Err(format!("`{}` is used in {}", binding.name, used.module.path()));
        }
        if index.mentions().iter().any(|it| index.binding(it.binding).is_some_and(|it| it.name == "__all__")) {
            quoted(&tree, module, &binding.name)?;
        }
    }
    let resolver = Resolver::new(sources);
    let looked = Looked { resolver: &resolver, module, tree: &tree, index: &index };
    let along = match binding.kind {
        BindingKind::Parameter => Parameter::of(&looked, binding).map_or(Ok(Vec::new()), |it| it.along())?,
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
    let all = def.map_or_else(Vec::new, |def| gluon::directives(module, def));
    let given = all.iter().flat_map(|directive| &directive.values).filter(|(name, ..)| *name == binding.name);
    let ranges = given.filter_map(|(name, _, at)| {
        let lead = at.of(text).find(name.as_str())? as u32;
        Some(TextRange::new(at.start + lead, at.start + lead + name.len() as u32))
    });
    ranges.collect()
}

fn line(module: &Module, at: TextRange) -> u32 {
    LineIndex::new(module.text()).line_col(at.start).line + 1
}
