//! Names and what they stand for.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::interp::FileId;
use super::value::Value;

/// Names of a file, a class body or a call, and where to look next.
#[derive(Debug)]
pub struct Scope<'a> {
    pub file: FileId,
    pub names: RefCell<FxHashMap<Rc<str>, Value<'a>>>,
    pub parent: Option<Rc<Scope<'a>>>,
}

impl<'a> Scope<'a> {
    /// What a name stands for here or further out.
    pub fn get(&self, name: &str) -> Option<Value<'a>> {
        let own = self.names.borrow().get(name).cloned();
        own.or_else(|| self.parent.as_ref()?.get(name))
    }

    /// Gives a name a value here.
    pub fn set(&self, name: &str, value: Value<'a>) {
        let mut names = self.names.borrow_mut();
        match names.get_mut(name) {
            Some(slot) => *slot = value,
            None => {
                names.insert(name.into(), value);
            }
        }
    }
}

/// All scopes of an elaboration. A function holds the scope that holds it, so they are emptied at the end.
#[derive(Debug, Default)]
pub struct Scopes<'a>(Vec<Rc<Scope<'a>>>);

impl<'a> Scopes<'a> {
    /// A new scope.
    pub fn open(&mut self, file: FileId, parent: Option<Rc<Scope<'a>>>) -> Rc<Scope<'a>> {
        let scope = Rc::new(Scope { file, names: RefCell::default(), parent });
        self.0.push(scope.clone());
        scope
    }
}

impl Drop for Scopes<'_> {
    fn drop(&mut self) {
        for scope in &self.0 {
            let names = std::mem::take(&mut *scope.names.borrow_mut());
            drop(names);
        }
    }
}
