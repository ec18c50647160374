//! Arefs: a ring of buffers with a full and an empty barrier a slot.
//!
//! Source: the passes that assign stages and phases to arefs and lower them (facebookexperimental
//! fork). `put.enter` waits for the empty barrier of its slot, `put.exit` arrives at the full one;
//! `get.enter` and `get.exit` mirror them. How an exit arrives is in its `async_ops`: `none` and
//! `wgmma` by the thread, `tc5mma` and `tmem_copy` when the tensor core is done, `tma_load` with the
//! bytes, whose expect stands at the enter, `cp_async` when the copies so far are done. A barrier counts
//! one arrival for each partition that exits and each kind of it. Where a thread hands memory on to
//! TMA or the tensor core, or back, the lowering adds a proxy fence, so there is one here.
//!
//! Stages and phases that are absent, or constant zeros throughout, are those of a text before
//! they are assigned: each enter counts on. Missed, and said at the op: an aref made in a loop, and
//! an enter that counts in a region of several blocks.

use super::channel::{Aref, Channel, Counter, Part, Ring, Side};
use crate::lowerer::Lowerer;
use crate::value::Val;
use base::{Message, message};
use dialects::{Arith, Nvws, OpCode, Scf, Ttg};
use kernel::{
    Abstract, AbstractOf, Access, Arrival, Buffer, BufferId, Completion, CtaSet, Dim, EffectKind, Half, Issuer, Mode,
    Proxy, Recipients, Shape, SiteId, Space, Stage, Var, ViewOp,
};
use ttgir::{Def, OpId, Ty, ValueId};

/// How an exit arrives.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Thread,
    TensorCore,
    Bytes,
    Copies,
}

/// One op of an aref, met through the captures of partitions.
pub(super) struct Use {
    pub(super) op: OpId,
    /// The partition that executes it, by its attribute or by the region it stands in.
    pub(super) partition: Option<i64>,
    pub(super) tagged: bool,
}

