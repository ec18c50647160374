//! Kernels that stand in strings: `name = async_compile.triton('name', '''…''')`, as PyTorch's compiler writes them.
//!
//! The text of such a string is read in its place, as statements behind the assignment: three characters before it and
//! one behind it are others in the text that is parsed ([`Unwrapped::text`]), and no place moves. What stands in one
//! string sees nothing of the next one, so names that several define are told apart in the tree, and a kernel has the
//! name that the string is assigned to.
//!
//! Deviations: all strings share the imports of the file. A string in which a backslash escapes something is not read,
//! as its places are not those of its text; nor is one that is indented, or begins in the line of its quotes.

use std::collections::BTreeMap;
use std::sync::Arc;

use ruff_python_ast::name::Name;
use ruff_python_ast::visitor::transformer::{Transformer, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ModModule, Stmt, StringFlags};
use ruff_python_parser::{Parsed, parse_unchecked_source};
use rustc_hash::FxHashMap;

use crate::names::bound_in;
use crate::range;
use crate::scan::is_blank_or_comment;
use base::TextRange;

/// What has to stand in a text that has kernels in strings.
const CALL: &str = "async_compile.triton(";

/// Bytes of three quotes.
const QUOTES: u32 = 3;

/// A string with the text of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Embedded {
    /// What it is assigned to.
    pub name: String,
    /// Where that stands.
    pub name_range: TextRange,
    /// The name of its kernel in the string.
    pub inner: String,
    /// Where its text stands.
    pub range: TextRange,
    /// Why it is not read.
    pub unread: Option<&'static str>,
}

/// A text whose strings with kernels are statements.
pub(crate) struct Unwrapped {
    /// As long as the file's, line by line.
    pub(crate) text: Arc<str>,
    /// In the order of the text.
    pub(crate) strings: Vec<Embedded>,
}

/// Opens the strings of a text that hold kernels; `None` where there are none.
pub(crate) fn unwrap(text: &str) -> Option<Unwrapped> {
    memchr::memmem::find(text.as_bytes(), CALL.as_bytes())?;
    let parsed = parse_unchecked_source(text, ruff_python_ast::PySourceType::Python);
    let mut bytes = text.as_bytes().to_vec();
    let mut strings = Vec::new();
    for stmt in parsed.suite() {
        let Some((mut found, raw)) = string(stmt) else { continue };
        found.unread = unreadable(found.range.of(text), raw);
        if found.unread.is_none() {
            let (start, end) = (found.range.start as usize, found.range.end as usize);
            let behind = range(stmt).end as usize;
            let (before, after) = bytes.split_at_mut(end);
            if let Some([.., first, second, third]) = before.get_mut(..start) {
                (*first, *second, *third) = (b'\'', b'\'', b')');
            }
            if let Some(backslash) = before.get_mut(start).filter(|byte| **byte == b'\\') {
                *backslash = b' ';
            }
            // The rest of its statement is a comment, and so is each further line of it.
            let rest = after.get_mut(..behind.saturating_sub(end)).unwrap_or_default();
            let mut in_comment = false;
            for byte in rest {
                in_comment &= !matches!(*byte, b'\n' | b'\r');
                if !in_comment && !matches!(*byte, b'\n' | b'\r') {
                    in_comment = true;
                    *byte = b'#';
                }
            }
        }
        strings.push(found);
    }
    if strings.is_empty() {
        return None;
    }
    // What was put in is ASCII, in place of what was.
    let text = String::from_utf8(bytes).ok()?;
    Some(Unwrapped { text: text.into(), strings })
}

/// The string of `name = async_compile.triton('kernel', '''…''')`, and whether it is a raw one.
fn string(stmt: &Stmt) -> Option<(Embedded, bool)> {
    let Stmt::Assign(assign) = stmt else { return None };
    let [Expr::Name(target)] = &*assign.targets else { return None };
    let call = assign.value.as_call_expr()?;
    let method = call.func.as_attribute_expr().filter(|method| method.attr.as_str() == "triton")?;
    method.value.as_name_expr().filter(|of| of.id.as_str() == "async_compile")?;
    let [kernel, source, ..] = &*call.arguments.args else { return None };
    let inner = kernel.as_string_literal_expr()?.value.to_str().to_owned();
    let [part] = source.as_string_literal_expr()?.value.as_slice() else { return None };
    if !part.flags.is_triple_quoted() {
        return None;
    }
    let (whole, prefix) = (range(part), part.flags.prefix());
    let start = whole.start + prefix.as_str().len() as u32 + QUOTES;
    let content = TextRange::new(start, whole.end.checked_sub(QUOTES).filter(|end| start <= *end)?);
    let (name, name_range) = (target.id.to_string(), range(target));
    Some((Embedded { name, name_range, inner, range: content, unread: None }, prefix.is_raw()))
}

