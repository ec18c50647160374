//! Fields and methods of classes: which one a place means, where all of one stand, and what a class offers.

use std::sync::Arc;

use base::TextRange;
use python::syntax::{CurrentTree, Module, Sources, each_node, path_at, range};
use ruff_python_ast::{AnyNodeRef, Expr, ExprAttribute, ExprContext, Stmt, StmtClassDef, StmtFunctionDef};

use super::definition::{class_of_things, parameter};
use super::infer::{Looked, is_class};
use super::resolve::{Defined, FilePlace, Meaning, Resolver, defined_at, own_member};
use crate::python::names::{NameAccess, ScopeKind};

/// The field or method that stands at an offset: where it is defined, at `object.name`, as the keyword of a call.
pub(super) fn member_at(looked: &Looked<'_, '_>, offset: u32) -> Option<FilePlace> {
    let here = |range| FilePlace { module: looked.module.clone(), range };
    if let Some(mention) = looked.index.at(offset) {
        let binding = looked.index.binding(mention.binding)?;
        return in_class(looked, binding.range).then(|| here(binding.range));
    }
    let path = path_at(looked.tree, offset);
    path.iter().rev().find_map(|node| match node {
        AnyNodeRef::ExprAttribute(of) if range(&of.attr).touches(offset) => attribute(looked, of),
        AnyNodeRef::Keyword(keyword) if keyword.arg.as_ref().is_some_and(|arg| range(arg).touches(offset)) => {
            let call = path.iter().rev().find_map(|node| match node {
                AnyNodeRef::ExprCall(call) => Some(*call),
                _ => None,
            })?;
            parameter(looked, &call.func, keyword.arg.as_ref()?.as_str()).filter(|place| is_member(looked, place))
        }
        _ => None,
    })
}

/// Whether the name that is bound at a place belongs to a class body.
fn in_class(looked: &Looked<'_, '_>, at: TextRange) -> bool {
    let binding = looked.index.at(at.start).and_then(|mention| looked.index.binding(mention.binding));
    let scope = binding.and_then(|binding| looked.index.scope(binding.scope));
    scope.is_some_and(|scope| scope.kind == ScopeKind::Class)
}

/// Whether a place is a field or method of a class: in its body, or where a method gives it a value.
fn is_member(looked: &Looked<'_, '_>, place: &FilePlace) -> bool {
    looked
        .at(&place.module, |looked| match looked.index.at(place.range.start) {
            Some(mention) if mention.range == place.range => in_class(looked, place.range),
            _ => !place.range.is_empty(),
        })
        .unwrap_or(false)
}

/// The field or method that `object.name` means: by the class of the object, or as the one of that name in the file's
/// classes where nothing is known of the object.
fn attribute(looked: &Looked<'_, '_>, of: &ExprAttribute) -> Option<FilePlace> {
    if let Some(known) = sure(looked, of) {
        return known;
    }
    // What memory and tensors have too is more likely theirs.
    let name = of.attr.as_str();
    if !gluon::methods(name, gluon::Version::default()).is_empty() {
        return None;
    }
    let [only] = &named(looked, name)[..] else { return None };
    class_of_things(looked, &of.value).is_none().then(|| only.clone())
}

/// The same where it is sure; `Some(None)` where it is surely no field or method of a class that is at hand.
pub(super) fn sure(looked: &Looked<'_, '_>, of: &ExprAttribute) -> Option<Option<FilePlace>> {
    match looked.attribute(of) {
        Some(Meaning::Place(place)) => Some(Some(place).filter(|place| is_member(looked, place))),
        Some(Meaning::Module(_)) => Some(None),
        None if looked.imported(&of.value) || looked.class(&of.value).is_some() => Some(None),
        None => None,
    }
}

/// Whether an expression is memory or a descriptor, of which Triton defines what it has.
pub(super) fn is_of_triton(looked: &Looked<'_, '_>, expr: &Expr) -> bool {
    class_of_things(looked, expr).is_some()
}

