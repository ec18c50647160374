//! Which names of a section are barriers, memory, descriptors, and which are arguments.

use base::TextRange;
use dialects::{OpCode, Ttng};
use rustc_hash::{FxHashMap, FxHashSet};
use ttgir::{Def, OpId, Tree, Ty, TypeId, ValueId};

use super::Modifiers;
use crate::limits::tokens::VIEWS;

/// A place of a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named {
    pub range: TextRange,
    /// Whether it is an argument of a block.
    pub argument: bool,
    pub modifiers: Modifiers,
}

/// The places of all names in a range of a tree's text, in order.
pub(super) fn named(tree: &Tree, within: TextRange) -> Vec<Named> {
    let mut names = Names { tree, types: FxHashMap::default(), data: FxHashSet::default(), found: Vec::new() };
    let ops = ops_in(tree, within);
    ops.iter().for_each(|op| names.data(*op));
    for op in ops {
        for (operand, &value) in tree.operands(op).iter().enumerate() {
            names.push(tree.operand_range(op, operand), value, Modifiers::NONE);
        }
        tree.results(op).iter().for_each(|value| names.definition(*value));
        let blocks = tree.regions(op).iter().flat_map(|region| tree.blocks(*region));
        blocks.flat_map(|block| tree.block_args(*block)).for_each(|value| names.definition(*value));
    }
    names.found.sort_by_key(|named| named.range.start);
    names.found
}

/// The ops whose text touches a range; what stands outside of it is not looked into.
fn ops_in(tree: &Tree, within: TextRange) -> Vec<OpId> {
    let touches = |op: &OpId| {
        let range = tree.op_range(*op);
        range.start <= within.end && within.start <= range.end
    };
    let mut todo: Vec<OpId> = tree.top().iter().copied().filter(touches).collect();
    let mut found = Vec::new();
    while let Some(op) = todo.pop() {
        found.push(op);
        let blocks = tree.regions(op).iter().flat_map(|region| tree.blocks(*region));
        todo.extend(blocks.flat_map(|block| tree.block_ops(*block)).copied().filter(touches));
    }
    found
}

struct Names<'t> {
    tree: &'t Tree,
    types: FxHashMap<TypeId, Modifiers>,
    /// Memory of 64-bit words that is data: answers of cluster launch control.
    data: FxHashSet<ValueId>,
    found: Vec<Named>,
}

impl Names<'_> {
    /// Notes what an op uses as data that a barrier could be taken for.
    fn data(&mut self, op: OpId) {
        let (tree, group) = match self.tree.code(op) {
            Some(OpCode::Ttng(Ttng::ClcTryCancel)) => (self.tree, "result"),
            Some(OpCode::Ttng(Ttng::ClcLoadResult)) => (self.tree, "src"),
            _ => return,
        };
        for &value in tree.group(op, group) {
            let mut value = value;
            for _ in 0..VIEWS {
                self.data.insert(value);
                match tree.value_def(value) {
                    Def::Result(of, _) if !tree.operands(of).is_empty() => match tree.operands(of).first() {
                        Some(&source) => value = source,
                        None => break,
                    },
                    _ => break,
                }
            }
        }
    }

    fn definition(&mut self, value: ValueId) {
        // Of a group `%a:2` the first stands for all.
        if !self.tree.value_name(value).is_empty() && self.tree.value_number(value).unwrap_or(0) == 0 {
            self.push(self.tree.value_range(value), value, Modifiers::DECLARATION);
        }
    }

    fn push(&mut self, range: TextRange, value: ValueId, modifiers: Modifiers) {
        let argument = matches!(self.tree.value_def(value), Def::BlockArg(..));
        let of_type = self.tree.value_type(value).map_or(Modifiers::NONE, |ty| self.of_type(ty));
        let is_data = of_type.has(Modifiers::BARRIER) && self.data.contains(&value);
        let of_type = if is_data { Modifiers::MEMORY } else { of_type };
        self.found.push(Named { range, argument, modifiers: modifiers.and(of_type) });
    }

    fn of_type(&mut self, ty: TypeId) -> Modifiers {
        let tree = self.tree;
        *self.types.entry(ty).or_insert_with(|| match tree.ty(ty) {
            Ty::MemDesc { elem, .. } if elem.name == "i64" => Modifiers::BARRIER,
            Ty::MemDesc { .. } => Modifiers::MEMORY,
            Ty::TensorDesc { .. } => Modifiers::DESCRIPTOR,
            _ => Modifiers::NONE,
        })
    }
}
