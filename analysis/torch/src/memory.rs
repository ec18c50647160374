//! Where tensors lie.

use std::cell::RefCell;
use std::rc::Rc;

use base::specialization::Contents;

/// The memory of a tensor: views of one tensor share it.
///
/// Two are equal whatever they are: tensors are compared by what describes them.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    storage: Rc<RefCell<Option<Contents>>>,
    /// Bytes from the start of the storage to the first element; `None` where that is not known.
    pub offset: Option<i64>,
    /// Whether a conversion may have made a copy, which is elsewhere.
    pub perhaps_copied: bool,
    /// What the offset is where it has made none and the tensor lies as before.
    pub unless_copied: Option<i64>,
}

impl PartialEq for Memory {
    fn eq(&self, _: &Memory) -> bool {
        true
    }
}

impl Memory {
    /// Memory that nothing else has.
    pub fn fresh() -> Memory {
        Memory { offset: Some(0), ..Memory::default() }
    }

    /// Memory that nothing else has, with what is in it.
    pub fn holding(contents: Option<Contents>) -> Memory {
        Memory { storage: Rc::new(RefCell::new(contents)), ..Memory::fresh() }
    }

    /// What is in it, from its start.
    pub fn contents(&self) -> Option<Contents> {
        self.storage.borrow().clone()
    }

    /// Something is written to it, or may be.
    pub fn write(&self, contents: Option<Contents>) {
        *self.storage.borrow_mut() = contents;
    }

    /// Some bytes further on in the same storage.
    #[must_use]
    pub fn further(&self, bytes: Option<i64>) -> Memory {
        let offset = self.offset.zip(bytes).and_then(|(offset, bytes)| offset.checked_add(bytes));
        Memory { offset, unless_copied: None, ..self.clone() }
    }

    /// The same place, or a copy of what is there.
    #[must_use]
    pub fn or_copy(&self) -> Memory {
        let unless_copied = self.offset.or(self.unless_copied);
        Memory { offset: None, perhaps_copied: true, unless_copied, ..self.clone() }
    }

    /// Whether both are of one storage.
    pub fn shares(&self, other: &Memory) -> bool {
        Rc::ptr_eq(&self.storage, &other.storage)
    }
}
