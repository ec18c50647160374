//! New names of fields and methods: where every use of one can be found by its text.

use base::TextRange;
use python::syntax::{CurrentTree, each_node, range};
use ruff_python_ast::{AnyNodeRef, Expr, StmtClassDef};

use super::text::line;
use crate::Refused;
use crate::python::names::{BindingKind, NameAccess, called};
use crate::python::navigate::infer::Looked;
use crate::python::navigate::members;
use crate::python::navigate::resolve::{Defined, FilePlace, defined_at, own_member};

/// The places of a field or method of this file, if they are all of them.
///
/// # Errors
///
/// Where another place may mean it too, or the name is taken.
pub(super) fn places(looked: &Looked<'_, '_>, member: &FilePlace, new: &str) -> Result<Vec<TextRange>, Refused> {
    let name = member.range.of(looked.module.text());
    let (class_place, _) = members::class_around(member).ok_or("its class is not known")?;
    let Some(Defined::Class(class)) = defined_at(looked.tree, class_place.range) else {
        return Err("its class is not known".to_owned());
    };
    if name.starts_with("__") {
        return Err(format!("`{name}` means something to Python itself"));
    }
    if let Some(other) = own_member(class, new) {
        return Err(format!("`{new}` is already there, in line {}", line(looked.module, other)));
    }
    related(looked, class)?;
    let found: Vec<TextRange> = members::places(looked, member).into_iter().map(|(range, _)| range).collect();
    unsure(looked, name, &found, false)?;
    for file in looked.resolver.sources.mentions(name) {
        let speaks = file.text().contains(class.name.as_str());
        if file.path() == looked.module.path() || !speaks {
            continue;
        }
        let (tree, index) = (CurrentTree::of(&file), looked.resolver.index(&file));
        let other = Looked { resolver: looked.resolver, module: &file, tree: &tree, index: &index };
        if !members::places(&other, member).is_empty() || unsure(&other, name, &[], true).is_err() {
            return Err(format!("`{name}` is used in {}", file.path()));
        }
    }
    Ok(found)
}

/// Classes that are made from one another share their names.
fn related(looked: &Looked<'_, '_>, class: &StmtClassDef) -> Result<(), Refused> {
    let object = |base: &Expr| base.as_name_expr().is_some_and(|base| base.id.as_str() == "object");
    let mut bases = class.arguments.iter().flat_map(|arguments| &arguments.args);
    if bases.any(|base| !object(base)) {
        return Err(format!("`{}` is made from another class, which may have the name too", class.name));
    }
    let own = looked.index.at(range(&class.name).start).map(|mention| mention.binding);
    let mut heir = None;
    each_node(looked.tree.statements(), |node| {
        let AnyNodeRef::StmtClassDef(other) = node else { return };
        let mut bases = other.arguments.iter().flat_map(|arguments| &arguments.args);
        if bases.any(|base| looked.index.at(range(base).start).map(|mention| mention.binding) == own) {
            heir = heir.or(Some(range(&other.name)));
        }
    });
    match heir {
        Some(heir) => Err(format!("the class in line {} is made from this one", line(looked.module, heir))),
        None => Ok(()),
    }
}

/// Refuses where a place of the file may mean a field or method of a name besides those that surely do.
fn unsure(looked: &Looked<'_, '_>, name: &str, sure: &[TextRange], other: bool) -> Result<(), Refused> {
    let mut found: Option<TextRange> = None;
    each_node(looked.tree.statements(), |node| {
        let at = match node {
            // Also what is taken for it for want of another class of this name.
            AnyNodeRef::ExprAttribute(of) if of.attr.as_str() == name => {
                let known = members::sure(looked, of).is_some() || members::is_of_triton(looked, &of.value);
                (!known).then(|| range(&of.attr))
            }
            AnyNodeRef::ExprCall(call) => {
                let last = match &*call.func {
                    Expr::Name(name) => name.id.as_str(),
                    Expr::Attribute(of) => of.attr.as_str(),
                    _ => "",
                };
                let mut strings = call.arguments.args.iter().filter_map(Expr::as_string_literal_expr);
                let string = strings.find(|text| text.value.to_str() == name && last.contains("attr")).map(range);
                let mut named = call.arguments.keywords.iter().filter_map(|keyword| keyword.arg.as_ref());
                let keyword = named.find(|arg| arg.as_str() == name).map(range);
                string.or(keyword.filter(|at| {
                    let known =
                        looked.index.at(at.start).is_some_and(|it| it.range == *at && it.access == NameAccess::Keyword);
                    !known && !sure.contains(at) && (last.contains("replace") || !is_function(looked, called(call)))
                }))
            }
            _ => None,
        };
        found = found.or(at);
    });
    match found {
        Some(at) if !other => Err(format!("line {} may mean the `{name}` of this class", line(looked.module, at))),
        Some(_) => Err(String::new()),
        None => Ok(()),
    }
}

/// Whether what is called is surely no class: a function, or something imported or built in.
fn is_function(looked: &Looked<'_, '_>, callee: &Expr) -> bool {
    let Expr::Name(name) = callee else { return callee.is_attribute_expr() };
    let Some(mention) = looked.index.at(range(name).start) else { return false };
    let kind = looked.index.binding(mention.binding).map(|binding| &binding.kind);
    matches!(kind, Some(BindingKind::Import { .. } | BindingKind::Unbound))
        || looked.index.functions(mention.binding).is_some()
}
