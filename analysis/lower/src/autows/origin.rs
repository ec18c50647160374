//! Where a value comes from, through what only hands values on.
//!
//! Followed: loops, conditions, regions that are run once, the default region of a
//! `ttg.warp_specialize` and the captures of its partitions. Missed: jumps between blocks.

use dialects::{Arith, OpCode, Scf, Ttg, Ub};
use ttgir::{BlockId, Def, OpId, RegionId, Tree, ValueId};

/// Where a value comes from.
pub(crate) enum Source {
    /// A result of an op that makes it.
    Made(OpId),
    /// One of these.
    Handed(Vec<Way>),
}

/// A value that is handed on.
pub(crate) struct Way {
    /// The value, as it was before.
    pub(crate) value: ValueId,
    /// The op that hands it on.
    pub(crate) by: OpId,
    /// Where it has its new name.
    pub(crate) to: Place,
}

/// A place between ops.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    /// The start of a block.
    Start(BlockId),
    /// Behind an op.
    After(OpId),
}

/// What the value is; `None` where that is not followed.
pub(crate) fn source(tree: &Tree, value: ValueId) -> Option<Source> {
    match tree.value_def(value) {
        Def::Result(op, at) => Some(handed_out(tree, op, at as usize).map_or(Source::Made(op), Source::Handed)),
        Def::BlockArg(block, at) => Some(Source::Handed(handed_in(tree, block, at as usize)?)),
        Def::Undefined => None,
    }
}

/// The ops that make what the value may be. `None` where one of them is not followed.
pub(crate) fn origins(tree: &Tree, value: ValueId) -> Option<Vec<OpId>> {
    let mut found = Vec::new();
    let mut seen = vec![value];
    let mut next = 0;
    while let Some(&value) = seen.get(next) {
        next += 1;
        match source(tree, value)? {
            Source::Made(op) => found.push(op),
            Source::Handed(ways) => {
                for way in ways {
                    if !seen.contains(&way.value) {
                        seen.push(way.value);
                    }
                }
            }
        }
    }
    Some(found)
}

/// The one op that makes the value, `ub.poison` left out.
pub(crate) fn origin(tree: &Tree, value: ValueId) -> Option<OpId> {
    let mut found = origins(tree, value)?.into_iter().filter(|op| !tree.is(*op, Ub::Poison));
    let first = found.next()?;
    found.all(|other| other == first).then_some(first)
}

/// What the terminator of a region hands on in place `at`.
fn end(tree: &Tree, region: Option<&RegionId>, at: usize, to: Place) -> Option<Way> {
    let block = tree.blocks(*region?).first()?;
    let by = tree.block_ops(*block).last().copied().filter(|op| tree.is_terminator(*op))?;
    Some(Way { value: *tree.operands(by).get(at)?, by, to })
}

/// What an op takes in place `at`.
fn start(tree: &Tree, by: OpId, at: usize, to: Place) -> Option<Way> {
    Some(Way { value: *tree.operands(by).get(at)?, by, to })
}

/// What result `at` of an op that only hands on may be; `None` for an op that makes it.
fn handed_out(tree: &Tree, op: OpId, at: usize) -> Option<Vec<Way>> {
    let regions = tree.regions(op);
    let after = Place::After(op);
    match tree.code(op) {
        Some(OpCode::Scf(Scf::For)) => {
            let inits = start(tree, op, at + 3, after);
            Some(inits.into_iter().chain(end(tree, regions.first(), at, after)).collect())
        }
        Some(OpCode::Scf(Scf::If | Scf::IndexSwitch)) => {
            Some(regions.iter().filter_map(|region| end(tree, Some(region), at, after)).collect())
        }
        Some(OpCode::Scf(Scf::ExecuteRegion) | OpCode::Ttg(Ttg::WarpSpecialize)) => {
            Some(end(tree, regions.first(), at, after).into_iter().collect())
        }
        Some(OpCode::Scf(Scf::While)) => Some(end(tree, regions.first(), at + 1, after).into_iter().collect()),
        Some(OpCode::Arith(Arith::Select)) => Some((1..3).filter_map(|at| start(tree, op, at, after)).collect()),
        _ => None,
    }
}

/// What argument `at` of a block may be; `None` where that is not followed.
fn handed_in(tree: &Tree, block: BlockId, at: usize) -> Option<Vec<Way>> {
    let region = tree.parent_region(block);
    if tree.blocks(region).first() != Some(&block) {
        return None;
    }
    let op = tree.parent_op(region)?;
    let regions = tree.regions(op);
    let here = Place::Start(block);
    match tree.code(op) {
        Some(OpCode::Scf(Scf::For)) => {
            let at = at.checked_sub(1)?;
            let again = end(tree, regions.first(), at, here);
            Some(start(tree, op, at + 3, here).into_iter().chain(again).collect())
        }
        Some(OpCode::Scf(Scf::While)) if regions.first() == Some(&region) => {
            let again = end(tree, regions.get(1), at, here);
            Some(start(tree, op, at, here).into_iter().chain(again).collect())
        }
        Some(OpCode::Scf(Scf::While)) => Some(end(tree, regions.first(), at + 1, here).into_iter().collect()),
        Some(OpCode::Ttg(Ttg::WarpSpecialize)) => Some(vec![start(tree, op, at, here)?]),
        Some(OpCode::Ttg(Ttg::WarpSpecializePartitions)) => {
            let around = || tree.parent_op(tree.parent_region(tree.parent_block(op)?));
            Some(vec![start(tree, op, at, here).or_else(|| start(tree, around()?, at, here))?])
        }
        _ => None,
    }
}
