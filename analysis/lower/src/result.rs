//! Who uses what an asynchronous dot leaves in registers.
//!
//! The values that carry such a result are variables of the kernel: the number of the dot that may still be
//! writing it, or 0 where it is there. Its result is handed on through further dots, waits, loops and jumps; only an op that is none of
//! these uses it. A dot whose result nobody uses may stay open when its partition ends.

use dialects::{Arith, Cf, OpCode, Scf, Tt, Ttng, scf, ttng};
use kernel::{EffectKind, Pure};
use rustc_hash::FxHashSet;

use super::lowerer::Lowerer;
use super::value::Val;
use ttgir::{BlockId, OpId, ValueId};

impl Lowerer<'_> {
    /// Finds the values that asynchronous dots of the function being lowered leave in registers.
    pub(super) fn find_results(&mut self) {
        let tree = self.tree;
        if self.executes() || !tree.text().contains("warp_group_dot") {
            return;
        }
        self.find_users();
        let mut regions: Vec<_> = self.calls.last().into_iter().flat_map(|it| tree.regions(*it)).copied().collect();
        while let Some(region) = regions.pop() {
            for &op in tree.blocks(region).iter().flat_map(|block| tree.block_ops(*block)) {
                if tree.is(op, Ttng::WarpGroupDot) && self.flag(op, "isAsync") {
                    let carriers = self.carriers(op).0;
                    self.results.extend(carriers);
                }
                regions.extend(tree.regions(op));
            }
        }
    }

    /// The number of a dot's result.
    pub(super) fn number_result(&mut self, op: OpId) -> u32 {
        let next = self.numbered.len() as u32 + 1;
        *self.numbered.entry(op).or_insert(next)
    }

    /// Notes that an op uses registers which a dot may still be writing.
    pub(super) fn use_results(&mut self, op: OpId) {
        let tree = self.tree;
        if self.results.is_empty()
            || matches!(
                tree.code(op),
                Some(OpCode::Scf(_) | OpCode::Ttng(Ttng::WarpGroupDotWait) | OpCode::Tt(Tt::Call) | OpCode::Func(_))
            )
        {
            return;
        }
        if tree.is(op, Arith::Select) && self.is_result_of_if(op) {
            return;
        }
        let dot = tree.is(op, Ttng::WarpGroupDot).then(|| ttng::WarpGroupDot::cast(tree, op)).flatten();
        let accumulator = dot.and_then(|dot| dot.c());
        for &value in tree.operands(op) {
            if Some(value) == accumulator || !self.results.contains(&value) {
                continue;
            }
            let Some(Val::Scalar(of)) = self.values.get(&value).copied() else { continue };
            if self.build.constant(of) != Some(0) {
                let site = self.site(op);
                self.build.effect(site, None, EffectKind::Use { of });
            }
        }
    }

    /// Binds what a dot or a wait for dots leaves in registers.
    pub(super) fn bind_results(&mut self, op: OpId) {
        let tree = self.tree;
        if self.results.is_empty() {
            return;
        }
        if tree.is(op, Ttng::WarpGroupDot) {
            let Some(&result) = tree.results(op).first().filter(|result| self.results.contains(result)) else { return };
            let number = if self.flag(op, "isAsync") { self.numbered.get(&op).copied().unwrap_or(0) } else { 0 };
            let number = self.build.number(i64::from(number));
            self.bind(result, Val::Scalar(number));
        } else if tree.is(op, Ttng::WarpGroupDotWait) {
            let pendings = self.int_attr(op, "pendings").unwrap_or(0);
            for (&result, &value) in tree.results(op).iter().zip(tree.operands(op)) {
                let Some(Val::Scalar(known)) = self.values.get(&value).copied() else { continue };
                if !self.results.contains(&result) {
                    continue;
                }
                let over = pendings == 0 || self.dots_since(value, op).is_some_and(|dots| dots >= pendings);
                let after = if over { self.build.number(0) } else { known };
                self.bind(result, Val::Scalar(after));
            }
        } else if tree.is(op, Arith::Select)
            && let (&[condition, yes, no], &[result]) = (tree.operands(op), tree.results(op))
            && self.results.contains(&result)
        {
            let [yes, no] = [yes, no].map(|value| match self.values.get(&value) {
                Some(Val::Scalar(number)) if self.results.contains(&value) => *number,
                _ => self.build.number(0),
            });
            let condition = self.scalar(condition);
            let number = self.build.compute(Pure::Select(condition, yes, no), "");
            self.bind(result, Val::Scalar(number));
        }
    }

    /// How many asynchronous dots stand between the dot that made a value and a wait in its block.
    fn dots_since(&self, value: ValueId, wait: OpId) -> Option<i64> {
        let tree = self.tree;
        let ops = tree.block_ops(tree.parent_block(wait)?);
        let until = ops.iter().position(|op| *op == wait)?;
        let from = ops.get(..until)?.iter().rposition(|op| tree.results(*op).contains(&value))?;
        let dot = ops.get(from).copied().filter(|op| tree.is(*op, Ttng::WarpGroupDot))?;
        let between = ops.get(from + 1..until)?;
        let straight = between.iter().all(|op| tree.regions(*op).is_empty());
        let asynchronous = |op: &&OpId| tree.is(**op, Ttng::WarpGroupDot) && self.flag(**op, "isAsync");
        (straight && self.flag(dot, "isAsync")).then(|| between.iter().filter(asynchronous).count() as i64)
    }

    /// Whether an op other than dots, waits and control flow uses a result of `op`.
    pub(super) fn result_is_used(&mut self, op: OpId) -> bool {
        self.carriers(op).1
    }

    /// The values that carry a result of `op`, and whether some op uses one of them.
    fn carriers(&mut self, op: OpId) -> (FxHashSet<ValueId>, bool) {
        self.find_users();
        let mut open: Vec<ValueId> = self.tree.results(op).to_vec();
        let mut seen: FxHashSet<ValueId> = FxHashSet::default();
        let mut used = false;
        while let Some(value) = open.pop() {
            if !seen.insert(value) {
                continue;
            }
            for &user in self.users.get(&value).map(Vec::as_slice).unwrap_or_default() {
                used |= !self.passes_on(user, value, &mut open);
            }
        }
        (seen, used)
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

    /// Whether a select of tensors asks what an `scf.if` of its block asks.
    fn is_result_of_if(&self, select: OpId) -> bool {
        let tree = self.tree;
        let Some(condition) = tree.operands(select).first() else { return false };
        let users = self.users.get(condition).map(Vec::as_slice).unwrap_or_default();
        users.iter().any(|&user| tree.is(user, Scf::If) && tree.parent_block(user) == tree.parent_block(select))
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
            // One of the two by a scalar is no use of either where Triton makes it a result of an `scf.if` that asks the
            // same (its pass that combines selects and ifs comes right after TTGIR).
            Some(OpCode::Arith(Arith::Select)) if self.is_result_of_if(user) => {
                if tree.operands(user).get(1..).is_some_and(|values| values.contains(&value)) {
                    open.extend(tree.results(user));
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
