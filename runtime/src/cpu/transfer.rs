//! A transfer of data between memories, and what it does when it is carried out.

use std::rc::Rc;

use super::future::Future;
use super::mma::{TensorCoreMma, WarpGroupDot};
use super::program_memory::{MemoryPlace, ProgramMemory};
use tensors::pointer_ops::{self, OutOfBounds};
use tensors::{Descriptor, Environment, TensorValue, Trap};

/// Data on its way.
#[derive(Debug)]
pub(super) enum Transfer {
    /// A block of a tensor comes in.
    BlockIn { desc: Rc<Descriptor>, at: Vec<i64>, into: MemoryPlace },
    /// A block goes out; `combine`: with what is there.
    BlockOut { desc: Rc<Descriptor>, at: Vec<i64>, from: MemoryPlace, combine: Option<Rc<str>> },
    /// Rows of a tensor come in.
    RowsIn { desc: Rc<Descriptor>, rows: Vec<i64>, column: i64, into: MemoryPlace },
    /// Rows go out.
    RowsOut { desc: Rc<Descriptor>, rows: Vec<i64>, column: i64, from: MemoryPlace },
    /// What pointers point to comes in; `other` where the mask says no. What `zero_outside` reads 0 outside.
    PointersIn {
        pointers: TensorValue,
        mask: Option<TensorValue>,
        other: Option<TensorValue>,
        zero_outside: bool,
        into: MemoryPlace,
    },
    /// Shared memory goes to where pointers point.
    PointersOut { pointers: TensorValue, mask: Option<TensorValue>, from: MemoryPlace },
    /// Registers go to memory.
    Put { tensor: TensorValue, into: MemoryPlace },
    /// Memory goes to memory.
    Move { from: MemoryPlace, into: MemoryPlace },
    /// A tensor core multiplies.
    Multiply(Box<TensorCoreMma>),
    /// A warp group multiplies.
    Dot(Box<WarpGroupDot>, Rc<Future>),
}

impl Transfer {
    /// Whether it makes this future.
    pub(super) fn makes(&self, future: &Rc<Future>) -> bool {
        matches!(self, Transfer::Dot(_, made) if Rc::ptr_eq(made, future))
    }

    /// Whether it touches global memory.
    pub(super) fn is_global(&self) -> bool {
        use Transfer::{BlockIn, BlockOut, PointersIn, PointersOut, RowsIn, RowsOut};
        matches!(
            self,
            BlockIn { .. } | BlockOut { .. } | RowsIn { .. } | RowsOut { .. } | PointersIn { .. } | PointersOut { .. }
        )
    }

    /// Moves the data.
    pub(super) fn execute(self, memories: &mut ProgramMemory<'_>, world: &mut Environment) -> Result<(), Trap> {
        match self {
            Transfer::BlockIn { desc, at, into } => {
                let tensor = desc.load(&world.global, &within(at, &into), &into.ty.tile.shape)?;
                memories.write(&into, &tensor)
            }
            Transfer::BlockOut { desc, at, from, combine } => {
                let (tensor, at) = (memories.read(&from)?, within(at, &from));
                match combine {
                    Some(kind) => desc.reduce(&mut world.global, &at, &tensor, &kind),
                    None => desc.store(&mut world.global, &at, &tensor),
                }
            }
            Transfer::RowsIn { desc, rows, column, into } => {
                let (rows, column) = own_rows(&rows, column, &into);
                let tensor = desc.gather(&world.global, rows, column, &into.ty.tile.shape)?;
                memories.write(&into, &tensor)
            }
            Transfer::RowsOut { desc, rows, column, from } => {
                let tensor = memories.read(&from)?;
                let (rows, column) = own_rows(&rows, column, &from);
                desc.scatter(&mut world.global, rows, column, &tensor)
            }
            Transfer::PointersIn { pointers, mask, other, zero_outside, into } => {
                let outside = if zero_outside { OutOfBounds::Zero } else { OutOfBounds::Trap };
                let (dtype, shape) = (into.ty.dtype, &into.ty.tile.shape);
                let mask = mask.as_ref();
                let tensor = pointer_ops::read(&world.global, &pointers, mask, other.as_ref(), dtype, shape, outside)?;
                memories.write(&into, &tensor)
            }
            Transfer::PointersOut { pointers, mask, from } => {
                let tensor = memories.read(&from)?;
                pointer_ops::write(&mut world.global, &pointers, mask.as_ref(), &tensor)
            }
            Transfer::Put { tensor, into } => memories.write(&into, &tensor),
            Transfer::Move { from, into } => {
                let tensor = memories.read(&from)?;
                memories.write_bytes(&tensor, &into)
            }
            Transfer::Multiply(product) => product.execute(memories),
            Transfer::Dot(dot, future) => {
                future.set(dot.value(memories)?);
                Ok(())
            }
        }
    }
}

/// The coordinates of a CTA's part of a block.
fn within(mut at: Vec<i64>, place: &MemoryPlace) -> Vec<i64> {
    for (at, offset) in at.iter_mut().rev().zip(place.ty.tile.offset.iter().rev()) {
        *at += *offset as i64;
    }
    at
}

/// The rows of a CTA's part, and where it starts along them.
fn own_rows<'r>(rows: &'r [i64], column: i64, place: &MemoryPlace) -> (&'r [i64], i64) {
    let tile = &place.ty.tile;
    let at = |dim: usize| tile.offset.get(dim).copied().unwrap_or(0);
    let (from, count) = (at(0) as usize, tile.shape.first().copied().unwrap_or(0) as usize);
    (rows.get(from..from + count).unwrap_or(rows), column + at(1) as i64)
}
