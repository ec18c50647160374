//! A region that tasks share, taken apart: each task walks it and does its own ops.
//!
//! Ops that only compute are done by every task, since what nobody uses is dropped later. A loop or
//! a branch is done by the tasks that it names, that something in it names, or that use its results;
//! other ops by those that they name, or by all where they name none. Memory is allocated once,
//! before the tasks start, as the memory planner places it.
//!
//! Ops of the function itself that name no task come before the tasks start, as in the pass that
//! makes partitions of tasks (facebookexperimental fork); those behind the last op of a task come
//! after all have ended, where the pass puts them before too, which would end the life of barriers
//! that are in use.

use rustc_hash::FxHashSet;

use super::tasks::{Tasks, any, below};
use crate::exit::Exit;
use crate::lowerer::Lowerer;
use crate::specialize::PARTITIONS;
use crate::value::{Class, Val};
use dialects::{Nvws, OpCode, OpEffect, Tt, Ttg, Ttng};
use kernel::{Fork, JumpTarget, Partition, Stage, Terminator, Var};
use ttgir::{MemSpace, OpId, RegionId, Tree, Ty, ValueId};

/// Whether the text holds anything that orders tasks.
fn has_sync(tree: &Tree, function: OpId) -> bool {
    any(tree, function, &|op| {
        let name = tree.op_name(op);
        match name.split_once('.') {
            Some(("nvws", op)) => !matches!(op, "descriptor_load" | "descriptor_gather" | "warp_group"),
            Some(("ttng", op)) => matches!(op, "init_barrier" | "wait_barrier" | "arrive_barrier" | "barrier_expect"),
            _ => false,
        }
    })
}

