//! What a kernel's variables are, where its effects stand, and which ops of the text they come from.
//!
//! Memory is followed in the kernel, whose windows are exact; names and types come from the tree.

use super::expr::Expr;
use crate::limits::ways::CHAINS;
use base::TextRange;
use kernel::{
    Block, BlockId, BufferId, Effect, EffectId, Instr, Kernel, LoopId, Lowered, Pure, Site, SiteId, Terminator, Var,
    ViewOp,
};
use lower::Tasks;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::cell::RefCell;
use ttgir::queries::expr::{location_name, name};
use ttgir::queries::spot::walk;
use ttgir::{Def, OpId, Tree, ValueId};

/// How a variable comes about.
#[derive(Clone, Copy, Debug)]
pub(super) enum ValueDef {
    /// A scalar that is computed.
    Let(Pure<Var>),
    /// A window of the memory that another variable names.
    View(Var, ViewOp<Var>),
    /// A whole buffer.
    Base(BufferId),
    /// A parameter of a block.
    Param,
    /// By an effect, or not at all.
    Other,
}

/// A way from an allocation to a view of it: variables, the whole buffer first.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    /// The allocation that holds it.
    pub buffer: BufferId,
    /// The whole buffer, then each view.
    pub vars: Vec<Var>,
}

/// Facts about one kernel that all parts of a report need.
pub(super) struct Trace<'a> {
    pub tree: &'a Tree,
    pub lowered: &'a Lowered,
    ops: FxHashMap<u32, OpId>,
    values: FxHashMap<u32, ValueId>,
    names: FxHashSet<&'a str>,
    /// What people call values that the text only numbers, by their number.
    known: FxHashMap<&'a str, String>,
    /// Names to which the printer added a number.
    bases: FxHashSet<&'a str>,
    /// The function that the kernel is.
    pub function: Option<OpId>,
    tasks: Option<Tasks>,
    /// Expressions that were made, by variable and size.
    pub exprs: RefCell<FxHashMap<(Var, usize), Expr>>,
    made: Vec<ValueDef>,
    args: Vec<SmallVec<[Var; 2]>>,
    block_of: Vec<Option<BlockId>>,
    partition_of: Vec<usize>,
    loops_of: Vec<Option<LoopId>>,
}

