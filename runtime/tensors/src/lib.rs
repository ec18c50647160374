//! What operations make of values: tensors in registers, pointers, descriptors.
//!
//! [`evaluate`] computes one operation in one CTA. What it needs of the operation (types, tiles, attributes, a region's
//! ops) is read off the tree once and kept in the [`Environment`]; after that an operation is one call over typed buffers.
//!
//! A tensor of a cluster is cut into tiles by its layout. [`evaluate`] works on the tile of its CTA; where the result
//! needs elements of other CTAs' tiles, it says [`Trap::Exchange`], and [`evaluate_cluster`] takes all CTAs' operands
//! together.
//!
//! Deviations: a division by zero, a shift past the width and a conversion out of range give what the hardware gives,
//! no error. Sums are taken in the order of a balanced tree, dot products in that of K. Stores of one op to one address
//! land in the order of elements. Missed: see [`Trap::NotFollowed`]; each is said at its op.

use ttgir::{OpId, Tree};

mod arith;
pub mod array;
pub mod atomic;
mod cast;
mod combine;
mod constant;
pub mod descriptor;
mod descriptor_ops;
pub mod dot;
mod elementwise;
mod evaluator;
pub mod extreme;
pub mod float_format;
mod float_ops;
mod integer;
mod intrinsics;
mod libdevice;
mod limits;
mod math;
pub mod memory;
pub mod pointer_ops;
mod reduce;
mod region;
pub mod shape;
pub mod tensor;
pub mod tile;
mod trap;
pub mod upcast;

use evaluator::Evaluator;

pub use descriptor::Descriptor;
pub use evaluator::{Environment, OpSite, RuntimeValue};
pub use limits::LIMITS;
pub use tensor::TensorValue;
pub use trap::Trap;

/// Computes an operation's results from its operands (all of them, in the order of [`Tree::operands`]).
pub fn evaluate(
    site: &OpSite<'_>,
    operands: &[RuntimeValue],
    world: &mut Environment,
) -> Result<Vec<RuntimeValue>, Trap> {
    let evaluator = world.evaluators.entry((site.op, site.cta)).or_insert_with(|| compile(site)).clone()?;
    evaluator.run(operands, world)
}

/// Computes an operation in all CTAs of a cluster together, after [`Trap::Exchange`]: `operands` and the result have an
/// entry a CTA.
pub fn evaluate_cluster(
    tree: &Tree,
    op: OpId,
    operands: &[Vec<RuntimeValue>],
    world: &mut Environment,
) -> Result<Vec<Vec<RuntimeValue>>, Trap> {
    let mut whole = Vec::new();
    for (at, &operand) in tree.operands(op).iter().enumerate() {
        let parts: Vec<&RuntimeValue> = operands.iter().filter_map(|of| of.get(at)).collect();
        let Some(first) = parts.first() else { return Err(Trap::not_followed("an operand has no value")) };
        if first.as_tensor().is_none() {
            whole.push((*first).clone());
            continue;
        }
        let tiles = (0..parts.len()).map(|cta| tile::read(tree, operand, cta as u16));
        let tiles: Vec<tile::TileType> = tiles.collect::<Result<_, Trap>>()?;
        let parts = parts.iter().zip(&tiles).filter_map(|(part, ty)| Some((part.as_tensor()?, &ty.tile)));
        let assembled = tile::assemble(&parts.collect::<Vec<_>>());
        whole.push(RuntimeValue::Tensor(assembled.ok_or_else(|| Trap::not_followed("an operand has no value"))?));
    }
    let results = evaluate(&OpSite { tree, op, cta: tile::WHOLE }, &whole, world)?;
    let cut = |cta: usize| {
        tree.results(op).iter().zip(&results).map(move |(&result, value)| match value {
            RuntimeValue::Tensor(tensor) => {
                let ty = tile::read(tree, result, cta as u16)?;
                Ok(RuntimeValue::Tensor(tile::slice(tensor, &ty.tile)))
            }
            other => Ok(other.clone()),
        })
    };
    (0..operands.len()).map(|cta| cut(cta).collect()).collect()
}

/// Whether an operation is followed.
///
/// # Errors
///
/// Why it is not.
pub fn is_followed(site: &OpSite<'_>) -> Result<(), Trap> {
    compile(site).map(|_| ())
}

/// Reads an operation off the tree, by the families that operations come in.
fn compile(site: &OpSite<'_>) -> Result<Evaluator, Trap> {
    let families = [
        arith::compile,
        math::compile,
        libdevice::compile,
        cast::compile,
        shape::compile,
        pointer_ops::compile,
        atomic::compile,
        reduce::compile,
        dot::compile,
        descriptor_ops::compile,
        intrinsics::compile,
        upcast::compile,
    ];
    for family in families {
        if let Some(evaluator) = family(site)? {
            return Ok(evaluator);
        }
    }
    Err(site.trap("is not followed"))
}