impl Lowerer<'_> {
    /// Reads who executes what in the entry function, and what orders tasks where no op does.
    pub(crate) fn read_tasks(&mut self, function: OpId) {
        self.tasks = Tasks::new(self.tree, function);
        if self.tasks.share() && !has_sync(self.tree, function) {
            self.reaches(Stage::Planned);
            if self.tasks.start_in_a_loop(self.tree) {
                self.tasks = Tasks::default();
                let reason = "tasks that nothing orders yet start anew in each round of a loop, which is not followed";
                return self.unmodelled(function, reason);
            }
            self.plan(function);
        } else if self.tasks.share() {
            let reason = "no aref holds it yet, and several tasks use it: arefs of tensor memory come with a later \
                          pass (nvws-insert-tmem-aref)";
            for op in self.without_aref(function) {
                self.reaches(Stage::Planned);
                self.unmodelled(op, reason);
            }
        }
    }

    /// Tensor memory that several tasks use, in a text whose arefs hold shared memory only.
    fn without_aref(&mut self, function: OpId) -> Vec<OpId> {
        let tree = self.tree;
        let mut all = Vec::new();
        below(tree, function, &mut all);
        let tensor = |value: &ValueId| {
            let ty = tree.value_type(*value).map(|ty| tree.ty(ty));
            matches!(ty, Some(Ty::MemDesc { space: MemSpace::Tensor, .. }))
        };
        let arefs: Vec<OpId> = all.iter().copied().filter(|op| tree.is(*op, Nvws::ArefCreate)).collect();
        if arefs.is_empty() || arefs.iter().any(|op| tree.operands(*op).iter().any(tensor)) {
            return Vec::new();
        }
        self.find_users();
        all.retain(|op| tree.is(*op, Ttng::TmemAlloc));
        all.retain(|op| {
            let tasks = (0..self.tasks.numbers.len())
                .filter(|task| self.uses(*op, *task) || self.does(*op, *task) == Some(true));
            tasks.count() > 1
        });
        all
    }

    /// The body of a function all of whose ops may name tasks.
    pub(crate) fn shared_function(&mut self, function: OpId, region: RegionId) {
        let tree = self.tree;
        let &[block] = tree.blocks(region) else {
            self.unmodelled(function, "its ops name tasks, and it has more than one block, which is not followed");
            return self.region(region, None);
        };
        let ops: Vec<OpId> = tree.block_ops(block).iter().copied().filter(|op| !tree.is_terminator(*op)).collect();
        let own = |op: &OpId| self.tasks.opens(*op);
        let computes = |op: &OpId| tree.regions(*op).is_empty() && self.computes(*op);
        let last = ops.iter().rposition(|op| own(op) && !computes(op)).unwrap_or(0);
        let (before, after) = ops.split_at((last + 1).min(ops.len()));
        let (shared, first): (Vec<OpId>, Vec<OpId>) = before.iter().copied().partition(own);
        let early: Vec<OpId> = before.iter().copied().filter(|op| first.contains(op) || computes(op)).collect();
        early.into_iter().for_each(|op| self.op(op));
        self.share(function, &shared);
        after.iter().for_each(|op| self.op(*op));
        let site = self.site(tree.block_ops(block).last().copied().unwrap_or(function));
        self.build.end(Terminator::Return(site));
    }

    /// Lowers ops that tasks share: starts the tasks, lets each do its own, and waits for all.
    pub(crate) fn share(&mut self, around: OpId, ops: &[OpId]) {
        if self.exits.iter().any(|exit| matches!(exit, Exit::Partition | Exit::Join(..))) {
            return self.unmodelled(around, "a region that tasks share inside a partition is not followed");
        }
        let count = self.tasks.numbers.len();
        if count > PARTITIONS {
            let reason = format!("{count} tasks; at most {PARTITIONS} are followed");
            return self.unmodelled(around, reason);
        }
        self.reaches(Stage::Tagged);
        self.name_tasks(ops);
        let inside = self.allocate_first(ops);

        let site = self.site(around);
        let after = self.build.block(Vec::new());
        let start = self.build.block(Vec::new());
        let fork_block = self.build.here();
        let outside = self.values.clone();
        let mut targets = Vec::new();
        let mut bodies = Vec::new();
        for place in 1..count {
            let (mut args, mut params) = (Vec::new(), Vec::new());
            let seen = self.seen_by_tasks(&inside, &mut args, &mut params);
            let hidden = self.pass_hidden(&mut args, &mut params);
            let entry = self.build.block(params);
            targets.push((place as u32, JumpTarget { block: entry, args }));
            bodies.push((entry, seen, hidden));
        }
        self.build.enter(fork_block);
        let default = JumpTarget { block: start, args: Vec::new() };
        self.build.end(Terminator::Fork(Fork { site, default, partitions: targets }));

        self.exits.push(Exit::Partition);
        self.task = Some(0);
        self.build.enter(start);
        ops.iter().for_each(|op| self.op(*op));
        self.build.end(Terminator::Join(site, JumpTarget { block: after, args: Vec::new() }));
        let (values, own_hidden) = (std::mem::replace(&mut self.values, outside), self.hidden.clone());
        for (at, (entry, seen, hidden)) in bodies.into_iter().enumerate() {
            let outside = self.values.clone();
            self.partition = at + 1;
            self.task = Some(at + 1);
            self.build.enter(entry);
            self.take_hidden(hidden);
            for (value, val) in seen {
                let val = match val {
                    Seen::Is(val) => val,
                    Seen::Number(number) => Val::Scalar(self.build.number(number)),
                };
                self.bind(value, val);
            }
            ops.iter().for_each(|op| self.op(*op));
            self.build.end(Terminator::Exit(site));
            self.values = outside;
        }
        self.exits.pop();
        self.partition = 0;
        self.task = None;
        self.values = values;
        self.hidden = own_hidden;
        self.build.enter(after);
    }

    /// Makes sure that the kernel has a partition a task, named as the text numbers them.
    fn name_tasks(&mut self, ops: &[OpId]) {
        let tree = self.tree;
        let mut inside = ops.to_vec();
        ops.iter().for_each(|op| below(tree, *op, &mut inside));
        let warps = self.build.kernel.partitions.first().and_then(|partition| partition.warps).unwrap_or(4);
        for (place, &number) in self.tasks.numbers.iter().enumerate() {
            let named =
                inside.iter().find(|op| self.tasks.named(tree, **op).is_some_and(|places| places[..] == [place]));
            let attr = named.and_then(|op| tree.attr(*op, self.tasks.names));
            let range = attr.map(|attr| tree.attr_range(attr)).unwrap_or(self.build.map.kernel_range);
            let label = (format!("task {number}"), range);
            match self.build.map.partitions.get_mut(place) {
                Some(partition) => *partition = label,
                None => {
                    self.build.kernel.partitions.push(Partition { warps: Some(warps) });
                    self.build.map.partitions.push(label);
                }
            }
        }
    }

    /// Allocates what is allocated in these ops; gives back all ops in them.
    fn allocate_first(&mut self, ops: &[OpId]) -> Vec<OpId> {
        let tree = self.tree;
        let mut inside = Vec::new();
        for &op in ops {
            inside.push(op);
            below(tree, op, &mut inside);
        }
        for &op in &inside {
            if !matches!(tree.code(op), Some(OpCode::Ttg(Ttg::LocalAlloc) | OpCode::Ttng(Ttng::TmemAlloc))) {
                continue;
            }
            if self.plan.is_none() && self.hands_over(op) {
                self.stored.insert(op);
                self.forget(op);
                self.unmodelled(op, "another task takes what this one is filled with, and no channel is there yet");
            } else {
                self.storage(op);
            }
        }
        inside
    }

    /// Whether an allocation that is never written again is filled by one task and used by another:
    /// what orders them comes with a later pass.
    fn hands_over(&mut self, op: OpId) -> bool {
        let tree = self.tree;
        let ty = tree.results(op).first().and_then(|result| tree.value_type(*result)).map(|ty| tree.ty(ty));
        let constant = matches!(ty, Some(Ty::MemDesc { mutable: false, .. })) && !tree.group(op, "src").is_empty();
        let Some(own) = self.tasks.named(tree, op).filter(|_| constant) else { return false };
        self.find_users();
        (0..self.tasks.numbers.len()).any(|task| !own.contains(&task) && self.uses(op, task))
    }

    /// What a task sees of the values from outside: parameters of its first block, and constants.
    fn seen_by_tasks(&mut self, inside: &[OpId], args: &mut Vec<Var>, params: &mut Vec<Var>) -> Vec<(ValueId, Seen)> {
        let tree = self.tree;
        let mut made: FxHashSet<ValueId> = FxHashSet::default();
        for &op in inside {
            let allocates = matches!(tree.code(op), Some(OpCode::Ttg(Ttg::LocalAlloc) | OpCode::Ttng(Ttng::TmemAlloc)));
            made.extend(tree.results(op).iter().filter(|_| !allocates));
            made.extend(
                tree.regions(op)
                    .iter()
                    .flat_map(|region| tree.blocks(*region))
                    .flat_map(|block| tree.block_args(*block)),
            );
        }
        let mut seen = Vec::new();
        let mut met: FxHashSet<ValueId> = FxHashSet::default();
        for &op in inside {
            for value in tree.operands(op).iter().chain(tree.results(op)).copied() {
                if made.contains(&value) || !met.insert(value) {
                    continue;
                }
                let name = tree.value_name(value);
                let Some(val) = self.values.get(&value).copied() else { continue };
                let (var, param, val) = match val {
                    Val::Scalar(var) => {
                        if let Some(number) = self.build.constant(var) {
                            seen.push((value, Seen::Number(number)));
                            continue;
                        }
                        let param = self.build.scalar_param(name);
                        (var, param, Val::Scalar(param))
                    }
                    Val::Stage(var) => {
                        let param = self.build.scalar_param(name);
                        (var, param, Val::Stage(param))
                    }
                    Val::View(var) => {
                        let param = self.build.view_param(var, name);
                        (var, param, Val::View(param))
                    }
                    Val::Opaque | Val::Channel(_) => continue,
                };
                args.push(var);
                params.push(param);
                seen.push((value, Seen::Is(val)));
            }
        }
        seen
    }

    /// Whether the task that is being lowered leaves an op to others.
    pub(crate) fn leaves(&mut self, op: OpId) -> bool {
        let Some(task) = self.task else { return false };
        self.find_users();
        self.left_by(op, task)
    }

    /// Whether a task leaves an op to others; who uses what has to be known.
    pub(super) fn left_by(&self, op: OpId, task: usize) -> bool {
        let tree = self.tree;
        if tree.regions(op).is_empty() || !matches!(tree.code(op), Some(OpCode::Scf(_))) {
            return !self.computes(op) && !self.does(op, task).unwrap_or(true);
        }
        let inside = |wanted: bool| {
            any(tree, op, &|op| match self.does(op, task) {
                Some(named) => named || !wanted,
                None => false,
            })
        };
        // Every task counts what all of them acquire.
        let counts = |op| {
            matches!(
                tree.code(op),
                Some(OpCode::Nvws(Nvws::ArefPutEnter | Nvws::ArefGetEnter | Nvws::SemaphoreAcquire))
            )
        };
        if inside(true) || !inside(false) || any(tree, op, &counts) {
            return false;
        }
        !self.uses(op, task)
    }

    /// Whether an op is one of a task's; `None` where it names none at all.
    fn does(&self, op: OpId, task: usize) -> Option<bool> {
        match self.plan.as_ref().and_then(|plan| plan.fills.get(&op)) {
            Some(tasks) => Some(tasks.contains(&task)),
            None => names(&self.tasks, self.tree, op, task),
        }
    }

    /// Whether an op only computes, or only names memory.
    fn computes(&self, op: OpId) -> bool {
        match self.tree.effect(op) {
            OpEffect::View(_) | OpEffect::MapToRemote => true,
            OpEffect::Pure => !self.tree.is(op, Tt::Call) && !self.tree.results(op).is_empty(),
            _ => false,
        }
    }

    /// Whether a task uses a result of an op, also through ops that compute and control flow that
    /// hands it on.
    pub(crate) fn uses(&self, op: OpId, task: usize) -> bool {
        let tree = self.tree;
        let mut open: Vec<ValueId> = tree.results(op).to_vec();
        let mut seen: FxHashSet<OpId> = FxHashSet::default();
        while let Some(value) = open.pop() {
            if self.class(value) == Class::Dropped {
                continue;
            }
            for &user in self.users.get(&value).map(Vec::as_slice).unwrap_or_default() {
                if !seen.insert(user) {
                    continue;
                }
                let ends = tree.is_terminator(user);
                if !ends {
                    match names(&self.tasks, tree, user, task) {
                        Some(true) => return true,
                        None if !self.computes(user) => return true,
                        _ => {}
                    }
                }
                let around = || tree.parent_op(tree.parent_region(tree.parent_block(user)?));
                let Some(on) = (if ends { around() } else { Some(user) }) else { continue };
                open.extend(tree.results(on));
                let blocks = tree.regions(on).iter().flat_map(|region| tree.blocks(*region));
                open.extend(blocks.flat_map(|block| tree.block_args(*block)));
            }
        }
        false
    }
}

