//! Conditions of loops where they can be counted with: asked at the head, of what is set before the loop.
//!
//! A scheduler that says whether there is more work computes its condition at the end of an iteration and hands it on to
//! the next one, and in both places it is the same question of something else that is handed on:
//! `more = tile + step < tiles`, once with the first tile, then with the next. Such a loop asks `tile < tiles` at its
//! head here. What a counter is compared with and grows by is computed before the loop, where nothing of the loop
//! is in it. Conditions of other forms are counted with by [`super::counters`].

use super::flow::reverse_postorder;
use super::loops::{Def, definitions};
use super::merge::rename;
use crate::limits::simplify::QUESTION;
use kernel::{BlockId, CmpOp, InputKind, Instr, Kernel, LoopInfo, Pure, SourceMap, Terminator, Var, VarInfo, VarKind};
use smallvec::SmallVec;

/// Rewrites the conditions of all loops that the frontend named.
pub(super) fn ask_at_heads(kernel: &mut Kernel, map: &mut SourceMap) {
    let order = reverse_postorder(kernel);
    let mut place = vec![usize::MAX; kernel.blocks.len()];
    for (at, id) in order.iter().enumerate() {
        place[id.index()] = at;
    }
    let mut ways: Vec<SmallVec<[BlockId; 2]>> = vec![SmallVec::new(); kernel.blocks.len()];
    for &from in &order {
        kernel.block(from).terminator.targets().iter().for_each(|target| ways[target.block.index()].push(from));
    }
    let open = |info: &&LoopInfo| info.counted.is_none() && place[info.head.index()] != usize::MAX;
    let heads: Vec<BlockId> = kernel.loops.iter().filter(open).map(|info| info.head).collect();
    let mut defs = definitions(kernel);
    let mut renamed = Vec::new();
    for head in heads {
        let Some(entries) = Entries::of(kernel, &place, &ways[head.index()], head) else { continue };
        let mut head = Head { kernel, defs: &mut defs, place: &place, entries, left: QUESTION };
        renamed.extend(head.rotate());
        if !head.hoist() {
            head.count();
        }
    }
    if !renamed.is_empty() {
        let mut names: Vec<Var> = (0..kernel.vars.len() as u32).map(Var).collect();
        renamed.into_iter().for_each(|(before, after): (Var, Var)| names[before.index()] = after);
        rename(kernel, &mut names);
    }
    map.vars.resize(kernel.vars.len().max(map.vars.len()), None);
}

/// The two ways into the head of a loop.
pub(super) struct Entries {
    pub(super) head: BlockId,
    /// The block before the loop.
    pub(super) before: BlockId,
    /// What it hands over, by parameter of the head.
    pub(super) first: Vec<Var>,
    /// The block at the end of an iteration.
    pub(super) last: BlockId,
    /// What it hands to the next.
    pub(super) next: Vec<Var>,
}

impl Entries {
    /// `None` where there are more ways in.
    fn of(kernel: &Kernel, place: &[usize], ways: &[BlockId], head: BlockId) -> Option<Entries> {
        let &[a, b] = ways else { return None };
        let retreats = |from: BlockId| place[from.index()] >= place[head.index()];
        let (before, last) = match (retreats(a), retreats(b)) {
            (false, true) => (a, b),
            (true, false) => (b, a),
            _ => return None,
        };
        let handed = |from: BlockId| {
            let targets = kernel.block(from).terminator.targets();
            targets.iter().find(|target| target.block == head).map(|target| target.args.clone())
        };
        Some(Entries { head, before, first: handed(before)?, last, next: handed(last)? })
    }
}

/// The head of a loop whose condition is looked at.
pub(super) struct Head<'k> {
    pub(super) kernel: &'k mut Kernel,
    pub(super) defs: &'k mut Vec<Option<Def>>,
    /// Of blocks, in reverse postorder.
    place: &'k [usize],
    pub(super) entries: Entries,
    /// Operations that may still be compared.
    pub(super) left: usize,
}

