//! Functions and classes of the user's: how they are called, and what their docstrings say.

use ruff_python_ast::{Expr, Stmt, StmtClassDef, StmtFunctionDef};

use super::place::{Place, source};
use crate::Hover;
use base::TextRange;
use python::syntax::{Module, range};
use specialize::imported;

/// Characters of a docstring that are shown.
const DOC: usize = 1500;

/// The hover of the function, class or method of the user's at the place.
pub(super) fn hover(place: &Place<'_>) -> Option<Hover> {
    let name = place.name();
    let own = |module: &Module| of_module(module, name);
    match &place.dotted {
        // A method of what is not known: the one that has the name, if there is but one.
        None => method(place.module, name),
        Some(dotted) => match dotted.rsplit_once('.') {
            None => own(place.module).or_else(|| elsewhere(place, dotted)),
            Some(_) => elsewhere(place, dotted).or_else(|| method(place.module, name)),
        },
    }
    .map(|hover| Hover { range: place.word, ..hover })
}

/// What a name that is imported is in the file that it comes from.
fn elsewhere(place: &Place<'_>, dotted: &str) -> Option<Hover> {
    let (root, rest) = dotted.split_once('.').map_or((dotted, ""), |(root, rest)| (root, rest));
    let full = imported(place.module, place.sources, root)?;
    let full = if rest.is_empty() { full } else { format!("{full}.{rest}") };
    let (module, name) = full.rsplit_once('.')?;
    let module = if module.is_empty() { "." } else { module };
    let file = place.sources.import(place.module.path(), module)?;
    let mut hover = of_module(&file, name)?;
    let path = file.path().rsplit(['/', '\\']).next().unwrap_or_default();
    hover.words.push(format!("From `{path}`."));
    Some(hover)
}

fn of_module(module: &Module, name: &str) -> Option<Hover> {
    module.body().iter().find_map(|stmt| match stmt {
        Stmt::FunctionDef(def) if def.name.as_str() == name => Some(function(module, def)),
        Stmt::ClassDef(class) if class.name.as_str() == name => Some(class_of(module, class)),
        _ => None,
    })
}

/// The function or method whose name stands at a place.
pub(super) fn function_at(module: &Module, at: TextRange) -> Option<Hover> {
    let mut found = None;
    within(module.body(), &mut |stmt| match stmt {
        Stmt::FunctionDef(def) if range(&def.name) == at => found = Some(function(module, def)),
        _ => {}
    });
    found
}

/// The class whose name stands at a place.
pub(super) fn class_at(module: &Module, at: TextRange) -> Option<Hover> {
    let mut found = None;
    within(module.body(), &mut |stmt| match stmt {
        Stmt::ClassDef(class) if range(&class.name) == at => found = Some(class_of(module, class)),
        _ => {}
    });
    found
}

/// The one method of this name in the classes of a file.
fn method(module: &Module, name: &str) -> Option<Hover> {
    let classes = module.body().iter().filter_map(Stmt::as_class_def_stmt);
    let mut found = classes.flat_map(|class| {
        let methods = class.body.iter().filter_map(Stmt::as_function_def_stmt);
        methods.filter(|def| def.name.as_str() == name).map(move |def| (class, def))
    });
    let (class, def) = found.next()?;
    if found.next().is_some() {
        return None;
    }
    let mut hover = function(module, def);
    hover.words.push(format!("A method of `{}`.", class.name));
    Some(hover)
}

fn function(module: &Module, def: &StmtFunctionDef) -> Hover {
    let returns = def.returns.as_ref().map_or_else(String::new, |of| format!(" -> {}", source(module, &**of)));
    let params = source(module, &*def.parameters);
    let params = params.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut code: Vec<String> =
        def.decorator_list.iter().map(|decorator| format!("@{}", source(module, &decorator.expression))).collect();
    code.push(format!("def {}{params}{returns}", def.name));
    Hover { title: def.name.to_string(), code: code.join("\n"), quote: docstring(&def.body), ..Hover::default() }
}

fn class_of(module: &Module, class: &StmtClassDef) -> Hover {
    let fields = class.body.iter().filter_map(Stmt::as_ann_assign_stmt).take(24);
    let fields = fields.map(|field| format!("    {}", source(module, field).lines().next().unwrap_or("").trim_end()));
    let mut code: Vec<String> =
        class.decorator_list.iter().map(|decorator| format!("@{}", source(module, &decorator.expression))).collect();
    code.push(format!("class {}", class.name));
    code.extend(fields);
    Hover { title: class.name.to_string(), code: code.join("\n"), quote: docstring(&class.body), ..Hover::default() }
}

/// A docstring without its indentation.
fn docstring(body: &[Stmt]) -> String {
    let Some(Stmt::Expr(first)) = body.first() else { return String::new() };
    let Expr::StringLiteral(text) = &*first.value else { return String::new() };
    let text: String = text.value.to_str().chars().take(DOC).collect();
    let indents = text.lines().skip(1).filter(|line| !line.trim().is_empty());
    let indent = indents.map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    let lines = text.lines().enumerate().map(|(at, line)| match at {
        0 => line.trim(),
        _ => line.get(indent..).unwrap_or("").trim_end(),
    });
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// Visits statements, and those of the classes among them.
fn within<'m>(body: &'m [Stmt], visit: &mut dyn FnMut(&'m Stmt)) {
    for stmt in body {
        visit(stmt);
        if let Stmt::ClassDef(class) = stmt {
            within(&class.body, visit);
        }
    }
}
