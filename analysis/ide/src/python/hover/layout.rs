//! Layouts as Python makes them: `gl.BlockedLayout([1, 8], [8, 4], [4, 1], [1, 0])`.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprCall, Stmt};

use super::numbers::Scope;
use super::place::{Place, source};
use crate::layout::{Described, Field};
use crate::{Hover, layout_of_spec};
use base::TextRange;
use python::syntax::range;

/// Instances whose values of one name are told apart.
const INSTANCES: usize = 8;

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
    let annotation = expr.map_or_else(String::new, |expr| scope.annotation(expr));
    let value = |scope: &Scope<'_, '_>| match expr {
        Some(expr) => scope.field(expr),
        None => scope.parameter_at(place.offset),
    };
    let mut fields: Vec<(Option<Field>, String)> = Vec::new();
    let all = scope.instances();
    if all.is_empty() {
        fields.push((value(&scope), String::new()));
    }
    for instance in all {
        scope = scope.with(instance);
        let field = value(&scope);
        // An instance that does not come here says nothing of a parameter.
        if !fields.iter().any(|(known, _)| *known == field) && (expr.is_some() || field.is_some()) {
            fields.push((field, instance.instance.label.clone()));
        }
    }
    let code = expr.map_or_else(String::new, |expr| format!("{name}{annotation} = {}", source(place.module, expr)));
    let mut hover = Hover { range: place.word, title: name.to_owned(), code, ..Hover::default() };
    let [(only, _)] = &fields[..] else {
        let numbers = fields.iter().filter_map(|(field, label)| match field {
            Some(Field::Int(number)) => Some((*number, label)),
            _ => None,
        });
        hover.words = numbers.take(INSTANCES).map(|(number, label)| format!("`{number}` with {label}.")).collect();
        return (!hover.words.is_empty() || !annotation.is_empty()).then_some(hover);
    };
    match only {
        Some(Field::Layout(spec)) => {
            let described = layout_of_spec(spec, None);
            (hover.words, hover.picture) = (described.words, described.picture);
        }
        Some(Field::Int(number)) => hover.title = format!("{name} = {number}"),
        // Of a constexpr its definition is worth showing.
        _ if !annotation.is_empty() => hover.title = format!("{name}{annotation}"),
        _ => return None,
    }
    Some(hover)
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
