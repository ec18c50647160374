//! Names and what they stand for.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::origin::FileId;
use crate::syntax::Body;
use crate::value::Value;

/// From how many names on they are found by hash.
const FEW: usize = 16;

/// Names in the order in which they were first set.
#[derive(Clone, Debug, Default)]
pub struct NameTable<'a> {
    list: Vec<(Rc<str>, Value<'a>)>,
    /// Empty while there are few.
    index: FxHashMap<Rc<str>, u32>,
}

impl<'a> NameTable<'a> {
    fn place(&self, name: &str) -> Option<usize> {
        if self.index.is_empty() {
            return self.list.iter().position(|(known, _)| **known == *name);
        }
        self.index.get(name).map(|at| *at as usize)
    }

    fn slot(&mut self, name: &str) -> Option<&mut Value<'a>> {
        self.place(name).and_then(|at| self.list.get_mut(at)).map(|(_, value)| value)
    }

    /// What a name stands for.
    pub fn get(&self, name: &str) -> Option<&Value<'a>> {
        self.place(name).and_then(|at| self.list.get(at)).map(|(_, value)| value)
    }

    /// Gives a name a value.
    pub fn set(&mut self, name: &str, value: Value<'a>) {
        match self.slot(name) {
            Some(slot) => *slot = value,
            None => self.push(name.into(), value),
        }
    }

    /// Gives a name a value, where the name is one that is held already.
    fn put(&mut self, name: Rc<str>, value: Value<'a>) {
        match self.slot(&name) {
            Some(slot) => *slot = value,
            None => self.push(name, value),
        }
    }

    fn push(&mut self, name: Rc<str>, value: Value<'a>) {
        self.list.push((name.clone(), value));
        if !self.index.is_empty() {
            self.index.insert(name, self.list.len() as u32 - 1);
        } else if self.list.len() > FEW {
            self.index = self.list.iter().zip(0..).map(|((name, _), at)| (name.clone(), at)).collect();
        }
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&Rc<str>, &Value<'a>)> {
        self.list.iter().map(|(name, value)| (name, value))
    }

    /// Takes a name out.
    pub fn remove(&mut self, name: &str) {
        self.list.retain(|(known, _)| **known != *name);
        self.index = FxHashMap::default();
        if self.list.len() > FEW {
            self.index = self.list.iter().zip(0..).map(|((name, _), at)| (name.clone(), at)).collect();
        }
    }
}

/// Names of a file, a class body or a call, and where to look next.
#[derive(Debug)]
pub struct Scope<'a> {
    /// The file that its statements stand in.
    pub file: FileId,
    /// Its own names.
    pub names: RefCell<NameTable<'a>>,
    /// Where names are looked up that it does not have.
    pub parent: Option<Rc<Scope<'a>>>,
    /// Of a call: the body of the function.
    body: Option<Rc<Body<'a>>>,
}

impl<'a> Scope<'a> {
    /// What a name stands for here or further out.
    pub fn get(&self, name: &str) -> Option<Value<'a>> {
        self.own(name).or_else(|| self.parent.as_ref()?.get(name))
    }

    /// What a name stands for here.
    pub fn own(&self, name: &str) -> Option<Value<'a>> {
        self.names.borrow().get(name).cloned()
    }

    /// Gives a name a value here.
    pub fn set(&self, name: &str, value: Value<'a>) {
        self.names.borrow_mut().set(name, value);
    }

    /// Gives a name a value here, where the name is one that is held already.
    pub fn put(&self, name: Rc<str>, value: Value<'a>) {
        self.names.borrow_mut().put(name, value);
    }

    /// Whether the body of the function that is called here asks of a name what only tensors have.
    pub fn asks_of_tensor(&self, name: &str) -> bool {
        self.body.as_ref().is_some_and(|body| body.asked().is_surely_tensor(name))
    }

    /// A copy of the names.
    pub fn snapshot(&self) -> NameTable<'a> {
        self.names.borrow().clone()
    }

    /// Puts other names in their place; gives back those that were there.
    pub fn replace(&self, names: NameTable<'a>) -> NameTable<'a> {
        self.names.replace(names)
    }
}

/// All scopes of an elaboration. A function holds the scope that holds it, so they are emptied at the end.
#[derive(Debug, Default)]
pub struct Scopes<'a>(Vec<Rc<Scope<'a>>>);

impl<'a> Scopes<'a> {
    /// A new scope.
    pub fn open(&mut self, file: FileId, parent: Option<Rc<Scope<'a>>>) -> Rc<Scope<'a>> {
        self.open_body(file, parent, None)
    }

    /// A new scope, of a call of a function with this body.
    pub fn open_body(
        &mut self,
        file: FileId,
        parent: Option<Rc<Scope<'a>>>,
        body: Option<Rc<Body<'a>>>,
    ) -> Rc<Scope<'a>> {
        let scope = Rc::new(Scope { file, names: RefCell::default(), parent, body });
        self.0.push(scope.clone());
        scope
    }

    /// The scope that was opened last is needed no more, unless something still holds it.
    pub fn close(&mut self, scope: &Rc<Scope<'a>>) {
        if let Some(last) = self.0.last()
            && Rc::ptr_eq(last, scope)
            && Rc::strong_count(scope) <= 2
        {
            self.0.pop();
        }
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
