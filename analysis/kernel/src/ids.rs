//! Numbers that stand for the parts of a kernel.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub struct $name(pub u32);
        impl $name {
            /// As a vector index.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(
    /// A scalar or memdesc variable, by position in [`Kernel::vars`](crate::Kernel::vars).
    Var
);
id!(
    /// A basic block, by position in [`Kernel::blocks`](crate::Kernel::blocks).
    BlockId
);
id!(
    /// An effect, by position in [`Kernel::effects`](crate::Kernel::effects).
    EffectId
);
id!(
    /// An op of the text, resolved by the source map.
    SiteId
);
id!(
    /// An input, by position in [`Kernel::inputs`](crate::Kernel::inputs).
    InputId
);
id!(
    /// A loop, by position in [`Kernel::loops`](crate::Kernel::loops).
    LoopId
);

id!(
    /// An op that something beside the machine carries out, by position in the table that the lowering gives
    /// beside the kernel.
    HostId
);
