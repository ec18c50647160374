//! Which allocations a buffer value may be.

use dialects::{Arith, OpCode, Scf, Ttg, Ttng};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::expr::expression;
use super::spot::{captured, walk};
use crate::limits::queries::ROOTS as STEPS;
use crate::{BlockId, Def, OpId, Tree, Ty, ValueId};

/// The allocations behind a value.
pub type Roots = SmallVec<[ValueId; 2]>;

/// A use of an allocation by an operation that is no view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// The operation that uses it.
    pub op: OpId,
    /// The number of the operand.
    pub operand: usize,
    /// The operand, a view of the memory.
    pub value: ValueId,
}

/// Whether a value is a buffer or a view of one.
pub fn is_memory(tree: &Tree, value: ValueId) -> bool {
    tree.value_type(value).is_some_and(|ty| matches!(tree.ty(ty), Ty::MemDesc { .. }))
}

/// The allocations (or function arguments) that a value may be.
pub fn roots(tree: &Tree, value: ValueId) -> Roots {
    let mut seen: Vec<ValueId> = vec![value];
    let mut roots = Roots::new();
    let mut at = 0;
    while let Some(&value) = seen.get(at) {
        at += 1;
        let sources = sources(tree, value);
        if sources.is_empty() && !roots.contains(&value) {
            roots.push(value);
        }
        for source in sources {
            if seen.len() < STEPS && !seen.contains(&source) {
                seen.push(source);
            }
        }
    }
    roots.sort();
    roots
}

/// The first of the allocations that a value may be; of what is no memory, itself.
pub fn root_of(tree: &Tree, value: ValueId) -> ValueId {
    if is_memory(tree, value) { roots(tree, value).first().copied().unwrap_or(value) } else { value }
}

/// A value, what it is a view or copy of, and so on up to its allocation; of several ways, the first.
pub fn way(tree: &Tree, value: ValueId) -> Vec<ValueId> {
    let mut way = vec![value];
    while let Some(&last) = way.last()
        && way.len() < STEPS
    {
        match sources(tree, last).first() {
            Some(source) if !way.contains(source) => way.push(*source),
            _ => break,
        }
    }
    way
}

/// Every use of one of `roots` below `within`, in the order of the text, views left out.
pub fn uses(tree: &Tree, within: OpId, roots: &[ValueId]) -> Vec<Use> {
    let mut known: FxHashMap<ValueId, bool> = FxHashMap::default();
    let mut found = Vec::new();
    walk(tree, &[within], &mut |op| {
        if passes_on(tree, op) {
            return;
        }
        for (operand, &value) in tree.operands(op).iter().enumerate() {
            let hit = *known.entry(value).or_insert_with(|| {
                is_memory(tree, value) && self::roots(tree, value).iter().any(|root| roots.contains(root))
            });
            if hit {
                found.push(Use { op, operand, value });
            }
        }
    });
    found
}

/// The indices between a view and its allocation, outermost first.
pub fn indices(tree: &Tree, value: ValueId) -> Vec<ValueId> {
    let mut parts = Vec::new();
    let mut value = value;
    for _ in 0..STEPS {
        if let Def::Result(op, _) = tree.value_def(value)
            && tree.is(op, Ttg::MemdescIndex)
            && let Some(&index) = tree.operands(op).get(1)
        {
            parts.push(index);
        }
        let sources = sources(tree, value);
        let [source] = sources.as_slice() else { break };
        value = *source;
    }
    parts.reverse();
    parts
}

/// [`indices`] as they are written: `[%slot]`.
pub fn path(tree: &Tree, value: ValueId) -> String {
    indices(tree, value).into_iter().map(|index| format!("[{}]", expression(tree, index))).collect()
}

/// Whether an operation only hands its operands on: views, captures, jumps, yields.
fn passes_on(tree: &Tree, op: OpId) -> bool {
    view_source(tree, op).is_some()
        || matches!(
            tree.code(op),
            Some(
                OpCode::Ttg(Ttg::WarpSpecialize | Ttg::WarpSpecializePartitions)
                    | OpCode::Arith(Arith::Select)
                    | OpCode::Scf(_)
                    | OpCode::Cf(_)
            )
        )
}

/// What a view is a view of.
fn view_source(tree: &Tree, op: OpId) -> Option<ValueId> {
    let view = tree.is(op, Ttng::TmemSubslice) || tree.op_name(op).starts_with("ttg.memdesc_");
    let source = *tree.operands(op).first().filter(|_| view)?;
    is_memory(tree, source).then_some(source)
}

/// The values that a value is a view or a copy of; none for an allocation.
pub(super) fn sources(tree: &Tree, value: ValueId) -> Roots {
    match tree.value_def(value) {
        Def::Undefined => Roots::new(),
        Def::Result(op, number) => result_sources(tree, op, number as usize),
        Def::BlockArg(block, number) => argument_sources(tree, block, number as usize),
    }
}

fn result_sources(tree: &Tree, op: OpId, number: usize) -> Roots {
    if let Some(source) = view_source(tree, op) {
        return Roots::from_slice(&[source]);
    }
    let mut sources = Roots::new();
    match tree.code(op) {
        Some(OpCode::Arith(Arith::Select)) => sources.extend(tree.operands(op).iter().skip(1).copied()),
        Some(OpCode::Scf(Scf::For)) => {
            sources.extend(tree.group(op, "initArgs").get(number).copied());
            sources.extend(yielded(tree, op, number));
        }
        Some(OpCode::Scf(Scf::If | Scf::ExecuteRegion) | OpCode::Ttg(Ttg::WarpSpecialize)) => {
            sources.extend(yielded(tree, op, number))
        }
        _ => {}
    }
    sources
}

/// What the ends of an operation's regions hand out as result `number`.
fn yielded(tree: &Tree, op: OpId, number: usize) -> Roots {
    let blocks = tree.regions(op).iter().flat_map(|region| tree.blocks(*region));
    let ends = blocks.filter_map(|block| tree.block_ops(*block).last());
    let yields =
        ends.filter(|end| matches!(tree.code(**end), Some(OpCode::Scf(Scf::Yield) | OpCode::Ttg(Ttg::WarpYield))));
    yields.filter_map(|end| tree.operands(*end).get(number).copied()).collect()
}

fn argument_sources(tree: &Tree, block: BlockId, number: usize) -> Roots {
    let region = tree.parent_region(block);
    let Some(op) = tree.parent_op(region) else { return Roots::new() };
    let mut sources = Roots::new();
    if tree.blocks(region).first() != Some(&block) {
        let jumps = tree.blocks(region).iter().filter_map(|from| tree.block_ops(*from).last());
        for successor in jumps.flat_map(|jump| tree.successors(*jump)).filter(|to| to.block == Some(block)) {
            sources.extend(successor.args.get(number).copied());
        }
        return sources;
    }
    if let Some(outer) = captured(tree, block, number) {
        return Roots::from_slice(&[outer]);
    }
    match tree.code(op) {
        Some(OpCode::Scf(Scf::For)) if number > 0 => {
            sources.extend(tree.group(op, "initArgs").get(number - 1).copied());
            sources.extend(yielded(tree, op, number - 1));
        }
        Some(OpCode::Scf(Scf::While)) => sources.extend(tree.operands(op).get(number).copied()),
        _ => {}
    }
    sources
}
