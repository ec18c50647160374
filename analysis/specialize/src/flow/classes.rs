//! The classes that a kernel can be handed: those of its file, and those of the files that it imports, each with the
//! expression that names it there and the methods that it has.

use std::sync::Arc;

use ruff_python_ast::{Expr, Stmt};

use python::syntax::{Module, Sources};

/// A class with its methods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Class {
    /// How the file names it: `Scheduler`, `other.Scheduler`.
    pub name: String,
    pub methods: Vec<String>,
}

/// All that a file can name, in the order of the text.
pub(super) fn of(module: &Arc<Module>, sources: &dyn Sources) -> Vec<Class> {
    let mut all = Vec::new();
    for stmt in module.body() {
        match stmt {
            Stmt::ClassDef(_) => all.extend(class(stmt, "")),
            Stmt::ImportFrom(import) => {
                let base = import.module.as_ref().map_or("", |name| name.as_str());
                let from = format!("{}{base}", ".".repeat(import.level as usize));
                for alias in &import.names {
                    let own = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
                    let dot = if from.ends_with('.') || from.is_empty() { "" } else { "." };
                    if let Some(other) = workspace(module, sources, &format!("{from}{dot}{}", alias.name.as_str()))
                        && stem(&other) == alias.name.as_str()
                    {
                        all.extend(other.body().iter().filter_map(|stmt| class(stmt, &format!("{own}."))));
                    } else if let Some(other) = workspace(module, sources, &from) {
                        let found = other.body().iter().filter_map(|stmt| class(stmt, ""));
                        let named = found.filter(|class| class.name == alias.name.as_str());
                        all.extend(named.map(|class| Class { name: own.to_owned(), ..class }));
                    }
                }
            }
            Stmt::Import(import) => {
                for alias in &import.names {
                    let own = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
                    if let Some(other) = workspace(module, sources, alias.name.as_str()) {
                        all.extend(other.body().iter().filter_map(|stmt| class(stmt, &format!("{own}."))));
                    }
                }
            }
            Stmt::Assign(assign) => {
                let [Expr::Name(own)] = &assign.targets[..] else { continue };
                if let Some(path) = imported(&assign.value)
                    && let Some(other) = workspace(module, sources, &path)
                {
                    let before = format!("{}.", own.id.as_str());
                    all.extend(other.body().iter().filter_map(|stmt| class(stmt, &before)));
                }
            }
            _ => {}
        }
    }
    all
}

/// A file of the workspace; Triton's own classes are none that a kernel is handed.
fn workspace(module: &Module, sources: &dyn Sources, name: &str) -> Option<Arc<Module>> {
    if name.is_empty() || name.split('.').next() == Some("triton") {
        return None;
    }
    sources.import(module.path(), name)
}

/// The name of a file without its folder and ending.
fn stem(module: &Module) -> &str {
    let path = module.path();
    let last = path.rsplit(['/', '\\']).next().unwrap_or(path);
    last.strip_suffix(".py").unwrap_or(last)
}

/// The module of `importlib.import_module("…")`.
pub(super) fn imported(value: &Expr) -> Option<String> {
    let Expr::Call(call) = value else { return None };
    let last = match &*call.func {
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        Expr::Name(name) => name.id.as_str(),
        _ => return None,
    };
    match call.arguments.args.first() {
        Some(Expr::StringLiteral(text)) if last == "import_module" => Some(text.value.to_str().to_owned()),
        _ => None,
    }
}

fn class(stmt: &Stmt, before: &str) -> Option<Class> {
    let Stmt::ClassDef(def) = stmt else { return None };
    let methods = def.body.iter().filter_map(|stmt| match stmt {
        Stmt::FunctionDef(method) => Some(method.name.to_string()),
        _ => None,
    });
    Some(Class { name: format!("{before}{}", def.name.as_str()), methods: methods.collect() })
}
