//! Tensors that one task computes and others use: buffers that the plan has yet to get.
//!
//! A value in registers belongs to the warps that computed it. Buffer allocation gives one that another task
//! uses a buffer: its task stores it where it is computed, and the others load it ahead of the op that uses
//! it. The memory planner and code partitioning then treat that buffer like the others. An allocation with
//! a source is one already; it is filled by the task that computes the source, which need not be one of those
//! that the allocation names. Source: buffer allocation in the facebookexperimental fork, which makes channels
//! of tensors that ops of a single task compute.
//!
//! What a loop or a branch hands out is stored behind it. Values are followed through what a loop starts with, and
//! through ops that name no task. Missed, and said at the op that uses it: what goes round a loop to another
//! task, and what several tasks compute for one that is none of them.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::access::{Access, Allocation, Engine, Path};
use super::channel::Who;
use dialects::{Arith, OpCode, Scf, Ttg, Ttng};
use ttgir::{BlockId, OpId, Tree, Ty, ValueId};

/// Values of tasks that other tasks use.
#[derive(Default)]
pub(super) struct Registers {
    /// A buffer for each such value, in the order of the text.
    pub(super) buffers: Vec<Allocation>,
    /// Uses that get no channel, and why.
    pub(super) loose: Vec<(OpId, &'static str)>,
}

/// What a loop hands to another task in its next round.
const ROUND: &str = "a loop carries what another task computes to it, and no channel leads round a loop";
/// What more than one task computes.
const MANY: &str = "it uses what several other tasks compute, and a channel has one task that fills it";

/// The values of a function that one task computes and others use.
pub(super) fn registers(tree: &Tree, function: OpId, named: Who<'_>) -> Registers {
    let mut all = Vec::new();
    super::super::tasks::below(tree, function, &mut all);
    let mut users: FxHashMap<ValueId, Vec<OpId>> = FxHashMap::default();
    for &op in &all {
        for &value in tree.operands(op) {
            let users = users.entry(value).or_default();
            if users.last() != Some(&op) {
                users.push(op);
            }
        }
    }
    let mut found = Registers::default();
    let mut made: BTreeMap<(u32, ValueId), Made> = BTreeMap::new();
    for &op in &all {
        let flow = !tree.regions(op).is_empty() && matches!(tree.code(op), Some(OpCode::Scf(_)));
        let tasks = if flow || tree.is(op, Arith::Constant) { Vec::new() } else { named(op) };
        for &value in tree.results(op).iter().filter(|_| !tasks.is_empty()) {
            if matches!(tree.value_type(value).map(|ty| tree.ty(ty)), Some(Ty::Tensor { .. })) {
                let walk = Walk { tree, users: &users, named, tasks: &tasks, made: &mut made, loose: &mut found.loose };
                walk.follow(op, value);
            }
        }
    }
    for made in made.into_values() {
        found.take(tree, function, made);
    }
    found.loose.sort_by_key(|(op, _)| tree.op_range(*op).start);
    found.loose.dedup();
    found
}

/// A value, who computes it, and who else has to have it where.
struct Made {
    value: ValueId,
    op: OpId,
    tasks: Vec<usize>,
    reads: Vec<(OpId, usize)>,
}

impl Registers {
    fn take(&mut self, tree: &Tree, function: OpId, made: Made) {
        let Made { value, op, mut tasks, mut reads } = made;
        tasks.sort_unstable();
        tasks.dedup();
        reads.retain(|(_, task)| !tasks.contains(task));
        reads.sort_by_key(|(op, task)| (tree.op_range(*op).start, *task));
        reads.dedup();
        let &[task] = tasks.as_slice() else {
            return self.loose.extend(reads.into_iter().map(|(user, _)| (user, MANY)));
        };
        if reads.is_empty() {
            return;
        }
        let access = |op: OpId, task: usize, reads: bool| {
            let path = path(tree, function, op);
            let over = path.clone();
            Access { op, tile: 0, path, over, task, engine: Engine::Warps, reads, writes: !reads, member: 0 }
        };
        let reads = reads.into_iter().map(|(user, task)| access(user, task, true));
        let accesses: Vec<Access> = std::iter::once(access(op, task, false)).chain(reads).collect();
        self.buffers.push(Allocation {
            op,
            value,
            id: None,
            copies: 1,
            tensor: false,
            registers: true,
            offset: None,
            extent: (0, u64::MAX),
            accesses,
            views: Vec::new(),
            loose: None,
        });
    }
}

/// Looks for the uses of one value by tasks that do not compute it.
struct Walk<'a> {
    tree: &'a Tree,
    users: &'a FxHashMap<ValueId, Vec<OpId>>,
    named: Who<'a>,
    /// Who computes it.
    tasks: &'a [usize],
    /// Where each value is first defined, what others have to have of it.
    made: &'a mut BTreeMap<(u32, ValueId), Made>,
    loose: &'a mut Vec<(OpId, &'static str)>,
}

/// How a value came to have its name.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Way {
    value: ValueId,
    /// What it is where its task has it last, and the op that gives that: a loop or a branch hands it out.
    made: (ValueId, OpId),
    /// The op that has to have it, where that is not the one that uses it in the end.
    at: Option<OpId>,
    /// It went round a loop.
    round: bool,
}

