//! Layouts as Python makes them: `gl.BlockedLayout([1, 8], [8, 4], [4, 1], [1, 0])`.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprCall, Stmt};

use super::numbers::Scope;
use super::place::{Place, source};
use crate::{Hover, layout_of_spec};
use base::TextRange;
use python::syntax::range;
use ttgir::layout::{Described, Field};

/// Instances whose values of one name are told apart.
const INSTANCES: usize = 8;

/// Parts of an instance's label that are told of one value.
const PARTS: usize = 2;

/// What the call of a layout's class says whose name is at the place.
pub(super) fn of_call(place: &Place<'_>) -> Option<Described> {
    let call = call_named(place)?;
    let scope = Scope::of(place);
    let Field::Layout(spec) = scope.field(&Expr::Call(call.clone()))? else { return None };
    Some(layout_of_spec(&spec, None))
}

/// What the layout, number or constexpr is that the name at the place is given: in each instance, where they differ.
pub(super) fn of_variable(place: &Place<'_>) -> Option<Hover> {
    let name = place.dotted.as_deref().filter(|dotted| !dotted.contains('.'))?;
    let mut scope = Scope::of(place);
    let expr = scope.assigned_at(place.offset);
    let annotation = match expr {
        Some(expr) => scope.annotation(expr),
        None => scope.annotation_at(place.offset),
    };
    let value = |scope: &Scope<'_, '_>| match expr {
        Some(expr) => scope.field(expr),
        None => scope.parameter_at(place.offset),
    };
    // Each value with the labels of the instances that have it.
    let mut fields: Vec<(Option<Field>, Vec<&str>)> = Vec::new();
    let all = scope.instances();
    if all.is_empty() {
        fields.push((value(&scope), Vec::new()));
    }
    for instance in all {
        scope = scope.with(instance);
        let field = value(&scope);
        let label = instance.instance.label.as_str();
        match fields.iter_mut().find(|(known, _)| *known == field) {
            Some((_, labels)) => labels.push(label),
            // An instance that does not come here says nothing of a parameter.
            None if expr.is_none() && field.is_none() => {}
            None => fields.push((field, vec![label])),
        }
    }
    let code = expr.map_or_else(String::new, |expr| format!("{name}{annotation} = {}", source(place.module, expr)));
    let title = format!("{name}{annotation}");
    let mut hover = Hover { range: place.word, title, code, ..Hover::default() };
    let [(only, _)] = &fields[..] else {
        let others = |at: usize| fields.iter().enumerate().filter(move |(other, _)| *other != at);
        let numbers = fields.iter().enumerate().filter_map(|(at, (field, labels))| match field {
            Some(Field::Int(number)) => {
                let others: Vec<&str> = others(at).flat_map(|(_, (_, labels))| labels.iter().copied()).collect();
                Some(with(*number, labels, &others))
            }
            _ => None,
        });
        hover.words = numbers.take(INSTANCES).collect();
        return (!hover.words.is_empty() || !annotation.is_empty()).then_some(hover);
    };
    match only {
        Some(Field::Layout(spec)) => {
            let described = layout_of_spec(spec, None);
            (hover.title, hover.words, hover.picture) = (name.to_owned(), described.words, described.picture);
        }
        Some(Field::Int(number)) => hover.title = format!("{name} = {number}"),
        // Of a constexpr its definition is worth showing.
        _ if !annotation.is_empty() => {}
        _ => return None,
    }
    Some(hover)
}

/// A number with what tells the instances that have it from the others: the shortest of what all of them say.
fn with(number: i64, labels: &[&str], others: &[&str]) -> String {
    let says = |label: &str, part: &str| label.split(", ").any(|other| other == part);
    let parts = labels.first().into_iter().flat_map(|label| label.split(", "));
    let own = parts
        .filter(|part| labels.iter().all(|label| says(label, part)) && !others.iter().any(|label| says(label, part)));
    let mut own: Vec<&str> = own.filter(|part| !part.is_empty()).collect();
    own.sort_by_key(|part| part.len());
    own.truncate(PARTS);
    if own.is_empty() {
        let known = if labels.len() == 1 { "one instance" } else { "some instances" };
        return format!("`{number}` in {known}.");
    }
    format!("`{number}` with {}.", own.join(", "))
}

/// The call whose function's name is at the place.
fn call_named(place: &Place<'_>) -> Option<ExprCall> {
    struct Find<'a> {
        word: TextRange,
        found: Option<&'a ExprCall>,
    }
    impl<'a> Visitor<'a> for Find<'a> {
        fn visit_stmt(&mut self, stmt: &'a Stmt) {
            if range(stmt).contains(self.word) {
                walk_stmt(self, stmt);
            }
        }
        fn visit_expr(&mut self, expr: &'a Expr) {
            if !range(expr).contains(self.word) {
                return;
            }
            if let Expr::Call(call) = expr
                && range(&*call.func).end == self.word.end
            {
                self.found = Some(call);
            }
            walk_expr(self, expr);
        }
    }
    let mut find = Find { word: place.word, found: None };
    place.module.body().iter().for_each(|stmt| find.visit_stmt(stmt));
    find.found.cloned()
}
