//! Tensors that one task computes and others use: buffers that the plan has yet to get.
//!
//! A value in registers belongs to the warps that computed it. Buffer allocation gives one that another task
//! uses a buffer: its task stores it where it is computed, and the others load it ahead of the op that uses
//! it. The memory planner and code partitioning then treat that buffer like the others. An allocation with
//! a source is one already; it is filled by the task that computes the source, which need not be one of those
//! that the allocation names. Source: buffer allocation in the facebookexperimental fork, which makes channels
//! of tensors that ops of a single task compute.
//!
//! Values are followed through the results of loops and branches, through what a loop starts with, and
//! through ops that name no task. Missed, and said at the op that uses it: what goes round a loop to another
//! task, and what several tasks compute for one that is none of them.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::origin::origins;
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

/// The tasks that fill an allocation with a source.
pub(super) fn fillers(tree: &Tree, op: OpId, who: Who<'_>, named: Who<'_>) -> Vec<usize> {
    let own = who(op);
    let Some(&source) = tree.group(op, "src").first() else { return own };
    let made = origins(tree, source).unwrap_or_default().into_iter().filter(|op| !tree.is(*op, Arith::Constant));
    let mut tasks: Vec<usize> = made.flat_map(named).collect();
    tasks.sort_unstable();
    tasks.dedup();
    if tasks.len() == 1 { tasks } else { own }
}

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
    for &op in &all {
        if !tree.regions(op).is_empty() && matches!(tree.code(op), Some(OpCode::Scf(_))) || tree.is(op, Arith::Constant)
        {
            continue;
        }
        let tasks = named(op);
        if tasks.is_empty() {
            continue;
        }
        for &value in tree.results(op) {
            if matches!(tree.value_type(value).map(|ty| tree.ty(ty)), Some(Ty::Tensor { .. })) {
                let mut walk =
                    Walk { tree, function, users: &users, named, tasks: &tasks, reads: Vec::new(), loose: Vec::new() };
                walk.follow(value);
                found.take(op, value, walk);
            }
        }
    }
    found
}

impl Registers {
    fn take(&mut self, op: OpId, value: ValueId, walk: Walk<'_>) {
        let (tree, tasks) = (walk.tree, walk.tasks);
        self.loose.extend(walk.loose.into_iter().map(|user| (user, ROUND)));
        if walk.reads.is_empty() {
            return;
        }
        let &[task] = tasks else {
            return self.loose.extend(walk.reads.into_iter().map(|(user, _)| (user, MANY)));
        };
        let access = |op: OpId, task: usize, reads: bool| {
            let path = path(tree, walk.function, op);
            let over = path.clone();
            Access { op, path, over, task, engine: Engine::Warps, reads, writes: !reads, member: 0 }
        };
        let reads = walk.reads.into_iter().map(|(user, task)| access(user, task, true));
        let mut accesses: Vec<Access> = std::iter::once(access(op, task, false)).chain(reads).collect();
        accesses.sort_by_key(|access| (tree.op_range(access.op).start, access.task));
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
    function: OpId,
    users: &'a FxHashMap<ValueId, Vec<OpId>>,
    named: Who<'a>,
    /// Who computes it.
    tasks: &'a [usize],
    /// Where another task has to have it, and which.
    reads: Vec<(OpId, usize)>,
    /// Ops that have it from the round before.
    loose: Vec<OpId>,
}

/// How a value came to have its name.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Way {
    value: ValueId,
    /// The op that has to have it, where that is not the one that uses it in the end.
    at: Option<OpId>,
    /// It went round a loop.
    round: bool,
}

impl Walk<'_> {
    fn follow(&mut self, value: ValueId) {
        let mut open = vec![Way { value, at: None, round: false }];
        let mut seen: FxHashSet<Way> = open.iter().copied().collect();
        while let Some(way) = open.pop() {
            for &user in self.users.get(&way.value).map_or(&[][..], Vec::as_slice) {
                let mut next = Vec::new();
                if !self.handed_on(user, way, &mut next) {
                    self.used(user, way, &mut next);
                }
                open.extend(next.into_iter().filter(|way| seen.insert(*way)));
            }
        }
        let place = |op: &OpId| self.tree.op_range(*op).start;
        self.reads.sort_by_key(|(op, task)| (place(op), *task));
        self.reads.dedup();
        self.loose.sort_by_key(place);
        self.loose.dedup();
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
            if way.round {
                self.loose.push(user);
            } else {
                self.reads.push((way.at.unwrap_or(user), task));
            }
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
        let mut hand = |to: &[ValueId], skip: usize, taken: usize, way: Way| {
            for (at, operand) in tree.operands(user).iter().enumerate() {
                if *operand == way.value
                    && let Some(&value) = at.checked_sub(taken).and_then(|at| to.get(at + skip))
                {
                    next.push(Way { value, ..way });
                }
            }
        };
        let round = Way { round: true, ..way };
        match (tree.code(user), around()) {
            (Some(OpCode::Scf(Scf::Yield)), Some(parent)) => match tree.code(parent) {
                Some(OpCode::Scf(Scf::For)) => {
                    hand(tree.results(parent), 0, 0, way);
                    hand(args(parent, 0), 1, 0, round);
                }
                Some(OpCode::Scf(Scf::While)) => hand(args(parent, 0), 0, 0, round),
                _ => hand(tree.results(parent), 0, 0, way),
            },
            (Some(OpCode::Scf(Scf::Condition)), Some(parent)) => {
                hand(tree.results(parent), 0, 1, way);
                hand(args(parent, 1), 0, 1, way);
            }
            (Some(OpCode::Scf(Scf::For)), _) => {
                let way = Way { at: Some(way.at.unwrap_or(user)), ..way };
                hand(tree.results(user), 0, 3, way);
                hand(args(user, 0), 1, 3, way);
            }
            (Some(OpCode::Scf(Scf::While)), _) => {
                let way = Way { at: Some(way.at.unwrap_or(user)), ..way };
                hand(args(user, 0), 0, 0, way);
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