impl Head<'_> {
    /// Asks at the head what is handed to it as an answer: the parameter, and what stands for it from now on.
    fn rotate(&mut self) -> Option<(Var, Var)> {
        let block = self.kernel.block(self.entries.head);
        let Terminator::Branch(condition, ..) = &block.terminator else { return None };
        let condition = *condition;
        let at = block.params.iter().position(|param| *param == condition)?;
        let (first, next) = (*self.entries.first.get(at)?, *self.entries.next.get(at)?);
        let mut made = Vec::new();
        let asked = self.question((first, next), condition, &mut made).filter(|_| !made.is_empty())?;
        let block = &mut self.kernel.blocks[self.entries.head.index()];
        block.instrs.splice(0..0, made);
        if let Terminator::Branch(condition, ..) = &mut block.terminator {
            *condition = asked;
        }
        Some((condition, asked))
    }

    /// A variable of the head that is `first` in the first iteration and what `next` was at the end of the one before in
    /// each further one.
    pub(super) fn question(&mut self, (first, next): (Var, Var), condition: Var, made: &mut Vec<Instr>) -> Option<Var> {
        let (first, next) = (self.source(first), self.source(next));
        let params = self.kernel.block(self.entries.head).params.clone();
        for (at, param) in params.into_iter().enumerate().filter(|(_, param)| *param != condition) {
            let (Some(&before), Some(&after)) = (self.entries.first.get(at), self.entries.next.get(at)) else {
                continue;
            };
            if self.is_same(before, first) && self.is_same(after, next) {
                return Some(param);
            }
        }
        if self.is_same(first, next) {
            return Some(first);
        }
        let (x, y) = (self.pure(first)?, self.pure(next)?);
        if !self.is_steady(&x) || x.map(|_| ()) != y.map(|_| ()) {
            return None;
        }
        let mut operands = Vec::new();
        for (x, y) in x.operands().into_iter().zip(y.operands()) {
            operands.push(self.question((x, y), condition, made)?);
        }
        let mut operands = operands.into_iter();
        let pure = x.map(|operand| operands.next().unwrap_or(operand));
        let asked = self.var(self.entries.head, pure);
        made.push(Instr::Let(asked, pure));
        Some(asked)
    }

    /// Computes the bound and the step of a counter before the loop; whether the condition is of such a form.
    fn hoist(&mut self) -> bool {
        let block = self.kernel.block(self.entries.head);
        let Terminator::Branch(condition, ..) = &block.terminator else { return false };
        let condition = *condition;
        let Some(Pure::Cmp(op @ (CmpOp::Slt | CmpOp::Ult), width, counter, bound)) = self.pure(condition) else {
            return false;
        };
        let Some(at) = block.params.iter().position(|param| *param == counter) else { return false };
        let Some(&next) = self.entries.next.get(at) else { return false };
        let Some(Pure::Add(sum, count, step)) = self.pure(next) else { return false };
        // The counter stands on either side.
        let (count, step) = if step == counter { (step, count) } else { (count, step) };
        if count != counter {
            return false;
        }
        let (Some(bound), Some(step)) = (self.before(bound), self.before(step)) else { return false };
        self.replace(condition, Pure::Cmp(op, width, counter, bound));
        self.replace(next, Pure::Add(sum, counter, step));
        true
    }

    /// A variable that is set before the loop and has this value.
    pub(super) fn before(&mut self, var: Var) -> Option<Var> {
        let (at, pure) = self.defs.get(var.index()).copied().flatten()?;
        if self.place[at.index()] < self.place[self.entries.head.index()] {
            return Some(var);
        }
        let pure = pure.filter(|pure| self.is_steady(pure) && !may_fail(pure))?;
        self.left = self.left.checked_sub(1)?;
        let mut operands = Vec::new();
        for operand in pure.operands() {
            operands.push(self.before(operand)?);
        }
        let mut operands = operands.into_iter();
        Some(self.compute(self.entries.before, pure.map(|operand| operands.next().unwrap_or(operand))))
    }

    pub(super) fn replace(&mut self, var: Var, pure: Pure<Var>) {
        let Some(Some((at, known))) = self.defs.get_mut(var.index()) else { return };
        *known = Some(pure);
        let instrs = &mut self.kernel.blocks[at.index()].instrs;
        instrs.iter_mut().filter(|instr| matches!(instr, Instr::Let(dst, _) if *dst == var)).for_each(|instr| {
            *instr = Instr::Let(var, pure);
        });
    }

    /// Computes an operation at the end of a block.
    pub(super) fn compute(&mut self, block: BlockId, pure: Pure<Var>) -> Var {
        let made = self.var(block, pure);
        self.kernel.blocks[block.index()].instrs.push(Instr::Let(made, pure));
        made
    }

    /// A new variable that this operation in this block sets.
    pub(super) fn var(&mut self, block: BlockId, pure: Pure<Var>) -> Var {
        self.kernel.vars.push(VarInfo { kind: VarKind::Scalar });
        self.defs.push(Some((block, Some(pure))));
        Var(self.kernel.vars.len() as u32 - 1)
    }

    pub(super) fn pure(&self, var: Var) -> Option<Pure<Var>> {
        self.defs.get(var.index()).copied().flatten().and_then(|(_, pure)| pure)
    }

    /// Where a chain of copies starts.
    pub(super) fn source(&self, mut var: Var) -> Var {
        while let Some(Pure::Copy(of)) = self.pure(var) {
            var = of;
        }
        var
    }

    /// Whether two variables have one value whenever both are set, because they are computed alike.
    fn is_same(&mut self, a: Var, b: Var) -> bool {
        let (a, b) = (self.source(a), self.source(b));
        if a == b {
            return true;
        }
        let (Some(x), Some(y)) = (self.pure(a), self.pure(b)) else { return false };
        if x.map(|_| ()) != y.map(|_| ()) || !self.is_steady(&x) {
            return false;
        }
        let Some(left) = self.left.checked_sub(1) else { return false };
        self.left = left;
        x.operands().into_iter().zip(y.operands()).all(|(a, b)| self.is_same(a, b))
    }

    /// Whether an operation gives one value for equal operands, each time.
    fn is_steady(&self, pure: &Pure<Var>) -> bool {
        match pure {
            Pure::Input(input) => {
                let kind = self.kernel.inputs.get(input.index()).map(|input| input.kind);
                matches!(
                    kind,
                    Some(
                        InputKind::Argument(_)
                            | InputKind::Size(_)
                            | InputKind::Pointer(_)
                            | InputKind::ProgramId(_)
                            | InputKind::NumPrograms(_)
                    )
                )
            }
            Pure::Load(..) => false,
            _ => true,
        }
    }
}

/// Whether an operation has no value for some operands: where the loop does not run, it must not be asked.
fn may_fail(pure: &Pure<Var>) -> bool {
    matches!(
        pure,
        Pure::DivS(..)
            | Pure::DivU(..)
            | Pure::CeilDivS(..)
            | Pure::CeilDivU(..)
            | Pure::FloorDivS(..)
            | Pure::RemS(..)
            | Pure::RemU(..)
    )
}
