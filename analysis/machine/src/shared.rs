//! A part of a state that copies of the state share until one of them changes it.
//!
//! Where schedules or inputs branch a state is copied, and what follows changes one thread and a barrier or
//! two of it; the rest need not be copied.

use std::ops::{Deref, DerefMut};
use std::rc::Rc;

/// Reads as `T`; the first change after a copy was made copies it.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub struct Shared<T>(Rc<T>);

impl<T> Shared<T> {
    /// A part that nobody shares yet.
    pub(super) fn new(value: T) -> Shared<T> {
        Shared(Rc::new(value))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        Rc::make_mut(&mut self.0)
    }
}
