//! Classes of named tuples that no `class` statement writes: of `collections.namedtuple`, and of arguments of a kernel,
//! of which only the names and types of their fields are known.
//!
//! Deviation: such a class is that of a statement which says the same, in a file of its own that no disk has.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use crate::interp::{Eval, Interp, Stop};
use crate::syntax::Module;
use crate::value::{ClassInstance, Value};

impl<'a> Interp<'a> {
    /// A class of named tuples with these fields.
    ///
    /// # Errors
    ///
    /// Where a name is none, or too many files are there already.
    pub fn named_tuple(&mut self, name: &str, fields: &[&str]) -> Eval<'a> {
        if !fields.iter().chain([&name]).all(|name| crate::syntax::texts::is_name(name)) {
            return self.raise("a named tuple and its fields have names");
        }
        let body: String = fields.iter().map(|field| format!("    {field}: object\n")).collect();
        let body = if body.is_empty() { "    pass\n" } else { &body };
        let text = format!("from typing import NamedTuple\n\n\nclass {name}(NamedTuple):\n{body}");
        let path = format!("<{name}({})>", fields.join(", "));
        let Value::Module(scope) = self.module(Arc::new(Module::parse(path, text, None)))? else {
            return self.unknown("a named tuple is not followed");
        };
        match self.module_attribute(&scope, name)? {
            Some(class) => Ok(class),
            None => self.unknown("a named tuple is not followed"),
        }
    }

    /// A named tuple of values.
    pub(super) fn named_tuple_of(&mut self, fields: &[(&str, Value<'a>)]) -> Result<Value<'a>, Stop> {
        let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
        match self.named_tuple("named_tuple", &names)? {
            Value::Class(class) => {
                let fields = fields.iter().map(|(name, value)| (Rc::from(*name), value.clone())).collect();
                Ok(Value::Instance(Rc::new(ClassInstance { class, fields: RefCell::new(fields) })))
            }
            _ => self.unknown("a named tuple is not followed"),
        }
    }
}
