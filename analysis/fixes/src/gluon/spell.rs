//! How a file calls a function of Gluon.

use ruff_python_ast::Stmt;

use super::context::PythonContext;
use gluon::{builtin, canonical};

/// Generations of GPUs whose modules take names from each other.
const GENERATIONS: [&str; 4] = ["ampere", "hopper", "blackwell", "rubin"];

/// How the file can call the function of this full name: the spelling that it uses already, or else the
/// shortest that its imports allow.
pub(super) fn spelled(way: &PythonContext<'_>, full: &str) -> Option<String> {
    let mut imports = Vec::new();
    collect(way.module.body(), &mut imports);
    let mut found: Vec<String> = Vec::new();
    for generation in GENERATIONS {
        let variant: Vec<&str> =
            full.split('.').map(|part| if GENERATIONS.contains(&part) { generation } else { part }).collect();
        let variant = variant.join(".");
        if builtin(&variant, way.version) != Some(full) {
            continue;
        }
        for (local, path) in &imports {
            match variant.strip_prefix(path.as_str()) {
                Some("") => found.push(local.clone()),
                Some(rest) if rest.starts_with('.') => found.push(format!("{local}{rest}")),
                _ => {}
            }
        }
    }
    let source = way.module.source();
    found.sort_by_key(|name| (!source.contains(&format!("{name}(")), name.len()));
    found.into_iter().next()
}

/// Names that imports give, with what they stand for.
fn collect(body: &[Stmt], out: &mut Vec<(String, String)>) {
    for stmt in body {
        match stmt {
            Stmt::Import(import) => {
                for alias in &import.names {
                    let path = alias.name.as_str();
                    let local = alias.asname.as_ref().map_or(path, |name| name.as_str());
                    out.push((local.to_owned(), canonical(path).into_owned()));
                }
            }
            Stmt::ImportFrom(import) if import.level == 0 => {
                let Some(module) = &import.module else { continue };
                for alias in &import.names {
                    let name = alias.name.as_str();
                    let local = alias.asname.as_ref().map_or(name, |name| name.as_str());
                    out.push((local.to_owned(), canonical(&format!("{module}.{name}")).into_owned()));
                }
            }
            Stmt::Try(stmt) => collect(&stmt.body, out),
            Stmt::If(stmt) => collect(&stmt.body, out),
            _ => {}
        }
    }
}
