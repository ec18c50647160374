//! Semaphores: a barrier a slot over buffers that several of them share.
//!
//! They follow arefs upstream. `acquire` waits, `release` arrives, and what the barrier counts is in
//! `pending_count`, or else the arrivals of one wave: the releases between two acquires. One that is
//! released to begin with lets its first acquire through. Source: the upstream passes that
//! assign stages and phases to semaphores and lower them.
//!
//! Where stages are not in the text, semaphores over the same first buffer share one stage, which
//! an acquire moves on if what it first does with its buffer is a write; each partition has for each
//! semaphore a phase a slot. Missed, and said at the op: such counting where partitions are regions and
//! there are several slots, since no thread sees what the others acquire; offsets to such stages.

use super::aref::Kind;
use super::channel::{Channel, Counter, Part, Ring, Semaphore, Side};
use crate::lowerer::Lowerer;
use crate::value::Val;
use base::{Message, message};
use dialects::{Nvws, OpCode, OpEffect, nvws};
use kernel::{AbstractOf, CmpOp, EffectKind, Half, Mode, Pure, Recipients, Space, Stage, Var, Width};
use ttgir::{Def, OpId, ValueId};

const WORD: Width = Width(32);

impl Lowerer<'_> {
    pub(crate) fn semaphore_create(&mut self, op: OpId) {
        let tree = self.tree;
        let Some(&semaphore) = tree.results(op).first() else { return };
        if self.in_loop(op) {
            return self.unmodelled(op, "a semaphore that is made in a loop is not followed");
        }
        let mut rings = Vec::new();
        for (at, &value) in tree.group(op, "buffers").iter().enumerate() {
            let Some(view) = self.operand(op, "buffers", at) else { return };
            rings.push(Ring { view, slots: !self.has_scales(value) });
        }
        let first = tree.group(op, "buffers").first().copied();
        let Some(depth) = first.and_then(|first| self.depth_of(first)).filter(|depth| *depth <= 32) else {
            return self.unmodelled(op, "how many slots it has is not known");
        };
        let at = self.hidden.channels.len();
        let same = |channel: &Channel| matches!(channel, Channel::Semaphore(other) if other.first == first);
        let group = self.hidden.channels.iter().position(same).unwrap_or(at);
        let count = ["pending_count", "nvws.dag_pending_count"].iter().find_map(|name| self.int_attr(op, name));
        let count = count.and_then(|count| u32::try_from(count).ok()).unwrap_or_else(|| self.wave(semaphore)).max(1);
        let shared = first.is_some_and(|first| self.memory(first).is_some_and(|memory| memory.space == Space::Shared));
        let fence = shared && first.is_some_and(|first| self.has_async_peer(first, op));

        let name = tree.value_name(semaphore).to_owned();
        let barriers = self.barriers(op, semaphore, &name, depth, count, (AbstractOf::Semaphore, Half::Whole));
        self.bind(semaphore, Val::Channel(at));
        // A bit a slot; the phase that an acquire waits for is the bit after it has turned.
        let all = i64::from(u32::try_from((1u64 << depth) - 1).unwrap_or(u32::MAX));
        let word = all & !self.released(op);
        for partition in self.acquirers(semaphore) {
            let word = self.build.number(WORD.wrap(word));
            self.hidden.counters.insert(Counter { channel: at, side: Side::Get, partition, part: Part::Phase }, word);
        }
        if group == at {
            let stage = self.build.number(i64::try_from(depth).unwrap_or(1) - 1);
            self.hidden.counters.insert(stage_of(group), stage);
        }
        self.hidden.channels.push(Channel::Semaphore(Semaphore { barriers, rings, depth, group, first, fence }));
        self.build.map.stage = self.build.map.stage.max(Stage::Tokens);
    }

    /// The slots that are free to begin with, a bit each: `true`, or `released` as a mask.
    fn released(&self, op: OpId) -> i64 {
        let tree = self.tree;
        match tree.attr(op, "is_released") {
            Some(attr) if tree.attr_text(attr).trim() == "true" => -1,
            Some(_) => 0,
            None => self.int_attr(op, "released").unwrap_or(0),
        }
    }

    /// Partitions that acquire it.
    fn acquirers(&mut self, semaphore: ValueId) -> Vec<i64> {
        let tree = self.tree;
        let uses = self.uses_of(semaphore);
        let acquires = uses.iter().filter(|used| tree.is(used.op, Nvws::SemaphoreAcquire));
        let mut found: Vec<i64> = acquires.filter(|used| used.tagged).filter_map(|used| used.partition).collect();
        found.sort_unstable();
        found.dedup();
        if found.is_empty() { vec![0] } else { found }
    }

    /// Arrivals of the largest wave: of each partition those of its first release since an acquire.
    fn wave(&mut self, semaphore: ValueId) -> u32 {
        let tree = self.tree;
        let (mut most, mut wave, mut met) = (0, 0, Vec::new());
        for used in self.uses_of(semaphore) {
            match tree.code(used.op) {
                Some(OpCode::Nvws(Nvws::SemaphoreAcquire)) => (wave, met) = (0, Vec::new()),
                Some(OpCode::Nvws(Nvws::SemaphoreRelease)) if !met.contains(&used.partition) => {
                    met.push(used.partition);
                    wave += self.kinds(used.op).len() as u32;
                    most = most.max(wave);
                }
                _ => {}
            }
        }
        most
    }

    /// Whether another semaphore over this buffer is released by TMA or the tensor core.
    fn has_async_peer(&mut self, first: ValueId, own: OpId) -> bool {
        let tree = self.tree;
        self.find_users();
        let peers: Vec<ValueId> = self
            .users
            .get(&first)
            .map(Vec::as_slice)
            .unwrap_or_default()
            .iter()
            .copied()
            .filter(|op| *op != own && tree.is(*op, Nvws::SemaphoreCreate))
            .filter(|op| tree.group(*op, "buffers").first() == Some(&first))
            .filter_map(|op| tree.results(op).first().copied())
            .collect();
        peers.into_iter().any(|peer| {
            self.uses_of(peer).iter().any(|used| {
                tree.is(used.op, Nvws::SemaphoreRelease)
                    && self.kinds(used.op).iter().any(|kind| matches!(kind, Kind::TensorCore | Kind::Bytes))
            })
        })
    }

    pub(crate) fn semaphore_acquire(&mut self, op: OpId) {
        let tree = self.tree;
        let Some((at, semaphore)) = self.semaphore_of(op) else { return };
        let spelt = !tree.group(op, "phase").is_empty();
        let both = if spelt {
            let value = |group| tree.group(op, group).first().copied();
            value("stage").zip(value("phase")).map(|(stage, phase)| (self.scalar(stage), self.scalar(phase)))
        } else {
            if let Some(place) = self.uncounted(op) {
                return self.unmodelled(op, format!("its stage is not in the text, and it stands in {place}"));
            }
            if semaphore.depth > 1 && !tree.group(op, "stage").is_empty() {
                return self.unmodelled(op, "an offset to a stage that is not in the text is not followed");
            }
            if semaphore.depth > 1 && self.tag(op).is_none() && self.partition > 0 {
                return self.unmodelled(op, "its stage is not in the text, and others that move it are not seen here");
            }
            self.acquire_on(op, at, &semaphore)
        };
        let Some((stage, phase)) = both else {
            return self.unmodelled(op, "its stage is not in the text and cannot be counted");
        };
        let site = self.site(op);
        let barrier = self.slot(semaphore.barriers, stage, "");
        self.role_of(op, site, "barrier", "semaphore", 0);
        if spelt {
            self.role_of(op, site, "phase", "phase", 0);
        }
        self.build.effect(site, None, EffectKind::Wait { barrier, phase });
        if let Some(&token) = tree.results(op).first() {
            self.bind(token, Val::Stage(stage));
        }
    }

    /// An acquire of another partition: it counts, and its token has a stage.
    pub(super) fn semaphore_passed(&mut self, op: OpId) {
        let tree = self.tree;
        let Some(at) = tree.group(op, "semaphore").first().and_then(|value| self.channel(*value)) else { return };
        let Some(Channel::Semaphore(semaphore)) = self.hidden.channels.get(at).cloned() else { return };
        if !tree.group(op, "phase").is_empty() || self.uncounted(op).is_some() {
            return;
        }
        if let (Some((stage, _)), Some(&token)) = (self.acquire_on(op, at, &semaphore), tree.results(op).first()) {
            self.bind(token, Val::Stage(stage));
        }
    }

    /// Moves the stage of the group on a fresh write, and turns the phase of the slot.
    fn acquire_on(&mut self, op: OpId, at: usize, semaphore: &Semaphore) -> Option<(Var, Var)> {
        let mut stage = self.hidden.counters.get(&stage_of(semaphore.group)).copied()?;
        let depth = i64::try_from(semaphore.depth).ok()?;
        if semaphore.depth > 1 && self.writes_first(op)? {
            let (zero, one) = (self.build.number(0), self.build.number(1));
            let next = self.build.compute(Pure::Add(WORD, stage, one), "");
            let end = self.build.number(depth);
            let wraps = self.build.compute(Pure::Cmp(CmpOp::Eq, WORD, next, end), "");
            stage = self.build.compute(Pure::Select(wraps, zero, next), "");
            self.hidden.counters.insert(stage_of(semaphore.group), stage);
        } else if semaphore.depth == 1 {
            stage = self.build.number(0);
        }
        let partition = self.tag(op);
        let mut phase = None;
        let keys: Vec<Counter> = self.hidden.counters.keys().copied().collect();
        for key in keys {
            let own = key.channel == at && key.side == Side::Get && partition.is_none_or(|tag| tag == key.partition);
            let Some(word) = self.hidden.counters.get(&key).copied().filter(|_| own) else { continue };
            let one = self.build.number(1);
            let bit = self.build.compute(Pure::Shl(WORD, one, stage), "");
            let word = self.build.compute(Pure::Xor(WORD, word, bit), "");
            self.hidden.counters.insert(key, word);
            let low = self.build.compute(Pure::ShrU(WORD, word, stage), "");
            phase = Some(self.build.compute(Pure::And(WORD, low, one), ""));
        }
        Some((stage, phase?))
    }

    /// Whether the first op on the buffers of an acquire writes them; `None` where that is not seen.
    fn writes_first(&mut self, op: OpId) -> Option<bool> {
        let tree = self.tree;
        self.find_users();
        let users = |lowerer: &Self, value: ValueId| lowerer.users.get(&value).cloned().unwrap_or_default();
        let token = *tree.results(op).first()?;
        let buffers = users(self, token).into_iter().filter(|user| tree.is(*user, Nvws::SemaphoreBuffer));
        let mut uses: Vec<(OpId, ValueId)> = Vec::new();
        for buffer in buffers {
            let mut open = tree.results(buffer).to_vec();
            while let Some(value) = open.pop() {
                for user in users(self, value) {
                    match tree.effect(user) {
                        OpEffect::View(_) => open.extend(tree.results(user)),
                        _ => uses.push((user, value)),
                    }
                }
            }
        }
        let (first, value) = uses.into_iter().min()?;
        let takes = |group: &str| tree.group(first, group).contains(&value);
        match tree.effect(first) {
            OpEffect::DescriptorLoad => Some(takes("result")),
            OpEffect::Mma { .. } => Some(takes("d")),
            OpEffect::Memory { accesses, .. } => {
                Some(accesses.iter().any(|access| access.mode == Mode::Write && takes(access.group)))
            }
            _ => None,
        }
    }

    pub(crate) fn semaphore_buffer(&mut self, op: OpId) {
        let Some((_, semaphore)) = self.semaphore_of(op) else { return };
        if let Some(stage) = self.stage_of(op, true) {
            self.bind_slots(op, &semaphore.rings, stage);
        }
    }

    pub(crate) fn semaphore_release(&mut self, op: OpId) {
        let Some((_, semaphore)) = self.semaphore_of(op) else { return };
        let Some(stage) = self.stage_of(op, true) else { return };
        let site = self.site(op);
        let kinds = self.kinds(op);
        if kinds.is_empty() {
            return self.unmodelled(op, "how it arrives is not in its `async_ops`");
        }
        if kinds.contains(&Kind::Thread) && semaphore.fence {
            self.build.effect(site, None, EffectKind::ProxyFence);
        }
        let count = self.int_attr(op, "arrive_count").and_then(|count| u32::try_from(count).ok()).unwrap_or(1);
        let barrier = self.slot(semaphore.barriers, stage, "");
        self.role_of(op, site, "barrier", "semaphore", 0);
        for kind in kinds {
            self.arrive_as(op, site, barrier, kind, count);
        }
    }

    /// The barrier of a TMA load into a buffer that a release with `tma_load` hands on. The expect of
    /// all loads of that release stands before the first.
    pub(super) fn released_load(&mut self, op: OpId) -> Option<Var> {
        let tree = self.tree;
        let Def::Result(buffer, _) = tree.value_def(*tree.group(op, "result").first()?) else { return None };
        let token = nvws::SemaphoreBuffer::cast(tree, buffer)?.token()?;
        self.find_users();
        let users = |lowerer: &Self, value: ValueId| lowerer.users.get(&value).cloned().unwrap_or_default();
        let around = users(self, token);
        let release = around
            .iter()
            .find(|user| self.kinds(**user).contains(&Kind::Bytes) && tree.is(**user, Nvws::SemaphoreRelease))?;
        let release = nvws::SemaphoreRelease::cast(tree, *release)?;
        let semaphore = self.channel(release.semaphore()?)?;
        let Channel::Semaphore(semaphore) = self.hidden.channels.get(semaphore)?.clone() else { return None };
        let stage = match release.stage() {
            Some(stage) if matches!(self.values.get(&stage), Some(Val::Scalar(_))) => self.scalar(stage),
            Some(_) => return None,
            None => match self.values.get(&token)? {
                Val::Stage(stage) => *stage,
                _ => return None,
            },
        };
        let buffers = around.into_iter().filter(|user| tree.is(*user, Nvws::SemaphoreBuffer));
        let views: Vec<ValueId> = buffers.flat_map(|buffer| tree.results(buffer).to_vec()).collect();
        let mut loads: Vec<OpId> = views.into_iter().flat_map(|view| users(self, view)).collect();
        loads.retain(|user| {
            matches!(tree.code(*user), Some(OpCode::Nvws(Nvws::DescriptorLoad | Nvws::DescriptorGather)))
        });
        let bytes =
            loads.iter().filter_map(|load| self.int_attr(*load, "txCount")).filter_map(|n| u64::try_from(n).ok());
        let bytes = bytes.sum();
        let barrier = self.slot(semaphore.barriers, stage, "");
        if loads.iter().min() == Some(&op) {
            let site = self.site(op);
            self.build.effect(site, None, EffectKind::Expect { barrier, bytes, to: Recipients::own() });
        }
        Some(barrier)
    }

    /// The semaphore of an op, as this thread knows it; one that is not followed is said.
    fn semaphore_of(&mut self, op: OpId) -> Option<(usize, Semaphore)> {
        let value = *self.tree.group(op, "semaphore").first()?;
        let found = self.channel(value).and_then(|at| match self.hidden.channels.get(at)? {
            Channel::Semaphore(semaphore) => Some((at, semaphore.clone())),
            Channel::Aref(_) => None,
        });
        if found.is_none() {
            self.unmodelled(
                op,
                message!("where `{value}` was made is not followed", Message::value(self.tree.value_name(value))),
            );
        }
        found
    }
}

/// The stage that a group shares.
fn stage_of(group: usize) -> Counter {
    Counter { channel: group, side: Side::Put, partition: -1, part: Part::Stage }
}
