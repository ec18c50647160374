//! Puts the channels of a plan into a kernel: storage, barriers, waits, arrivals, and whose turn it is.
//!
//! Each edge has a storage of barriers, as many as it has slots. Thread 0 makes them with the buffers.
//! Every task counts the rounds of each block that is the level of an edge; the count goes round the
//! loops around like the values that loops carry. The slot is the count modulo the slots and the phase
//! the count over them, as in the counters that code partitioning adds to loops.
//!
//! An MMA is asynchronous, as code partitioning makes it. Where only a loop is taken apart (Triton's own
//! passes) it is what the text says: synchronous until Triton's pipeline makes it asynchronous.

use rustc_hash::FxHashSet;

use super::super::channel::Counter;
use super::channel::{By, Channel, Edge, Planned};
use super::placed::{Home, Placed, Plan};
use super::{channels, fills};
use crate::layout::Memory;
use crate::lowerer::Lowerer;
use crate::value::Val;
use dialects::OpEffect;
use kernel::{
    Abstract, AbstractOf, Access, Arrival, Buffer, BufferId, Completion, CtaSet, Dim, EffectKind, Half, Issuer, Mode,
    Proxy, Pure, Recipients, Shape, Space, Var, ViewOp, Width,
};
use ttgir::queries::expr::name;
use ttgir::{BlockId, Def, OpId, RegionId, ValueId};

/// The width of the counters.
const WORD: Width = Width(64);