impl Walk<'_> {
    fn follow(mut self, op: OpId, value: ValueId) {
        let mut open = vec![Way { value, made: (value, op), at: None, round: false }];
        let mut seen: FxHashSet<Way> = open.iter().copied().collect();
        while let Some(way) = open.pop() {
            for &user in self.users.get(&way.value).map_or(&[][..], Vec::as_slice) {
                let mut next = Vec::new();
                if self.taken_out(user, way) {
                    continue;
                }
                if !self.handed_on(user, way, &mut next) {
                    self.used(user, way, &mut next);
                }
                open.extend(next.into_iter().filter(|way| seen.insert(*way)));
            }
        }
    }

    /// A branch that only other tasks take, and that hands out the value: they have to have it ahead of the branch.
    fn taken_out(&mut self, user: OpId, way: Way) -> bool {
        let tree = self.tree;
        let around = || tree.parent_op(tree.parent_region(tree.parent_block(user)?));
        let Some(branch) = (if tree.is(user, Scf::Yield) { around() } else { None }) else { return false };
        if !matches!(tree.code(branch), Some(OpCode::Scf(Scf::If | Scf::IndexSwitch))) {
            return false;
        }
        let owners = (self.named)(branch);
        if owners.is_empty() || owners.iter().any(|task| self.tasks.contains(task)) {
            return false;
        }
        owners.into_iter().for_each(|task| self.read(branch, way, task));
        true
    }

    /// Another task has to have the value at an op.
    fn read(&mut self, user: OpId, way: Way, task: usize) {
        if way.round {
            return self.loose.push((user, ROUND));
        }
        let (value, op) = way.made;
        let new = || Made { value, op, tasks: Vec::new(), reads: Vec::new() };
        let made = self.made.entry((self.tree.value_range(value).start, value)).or_insert_with(new);
        made.tasks.extend(self.tasks);
        made.reads.push((way.at.unwrap_or(user), task));
    }

    /// An op that takes the value for itself.
    fn used(&mut self, user: OpId, way: Way, next: &mut Vec<Way>) {
        let tree = self.tree;
        let fills = matches!(tree.code(user), Some(OpCode::Ttg(Ttg::LocalAlloc) | OpCode::Ttng(Ttng::TmemAlloc)));
        if fills && self.tasks.len() == 1 && !way.round {
            return;
        }
        let named = (self.named)(user);
        if named.is_empty() {
            // It is done by the tasks that use what comes of it.
            let at = Some(way.at.unwrap_or(user));
            next.extend(tree.results(user).iter().map(|result| Way { value: *result, at, ..way }));
        }
        for task in named.into_iter().filter(|task| !self.tasks.contains(task)) {
            self.read(user, way, task);
        }
    }

    /// What control flow makes of the value; false for an op that uses it.
    fn handed_on(&self, user: OpId, way: Way, next: &mut Vec<Way>) -> bool {
        let tree = self.tree;
        let around = || tree.parent_op(tree.parent_region(tree.parent_block(user)?));
        let args = |op: OpId, region: usize| -> &[ValueId] {
            let block = tree.regions(op).get(region).and_then(|region| tree.blocks(*region).first());
            block.map_or(&[][..], |block| tree.block_args(*block))
        };
        let mut hand = |to: &[ValueId], skip: usize, taken: usize, way: Way, by: Option<OpId>| {
            for (at, operand) in tree.operands(user).iter().enumerate() {
                if *operand == way.value
                    && let Some(&value) = at.checked_sub(taken).and_then(|at| to.get(at + skip))
                {
                    // What somebody has to have already is not handed out once more.
                    let made = by.filter(|_| way.at.is_none()).map_or(way.made, |by| (value, by));
                    next.push(Way { value, made, ..way });
                }
            }
        };
        let round = Way { round: true, ..way };
        match (tree.code(user), around()) {
            (Some(OpCode::Scf(Scf::Yield)), Some(parent)) => match tree.code(parent) {
                Some(OpCode::Scf(Scf::For)) => {
                    hand(tree.results(parent), 0, 0, way, Some(parent));
                    hand(args(parent, 0), 1, 0, round, None);
                }
                Some(OpCode::Scf(Scf::While)) => hand(args(parent, 0), 0, 0, round, None),
                _ => hand(tree.results(parent), 0, 0, way, Some(parent)),
            },
            (Some(OpCode::Scf(Scf::Condition)), Some(parent)) => {
                let out = Way { round: false, ..way };
                hand(tree.results(parent), 0, 1, out, Some(parent));
                hand(args(parent, 1), 0, 1, way, None);
            }
            (Some(OpCode::Scf(Scf::For)), _) => {
                let way = Way { at: Some(way.at.unwrap_or(user)), ..way };
                hand(tree.results(user), 0, 3, way, None);
                hand(args(user, 0), 1, 3, way, None);
            }
            (Some(OpCode::Scf(Scf::While)), _) => {
                let way = Way { at: Some(way.at.unwrap_or(user)), ..way };
                hand(args(user, 0), 0, 0, way, None);
            }
            _ => return false,
        }
        true
    }
}

/// The way to an op through the blocks of a function.
fn path(tree: &Tree, function: OpId, op: OpId) -> Path {
    let mut steps: Vec<(BlockId, OpId)> = Vec::new();
    let mut at = Some(op).filter(|op| *op != function);
    while let Some((op, block)) = at.and_then(|op| Some((op, tree.parent_block(op)?))) {
        steps.push((block, op));
        at = tree.parent_op(tree.parent_region(block)).filter(|op| *op != function);
    }
    steps.reverse();
    steps
}