/// The fields and methods of this name in the classes of the file.
fn named(looked: &Looked<'_, '_>, name: &str) -> Vec<FilePlace> {
    let mut found = Vec::new();
    each_node(looked.tree.statements(), |node| {
        if let AnyNodeRef::StmtClassDef(class) = node {
            let member = own_member(class, name);
            found.extend(member.map(|range| FilePlace { module: looked.module.clone(), range }));
        }
    });
    found
}

/// Every place of a file that means a field or method, with what is done there.
pub(super) fn places(looked: &Looked<'_, '_>, member: &FilePlace) -> Vec<(TextRange, NameAccess)> {
    let name = member.range.of(member.module.text());
    let mut found = Vec::new();
    let own = member.module.path() == looked.module.path();
    if own && let Some(mention) = looked.index.at(member.range.start).filter(|it| it.range == member.range) {
        found.extend(looked.index.places(mention.binding).map(|place| (place.range, place.access)));
    }
    each_node(looked.tree.statements(), |node| match node {
        AnyNodeRef::ExprAttribute(of) if of.attr.as_str() == name && attribute(looked, of).as_ref() == Some(member) => {
            let access = if of.ctx == ExprContext::Load { NameAccess::Read } else { NameAccess::Bind };
            found.push((range(&of.attr), access));
        }
        AnyNodeRef::ExprCall(call) => {
            for keyword in &call.arguments.keywords {
                if let Some(arg) = keyword.arg.as_ref().filter(|arg| arg.as_str() == name)
                    && looked.index.at(range(arg).start).is_none_or(|it| it.range != range(arg))
                    && parameter(looked, &call.func, name).as_ref() == Some(member)
                {
                    found.push((range(arg), NameAccess::Keyword));
                }
            }
        }
        _ => {}
    });
    found.sort_by_key(|(range, _)| *range);
    found.dedup_by_key(|(range, _)| *range);
    found
}

/// The places of other files that mean a field or method: of those that speak of its class or its file.
pub(super) fn elsewhere(resolver: &Resolver<'_>, member: &FilePlace, except: &Module) -> Vec<FilePlace> {
    let name = member.range.of(member.module.text());
    let class = class_around(member).map(|(class, _)| class.range.of(member.module.text()).to_owned());
    let stem = member.module.path().rsplit(['/', '\\']).next().unwrap_or("").trim_end_matches(".py").to_owned();
    let mut found = Vec::new();
    for file in resolver.sources.mentions(name) {
        let own = file.path() == member.module.path();
        let speaks = || file.text().contains(&stem) || class.as_ref().is_some_and(|class| file.text().contains(class));
        if file.path() == except.path() || !own && !speaks() {
            continue;
        }
        let (tree, index) = (CurrentTree::of(&file), resolver.index(&file));
        let looked = Looked { resolver, module: &file, tree: &tree, index: &index };
        let all = places(&looked, member).into_iter();
        found.extend(all.map(|(range, _)| FilePlace { module: file.clone(), range }));
    }
    found
}

/// The class that a field or method is of, at its name, and whether it is a method.
pub(super) fn class_around(member: &FilePlace) -> Option<(FilePlace, bool)> {
    let tree = CurrentTree::of(&member.module);
    let mut found = None;
    each_node(tree.statements(), |node| {
        if let AnyNodeRef::StmtClassDef(class) = node
            && range(class).contains(member.range)
        {
            let method = class.body.iter().filter_map(Stmt::as_function_def_stmt);
            let method = method.map(|def| range(&def.name)).any(|name| name == member.range);
            found = Some((FilePlace { module: member.module.clone(), range: range(&class.name) }, method));
        }
    });
    found
}

/// What a class offers to its objects.
pub(crate) struct Offered {
    /// Its name.
    pub(crate) name: String,
    /// Whether it is a method.
    pub(crate) method: bool,
    /// The annotation of a field, the parameters of a method.
    pub(crate) detail: String,
}

/// The expression that stands at a place of the text, and may be half of a statement that does not parse.
pub(crate) fn expression(module: &Module, at: TextRange) -> Option<Expr> {
    let range = ruff_text_size::TextRange::new(at.start.into(), at.end.into());
    let parsed = ruff_python_parser::parse_expression_range(module.text(), range).ok()?;
    Some(*parsed.into_syntax().body)
}

