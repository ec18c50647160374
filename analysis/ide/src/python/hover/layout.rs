//! Layouts as Python makes them: `gl.BlockedLayout([1, 8], [8, 4], [4, 1], [1, 0])`.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprCall, Stmt};

use super::numbers::Scope;
use super::place::{Place, source};
use crate::layout::{Described, Field};
use crate::{Hover, layout_of_spec};
use base::TextRange;
use python::syntax::range;

/// What the call of a layout's class says whose name is at the place.
pub(super) fn of_call(place: &Place<'_>) -> Option<Described> {
    let call = call_named(place)?;
    let scope = Scope::of(place);
    let Field::Layout(spec) = scope.field(&Expr::Call(call.clone()))? else { return None };
    Some(layout_of_spec(&spec, None))
}

/// What the layout is that the name at the place is given.
pub(super) fn of_variable(place: &Place<'_>) -> Option<Hover> {
    let name = place.dotted.as_deref().filter(|dotted| !dotted.contains('.'))?;
    let scope = Scope::of(place);
    let expr = scope.assigned(name);
    let field = match expr {
        Some(expr) => scope.field(expr)?,
        None => return None,
    };
    let title = name.to_owned();
    let code = expr.map_or_else(String::new, |expr| format!("{name} = {}", source(place.module, expr)));
    match field {
        Field::Layout(spec) => {
            let described = layout_of_spec(&spec, None);
            let (words, picture) = (described.words, described.picture);
            Some(Hover { range: place.word, title, code, words, picture, ..Hover::default() })
        }
        Field::Int(number) => {
            Some(Hover { range: place.word, title: format!("{name} = {number}"), code, ..Hover::default() })
        }
        Field::Word(_) | Field::List(_) => None,
    }
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
