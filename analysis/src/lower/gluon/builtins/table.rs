//! Finding a row.

use super::{Class, Row};
use crate::lower::gluon::spec::Version;
use crate::lower::gluon::value::Value;

/// What a full name stands for in a release of Triton.
pub fn lookup<'a>(_path: &str, _version: Version) -> Option<Value<'a>> {
    None
}

/// A method or attribute row of one of Gluon's own classes: `shared_memory_descriptor`, `index`.
pub fn member(_class: &str, _name: &str, _version: Version) -> Option<&'static Row> {
    None
}

const _: Option<&Class> = None;