/// What the class of the object that an expression at a place gives offers; of a class itself, the same.
pub(crate) fn offered(module: &Arc<Module>, at: TextRange, sources: &dyn Sources) -> Option<Vec<Offered>> {
    let expr = expression(module, at)?;
    ask(module, sources, |looked| {
        let itself = looked.meaning(&expr).and_then(|meaning| match meaning {
            Meaning::Place(place) if is_class(&place) => Some(place),
            _ => None,
        });
        let class = itself.or_else(|| looked.class(&expr))?;
        let mut found: Vec<Offered> = Vec::new();
        looked.lineage(&class, &mut |module, def| {
            for one in of_class(module, def) {
                if !found.iter().any(|known| known.name == one.name) {
                    found.push(one);
                }
            }
        });
        Some(found)
    })
}

fn of_class(module: &Module, class: &StmtClassDef) -> Vec<Offered> {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut found = Vec::new();
    let mut add = |name: &str, method: bool, detail: String| {
        if !name.starts_with("__") {
            found.push(Offered { name: name.to_owned(), method, detail });
        }
    };
    for statement in &class.body {
        match statement {
            Stmt::FunctionDef(def) => add(def.name.as_str(), true, plain(range(&*def.parameters).of(module.text()))),
            Stmt::AnnAssign(field) => {
                let annotation = plain(range(&*field.annotation).of(module.text()));
                field.target.as_name_expr().iter().for_each(|name| add(name.id.as_str(), false, annotation.clone()));
            }
            Stmt::Assign(fields) => {
                let names = fields.targets.iter().filter_map(Expr::as_name_expr);
                names.for_each(|name| add(name.id.as_str(), false, String::new()));
            }
            _ => {}
        }
    }
    // Fields that methods make.
    each_node(class.body.iter(), |node| {
        if let AnyNodeRef::ExprAttribute(of) = node
            && of.ctx == ExprContext::Store
            && of.value.as_name_expr().is_some_and(|object| object.id.as_str() == "self")
        {
            add(of.attr.as_str(), false, String::new());
        }
    });
    found
}

/// The function or method that an expression at a place of the text names, and whether its first parameter is the
/// object that it is called on.
pub(crate) fn function_at<R>(
    module: &Arc<Module>,
    at: TextRange,
    sources: &dyn Sources,
    show: impl FnOnce(&StmtFunctionDef, &str, bool) -> R,
) -> Option<R> {
    let expr = expression(module, at)?;
    let (place, bound) = ask(module, sources, |looked| {
        let Meaning::Place(place) = looked.meaning(&expr)? else { return None };
        let object = expr.as_attribute_expr().is_some_and(|of| looked.class(&of.value).is_some());
        Some((place, object))
    })?;
    let tree = CurrentTree::of(&place.module);
    let Some(Defined::Function(def)) = defined_at(&tree, place.range) else { return None };
    Some(show(def, place.module.text(), bound))
}

/// The field or method at an offset with its class, and else the class of the variable there.
pub(crate) enum About {
    /// A field or method, and the class that has it.
    Member(FilePlace, FilePlace, bool),
    /// An object of a class.
    Object(FilePlace),
}

/// What an editor says of the field, method or object at an offset.
pub(crate) fn about(module: &Arc<Module>, offset: u32, sources: &dyn Sources) -> Option<About> {
    ask(module, sources, |looked| {
        if let Some(member) = member_at(looked, offset) {
            let (class, method) = class_around(&member)?;
            return Some(About::Member(member, class, method));
        }
        let mention = looked.index.at(offset)?;
        let binding = looked.index.binding(mention.binding)?;
        let class = looked.class_of_binding(binding)?;
        Some(About::Object(class))
    })
}

fn ask<R>(module: &Arc<Module>, sources: &dyn Sources, ask: impl FnOnce(&Looked<'_, '_>) -> Option<R>) -> Option<R> {
    let resolver = Resolver::new(sources);
    let (tree, index) = (CurrentTree::of(module), resolver.index(module));
    ask(&Looked { resolver: &resolver, module, tree: &tree, index: &index })
}
