//! Where the type of a variable is defined: its class, or the layout that it was made with.

use std::sync::Arc;

use crate::python::names::BindingKind;
use python::syntax::{CurrentTree, Module, Sources, path_at, range};
use ruff_python_ast::{AnyNodeRef, Expr, ExprCall};

use super::definition::place;
use super::infer::{Given, Looked, is_class};
use super::resolve::{FilePlace, Meaning, Resolver};
use crate::limits::names::TYPES as DEPTH;

/// Where the type of what stands at an offset is defined.
pub fn type_definition(module: &Arc<Module>, offset: u32, sources: &dyn Sources) -> Vec<FilePlace> {
    let resolver = Resolver::new(sources);
    let (tree, index) = (CurrentTree::of(module), resolver.index(module));
    let looked = Looked { resolver: &resolver, module, tree: &tree, index: &index };
    let path = path_at(&tree, offset);
    let expr = path.iter().rev().find_map(|node| match node {
        AnyNodeRef::ExprName(name) => Some(Expr::Name((*name).clone())),
        AnyNodeRef::ExprAttribute(attribute) => Some(Expr::Attribute((*attribute).clone())),
        AnyNodeRef::ExprCall(call) => Some(Expr::Call((*call).clone())),
        _ => None,
    });
    let Some(expr) = expr else {
        // The name of a parameter is no expression.
        let parameter = path.iter().rev().find_map(|node| match node {
            AnyNodeRef::Parameter(parameter) if range(&parameter.name).touches(offset) => Some(*parameter),
            _ => None,
        });
        let annotation = parameter.and_then(|parameter| parameter.annotation.as_deref());
        let class = annotation.and_then(|annotation| looked.meaning(annotation)).map(place).filter(is_class);
        return class.into_iter().collect();
    };
    if let Some(class) = looked.class(&expr) {
        return vec![class];
    }
    layout(&looked, &expr, DEPTH).into_iter().collect()
}

/// The layout that an expression was made with: the name that the call gives as `layout`, followed through variables.
fn layout(looked: &Looked<'_, '_>, expr: &Expr, depth: u32) -> Option<FilePlace> {
    let depth = depth.checked_sub(1)?;
    match expr {
        Expr::Name(name) => {
            let mention = looked.index.at(range(name).start)?;
            let binding = looked.index.binding(mention.binding)?;
            if binding.kind != BindingKind::Variable {
                return None;
            }
            match looked.given(binding.range)? {
                Given::Value(value) => layout(looked, value, depth),
                Given::Annotation(_) => None,
            }
        }
        Expr::Call(call) => of_call(looked, call, depth),
        Expr::BinOp(op) => layout(looked, &op.left, depth).or_else(|| layout(looked, &op.right, depth)),
        Expr::Subscript(part) => layout(looked, &part.value, depth),
        Expr::Attribute(of) => layout(looked, &of.value, depth),
        Expr::If(either) => layout(looked, &either.body, depth).or_else(|| layout(looked, &either.orelse, depth)),
        Expr::UnaryOp(op) => layout(looked, &op.operand, depth),
        _ => None,
    }
}

fn of_call(looked: &Looked<'_, '_>, call: &ExprCall, depth: u32) -> Option<FilePlace> {
    let named = call.arguments.keywords.iter().find(|keyword| {
        keyword.arg.as_ref().is_some_and(|arg| arg.as_str() == "layout" || arg.as_str().ends_with("_layout"))
    });
    if let Some(keyword) = named {
        return given_layout(looked, &keyword.value, depth);
    }
    // By place: the variable that holds a layout says so by what it is given.
    let own = call.arguments.args.iter().rev().find_map(|argument| {
        let is = is_layout(looked, argument, depth);
        is.then(|| given_layout(looked, argument, depth)).flatten()
    });
    own.or_else(|| match &*call.func {
        Expr::Attribute(method) => layout(looked, &method.value, depth),
        _ => None,
    })
    .or_else(|| call.arguments.args.iter().find_map(|argument| layout(looked, argument, depth)))
}

/// Whether an expression is a layout: a call of what is called so, or a variable that is given one.
fn is_layout(looked: &Looked<'_, '_>, expr: &Expr, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    match expr {
        Expr::Call(call) => {
            let name = match &*call.func {
                Expr::Name(name) => name.id.as_str(),
                Expr::Attribute(attribute) => attribute.attr.as_str(),
                _ => "",
            };
            name.ends_with("Layout") || name.ends_with("layout") || name == "get_default_for"
        }
        Expr::Attribute(attribute) => attribute.attr.as_str().ends_with("layout"),
        Expr::Name(name) => {
            let binding = looked.index.at(range(name).start).and_then(|mention| looked.index.binding(mention.binding));
            let Some(binding) = binding else { return false };
            let said = binding.name.to_ascii_lowercase().contains("layout");
            said || match looked.given(binding.range) {
                Some(Given::Value(value)) => is_layout(looked, value, depth),
                _ => false,
            }
        }
        _ => false,
    }
}

/// Where a layout is defined that an argument gives.
fn given_layout(looked: &Looked<'_, '_>, expr: &Expr, depth: u32) -> Option<FilePlace> {
    match expr {
        Expr::Name(_) => looked.meaning(expr).map(place),
        Expr::Attribute(_) => match looked.meaning(expr) {
            Some(Meaning::Place(found)) => Some(found),
            _ => layout(looked, expr, depth),
        },
        Expr::Call(_) => Some(FilePlace { module: looked.module.clone(), range: range(expr) }),
        _ => None,
    }
}
