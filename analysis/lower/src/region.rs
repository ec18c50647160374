//! Regions with a block or many, and the ops that end them.

use super::cfg::Order;
use super::exit::{After, Exit};
use super::lowerer::Lowerer;
use super::options::DEPTH;
use super::value::{Class, Val};
use base::{Message, message};
use dialects::{Cf, Nvws, OpCode, Scf, Tt, Ttg};
use kernel::{self, CmpOp, JumpTarget, Pure, Terminator, Var, Width};
use ttgir::{BlockId, OpId, RegionId, ValueId};

/// The blocks of a region that is being lowered.
struct Blocks {
    made: rustc_hash::FxHashMap<BlockId, (kernel::BlockId, Vec<Option<Var>>)>,
}

impl Lowerer<'_> {
    /// Lowers the ops of a block; gives back its terminator.
    pub(super) fn block(&mut self, block: BlockId) -> Option<OpId> {
        let tree = self.tree;
        if self.depth >= DEPTH {
            if let Some(&first) = tree.block_ops(block).first() {
                self.unmodelled(first, format!("nested deeper than {} levels", DEPTH));
            }
            return None;
        }
        self.depth += 1;
        let mut end = None;
        self.round_starts(block);
        for &op in tree.block_ops(block) {
            if tree.is_terminator(op) {
                end = Some(op);
                break;
            }
            self.op(op);
        }
        self.round_ends(block);
        self.depth -= 1;
        end
    }

    /// Lowers a region from its first block on; `args` are the values of that block's arguments,
    /// where they are not bound yet. Leaves no current block.
    pub(super) fn region(&mut self, region: RegionId, args: Option<&[ValueId]>) {
        let tree = self.tree;
        let Some(&entry) = tree.blocks(region).first() else { return };
        for (&arg, &value) in tree.block_args(entry).iter().zip(args.unwrap_or_default()) {
            self.rebind(arg, value);
        }
        let order = Order::new(tree, entry);
        let mut blocks = Blocks { made: rustc_hash::FxHashMap::default() };
        for &block in &order.blocks {
            if block != entry {
                // Every block but the first was met by a jump before: the order is a reverse postorder.
                let Some((made, _)) = blocks.made.get(&block) else { continue };
                self.build.enter(*made);
                if order.heads.contains(&block)
                    && let Some(&last) = tree.block_ops(block).last()
                {
                    let (site, head) = (self.site(last), *made);
                    self.build.loop_head(site, head, None);
                }
            }
            match self.block(block) {
                Some(end) => self.terminator(end, &mut blocks),
                None => self.fall_off(),
            }
        }
    }

    /// A block without a terminator: the text is being written.
    fn fall_off(&mut self) {
        match self.exits.last().cloned() {
            Some(Exit::Join(op, after)) => self.join_threads(op, &after, &[]),
            Some(Exit::Jump(after)) => self.jump_after(&after, &[]),
            Some(Exit::Kernel | Exit::Partition) | None => {
                if let Some(&function) = self.calls.first() {
                    let site = self.site(function);
                    let end = if matches!(self.exits.last(), Some(Exit::Partition)) {
                        Terminator::Exit(site)
                    } else {
                        Terminator::Return(site)
                    };
                    self.build.end(end);
                }
            }
        }
    }

    fn terminator(&mut self, op: OpId, blocks: &mut Blocks) {
        let tree = self.tree;
        let successors = tree.successors(op);
        match (tree.code(op), self.exits.last().cloned()) {
            (Some(OpCode::Cf(Cf::Br)), _) => match successors.first() {
                Some(next) => {
                    let target = self.target(op, next.block, &next.args, blocks);
                    self.build.end(Terminator::Jump(target));
                }
                None => self.fall_off(),
            },
            (Some(OpCode::Cf(Cf::CondBr)), _) => {
                let ([yes, no], Some(&condition)) = (successors.as_slice(), tree.operands(op).first()) else {
                    return self.fall_off();
                };
                let condition = self.scalar(condition);
                let no_target = self.target(op, no.block, &no.args, blocks);
                let yes = self.target(op, yes.block, &yes.args, blocks);
                self.build.end(match self.build.constant(condition) {
                    Some(value) => Terminator::Jump(if value & 1 == 1 { yes } else { no_target }),
                    None => Terminator::Branch(condition, yes, no_target),
                });
            }
            (Some(OpCode::Cf(Cf::Switch)), _) => self.switch(op, blocks),
            (Some(OpCode::Tt(Tt::Return)), Some(Exit::Kernel)) => {
                let site = self.site(op);
                self.build.end(Terminator::Return(site));
            }
            (Some(OpCode::Ttg(Ttg::WarpReturn) | OpCode::Nvws(Nvws::WarpGroupReturn)), Some(Exit::Partition)) => {
                let site = self.site(op);
                self.build.end(Terminator::Exit(site));
            }
            (
                Some(OpCode::Ttg(Ttg::WarpYield) | OpCode::Nvws(Nvws::WarpGroupYield | Nvws::WarpGroupReturn)),
                Some(Exit::Join(fork, after)),
            ) => self.join_threads(fork, &after, tree.operands(op)),
            (Some(OpCode::Tt(Tt::Return) | OpCode::Scf(Scf::Yield)), Some(Exit::Jump(after))) => {
                self.jump_after(&after, tree.operands(op))
            }
            _ => {
                let name = Message::op(tree.op_name(op).to_owned());
                self.unmodelled(op, message!("`{op}` does not end this region", name));
                self.fall_off();
            }
        }
    }

    fn switch(&mut self, op: OpId, blocks: &mut Blocks) {
        let tree = self.tree;
        let successors = tree.successors(op);
        let (Some((default, cases)), Some(&flag)) = (successors.split_first(), tree.operands(op).first()) else {
            return self.fall_off();
        };
        let (flag, width) = (self.scalar(flag), self.width(flag));
        let values = tree.attr(op, "case_values").map(|attr| tree.attr_array(attr)).unwrap_or_default();
        for (at, case) in cases.iter().enumerate() {
            let Some(value) = values.get(at).and_then(|attr| tree.attr_int(*attr)) else {
                self.unmodelled(op, "the cases cannot be read");
                break;
            };
            let value = self.build.number(value);
            let here = self.build.compute(Pure::Cmp(CmpOp::Eq, Width(width), flag, value), "");
            let target = self.target(op, case.block, &case.args, blocks);
            let next = self.build.block(Vec::new());
            self.build.end(Terminator::Branch(here, target, JumpTarget { block: next, args: Vec::new() }));
            self.build.enter(next);
        }
        let target = self.target(op, default.block, &default.args, blocks);
        self.build.end(Terminator::Jump(target));
    }

    /// The target of a jump; the block is made, with its parameters, when it is met first.
    fn target(&mut self, op: OpId, block: Option<BlockId>, args: &[ValueId], blocks: &mut Blocks) -> JumpTarget {
        let tree = self.tree;
        let Some(block) = block else {
            self.unmodelled(op, "the jump leads nowhere");
            let nowhere = self.build.block(Vec::new());
            return JumpTarget { block: nowhere, args: Vec::new() };
        };
        let (made, params) = match blocks.made.get(&block) {
            Some(known) => known.clone(),
            None => {
                let mut params = Vec::new();
                for (at, &param) in tree.block_args(block).iter().enumerate() {
                    let incoming = args.get(at).and_then(|arg| self.values.get(arg).copied());
                    params.push(self.param(param, incoming));
                }
                let made = self.build.block(params.iter().copied().flatten().collect());
                blocks.made.insert(block, (made, params.clone()));
                (made, params)
            }
        };
        let mut passed = Vec::new();
        for (at, param) in params.into_iter().enumerate() {
            let Some(param) = param else { continue };
            passed.push(match args.get(at) {
                Some(&arg) => self.pass(op, arg, param),
                None => param,
            });
        }
        JumpTarget { block: made, args: passed }
    }

    /// The block that a region hands `results` to. A memdesc is not a parameter of it, since its
    /// shape is not known yet: the one that every exit hands on is bound, else it is not followed.
    pub(super) fn exit_block(&mut self, results: &[ValueId]) -> After {
        let mut made = Vec::new();
        for &result in results {
            let param = match self.class(result) {
                Class::Scalar(_) => self.param(result, None),
                Class::View => {
                    // A binding of an earlier inlining of the same text.
                    self.values.remove(&result);
                    None
                }
                Class::Dropped => None,
            };
            made.push((result, param));
        }
        let block = self.build.block(made.iter().filter_map(|(_, param)| *param).collect());
        After { block, results: made }
    }

    /// Goes on after the region; its results are the block's parameters.
    pub(super) fn leave_to(&mut self, after: &After) {
        for &(result, _) in &after.results {
            if self.class(result) == Class::View && self.view(result).is_none() {
                self.bind(result, Val::Opaque);
            }
        }
        self.build.enter(after.block);
    }

    fn hand_on(&mut self, after: &After, values: &[ValueId]) -> JumpTarget {
        let mut args = Vec::new();
        for (at, &(result, param)) in after.results.iter().enumerate() {
            match (param, values.get(at)) {
                (Some(_), Some(&value)) => args.push(self.scalar(value)),
                (Some(param), None) => args.push(param),
                (None, Some(&value)) if self.class(result) == Class::View => {
                    let before = self.values.get(&result).copied();
                    self.rebind(result, value);
                    if before.is_some_and(|before| self.values.get(&result) != Some(&before)) {
                        self.bind(result, Val::Opaque);
                    }
                }
                _ => {}
            }
        }
        JumpTarget { block: after.block, args }
    }

    fn jump_after(&mut self, after: &After, values: &[ValueId]) {
        let target = self.hand_on(after, values);
        self.build.end(Terminator::Jump(target));
    }

    pub(super) fn join_threads(&mut self, fork: OpId, after: &After, values: &[ValueId]) {
        let target = self.hand_on(after, values);
        let site = self.site(fork);
        self.build.end(Terminator::Join(site, target));
    }
}
