//! Why an operation has no result.

use std::fmt;
use std::rc::Rc;

use crate::memory::AccessFault;

/// Why an operation has no result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trap {
    /// What it does is not followed; why, as a clause.
    NotFollowed(Rc<str>),
    /// It needs what other CTAs of the cluster hold: call [`evaluate_cluster`] when all of them are here.
    Exchange,
    /// It waits for what global memory does not hold yet: do it again later.
    Again,
    /// It accesses global memory outside of the allocations.
    OutOfBounds {
        /// The address, and the allocation next to it.
        fault: AccessFault,
        /// Whether it writes.
        write: bool,
        /// Which element of the CTA's tile, in row-major order.
        element: u64,
    },
    /// It indexes a tensor in registers or in shared memory past the end of an axis.
    Index {
        /// The index.
        index: i64,
        /// Elements along the axis.
        size: u64,
        /// Which element of the CTA's tile of indices, in row-major order.
        element: u64,
    },
    /// An assertion of the kernel's (`tl.device_assert`) fails, with this message.
    Assert(Rc<str>),
}

impl Trap {
    /// A trap for what is not followed.
    pub fn not_followed(what: impl Into<Rc<str>>) -> Trap {
        Trap::NotFollowed(what.into())
    }
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trap::NotFollowed(what) => f.write_str(what),
            Trap::Again => f.write_str("what it waits for did not come"),
            Trap::Exchange => f.write_str("it needs what other CTAs hold"),
            Trap::OutOfBounds { fault, write, element } => {
                let does = if *write { "writes" } else { "reads" };
                write!(f, "element {element} {does} outside of its allocation, {fault}")
            }
            Trap::Index { index, size, element } => {
                write!(f, "element {element} is at {index}, and there are {size}")
            }
            Trap::Assert(message) => write!(f, "device assertion failed: {message}"),
        }
    }
}
