//! A part of a state that copies of the state share until one of them changes it.
//!
//! Where schedules or inputs branch a state is copied, and what follows changes one thread and a barrier or
//! two of it; the rest need not be copied.

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use base::Digest;

/// Reads as `T`; the first change after a copy was made copies it.
#[derive(Clone, Default, Debug)]
pub struct CopyOnWrite<T>(Rc<Part<T>>);

/// What is shared, and its digest once somebody has asked for it.
#[derive(Clone, Default, Debug)]
struct Part<T> {
    value: T,
    digest: Cell<Option<u128>>,
}

impl<T> CopyOnWrite<T> {
    /// A part that nobody shares yet.
    pub(super) fn new(value: T) -> CopyOnWrite<T> {
        CopyOnWrite(Rc::new(Part { value, digest: Cell::new(None) }))
    }

    /// Whether both are one part, not only equal ones.
    pub(super) fn is_same(&self, other: &CopyOnWrite<T>) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// What `feed` puts into a hash of this part, which is asked once for each state of the part: it must depend
    /// on nothing else.
    pub(super) fn digest(&self, feed: impl FnOnce(&T, &mut Digest)) -> u128 {
        let known = self.0.digest.get().unwrap_or_else(|| {
            let mut digest = Digest::default();
            feed(&self.0.value, &mut digest);
            digest.bits()
        });
        self.0.digest.set(Some(known));
        known
    }
}

impl<T: PartialEq> PartialEq for CopyOnWrite<T> {
    fn eq(&self, other: &CopyOnWrite<T>) -> bool {
        self.0.value == other.0.value
    }
}

impl<T: Eq> Eq for CopyOnWrite<T> {}

impl<T: Hash> Hash for CopyOnWrite<T> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.value.hash(hasher);
    }
}

impl<T> Deref for CopyOnWrite<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.value
    }
}

impl<T: Clone> DerefMut for CopyOnWrite<T> {
    fn deref_mut(&mut self) -> &mut T {
        let part = Rc::make_mut(&mut self.0);
        part.digest.set(None);
        &mut part.value
    }
}
