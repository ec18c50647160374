//! What a thread knows that no value of the text carries.
//!
//! Arefs and semaphores reach a partition as one value each, and stand for barriers and buffers.
//! Where the text does not say which stage an op means, Triton counts: a stage and a phase for each
//! partition that enters (source: the pass that assigns stages and phases to arefs, facebookexperimental
//! fork). The counters go round loops and through branches like values that the text spells, and to
//! partitions with the fork.

use super::channel::{Channel, Counter, Hidden, Part, Side};
use crate::lowerer::Lowerer;
use crate::value::{Class, Val};
use dialects::{Nvws, OpCode};
use kernel::{Pure, Var, VarKind, Width};
use ttgir::{OpId, RegionId, ValueId};

/// What a partition is given at its start.
pub(crate) struct Passed {
    hidden: Hidden,
    /// Variables of it that are constants, which the partition computes itself.
    known: Vec<(usize, i64)>,
}

impl Lowerer<'_> {
    /// What a partition that starts here knows: arguments of the fork and parameters of its first block.
    pub(crate) fn pass_hidden(&mut self, args: &mut Vec<Var>, params: &mut Vec<Var>) -> Passed {
        let mut hidden = self.hidden.clone();
        let mut known = Vec::new();
        // Views come first, then the counters, in their order.
        let views = hidden.vars_mut().count() - hidden.counters.len();
        let names: Vec<&str> = hidden.counters.keys().map(|counter| counter.name()).collect();
        for (at, var) in hidden.vars_mut().enumerate() {
            if let Some(value) = self.build.constant(*var) {
                known.push((at, value));
                continue;
            }
            let param = match self.build.kind(*var) {
                VarKind::View(_) => self.build.view_param(*var, ""),
                VarKind::Scalar => {
                    let name = at.checked_sub(views).and_then(|at| names.get(at)).copied();
                    self.build.scalar_param(name.unwrap_or_default())
                }
            };
            params.push(param);
            args.push(*var);
            *var = param;
        }
        Passed { hidden, known }
    }

    /// Starts a partition with what was passed to it.
    pub(crate) fn take_hidden(&mut self, passed: Passed) {
        let Passed { mut hidden, known } = passed;
        let mut known = known.into_iter().peekable();
        for (at, var) in hidden.vars_mut().enumerate() {
            if let Some((_, value)) = known.next_if(|(place, _)| *place == at) {
                *var = self.build.number(value);
            }
        }
        self.hidden = hidden;
    }

    /// The counters that ops in these regions advance.
    pub(crate) fn advanced_in(&self, regions: &[RegionId]) -> Vec<Counter> {
        if self.hidden.counters.is_empty() {
            return Vec::new();
        }
        let tree = self.tree;
        let mut found = std::collections::BTreeSet::new();
        let mut open = regions.to_vec();
        while let Some(region) = open.pop() {
            for &op in tree.blocks(region).iter().flat_map(|block| tree.block_ops(*block)) {
                open.extend(tree.regions(op));
                found.extend(self.counting(op));
            }
        }
        let rounds = self.rounds_in(regions);
        let moves = |counter: &&Counter| match counter.part {
            Part::Round => rounds.contains(&counter.channel),
            Part::Stage | Part::Phase => found.contains(&(counter.channel, counter.side)),
        };
        self.hidden.counters.keys().filter(moves).copied().collect()
    }

    /// The channels and sides that an op counts for.
    fn counting(&self, op: OpId) -> Vec<(usize, Side)> {
        let side = match self.tree.code(op) {
            Some(OpCode::Nvws(Nvws::ArefPutEnter | Nvws::SemaphoreAcquire)) => Side::Put,
            Some(OpCode::Nvws(Nvws::ArefGetEnter)) => Side::Get,
            _ => return Vec::new(),
        };
        let Some(at) = self.tree.operands(op).first().and_then(|value| self.channel(*value)) else {
            return Vec::new();
        };
        match self.hidden.channels.get(at) {
            Some(Channel::Semaphore(semaphore)) => vec![(at, Side::Get), (semaphore.group, Side::Put)],
            _ => vec![(at, side)],
        }
    }

    /// What this thread knows after an op that another partition executes: where the counters stand.
    pub(crate) fn passed_by(&mut self, op: OpId) {
        match self.tree.code(op) {
            Some(OpCode::Nvws(Nvws::ArefPutEnter)) => self.aref_passed(op, true),
            Some(OpCode::Nvws(Nvws::ArefGetEnter)) => self.aref_passed(op, false),
            Some(OpCode::Nvws(Nvws::SemaphoreAcquire)) => self.semaphore_passed(op),
            Some(OpCode::Nvws(Nvws::ArefBuffer | Nvws::SemaphoreBuffer)) => {}
            _ => return,
        }
        // Views of these buffers name memory in every task, and only their own task touches it.
        for &result in self.tree.results(op) {
            if self.class(result) == Class::View {
                self.bind(result, Val::Opaque);
            }
        }
    }

    /// The channel that a value stands for.
    pub(super) fn channel(&self, value: ValueId) -> Option<usize> {
        match self.values.get(&value) {
            Some(Val::Channel(at)) => Some(*at),
            _ => None,
        }
    }

    /// Steps a stage and a phase on: the phase turns where the stage begins anew.
    pub(super) fn step(&mut self, stage: Counter, depth: u64) -> Option<(Var, Var)> {
        let phase = Counter { part: Part::Phase, ..stage };
        let now = (self.hidden.counters.get(&stage).copied()?, self.hidden.counters.get(&phase).copied()?);
        let word = Width(32);
        let build = &mut self.build;
        let (zero, one) = (build.number(0), build.number(1));
        let next = build.compute(Pure::Add(word, now.0, one), "");
        let end = build.number(i64::try_from(depth).ok()?);
        let wraps = build.compute(Pure::Cmp(kernel::CmpOp::Eq, word, next, end), "");
        let next = build.compute(Pure::Select(wraps, zero, next), "");
        let turned = build.compute(Pure::Xor(word, now.1, one), "");
        let turned = build.compute(Pure::Select(wraps, turned, now.1), "");
        self.hidden.counters.insert(stage, next);
        self.hidden.counters.insert(phase, turned);
        Some((next, turned))
    }
}
