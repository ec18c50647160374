//! Values beside the machine, and those that an asynchronous dot will leave in registers.

use std::cell::RefCell;
use std::rc::Rc;

use tensors::Value;

/// A value beside the machine.
#[derive(Clone, Debug)]
pub(super) enum HandleValue {
    /// It was computed.
    Value(Value),
    /// An asynchronous dot will make it.
    Future(Rc<Future>),
}

/// What an asynchronous dot will leave in registers.
#[derive(Debug, Default)]
pub(super) struct Future {
    value: RefCell<Option<Value>>,
}

impl Future {
    pub(super) fn value(&self) -> Option<Value> {
        self.value.borrow().clone()
    }

    pub(super) fn set(&self, value: Value) {
        *self.value.borrow_mut() = Some(value);
    }
}
