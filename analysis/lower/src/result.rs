//! Whether anything uses what an asynchronous dot leaves in registers.
//!
//! Its result is handed on through further dots, waits, loops and jumps; only an op that is none of
//! these uses it. A dot whose result nobody uses may stay open when its partition ends.

use dialects::{Cf, OpCode, Scf, Ttng, scf, ttng};
use rustc_hash::FxHashSet;

use super::lowerer::Lowerer;
use ttgir::{BlockId, OpId, ValueId};

impl Lowerer<'_> {
    /// Whether an op other than dots, waits and control flow uses a result of `op`.
    pub(super) fn result_is_used(&mut self, op: OpId) -> bool {
        self.find_users();
        let mut open: Vec<ValueId> = self.tree.results(op).to_vec();
        let mut seen: FxHashSet<ValueId> = FxHashSet::default();
        while let Some(value) = open.pop() {
            if !seen.insert(value) {
                continue;
            }
            for &user in self.users.get(&value).map(Vec::as_slice).unwrap_or_default() {
                if !self.passes_on(user, value, &mut open) {
                    return true;
                }
            }
        }
        false
    }

    /// Who uses each value of the functions being lowered; known until another one is called.
    pub(super) fn find_users(&mut self) {
        let tree = self.tree;
        if !self.users.is_empty() {
            return;
        }
        let mut regions: Vec<_> = self.calls.iter().flat_map(|function| tree.regions(*function)).copied().collect();
        while let Some(region) = regions.pop() {
            for &op in tree.blocks(region).iter().flat_map(|block| tree.block_ops(*block)) {
                let passed = tree.successors(op).into_iter().flat_map(|successor| successor.args);
                for value in tree.operands(op).iter().copied().chain(passed) {
                    self.users.entry(value).or_default().push(op);
                }
                regions.extend(tree.regions(op));
            }
        }
    }

    /// Adds what an op that only hands a value on makes of it; `false` where the op uses it.
    fn passes_on(&self, user: OpId, value: ValueId, open: &mut Vec<ValueId>) -> bool {
        let tree = self.tree;
        let places = |values: &[ValueId]| -> Vec<usize> {
            values.iter().enumerate().filter(|(_, other)| **other == value).map(|(at, _)| at).collect()
        };
        let pick = |from: &[ValueId], at: usize, open: &mut Vec<ValueId>| open.extend(from.get(at));
        let entry = |op: OpId, region: usize| -> &[ValueId] {
            let block: Option<&BlockId> = tree.regions(op).get(region).and_then(|region| tree.blocks(*region).first());
            block.map(|block| tree.block_args(*block)).unwrap_or_default()
        };
        match tree.code(user) {
            Some(OpCode::Ttng(Ttng::WarpGroupDot))
                if ttng::WarpGroupDot::cast(tree, user).and_then(|dot| dot.c()) == Some(value) =>
            {
                open.extend(tree.results(user))
            }
            Some(OpCode::Ttng(Ttng::WarpGroupDotWait)) => {
                places(tree.operands(user)).into_iter().for_each(|at| pick(tree.results(user), at, open));
            }
            Some(OpCode::Scf(Scf::For)) => {
                for at in places(scf::For::cast(tree, user).map_or(&[][..], |counted| counted.init_args())) {
                    pick(entry(user, 0), at + 1, open);
                    pick(tree.results(user), at, open);
                }
            }
            Some(OpCode::Scf(Scf::While)) => {
                places(tree.operands(user)).into_iter().for_each(|at| pick(entry(user, 0), at, open));
            }
            Some(OpCode::Scf(Scf::Yield | Scf::Condition)) => {
                let block = tree.parent_block(user).map(|block| tree.parent_region(block));
                let Some(around) = block.and_then(|region| tree.parent_op(region)) else { return false };
                let condition = tree.is(user, Scf::Condition);
                for at in places(tree.operands(user)) {
                    // The condition itself comes first.
                    let Some(at) = at.checked_sub(usize::from(condition)) else { continue };
                    match tree.code(around) {
                        Some(OpCode::Scf(Scf::For)) => pick(entry(around, 0), at + 1, open),
                        Some(OpCode::Scf(Scf::While)) if condition => pick(entry(around, 1), at, open),
                        Some(OpCode::Scf(Scf::While)) => pick(entry(around, 0), at, open),
                        _ => {}
                    }
                    if !tree.is(around, Scf::While) || condition {
                        pick(tree.results(around), at, open);
                    }
                }
            }
            Some(OpCode::Cf(Cf::Br | Cf::CondBr)) => {
                for successor in tree.successors(user) {
                    let Some(block) = successor.block else { continue };
                    places(&successor.args).into_iter().for_each(|at| pick(tree.block_args(block), at, open));
                }
            }
            _ => return false,
        }
        true
    }
}
