//! Fields, methods and objects of classes that are at hand.

use ruff_python_ast::AnyNodeRef;

use super::helper;
use super::place::Place;
use crate::Hover;
use crate::python::navigate::{About, FilePlace};
use base::TextRange;
use python::syntax::{each_node, range};

/// The hover of a method.
pub(super) fn method(place: &Place<'_>, about: Option<&About>) -> Option<Hover> {
    match about? {
        About::Member(member, class, true) => shown(place, member, class, true),
        _ => None,
    }
}

/// The hover of a field, or of a variable that is an object.
pub(super) fn hover(place: &Place<'_>, about: Option<&About>) -> Option<Hover> {
    match about? {
        About::Member(member, class, method) => shown(place, member, class, *method),
        About::Object(class) => {
            let known = helper::class_at(&class.module, class.range)?;
            let name = place.name();
            let code = format!("{name}: {}", known.title);
            let words = vec![format!("An object of `{}`{}.", known.title, from(place, class))];
            Some(Hover {
                range: place.word,
                title: name.to_owned(),
                code,
                words,
                quote: known.quote,
                ..Hover::default()
            })
        }
    }
}

fn shown(place: &Place<'_>, member: &FilePlace, class: &FilePlace, method: bool) -> Option<Hover> {
    let text = member.module.text();
    let owner = class.range.of(text);
    let mut hover = match method {
        true => helper::function_at(&member.module, member.range)?,
        false => Hover { title: member.range.of(text).to_owned(), code: field(member), ..Hover::default() },
    };
    hover.range = place.word;
    let what = if method { "method" } else { "field" };
    hover.words.push(format!("A {what} of `{owner}`{}.", from(place, class)));
    Some(hover)
}

fn from(place: &Place<'_>, of: &FilePlace) -> String {
    let path = of.module.path();
    match path == place.module.path() {
        true => String::new(),
        false => format!(", from `{}`", path.rsplit(['/', '\\']).next().unwrap_or_default()),
    }
}

/// The line that makes a field.
fn field(member: &FilePlace) -> String {
    let mut found: Option<TextRange> = None;
    each_node(member.module.body().iter(), |node| {
        let statement = match node {
            AnyNodeRef::StmtAnnAssign(of) => range(of),
            AnyNodeRef::StmtAssign(of) => range(of),
            _ => return,
        };
        if statement.contains(member.range) {
            found = Some(statement);
        }
    });
    let text = found.map_or("", |at| at.of(member.module.text()));
    text.lines().next().unwrap_or("").trim_end().to_owned()
}