impl Lowerer<'_> {
    /// Whether a loop or a branch in which a task has something to do goes by a result of an op.
    pub(crate) fn steers(&self, op: OpId, task: usize) -> bool {
        let tree = self.tree;
        let mut open: Vec<ValueId> = tree.results(op).to_vec();
        let mut seen: FxHashSet<OpId> = FxHashSet::default();
        while let Some(value) = open.pop() {
            for &user in self.users.get(&value).map(Vec::as_slice).unwrap_or_default() {
                if !seen.insert(user) {
                    continue;
                }
                let around = || tree.parent_op(tree.parent_region(tree.parent_block(user)?));
                let Some(on) = (if tree.is_terminator(user) { around() } else { Some(user) }) else { continue };
                let flow = matches!(tree.code(on), Some(OpCode::Scf(_)));
                if flow && any(tree, on, &|op| self.does(op, task) == Some(true)) {
                    return true;
                }
                if flow || self.computes(on) {
                    open.extend(tree.results(on));
                    let blocks = tree.regions(on).iter().flat_map(|region| tree.blocks(*region));
                    open.extend(blocks.flat_map(|block| tree.block_args(*block)));
                }
            }
        }
        false
    }
}

/// A value from outside, as a task has it.
enum Seen {
    Is(Val),
    Number(i64),
}

/// Whether an op names a task; `None` where it names none at all.
fn names(tasks: &Tasks, tree: &Tree, op: OpId, task: usize) -> Option<bool> {
    tasks.named(tree, op).map(|places| places.contains(&task))
}