/// Why the text of a string cannot be read where it stands.
fn unreadable(text: &str, raw: bool) -> Option<&'static str> {
    let rest = text.strip_prefix('\\').unwrap_or(text);
    if !raw && rest.contains('\\') {
        return Some(
            "backslashes in the string stand for other characters, so that places in it are not those of its text",
        );
    }
    let first = rest.lines().next().unwrap_or("");
    if !is_blank_or_comment(first) {
        return Some("its text begins in the line of the quotes");
    }
    let code = rest.lines().find(|line| !is_blank_or_comment(line))?;
    code.starts_with([' ', '\t']).then_some("its text is indented")
}

/// The tree of a text with opened strings in which kernels have the names that strings are assigned to, and other names
/// that a string defines are those of no other one; `None` where it is the parser's own. `regions` are the places of a
/// string's statements.
pub(crate) fn named(
    parsed: &Parsed<ModModule>,
    strings: &[Embedded],
    regions: impl Fn(&Embedded) -> Vec<TextRange>,
) -> Option<ModModule> {
    let places: Vec<Vec<TextRange>> = strings.iter().map(regions).collect();
    let of = |stmt: &Stmt| {
        let own = range(stmt);
        places.iter().position(|all| all.iter().any(|region| region.contains(own)))
    };
    // By name, in how many strings, and outside of them, it is defined.
    let mut owners: FxHashMap<&str, Vec<Option<usize>>> = FxHashMap::default();
    for stmt in parsed.suite() {
        let owner = of(stmt);
        for name in bound_in(std::slice::from_ref(stmt)) {
            let known = owners.entry(name).or_default();
            if !known.contains(&owner) {
                known.push(owner);
            }
        }
    }
    let imports = |stmt: &Stmt| matches!(stmt, Stmt::Import(_) | Stmt::ImportFrom(_));
    let mut changes: Vec<BTreeMap<String, String>> = vec![BTreeMap::new(); strings.len()];
    for stmt in parsed.suite().iter().filter(|stmt| !imports(stmt)) {
        let Some(at) = of(stmt) else { continue };
        let (Some(string), Some(change)) = (strings.get(at), changes.get_mut(at)) else { continue };
        for name in bound_in(std::slice::from_ref(stmt)) {
            if name == string.inner {
                if name != string.name {
                    change.insert(name.to_owned(), string.name.clone());
                }
            } else if owners.get(name).is_some_and(|owners| owners.len() > 1) {
                change.insert(name.to_owned(), format!("{name} of {}", string.name));
            }
        }
    }
    if changes.iter().all(BTreeMap::is_empty) {
        return None;
    }
    let mut tree = parsed.syntax().clone();
    for stmt in &mut tree.body {
        let Some(change) = of(stmt).and_then(|at| changes.get(at)).filter(|change| !change.is_empty()) else {
            continue;
        };
        Renaming(change.iter().map(|(name, new)| (name.as_str(), new.as_str())).collect()).visit_stmt(stmt);
    }
    Some(tree)
}

/// Gives names of a string others, where they are not those of variables of a function.
struct Renaming<'n>(Vec<(&'n str, &'n str)>);

impl Renaming<'_> {
    fn rename(&self, name: &mut Name) {
        if let Some((_, new)) = self.0.iter().find(|(known, _)| *known == name.as_str()) {
            *name = Name::new(*new);
        }
    }
}

impl Transformer for Renaming<'_> {
    fn visit_stmt(&self, stmt: &mut Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => {
                self.rename(&mut def.name.id);
                let mut inside = self.0.clone();
                let own = bound_in(&def.body);
                inside.retain(|(name, _)| !own.contains(name) && !def.parameters.includes(name));
                walk_stmt(&Renaming(inside), stmt);
            }
            Stmt::ClassDef(def) => {
                self.rename(&mut def.name.id);
                walk_stmt(self, stmt);
            }
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&self, expr: &mut Expr) {
        if let Expr::Name(name) = expr {
            self.rename(&mut name.id);
        }
        walk_expr(self, expr);
    }
}
