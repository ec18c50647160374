//! Handles into one tree. They are made by the tree alone, so they are always in bounds for it.

/// Declares a `u32` handle.
macro_rules! id {
    ($(#[$doc:meta])* $visibility:vis $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        $visibility struct $name(pub(super) u32);

        impl $name {
            #[allow(dead_code)] // not every handle can be absent
            pub(super) const NONE: $name = $name(u32::MAX);

            pub(super) fn index(self) -> usize {
                self.0 as usize
            }

            #[allow(dead_code)]
            /// The handle, unless it is the "none" mark.
            pub(super) fn some(self) -> Option<$name> {
                (self.0 != u32::MAX).then_some(self)
            }
        }
    };
}

id!(
    /// A handle of an operation in its tree.
    pub OpId
);
id!(
    /// A region of an operation.
    pub RegionId
);
id!(
    /// A block of a region.
    pub BlockId
);
id!(
    /// An SSA value: a result, a block argument, or a name that nothing defines.
    pub ValueId
);
id!(
    /// A type, interned by its text: equal handles are equal types, not the other way round.
    pub TypeId
);
id!(
    /// An interned name.
    pub(crate) Sym
);

/// An attribute: the bytes it is written in. Reading into it happens on demand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AttrId {
    /// First byte; from [`AttrId::MADE`] on the offset counts into the text the parser made up.
    pub(super) start: u32,
    /// One past the last byte, counted the same way.
    pub(super) end: u32,
}

impl AttrId {
    /// Offsets from here on belong to attributes that no single place of the text spells.
    pub(super) const MADE: u32 = 1 << 31;
}

/// A run of elements of one of the tree's pools.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Slice {
    pub start: u32,
    pub len: u32,
}

impl Slice {
    /// The elements from `start` to the pool's present end.
    pub(crate) fn since(start: usize, end: usize) -> Slice {
        Slice { start: start as u32, len: (end - start) as u32 }
    }

    /// The elements, none if the slice does not fit.
    pub(crate) fn of<T>(self, pool: &[T]) -> &[T] {
        pool.get(self.range()).unwrap_or(&[])
    }

    pub(crate) fn range(self) -> std::ops::Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }
}
