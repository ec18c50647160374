//! Dot products whose operands lie in memory: of a warp group and of the tensor core.
//!
//! Operands are read when the product happens. Two CTAs that work as a pair hold half of B each, and each makes
//! its own rows of the accumulator from all of it.

use std::rc::Rc;

use super::future::Future;
use super::program_memory::{MemoryPlace, ProgramMemory};
use tensors::dot::{Precision, dot};
use tensors::upcast::{ElementEncoding, OperandSide, upcast};
use tensors::{RuntimeValue, TensorValue, Trap, tile};

/// An operand: in registers, or in memory, in parts where several CTAs hold it.
#[derive(Clone, Debug)]
pub(super) enum MatrixOperand {
    /// A tensor in registers.
    Tensor(TensorValue),
    /// Windows of memory, one a CTA that holds a part.
    Memory(Vec<MemoryPlace>),
}

/// A product of a warp group.
#[derive(Debug)]
pub(super) struct WarpGroupDot {
    pub(super) a: MatrixOperand,
    pub(super) b: MatrixOperand,
    pub(super) accumulator: Accumulator,
    /// Whether the accumulator counts.
    pub(super) adds: bool,
    pub(super) precision: Precision,
}

/// What a dot adds to.
#[derive(Debug)]
pub(super) enum Accumulator {
    /// A value that is there.
    Value(TensorValue),
    /// What an earlier dot leaves.
    Future(Rc<Future>),
}

/// Scales and element kinds of both operands.
#[derive(Clone, Debug)]
pub(super) struct MmaScales {
    pub(super) a: MatrixOperand,
    pub(super) b: MatrixOperand,
    /// How elements are to be read: `e4m3`, ….
    pub(super) kinds: (Option<Rc<str>>, Option<Rc<str>>),
}

/// A product of a tensor core, in one CTA.
#[derive(Debug)]
pub(super) struct TensorCoreMma {
    pub(super) a: MatrixOperand,
    pub(super) b: MatrixOperand,
    pub(super) scaled: Option<MmaScales>,
    pub(super) into: MemoryPlace,
    /// Whether it adds to what is there.
    pub(super) adds: bool,
    pub(super) precision: Precision,
}

impl MatrixOperand {
    /// What it holds now.
    pub(super) fn read(&self, memories: &ProgramMemory<'_>) -> Result<TensorValue, Trap> {
        match self {
            MatrixOperand::Tensor(tensor) => Ok(tensor.clone()),
            MatrixOperand::Memory(places) => {
                if let [place] = &places[..] {
                    return memories.read(place);
                }
                let parts: Vec<TensorValue> =
                    places.iter().map(|place| memories.read(place)).collect::<Result<_, _>>()?;
                let tiles: Vec<_> = parts.iter().zip(places).map(|(part, place)| (part, &place.ty.tile)).collect();
                tile::assemble(&tiles).ok_or_else(|| Trap::not_followed("an operand that no CTA holds"))
            }
        }
    }
}

impl WarpGroupDot {
    /// The product.
    pub(super) fn value(&self, memories: &ProgramMemory<'_>) -> Result<RuntimeValue, Trap> {
        let (a, b) = (self.a.read(memories)?, self.b.read(memories)?);
        let old = match &self.accumulator {
            Accumulator::Value(tensor) => tensor.clone(),
            Accumulator::Future(future) => match future.value() {
                Some(RuntimeValue::Tensor(tensor)) => tensor,
                _ => return Err(Trap::not_followed("an accumulator without a value")),
            },
        };
        let to = Some(&old).filter(|_| self.adds);
        dot(&a, &b, to, old.dtype(), self.precision).map(RuntimeValue::Tensor)
    }
}

impl TensorCoreMma {
    /// Multiplies, and writes the accumulator.
    pub(super) fn execute(&self, memories: &mut ProgramMemory<'_>) -> Result<(), Trap> {
        let ty = &self.into.ty;
        let (a, b) = (self.a.read(memories)?, own_part(self.b.read(memories)?, &ty.tile, 1));
        let old = if self.adds { Some(memories.read(&self.into)?) } else { None };
        let made = match &self.scaled {
            None => dot(&a, &b, old.as_ref(), ty.dtype, self.precision)?,
            Some(scaled) => {
                let a_scale = scaled.a.read(memories)?;
                let b_scale = own_part(scaled.b.read(memories)?, &ty.tile, 0);
                let a = upcast(&a, kind(&scaled.kinds.0)?, Some(&a_scale), OperandSide::Left, true)?;
                let b = upcast(&b, kind(&scaled.kinds.1)?, Some(&b_scale), OperandSide::Right, true)?;
                dot(&a, &b, old.as_ref(), ty.dtype, Precision::Ieee)?
            }
        };
        memories.write(&self.into, &made)
    }
}

fn kind(name: &Option<Rc<str>>) -> Result<ElementEncoding, Trap> {
    let known = name.as_deref().and_then(ElementEncoding::named);
    known.ok_or_else(|| Trap::not_followed("a product of these elements is not followed"))
}

/// The columns of the accumulator's part of an operand that holds all of them, along one of its two dimensions.
fn own_part(b: TensorValue, into: &tile::Tile, along: usize) -> TensorValue {
    let (Some(&columns), Some(&from)) = (into.shape.last(), into.offset.last()) else { return b };
    let sizes = b.shape().to_vec();
    if sizes.len() != 2 || sizes[along] <= columns || sizes[along] != into.whole.last().copied().unwrap_or(0) {
        return b;
    }
    let (mut shape, mut offset) = (sizes.clone(), vec![0; 2]);
    (shape[along], offset[along]) = (columns, from);
    let part = tile::Tile { shape: shape.into(), offset: offset.into(), ..tile::Tile::whole(&sizes) };
    tile::slice(&b, &part)
}
