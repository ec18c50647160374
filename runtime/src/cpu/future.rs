//! Values beside the machine, and those that an asynchronous dot will leave in registers.

use std::cell::RefCell;
use std::rc::Rc;

use tensors::RuntimeValue;

/// A value beside the machine.
#[derive(Clone, Debug)]
pub(super) enum HandleValue {
    /// It was computed.
    Value(RuntimeValue),
    /// An asynchronous dot will make it.
    Future(Rc<Future>),
}

/// What an asynchronous dot will leave in registers.
#[derive(Debug, Default)]
pub(super) struct Future {
    value: RefCell<Option<RuntimeValue>>,
}

impl Future {
    pub(super) fn value(&self) -> Option<RuntimeValue> {
        self.value.borrow().clone()
    }

    pub(super) fn set(&self, value: RuntimeValue) {
        *self.value.borrow_mut() = Some(value);
    }
}