impl Lowerer<'_> {
    /// Makes the storage and the barriers of a function whose tasks nothing orders yet.
    pub(crate) fn plan(&mut self, function: OpId) {
        let tree = self.tree;
        self.find_users();
        let fills = {
            let who = |op: OpId| self.tasks.partitions(tree, op).to_vec();
            let named = |op: OpId| self.tasks.named(tree, op).map_or_else(Vec::new, |tasks| tasks.to_vec());
            fills(tree, function, &who, &named)
        };
        // Who comes to an op depends on who fills what.
        self.plan = Some(Plan { fills: fills.clone(), ..Plan::default() });
        let implied = {
            // Only tasks that come to an op do it.
            let comes = |op: OpId, task: usize| {
                let mut at = tree.parent_block(op);
                while let Some(around) = at.and_then(|block| tree.parent_op(tree.parent_region(block))) {
                    if around != function && self.left_by(around, task) {
                        return false;
                    }
                    at = if around == function { None } else { tree.parent_block(around) };
                }
                true
            };
            let who = |op: OpId| -> Vec<usize> {
                self.tasks.partitions(tree, op).iter().copied().filter(|task| comes(op, *task)).collect()
            };
            let named = |op: OpId| self.tasks.named(tree, op).map_or_else(Vec::new, |tasks| tasks.to_vec());
            channels(tree, function, &who, &named, self.options.channels, self.tasks.spans_function())
        };
        for (op, reason) in implied.loose {
            self.unmodelled(op, reason);
        }
        let mut plan = Plan { fills, ..Plan::default() };
        for (value, places) in implied.registers {
            for (op, task) in places {
                plan.registers.entry((task, op)).or_default().push(value);
            }
        }
        self.storages(&implied.buffers, &mut plan);
        for channel in &implied.channels {
            let mut made: Vec<BufferId> = Vec::new();
            for edge in &channel.edges {
                let value = channel.members.get(edge.member).map(|member| member.value);
                let Some(value) = value else { continue };
                let barriers = match made.get(edge.barriers) {
                    Some(barriers) => *barriers,
                    None => {
                        made.push(self.edge_barriers(edge, value));
                        made[made.len() - 1]
                    }
                };
                let at = plan.edges.len();
                let turn = if channel.turns > 1 { edge.member as u64 } else { 0 };
                plan.edges.push(Placed { edge: *edge, barriers, turn: (channel.turns, turn) });
                let waits = if edge.late { &mut plan.late } else { &mut plan.waits };
                waits.entry((edge.to, edge.before)).or_default().push(at);
                plan.arrivals.entry((edge.from, edge.after)).or_default().push(at);
                if plan.levels.iter().all(|(level, _)| *level != edge.level) {
                    plan.levels.push((edge.level, self.around(edge.level)));
                }
            }
            if channel.copies > 1 && plan.levels.iter().all(|(level, _)| *level != channel.level) {
                plan.levels.push((channel.level, self.around(channel.level)));
            }
        }
        plan.channels = implied.channels;
        // Every task counts from 0.
        for level in 0..plan.levels.len() {
            let zero = self.build.number(0);
            self.hidden.counters.insert(Counter::round(level), zero);
        }
        self.plan = Some(plan);
    }

    /// Buffers with one `buffer.id` are windows of one storage.
    fn storages(&mut self, buffers: &[Planned], plan: &mut Plan) {
        let tree = self.tree;
        let mut done = FxHashSet::default();
        for (at, first) in buffers.iter().enumerate() {
            if !done.insert(at) {
                continue;
            }
            let shared = |other: &Planned| first.id.is_some() && other.id == first.id && other.tensor == first.tensor;
            let mut members = vec![first];
            for (place, other) in buffers.iter().enumerate().skip(at + 1) {
                if shared(other) && done.insert(place) {
                    members.push(other);
                }
            }
            let memories: Vec<_> = members.iter().map(|member| self.memory_of(member)).collect();
            if let Some(lost) = memories.iter().position(Option::is_none) {
                self.unmodelled(members[lost].op, "the type of the allocation is not followed");
                continue;
            }
            let windows: Vec<_> = members.iter().zip(memories.into_iter().flatten()).collect();
            let start = |member: &Planned| if member.tensor { member.offset.saturating_mul(32) } else { 0 };
            let slot = windows.iter().map(|(member, memory)| start(member) + memory.bits).max().unwrap_or(1);
            let slots = members.iter().map(|member| member.copies).max().unwrap_or(1);
            let owner = members.iter().find(|member| !member.placed).unwrap_or(&first);
            let space = windows.first().map_or(Space::Shared, |(_, memory)| memory.space);
            let bits = slot.saturating_mul(slots);
            let buffer = Buffer { space, bits, start: None, barriers: false, slot_bits: slot };
            let buffer = self.build.buffer(buffer, &name(tree, owner.value), tree.value_range(owner.value));
            let site = self.site(owner.op);
            self.build.effect(site, None, EffectKind::Allocate(buffer));
            if first.registers {
                self.build.map.registers.push(buffer);
            }
            for (member, memory) in &windows {
                let home = Home { buffer, start: start(member), shape: memory.shape.clone(), slot, slots };
                plan.homes.insert(member.value, home);
            }
        }
    }

    /// What a buffer takes; of a tensor in registers, what buffer allocation will give it.
    fn memory_of(&self, planned: &Planned) -> Option<Memory> {
        if planned.registers { self.buffer_for(planned.value) } else { self.memory(planned.value) }
    }

    fn edge_barriers(&mut self, edge: &Edge, value: ValueId) -> BufferId {
        let tree = self.tree;
        let half = if edge.half == Half::Full { "full" } else { "empty" };
        let label = |task: usize| match self.tasks.numbers.get(task) {
            Some(number) => format!("task {number}"),
            None => self.build.map.partition(task),
        };
        let name = format!("{} ({half}, {} to {})", name(tree, value), label(edge.from), label(edge.to));
        let range = tree.value_range(value);
        let bits = edge.slots.saturating_mul(64);
        let buffer = Buffer { space: Space::Shared, bits, start: None, barriers: true, slot_bits: 64 };
        let buffer = self.build.buffer(buffer, &name, range);
        self.build.map.abstracts.push(Abstract { buffer, of: AbstractOf::Channel, half: edge.half, range });
        let site = self.site(match tree.value_def(value) {
            Def::Result(op, _) => op,
            _ => edge.after.0,
        });
        self.build.effect(site, None, EffectKind::Allocate(buffer));
        for slot in 0..edge.slots {
            let index = self.build.number(i64::try_from(slot).unwrap_or(0));
            let barrier = self.barrier_slot(buffer, edge.slots, index);
            self.build.effect(site, None, EffectKind::Init { barrier, count: 1 });
        }
        buffer
    }

    fn barrier_slot(&mut self, buffer: BufferId, slots: u64, index: Var) -> Var {
        let name = self.build.map.buffer(buffer);
        let base = self.build.base(buffer, Shape::dense(&[slots, 1], 64), &name);
        let one = Shape { dims: vec![Dim { size: 1, stride: 64 }], element: 64, exact: true };
        self.build.view(base, ViewOp::Index { index, stride: 64, count: slots }, one, false, &name)
    }

    /// The regions around a block.
    fn around(&self, block: BlockId) -> FxHashSet<RegionId> {
        let tree = self.tree;
        let mut found = FxHashSet::default();
        let mut block = Some(block);
        while let Some(inner) = block {
            let region = tree.parent_region(inner);
            found.insert(region);
            block = tree.parent_op(region).and_then(|op| tree.parent_block(op));
        }
        found
    }

    /// The memdesc of a buffer that the plan has placed; false for others.
    pub(crate) fn planned_buffer(&mut self, value: ValueId) -> bool {
        let Some(home) = self.plan.as_ref().and_then(|plan| plan.homes.get(&value)).cloned() else { return false };
        let slot = self.build.number(0);
        self.bind_home(value, &home, slot);
        true
    }

    fn bind_home(&mut self, value: ValueId, home: &Home, slot: Var) {
        let view = self.at_home(value, home, slot);
        self.bind(value, Val::View(view));
    }

    /// A slot of where a buffer lies.
    fn at_home(&mut self, value: ValueId, home: &Home, slot: Var) -> Var {
        let name = self.tree.value_name(value);
        let dense = Shape { dims: vec![Dim { size: home.slot, stride: 1 }], element: 1, exact: true };
        let all = Shape {
            dims: vec![Dim { size: home.slots, stride: home.slot }, Dim { size: home.slot, stride: 1 }],
            ..dense.clone()
        };
        let base = self.build.base(home.buffer, all, name);
        let index = ViewOp::Index { index: slot, stride: home.slot, count: home.slots };
        let slot = self.build.view(base, index, dense, false, name);
        self.build.view(slot, ViewOp::Shift(home.start), home.shape.clone(), false, name)
    }

    /// A round of a block starts: buffers whose rounds these are take the next slot.
    pub(crate) fn round_starts(&mut self, block: BlockId) {
        let tree = self.tree;
        let Some(plan) = &self.plan else { return };
        let turns = |channel: &&Channel| channel.level == block && channel.copies > 1;
        let channels: Vec<Channel> = plan.channels.iter().filter(turns).cloned().collect();
        for channel in channels {
            for (at, member) in channel.members.into_iter().enumerate() {
                let Some(home) = self.plan.as_ref().and_then(|plan| plan.homes.get(&member.value)).cloned() else {
                    continue;
                };
                let at = if channel.turns > 1 { at as u64 } else { 0 };
                let (slot, _) = self.turn(block, (channel.turns, at), channel.copies);
                self.bind_home(member.value, &home, slot);
                // Views that stand outside name another slot now.
                for view in member.views {
                    let inside = tree.parent_block(view).is_some_and(|at| self.is_within(at, block));
                    if let (false, OpEffect::View(kind)) = (inside, tree.effect(view)) {
                        self.window(view, kind);
                    }
                }
            }
        }
    }

    fn is_within(&self, block: BlockId, outer: BlockId) -> bool {
        let tree = self.tree;
        let mut block = Some(block);
        while let Some(inner) = block {
            if inner == outer {
                return true;
            }
            block = tree.parent_op(tree.parent_region(inner)).and_then(|op| tree.parent_block(op));
        }
        false
    }

    /// A round of a block is over.
    pub(crate) fn round_ends(&mut self, block: BlockId) {
        let Some((counter, count)) = self.round_of(block) else { return };
        let one = self.build.number(1);
        let next = self.build.compute(Pure::Add(WORD, count, one), "");
        self.hidden.counters.insert(counter, next);
    }

    fn round_of(&self, block: BlockId) -> Option<(Counter, Var)> {
        let level = self.plan.as_ref()?.levels.iter().position(|(level, _)| *level == block)?;
        let counter = Counter::round(level);
        Some((counter, self.hidden.counters.get(&counter).copied()?))
    }

    /// The blocks in these regions whose rounds are counted, by place.
    pub(crate) fn rounds_in(&self, regions: &[RegionId]) -> Vec<usize> {
        let Some(plan) = &self.plan else { return Vec::new() };
        let inside = |around: &FxHashSet<RegionId>| regions.iter().any(|region| around.contains(region));
        let levels = plan.levels.iter().enumerate();
        levels.filter(|(_, (_, around))| inside(around)).map(|(level, _)| level).collect()
    }

    /// The slot and the phase of one of the turns of this round.
    fn turn(&mut self, level: BlockId, (turns, turn): (u64, u64), slots: u64) -> (Var, Var) {
        let number = |number: u64| i64::try_from(number).unwrap_or(1);
        let mut count = match self.round_of(level) {
            Some((_, count)) => count,
            None => self.build.number(0),
        };
        if turns > 1 {
            let (turns, turn) = (self.build.number(number(turns)), self.build.number(number(turn)));
            count = self.build.compute(Pure::Mul(WORD, count, turns), "");
            count = self.build.compute(Pure::Add(WORD, count, turn), "");
        }
        let slots = self.build.number(number(slots));
        let slot = self.build.compute(Pure::RemU(WORD, count, slots), "");
        let turns = self.build.compute(Pure::DivU(WORD, count, slots), "");
        let one = self.build.number(1);
        (slot, self.build.compute(Pure::And(WORD, turns, one), ""))
    }

    /// What the task waits for ahead of an op, and loads of what other tasks computed.
    pub(crate) fn plan_before(&mut self, op: OpId) {
        let Some(plan) = self.plan.as_ref().filter(|_| self.task.is_some()) else { return };
        let key = (self.partition, op);
        let waits = plan.waits.get(&(self.partition, (op, self.tile))).cloned().unwrap_or_default();
        let registers = plan.registers.get(&key).cloned().unwrap_or_default();
        for at in waits {
            self.wait_for(op, at);
        }
        for value in registers.into_iter().filter(|value| !self.tree.results(op).contains(value)) {
            self.registers(op, value, Mode::Read);
        }
    }

    /// Stores what an op computed for other tasks, or loads what another one did.
    fn registers(&mut self, op: OpId, value: ValueId, mode: Mode) {
        let Some(home) = self.plan.as_ref().and_then(|plan| plan.homes.get(&value)).cloned() else { return };
        let slot = self.build.number(0);
        let view = self.at_home(value, &home, slot);
        let proxy = self.proxy(view, Proxy::Generic);
        let access = Access { view, mode, proxy, operand: "Registers", clears: false, ctas: CtaSet::OWN };
        let site = self.site(op);
        let kind =
            EffectKind::Operation { issuer: Issuer::Base, accesses: vec![access], completion: Completion::InOrder };
        self.build.effect(site, None, kind);
    }

    fn wait_for(&mut self, op: OpId, at: usize) {
        let Some(Placed { edge, barriers, turn }) = self.plan.as_ref().and_then(|plan| plan.edges.get(at)).copied()
        else {
            return;
        };
        let (slot, mut phase) = self.turn(edge.level, turn, edge.slots);
        if edge.around {
            let one = self.build.number(1);
            phase = self.build.compute(Pure::Xor(WORD, phase, one), "");
        }
        let barrier = self.barrier_slot(barriers, edge.slots, slot);
        let site = self.site(op);
        self.build.effect(site, None, EffectKind::Wait { barrier, phase });
    }

    /// The arrivals that an operation makes when it is complete.
    pub(crate) fn plan_completions(&mut self, op: OpId) -> Vec<Arrival> {
        let mut arrivals = Vec::new();
        for placed in self.arrivals_after(op) {
            if placed.edge.by == By::Operation {
                let barrier = self.plan_barrier(&placed);
                arrivals.push(Arrival { barrier, predicate: None, count: 1, bytes: 0, to: Recipients::own() });
            }
        }
        if let Some(plan) = &mut self.plan {
            plan.told = true;
        }
        arrivals
    }

    fn arrivals_after(&self, op: OpId) -> Vec<Placed> {
        let Some(plan) = &self.plan else { return Vec::new() };
        let places = plan.arrivals.get(&(self.partition, (op, self.tile))).map_or(&[][..], Vec::as_slice);
        places.iter().filter_map(|at| plan.edges.get(*at)).copied().collect()
    }

    fn plan_barrier(&mut self, placed: &Placed) -> Var {
        let (slot, _) = self.turn(placed.edge.level, placed.turn, placed.edge.slots);
        self.barrier_slot(placed.barriers, placed.edge.slots, slot)
    }

    /// What the task does after an op.
    pub(crate) fn plan_after(&mut self, op: OpId) {
        if self.task.is_none() {
            return;
        }
        let Some(plan) = &mut self.plan else { return };
        let told = std::mem::take(&mut plan.told);
        let registers = plan.registers.get(&(self.partition, op)).cloned().unwrap_or_default();
        let late = plan.late.get(&(self.partition, (op, self.tile))).cloned().unwrap_or_default();
        let arrivals = self.arrivals_after(op);
        for value in registers.into_iter().filter(|value| self.tree.results(op).contains(value)) {
            self.registers(op, value, Mode::Write);
        }
        for at in late {
            self.wait_for(op, at);
        }
        for placed in arrivals {
            if placed.edge.by == By::Operation && told {
                continue;
            }
            let barrier = self.plan_barrier(&placed);
            let site = self.site(op);
            let to = Recipients::own();
            let kind = match placed.edge.by {
                By::Task => EffectKind::Arrive { barrier, count: 1, to },
                By::Operation | By::Commit => EffectKind::TensorCoreCommit { barrier, to },
            };
            self.build.effect(site, None, kind);
        }
    }
}
