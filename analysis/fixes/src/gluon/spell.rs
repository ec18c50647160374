//! How a file calls a function of Gluon.

use ruff_python_ast::Stmt;

use super::context::PythonContext;
use gluon::{Target, builtin, canonical};

/// Generations of GPUs whose modules take names from each other, by vendor.
const NVIDIA: (&str, &[&str]) = ("nvidia", &["ampere", "hopper", "blackwell", "rubin"]);
const AMD: (&str, &[&str]) = ("amd", &["cdna3", "cdna4", "cdna5", "gfx1250"]);

/// The modules of a target's vendor, the target's own first and then those of the generations before it.
fn modules(target: Target) -> Vec<String> {
    let ((vendor, generations), own) = match target {
        Target::Cuda(capability) => {
            (NVIDIA, if capability >= 100 { "blackwell" } else { hopper_or_before(capability) })
        }
        Target::Gfx942 => (AMD, "cdna3"),
        Target::Gfx950 => (AMD, "cdna4"),
        Target::Gfx1250 => (AMD, "gfx1250"),
    };
    let at = generations.iter().position(|generation| *generation == own).map_or(0, |at| at + 1);
    let (before, after) = generations.split_at_checked(at).unwrap_or((generations, &[]));
    before.iter().rev().chain(after).map(|generation| format!("gl.{vendor}.{generation}")).collect()
}

fn hopper_or_before(capability: u32) -> &'static str {
    if capability >= 90 { "hopper" } else { "ampere" }
}

/// How the file can call the function of this full name: the spelling that it uses already, or else that of the
/// target's module, the shortest that its imports allow.
pub(super) fn spelled(way: &PythonContext<'_>, full: &str) -> Option<String> {
    let mut imports = Vec::new();
    collect(way.module.body(), &mut imports);
    let source = way.module.source();
    // What is used already comes first: the function, and then the module that it is in.
    let unused = |name: &str| {
        let module = name.rsplit_once('.').map_or("", |(module, _)| module);
        let is_used = |text: String| text.len() > 1 && source.contains(&text);
        (!is_used(format!("{name}(")), !module.is_empty() && !is_used(format!("{module}.")))
    };
    let mut found: Vec<((bool, bool), usize, usize, String)> = Vec::new();
    for (rank, variant) in variants(way, full).into_iter().enumerate() {
        for (local, path) in &imports {
            let name = match variant.strip_prefix(path.as_str()) {
                Some("") => local.clone(),
                Some(rest) if rest.starts_with('.') => format!("{local}{rest}"),
                _ => continue,
            };
            found.push((unused(&name), rank, name.len(), name));
        }
    }
    found.into_iter().min().map(|(.., name)| name)
}

/// The full names that a function has in the modules of the target's vendor, the nearest first.
fn variants(way: &PythonContext<'_>, full: &str) -> Vec<String> {
    let tail = full.split_once('.').and_then(|(_, rest)| {
        let (vendor, rest) = rest.split_once('.')?;
        let (generation, tail) = rest.split_once('.')?;
        let known = [NVIDIA, AMD].iter().any(|(own, all)| *own == vendor && all.contains(&generation));
        known.then_some(tail)
    });
    let Some(tail) = tail else { return vec![full.to_owned()] };
    let all = modules(way.target).into_iter().map(|module| format!("{module}.{tail}"));
    all.filter(|name| builtin(name, way.version).is_some()).collect()
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
