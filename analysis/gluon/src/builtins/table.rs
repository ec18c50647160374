//! Finding what a full name stands for.
//!
//! The table is the sum of the [`Part`]s of this room's files. A name that a module takes from another is
//! found by way of [`modules`]. Names that a release does not have are not found; [`gone`] says what became
//! of those that an earlier one had.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::modules::{self, canonical};
use super::{Class, Row};
use crate::spec::Version;
use crate::value::{DType, Value};

/// One file's share of the table.
pub struct Part {
    /// Functions and methods.
    pub rows: &'static [Row],
    /// Classes.
    pub classes: &'static [Class],
    /// Names that stand for a fixed value.
    pub constants: &'static [(&'static str, Fixed)],
    /// Names that some release had and a later one does not.
    pub gone: &'static [Gone],
}

/// An empty one, to fill in with `..NOTHING`.
pub const NOTHING: Part = Part { rows: &[], classes: &[], constants: &[], gone: &[] };

/// A value that needs no running.
#[derive(Clone, Copy, Debug)]
pub enum Fixed {
    DType(DType),
    Bool(bool),
    Float(f64),
    /// A type that is only compared ([`Value::Type`]).
    Type(&'static str),
}

/// A name that is no longer there.
#[derive(Debug)]
pub struct Gone {
    /// Full name, as in [`Row::path`].
    pub path: &'static str,
    /// The last release that had it.
    pub until: Version,
    /// The name in the same module (or, with a dot in it, the full name) that replaces it; empty where
    /// nothing does.
    pub instead: &'static str,
}

/// What one full name is.
#[derive(Clone, Copy)]
enum Item {
    Row(&'static Row),
    Class(&'static Class),
    Fixed(Fixed),
    Gone(&'static Gone),
}

/// By module or class, then by name.
type Index = FxHashMap<&'static str, FxHashMap<&'static str, SmallVec<[Item; 2]>>>;

fn index() -> &'static Index {
    static INDEX: OnceLock<Index> = OnceLock::new();
    INDEX.get_or_init(|| {
        let mut index = Index::default();
        let mut add = |path: &'static str, item| {
            let (owner, name) = split(path);
            index.entry(owner).or_default().entry(name).or_default().push(item);
        };
        for part in super::parts() {
            part.rows.iter().for_each(|row| add(row.path, Item::Row(row)));
            part.classes.iter().for_each(|class| add(class.path, Item::Class(class)));
            part.constants.iter().for_each(|(path, fixed)| add(path, Item::Fixed(*fixed)));
            part.gone.iter().for_each(|gone| add(gone.path, Item::Gone(gone)));
        }
        index
    })
}

fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('.').unwrap_or(("", path))
}

/// What is known of a name of exactly this module.
fn items(owner: &str, name: &str) -> &'static [Item] {
    index().get(owner).and_then(|names| names.get(name)).map_or(&[], |items| items)
}

/// What a full name stands for in a release of Triton; `path` may begin with any of Triton's own spellings
/// (`triton.experimental.gluon.language.float16`). Modules are [`Value::Lib`].
pub fn lookup<'a>(path: &str, version: Version) -> Option<Value<'a>> {
    let path = canonical(path);
    let (owner, name) = split(&path);
    let found = modules::search(owner, name, |owner, name| {
        items(owner, name).iter().find_map(|item| match *item {
            Item::Row(row) => row.has(version).then_some(Value::Builtin(row)),
            Item::Class(class) => class.has(version).then_some(Value::LibClass(class)),
            Item::Fixed(fixed) => Some(value(fixed)),
            Item::Gone(_) => None,
        })
    });
    found.or_else(|| modules::is_module(&path, version).then(|| Value::Lib(path.as_ref().into())))
}

/// The full name of the function that a name stands for in a release of Triton.
pub fn builtin(path: &str, version: Version) -> Option<&'static str> {
    match lookup(path, version) {
        Some(Value::Builtin(row)) => Some(row.path),
        _ => None,
    }
}

fn value<'a>(fixed: Fixed) -> Value<'a> {
    match fixed {
        Fixed::DType(dtype) => Value::DType(dtype),
        Fixed::Bool(value) => Value::Bool(value),
        Fixed::Float(value) => Value::Float(value),
        Fixed::Type(name) => Value::Type(name.into()),
    }
}

/// A method of one of Gluon's or Python's own classes: `shared_memory_descriptor`, `index`; `str`, `join`.
/// Classes have the methods of what they extend.
pub fn member(of: &str, name: &str, version: Version) -> Option<&'static Row> {
    let own = items(of, name).iter().find_map(|item| match item {
        Item::Row(row) if row.has(version) => Some(*row),
        _ => None,
    });
    own.or_else(|| class(of).filter(|class| !class.base.is_empty()).and_then(|class| member(class.base, name, version)))
}

/// The class of a full name.
pub(super) fn class(path: &str) -> Option<&'static Class> {
    let (owner, name) = split(path);
    items(owner, name).iter().find_map(|item| if let Item::Class(class) = item { Some(*class) } else { None })
}

/// What became of a name that this release does not have: the full name of what replaces it, if anything
/// does, and the last release that had it.
pub fn gone(path: &str, version: Version) -> Option<(Option<String>, Version)> {
    let path = canonical(path);
    let (owner, name) = split(&path);
    modules::search(owner, name, |owner, name| {
        items(owner, name).iter().find_map(|item| match item {
            Item::Gone(gone) if gone.until < version => Some(match gone.instead {
                "" => (None, gone.until),
                full if full.contains('.') => (Some(full.to_owned()), gone.until),
                name => (Some(format!("{owner}.{name}")), gone.until),
            }),
            _ => None,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_full_name_has_two_meanings_in_one_release() {
        for (path, items) in index().values().flatten() {
            for minor in 4..10 {
                let version = Version(3, minor);
                let meanings = items.iter().filter(|item| match item {
                    Item::Row(row) => row.has(version),
                    Item::Class(class) => class.has(version),
                    Item::Fixed(_) => true,
                    Item::Gone(gone) => gone.until < version,
                });
                assert!(meanings.count() <= 1, "{path:?} in 3.{minor}");
            }
        }
    }

    #[test]
    fn parameters_of_every_row_can_be_read() {
        for row in super::super::parts().flat_map(|part| part.rows) {
            assert!(!row.params.contains("_semantic"), "{}", row.path);
            let open = row.params.matches(['(', '[']).count();
            assert_eq!(open, row.params.matches([')', ']']).count(), "{}", row.path);
        }
    }
}