impl<'a> Trace<'a> {
    pub(crate) fn new(tree: &'a Tree, lowered: &'a Lowered) -> Trace<'a> {
        let kernel = &lowered.kernel;
        let mut ops = FxHashMap::default();
        let mut values = FxHashMap::default();
        let mut names: FxHashSet<&str> = FxHashSet::default();
        let mut function = None;
        let mut located: Vec<(OpId, &str, String)> = Vec::new();
        walk(tree, tree.top(), &mut |op| {
            ops.insert(tree.op_name_range(op).start, op);
            if tree.attr(op, "sym_name").is_some_and(|attr| tree.attr_range(attr) == lowered.map.kernel_range) {
                function = Some(op);
            }
            for &result in tree.results(op) {
                names.insert(tree.value_name(result));
                if let Some(name) = location_name(tree, result) {
                    located.push((op, tree.value_name(result), name));
                }
                values.entry(tree.value_range(result).start).or_insert(result);
            }
        });
        let numbered = |name: &&'a str| {
            let (base, number) = name.rsplit_once('_')?;
            (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(base)
        };
        // Other functions of the module number their own.
        let own = function.map(|function| tree.op_range(function));
        let inside = |op: OpId| own.is_none_or(|own| own.contains(tree.op_range(op)));
        let known =
            located.into_iter().filter(|(op, ..)| inside(*op)).map(|(_, number, name)| (number, name)).collect();
        let bases = names.iter().filter_map(numbered).collect();
        let mut trace = Trace {
            tree,
            lowered,
            ops,
            values,
            names,
            known,
            bases,
            function,
            tasks: function.map(|function| Tasks::new(tree, function)),
            exprs: RefCell::default(),
            made: vec![ValueDef::Other; kernel.vars.len()],
            args: vec![SmallVec::new(); kernel.vars.len()],
            block_of: vec![None; kernel.effects.len()],
            partition_of: vec![0; kernel.blocks.len()],
            loops_of: vec![None; kernel.blocks.len()],
        };
        trace.define();
        trace.partitions();
        trace.loops();
        trace
    }

    /// What people call a value, by its name in the text.
    pub(crate) fn known<'n>(&'n self, name: &'n str) -> &'n str {
        self.known.get(name).map_or(name, String::as_str)
    }

    pub(crate) fn kernel(&self) -> &'a Kernel {
        &self.lowered.kernel
    }

    fn define(&mut self) {
        for (number, block) in self.lowered.kernel.blocks.iter().enumerate() {
            let id = BlockId(number as u32);
            for param in &block.params {
                self.made[param.index()] = ValueDef::Param;
            }
            for instr in &block.instrs {
                match *instr {
                    Instr::Let(dst, pure) => self.made[dst.index()] = ValueDef::Let(pure),
                    Instr::View { dst, src, op } => self.made[dst.index()] = ValueDef::View(src, op),
                    Instr::Base(dst, buffer) => self.made[dst.index()] = ValueDef::Base(buffer),
                    Instr::Effect(effect) => self.block_of[effect.index()] = Some(id),
                    Instr::Word(_) | Instr::Host(_) => {}
                }
            }
            for target in block.terminator.targets() {
                let params = &self.lowered.kernel.block(target.block).params;
                for (param, arg) in params.iter().zip(&target.args) {
                    let args = &mut self.args[param.index()];
                    if !args.contains(arg) {
                        args.push(*arg);
                    }
                }
            }
        }
    }

    fn partitions(&mut self) {
        let kernel = self.kernel();
        let mut open = vec![(kernel.entry, 0usize)];
        let mut seen = vec![false; kernel.blocks.len()];
        while let Some((id, partition)) = open.pop() {
            if std::mem::replace(&mut seen[id.index()], true) {
                continue;
            }
            self.partition_of[id.index()] = partition;
            match &kernel.block(id).terminator {
                Terminator::Fork(fork) => {
                    open.push((fork.default.block, partition));
                    open.extend(fork.partitions.iter().map(|(number, target)| (target.block, *number as usize)));
                }
                other => open.extend(other.targets().iter().map(|target| (target.block, partition))),
            }
        }
    }

    /// The innermost loop of each block. Blocks are numbered in reverse postorder, so an edge that
    /// does not go up closes a loop.
    fn loops(&mut self) {
        let kernel = self.kernel();
        let mut before: Vec<Vec<BlockId>> = vec![Vec::new(); kernel.blocks.len()];
        for (number, block) in kernel.blocks.iter().enumerate() {
            for target in block.terminator.targets() {
                before[target.block.index()].push(BlockId(number as u32));
            }
        }
        let mut sizes = vec![usize::MAX; kernel.blocks.len()];
        for (number, info) in kernel.loops.iter().enumerate() {
            let mut body: FxHashSet<BlockId> = FxHashSet::default();
            let mut members = vec![info.head];
            body.insert(info.head);
            let mut open: Vec<BlockId> =
                before[info.head.index()].iter().copied().filter(|from| from.0 >= info.head.0).collect();
            while let Some(block) = open.pop() {
                if body.insert(block) {
                    members.push(block);
                    open.extend(&before[block.index()]);
                }
            }
            for block in &members {
                if members.len() < sizes[block.index()] {
                    sizes[block.index()] = members.len();
                    self.loops_of[block.index()] = Some(LoopId(number as u32));
                }
            }
        }
    }

    /// Whether some value is called so.
    pub(crate) fn is_name(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Whether some value is called so and by a number.
    pub(crate) fn is_base(&self, name: &str) -> bool {
        self.bases.contains(name)
    }

    /// How a variable comes about.
    pub(crate) fn made(&self, var: Var) -> ValueDef {
        self.made.get(var.index()).copied().unwrap_or(ValueDef::Other)
    }

    /// What jumps give a parameter, each once.
    pub(crate) fn args(&self, var: Var) -> &[Var] {
        self.args.get(var.index()).map_or(&[], |args| args.as_slice())
    }

    /// What a parameter is given on the ways into its block, and on those back to it.
    pub(crate) fn entering(&self, var: Var) -> (Vec<Var>, Vec<Var>) {
        let kernel = self.kernel();
        let (mut first, mut again) = (Vec::new(), Vec::new());
        for (number, block) in kernel.blocks.iter().enumerate() {
            for target in block.terminator.targets() {
                let params = &kernel.block(target.block).params;
                let Some(at) = params.iter().position(|param| *param == var) else { continue };
                let list = if number >= target.block.index() { &mut again } else { &mut first };
                if let Some(arg) = target.args.get(at).filter(|arg| **arg != var)
                    && !list.contains(arg)
                {
                    list.push(*arg);
                }
            }
        }
        (first, again)
    }

    /// The partition that an effect belongs to.
    pub(crate) fn partition(&self, effect: EffectId) -> usize {
        let block = self.block_of.get(effect.index()).copied().flatten();
        block.map_or(0, |block| self.partition_of[block.index()])
    }

    /// The loops around an effect, outermost first.
    pub(crate) fn loops_around(&self, effect: EffectId) -> Vec<LoopId> {
        let block = self.block_of.get(effect.index()).copied().flatten();
        let mut up = block.and_then(|block| self.loops_of[block.index()]);
        let mut around = Vec::new();
        while let Some(id) = up {
            if around.contains(&id) {
                break;
            }
            around.push(id);
            up = self.kernel().loops.get(id.index()).and_then(|info| info.parent);
        }
        around.reverse();
        around
    }

    /// The loops around an effect by the names of what they count, outermost first.
    pub(crate) fn cadence(&self, effect: EffectId) -> Vec<String> {
        self.loops_around(effect).into_iter().map(|id| self.loop_name(id)).collect()
    }

    /// The induction variable of a loop, or `while`.
    pub(crate) fn loop_name(&self, id: LoopId) -> String {
        let counted = self.kernel().loops.get(id.index()).and_then(|info| info.counted);
        let name = counted.and_then(|(counter, ..)| self.lowered.map.var(counter));
        name.map_or_else(|| "while".to_owned(), str::to_owned)
    }

    /// Every effect with its number, in the order of the text.
    pub(crate) fn effects(&self) -> Vec<(EffectId, &'a Effect)> {
        let all = self.kernel().effects.iter().enumerate();
        let mut effects: Vec<_> = all.map(|(number, effect)| (EffectId(number as u32), effect)).collect();
        effects.sort_by_key(|(id, effect)| (self.site(effect.site).name.start, id.0));
        effects
    }

    /// The site with this number, which has to be one of the map.
    pub(crate) fn site(&self, id: SiteId) -> &'a Site {
        self.lowered.map.site(id)
    }

    /// The op of a site.
    pub(crate) fn op(&self, id: SiteId) -> Option<OpId> {
        self.op_named_at(self.site(id).name)
    }

    /// The op whose name stands there.
    pub(crate) fn op_named_at(&self, range: TextRange) -> Option<OpId> {
        self.ops.get(&range.start).copied()
    }

    /// The result that is defined there.
    pub(crate) fn value_at(&self, range: TextRange) -> Option<ValueId> {
        self.values.get(&range.start).copied()
    }

    /// The value that a buffer of the kernel is in the text.
    pub(crate) fn buffer_value(&self, buffer: BufferId) -> Option<ValueId> {
        let (called, range) = self.lowered.map.buffers.get(buffer.0 as usize)?;
        let value = self.value_at(*range)?;
        // Results of a group stand in one place.
        match self.tree.value_def(value) {
            Def::Result(op, _) if self.tree.value_number(value).is_some() => {
                self.tree.results(op).iter().copied().find(|result| name(self.tree, *result) == *called).or(Some(value))
            }
            _ => Some(value),
        }
    }

    /// The partitions that execute an op; the default one where none is named.
    pub(crate) fn executors(&self, op: OpId) -> Vec<usize> {
        let named = self.tasks.as_ref().map_or_else(Vec::new, |tasks| tasks.partitions(self.tree, op).to_vec());
        if named.is_empty() { vec![0] } else { named }
    }

    /// Whether an op gives a view of its first operand.
    pub(crate) fn is_view(&self, op: OpId) -> bool {
        let name = self.tree.op_name(op);
        name.starts_with("ttg.memdesc_") || name == "ttng.tmem_subslice"
    }

    /// The block that an effect stands in.
    pub(crate) fn block(&self, effect: EffectId) -> Option<&'a Block> {
        let block = self.block_of.get(effect.index()).copied().flatten()?;
        Some(self.kernel().block(block))
    }

    /// The operand of an op that stands there.
    pub(crate) fn operand_at(&self, op: OpId, range: TextRange) -> Option<ValueId> {
        let mut operands = self.tree.operands(op).iter().enumerate();
        operands.find(|(at, _)| self.tree.operand_range(op, *at) == range).map(|(_, value)| *value)
    }

    /// The value that an access of a site goes through, by the role of its operand or its place.
    pub(crate) fn access_value(&self, site: SiteId, role: &str, place: usize) -> Option<ValueId> {
        let info = self.site(site);
        let mut roles = info.operands.iter().filter(|(_, range)| !range.is_empty());
        let found = if role.is_empty() { info.operands.get(place) } else { roles.find(|(name, _)| name == role) };
        self.operand_at(self.op(site)?, found?.1)
    }

    /// Every way from an allocation to a memdesc.
    pub(crate) fn chains(&self, var: Var) -> Vec<Chain> {
        let mut found = Vec::new();
        let mut open = vec![vec![var]];
        let mut seen = FxHashSet::default();
        while let Some(mut way) = open.pop() {
            let Some(&last) = way.last() else { continue };
            match self.made(last) {
                ValueDef::Base(buffer) => {
                    way.reverse();
                    found.push(Chain { buffer, vars: way });
                }
                ValueDef::View(src, _) => {
                    way.push(src);
                    open.push(way);
                }
                ValueDef::Let(Pure::Copy(src)) => {
                    way.pop();
                    way.push(src);
                    open.push(way);
                }
                ValueDef::Let(Pure::Select(_, yes, no)) => {
                    for src in [no, yes] {
                        let mut other = way.clone();
                        other.pop();
                        other.push(src);
                        open.push(other);
                    }
                }
                ValueDef::Param => {
                    for &src in self.args(last).iter().rev() {
                        if seen.insert((last, src)) {
                            let mut other = way.clone();
                            other.pop();
                            other.push(src);
                            open.push(other);
                        }
                    }
                }
                ValueDef::Let(_) | ValueDef::Other => {}
            }
            if found.len() + open.len() > CHAINS {
                break;
            }
        }
        found
    }

    /// A variable's constant value.
    pub(crate) fn constant(&self, var: Var) -> Option<i64> {
        let mut var = var;
        for _ in 0..self.made.len() {
            match self.made(var) {
                ValueDef::Let(Pure::Const(value)) => return Some(value),
                ValueDef::Let(Pure::Copy(src)) => var = src,
                ValueDef::Param => match self.args(var) {
                    [only] => var = *only,
                    _ => return None,
                },
                _ => return None,
            }
        }
        None
    }
}