impl Lowerer<'_> {
    pub(crate) fn aref_create(&mut self, op: OpId) {
        let tree = self.tree;
        let Some(&aref) = tree.results(op).first() else { return };
        if self.in_loop(op) {
            return self.unmodelled(op, "an aref that is made in a loop is not followed");
        }
        let mut rings = Vec::new();
        for (at, &value) in tree.group(op, "buffers").iter().enumerate() {
            let Some(view) = self.operand(op, "buffers", at) else { return };
            rings.push(Ring { view, slots: !self.has_scales(value) });
        }
        let first = tree.group(op, "buffers").first();
        let Some(depth) = first.and_then(|first| self.depth_of(*first)) else {
            return self.unmodelled(op, "how many slots it has is not known");
        };
        let uses = self.uses_of(aref);
        let coded = |code: Nvws| uses.iter().filter(|used| tree.is(used.op, code)).collect::<Vec<_>>();
        let enters = [coded(Nvws::ArefPutEnter), coded(Nvws::ArefGetEnter)];
        let exits = [coded(Nvws::ArefPutExit), coded(Nvws::ArefGetExit)];
        let spelt = enters.iter().flatten().any(|used| !self.is_placeholder(used.op));
        if spelt && enters.iter().flatten().any(|used| tree.group(used.op, "stage").is_empty()) {
            return self.unmodelled(op, "some of its enters have a stage and some have none");
        }
        let mut counts = [0u32; 2];
        for (exits, count) in exits.iter().zip(&mut counts) {
            *count = self.arrivals(exits).max(1);
        }
        let kinds = |exits: &[&Use], kind| exits.iter().any(|used| self.kinds(used.op).contains(&kind));
        let shared = first.is_some_and(|first| self.memory(*first).is_some_and(|memory| memory.space == Space::Shared));
        let fence_put = shared && kinds(&exits[1], Kind::TensorCore);
        let fence_get = kinds(&exits[0], Kind::Bytes);
        let partitions = |enters: &[&Use]| {
            let mut found: Vec<i64> =
                enters.iter().filter(|used| used.tagged).filter_map(|used| used.partition).collect();
            found.sort_unstable();
            found.dedup();
            if found.is_empty() { vec![0] } else { found }
        };
        let (puts, gets) = (partitions(&enters[0]), partitions(&enters[1]));

        let name = tree.value_name(aref).to_owned();
        let full = self.barriers(op, aref, &format!("{name} (full)"), depth, counts[0], (AbstractOf::Aref, Half::Full));
        let empty =
            self.barriers(op, aref, &format!("{name} (empty)"), depth, counts[1], (AbstractOf::Aref, Half::Empty));
        let at = self.hidden.channels.len();
        self.bind(aref, Val::Channel(at));
        if !spelt {
            for (side, partitions, phase) in [(Side::Put, &puts, 0), (Side::Get, &gets, 1)] {
                for &partition in partitions {
                    let counter = Counter { channel: at, side, partition, part: Part::Stage };
                    let stage = self.build.number(i64::try_from(depth).unwrap_or(1) - 1);
                    let phase = self.build.number(phase);
                    self.hidden.counters.insert(counter, stage);
                    self.hidden.counters.insert(Counter { part: Part::Phase, ..counter }, phase);
                }
            }
        }
        let aref = Aref { full, empty, rings, depth, spelt, puts, gets, fence_put, fence_get };
        self.hidden.channels.push(Channel::Aref(aref));
        self.build.map.stage = self.build.map.stage.max(Stage::Tokens);
    }

    /// Barriers that the text does not allocate: one a slot, which the op that makes them initialises.
    pub(super) fn barriers(
        &mut self,
        op: OpId,
        value: ValueId,
        name: &str,
        depth: u64,
        count: u32,
        (of, half): (AbstractOf, Half),
    ) -> Var {
        let range = self.tree.value_range(value);
        let buffer = Buffer { space: Space::Shared, bits: depth * 64, start: None, barriers: true, slot_bits: 64 };
        let id: BufferId = self.build.buffer(buffer, name, range);
        self.build.map.abstracts.push(Abstract { buffer: id, of, half, range });
        let site = self.site(op);
        self.build.effect(site, None, EffectKind::Allocate(id));
        let all = self.build.base(id, Shape::dense(&[depth, 1], 64), name);
        for slot in 0..depth {
            let slot = self.build.number(i64::try_from(slot).unwrap_or(0));
            let barrier = self.slot(all, slot, "");
            self.build.effect(site, None, EffectKind::Init { barrier, count });
        }
        all
    }

    /// One slot of a window whose leading dimension is the slots.
    pub(super) fn slot(&mut self, all: Var, stage: Var, name: &str) -> Var {
        let Some(shape) = self.build.shape(all).cloned() else { return all };
        let Some((first, rest)) = shape.dims.split_first() else { return all };
        let rest = if rest.is_empty() { vec![Dim { size: 1, stride: shape.element }] } else { rest.to_vec() };
        let facts = self.build.facts(all);
        if let Some(buffer) = facts.origin
            && let Some(buffer) = self.build.kernel.buffers.get_mut(buffer.0 as usize)
        {
            buffer.slot_bits = buffer.slot_bits.min(first.stride);
        }
        let exact = shape.exact && (!facts.punned || crate::layout::contiguous(&shape));
        let place = ViewOp::Index { index: stage, stride: first.stride, count: first.size };
        let of = self.build.map.vars.get(all.index()).cloned().flatten().unwrap_or_default();
        let name = if name.is_empty() { &of } else { name };
        self.build.view(all, place, Shape { dims: rest, exact, ..shape }, facts.punned, name)
    }

    pub(crate) fn aref_enter(&mut self, op: OpId, put: bool) {
        let tree = self.tree;
        let Some((at, channel)) = self.aref_of(op) else { return };
        let (stage, phase) = if channel.spelt {
            let (Some(&stage), Some(&phase)) = (tree.group(op, "stage").first(), tree.group(op, "phase").first())
            else {
                return self.unmodelled(op, "its stage is missing");
            };
            (self.scalar(stage), self.scalar(phase))
        } else {
            if let Some(place) = self.uncounted(op) {
                return self.unmodelled(op, format!("its stage is not in the text, and it stands in {place}"));
            }
            match self.count_on(op, at, &channel, put) {
                Some(both) => both,
                None => return self.unmodelled(op, "its stage is not in the text and cannot be counted"),
            }
        };
        let site = self.site(op);
        let barrier = self.slot(if put { channel.empty } else { channel.full }, stage, "");
        self.role_of(op, site, "barrier", "aref", 0);
        if channel.spelt {
            self.role_of(op, site, "phase", "phase", 0);
        }
        self.build.effect(site, None, EffectKind::Wait { barrier, phase });
        self.bind_slots(op, &channel.rings, stage);
        if let Some(&token) = tree.results(op).last() {
            self.bind(token, Val::Stage(stage));
        }
        if put {
            self.expect_loads(op, site, &channel, stage);
        }
    }

    /// The results of an enter, or of `aref.buffer`: the slots of this stage.
    pub(super) fn bind_slots(&mut self, op: OpId, rings: &[Ring], stage: Var) {
        let tree = self.tree;
        for (&result, ring) in tree.results(op).iter().zip(rings) {
            let name = tree.value_name(result);
            let view = if ring.slots { self.slot(ring.view, stage, name) } else { ring.view };
            self.bind(result, Val::View(view));
        }
    }

    /// An enter of another partition: it counts, and its token has a stage.
    pub(super) fn aref_passed(&mut self, op: OpId, put: bool) {
        let tree = self.tree;
        let found = tree.group(op, "aref").first().and_then(|aref| self.channel(*aref));
        let Some(at) = found else { return };
        let Some(Channel::Aref(channel)) = self.hidden.channels.get(at).cloned() else { return };
        if channel.spelt || self.uncounted(op).is_some() {
            return;
        }
        if let (Some((stage, _)), Some(&token)) = (self.count_on(op, at, &channel, put), tree.results(op).last()) {
            self.bind(token, Val::Stage(stage));
        }
    }

    /// Steps the counters that this enter moves; an op that names no partition moves those of all.
    fn count_on(&mut self, op: OpId, at: usize, channel: &Aref, put: bool) -> Option<(Var, Var)> {
        let (side, partitions) = if put { (Side::Put, &channel.puts) } else { (Side::Get, &channel.gets) };
        let tag = self.tag(op);
        let mut last = None;
        for &partition in partitions.iter().filter(|partition| tag.is_none_or(|tag| tag == **partition)) {
            let counter = Counter { channel: at, side, partition, part: Part::Stage };
            last = self.step(counter, channel.depth);
        }
        last
    }

    /// TMA loads into the buffers of a put count their bytes on the full barrier, and the expect
    /// stands at the enter.
    fn expect_loads(&mut self, op: OpId, site: SiteId, channel: &Aref, stage: Var) {
        let tree = self.tree;
        self.find_users();
        let users = |lowerer: &Self, value: &ValueId| lowerer.users.get(value).cloned().unwrap_or_default();
        let Some((token, buffers)) = tree.results(op).split_last() else { return };
        let exit = users(self, token).into_iter().find(|user| tree.is(*user, Nvws::ArefPutExit));
        if !exit.is_some_and(|exit| self.kinds(exit).contains(&Kind::Bytes)) {
            return;
        }
        let mut loads: Vec<OpId> = buffers.iter().flat_map(|buffer| users(self, buffer)).collect();
        loads.retain(|user| {
            matches!(tree.code(*user), Some(OpCode::Nvws(Nvws::DescriptorLoad | Nvws::DescriptorGather)))
        });
        if loads.is_empty() {
            return;
        }
        let bytes =
            loads.iter().filter_map(|load| self.int_attr(*load, "txCount")).filter_map(|n| u64::try_from(n).ok());
        let bytes = bytes.sum();
        let barrier = self.slot(channel.full, stage, "");
        self.build.effect(site, None, EffectKind::Expect { barrier, bytes, to: Recipients::own() });
        for load in loads {
            self.loads.insert(load, barrier);
        }
    }

    /// `nvws.descriptor_load`: a TMA load that completes on the full barrier of its put.
    pub(crate) fn descriptor_load(&mut self, op: OpId) {
        let tree = self.tree;
        if self.plan.is_some() {
            // Who waits for it waits for the channel.
            let site = self.site(op);
            let Some(view) = self.operand(op, "result", 0) else { return };
            self.role_of(op, site, "result", "result", 0);
            let proxy = Proxy::Generic;
            let access = Access { view, mode: Mode::Write, proxy, operand: "", clears: false, ctas: CtaSet::OWN };
            let (accesses, completion) = (vec![access], Completion::InOrder);
            self.build.effect(site, None, EffectKind::Operation { issuer: Issuer::Base, accesses, completion });
            return;
        }
        let Some(barrier) = self.loads.get(&op).copied().or_else(|| self.released_load(op)) else {
            return self.unmodelled(op, "a load whose barrier no text says");
        };
        let bytes = tree.group(op, "result").first().and_then(|value| self.memory(*value)).map(|memory| memory.bytes);
        let Some(bytes) = bytes else { return self.unmodelled(op, "how much it copies is not known") };
        let site = self.site(op);
        let Some(view) = self.operand(op, "result", 0) else { return };
        self.role_of(op, site, "result", "result", 0);
        let access =
            Access { view, mode: Mode::Write, proxy: Proxy::Async, operand: "", clears: false, ctas: CtaSet::OWN };
        let arrival = Arrival { barrier, predicate: None, count: 0, bytes, to: Recipients::own() };
        let completion = Completion::Transaction(vec![arrival]);
        self.build.effect(
            site,
            None,
            EffectKind::Operation { issuer: Issuer::Tma, accesses: vec![access], completion },
        );
    }

    pub(crate) fn aref_exit(&mut self, op: OpId, put: bool) {
        let Some((_, channel)) = self.aref_of(op) else { return };
        let Some(stage) = self.stage_of(op, channel.spelt) else { return };
        let site = self.site(op);
        let kinds = self.kinds(op);
        if kinds.is_empty() {
            return self.unmodelled(op, "how it arrives is not in its `async_ops`");
        }
        if kinds.contains(&Kind::Thread) && if put { channel.fence_put } else { channel.fence_get } {
            self.build.effect(site, None, EffectKind::ProxyFence);
        }
        let barrier = self.slot(if put { channel.full } else { channel.empty }, stage, "");
        self.role_of(op, site, "barrier", "aref", 0);
        for kind in kinds {
            self.arrive_as(op, site, barrier, kind, 1);
        }
    }

    pub(super) fn arrive_as(&mut self, op: OpId, site: SiteId, barrier: Var, kind: Kind, count: u32) {
        match kind {
            Kind::Thread => {
                self.build.effect(site, None, EffectKind::Arrive { barrier, count, to: Recipients::own() });
            }
            Kind::TensorCore => {
                let pair = self.paired(op);
                self.build.effect_of(site, None, pair.leaders, EffectKind::TensorCoreCommit { barrier, to: pair.to });
            }
            // Every thread adds an arrival and takes it off when its copies are done; then comes the
            // one that is counted.
            Kind::Copies => {
                let to = Recipients::own();
                self.build.effect(site, None, EffectKind::AsyncCopyArrive { barrier, increments: true, to });
                self.build.effect(site, None, EffectKind::Arrive { barrier, count, to: Recipients::own() });
            }
            Kind::Bytes => {}
        }
    }

    pub(crate) fn aref_buffer(&mut self, op: OpId) {
        let Some((_, channel)) = self.aref_of(op) else { return };
        if let Some(stage) = self.stage_of(op, channel.spelt) {
            self.bind_slots(op, &channel.rings, stage);
        }
    }

    /// The stage of an op that takes a token; one that is not followed is said.
    pub(super) fn stage_of(&mut self, op: OpId, spelt: bool) -> Option<Var> {
        let tree = self.tree;
        if spelt && let Some(&stage) = tree.group(op, "stage").first() {
            return Some(self.scalar(stage));
        }
        let token = *tree.group(op, "token").first()?;
        if let Some(Val::Stage(stage)) = self.values.get(&token).copied() {
            return Some(stage);
        }
        self.unmodelled(
            op,
            message!("the stage that `{token}` stands for is not known", Message::value(tree.value_name(token))),
        );
        None
    }

    /// The aref of an op, noted here as this thread knows it; one that is not followed is said.
    fn aref_of(&mut self, op: OpId) -> Option<(usize, Aref)> {
        let aref = *self.tree.group(op, "aref").first()?;
        let found = self.channel(aref).and_then(|at| match self.hidden.channels.get(at)? {
            Channel::Aref(aref) => Some((at, aref.clone())),
            Channel::Semaphore(_) => None,
        });
        if found.is_none() {
            self.unmodelled(
                op,
                message!("where `{aref}` was made is not followed", Message::value(self.tree.value_name(aref))),
            );
        }
        found
    }

    /// Arrivals a phase: for each partition the kinds of its first exit.
    fn arrivals(&self, exits: &[&Use]) -> u32 {
        let mut met: Vec<i64> = Vec::new();
        let mut count = 0;
        for used in exits {
            let Some(partition) = used.partition.filter(|partition| !met.contains(partition)) else { continue };
            met.push(partition);
            count += self.kinds(used.op).len() as u32;
        }
        count
    }

    /// The kinds in `async_ops`.
    pub(super) fn kinds(&self, op: OpId) -> Vec<Kind> {
        let tree = self.tree;
        let list = tree.attr(op, "async_ops").map(|attr| tree.attr_array(attr)).unwrap_or_default();
        let kind = |text: &str| match text.split(['<', '>']).nth(1).map(str::trim) {
            Some("none" | "wgmma") => Some(Kind::Thread),
            Some("tc5mma" | "tmem_copy") => Some(Kind::TensorCore),
            Some("tma_load") => Some(Kind::Bytes),
            Some("cp_async") => Some(Kind::Copies),
            _ => None,
        };
        list.iter().filter_map(|attr| kind(tree.attr_text(*attr))).collect()
    }

    /// The partition that an op names; the first where it names several.
    pub(super) fn tag(&self, op: OpId) -> Option<i64> {
        let attr = self.tree.attr(op, "ttg.partition")?;
        self.tree.attr_ints(attr).first().copied().or_else(|| self.tree.attr_int(attr))
    }

    /// Whether an enter has no stage yet: none, or zeros that stand for one.
    fn is_placeholder(&self, op: OpId) -> bool {
        let zero = |value: &ValueId| match self.tree.value_def(*value) {
            Def::Result(constant, _) => {
                self.tree.is(constant, Arith::Constant) && self.int_attr(constant, "value") == Some(0)
            }
            _ => false,
        };
        let both = ["stage", "phase"].map(|group| self.tree.group(op, group));
        both.iter().all(|values| values.iter().all(zero))
    }

    /// All ops that use an aref, also by the name that a partition has for it.
    pub(super) fn uses_of(&mut self, aref: ValueId) -> Vec<Use> {
        self.find_users();
        let tree = self.tree;
        let mut uses = Vec::new();
        let mut open = vec![(aref, None)];
        while let Some((value, inside)) = open.pop() {
            for &op in self.users.get(&value).map(Vec::as_slice).unwrap_or_default() {
                if matches!(tree.code(op), Some(OpCode::Ttg(Ttg::WarpSpecialize | Ttg::WarpSpecializePartitions))) {
                    let Some(at) = tree.operands(op).iter().position(|operand| *operand == value) else { continue };
                    let skip = usize::from(tree.is(op, Ttg::WarpSpecialize));
                    for (number, &region) in tree.regions(op).iter().skip(skip).enumerate() {
                        let entry = tree.blocks(region).first();
                        let arg = entry.and_then(|block| tree.block_args(*block).get(at));
                        open.extend(arg.map(|arg| (*arg, Some(number as i64))));
                    }
                    continue;
                }
                let tag = self.tag(op);
                let partition = tag.or(inside).or_else(|| self.region_number(op));
                uses.push(Use { op, partition, tagged: tag.is_some() });
            }
        }
        uses.sort_by_key(|used| used.op);
        uses.dedup_by_key(|used| used.op);
        uses
    }

    /// The number of the region of a warp group, or the default region, that holds an op.
    fn region_number(&self, op: OpId) -> Option<i64> {
        let tree = self.tree;
        let mut op = op;
        loop {
            let region = tree.parent_region(tree.parent_block(op)?);
            let parent = tree.parent_op(region)?;
            match tree.code(parent) {
                Some(OpCode::Nvws(Nvws::WarpGroup)) => {
                    return tree.regions(parent).iter().position(|other| *other == region).map(|at| at as i64);
                }
                Some(OpCode::Ttg(Ttg::WarpSpecialize)) => return Some(-1),
                _ => op = parent,
            }
        }
    }

    pub(super) fn in_loop(&self, op: OpId) -> bool {
        let tree = self.tree;
        let mut op = op;
        while let Some(parent) = tree.parent_block(op).and_then(|block| tree.parent_op(tree.parent_region(block))) {
            if matches!(tree.code(parent), Some(OpCode::Scf(Scf::For | Scf::While))) {
                return true;
            }
            op = parent;
        }
        self.among_blocks(op)
    }

    /// Where counters are not followed.
    pub(super) fn uncounted(&self, op: OpId) -> Option<&'static str> {
        let tree = self.tree;
        if self.calls.len() > 1 {
            return Some("a function that is called");
        }
        if self.among_blocks(op) {
            return Some("a region of several blocks");
        }
        let (mut op, mut forked) = (op, false);
        while let Some(parent) = tree.parent_block(op).and_then(|block| tree.parent_op(tree.parent_region(block))) {
            match tree.code(parent) {
                Some(OpCode::Ttg(Ttg::WarpSpecialize) | OpCode::Nvws(Nvws::WarpGroup)) => forked = true,
                Some(OpCode::Scf(Scf::For | Scf::While)) if forked => {
                    return Some("partitions that start again in each iteration");
                }
                _ => {}
            }
            op = parent;
        }
        None
    }

    /// Whether a region around an op has several blocks.
    fn among_blocks(&self, op: OpId) -> bool {
        let tree = self.tree;
        let mut op = op;
        while let Some(block) = tree.parent_block(op) {
            let region = tree.parent_region(block);
            if tree.blocks(region).len() > 1 {
                return true;
            }
            match tree.parent_op(region) {
                Some(parent) => op = parent,
                None => break,
            }
        }
        false
    }

    /// Dimension 0 of a memdesc; scales in tensor memory have one slot.
    pub(super) fn depth_of(&self, value: ValueId) -> Option<u64> {
        if self.has_scales(value) {
            return Some(1);
        }
        match self.tree.ty(self.tree.value_type(value)?) {
            Ty::MemDesc { shape, .. } if shape.len() > 1 => {
                shape.first().and_then(|size| u64::try_from(*size).ok()).filter(|depth| (1..=1 << 10).contains(depth))
            }
            _ => None,
        }
    }

    pub(super) fn has_scales(&self, value: ValueId) -> bool {
        match self.tree.value_type(value).map(|ty| self.tree.ty(ty)) {
            Some(Ty::MemDesc { encoding: Some(attr), .. }) => self.tree.attr_text(attr).contains("scales_encoding"),
            _ => false,
        }
    }
}
