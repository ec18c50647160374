//! A value that an asynchronous dot will leave in registers.

use std::cell::RefCell;

use tensors::Value;

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
