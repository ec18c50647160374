//! A finding with all that its makers of fixes need to know: the tree, the kernel, the run.

use super::code::Code;
use super::draft::Draft;
use base::Message;
use findings::{Edit, Finding, Fix, ReplayedRun, Words, machine, replay};
use kernel::{BufferId, EffectId, EffectKind, Lowered};
use machine::{BarrierAction, BarrierPlace, Event, Record, Rule};
use ttgir::{OpId, ValueId};
use verify::Found;

/// A change that might help.
pub(crate) type Candidate = Fix<Message>;

/// One finding.
pub(crate) struct FixContext<'a> {
    /// The text's tree.
    pub code: Code<'a>,
    /// The kernel.
    pub lowered: &'a Lowered,
    /// The violation.
    pub found: &'a Found,
    /// What is said of it.
    pub finding: &'a Finding<Message>,
    /// Its run.
    pub replay: ReplayedRun,
    /// Names and channels.
    pub words: Words<'a>,
}

impl<'a> FixContext<'a> {
    /// The case of a finding; `None` if its run does not repeat.
    pub(crate) fn new(
        code: Code<'a>,
        lowered: &'a Lowered,
        found: &'a Found,
        finding: &'a Finding<Message>,
    ) -> Option<FixContext<'a>> {
        let machine = machine(&lowered.kernel, &found.valuation);
        let words = Words::new(lowered, &machine);
        let replay = replay(&machine, found)?;
        Some(FixContext { code, lowered, found, finding, replay, words })
    }

    /// The two accesses of a race or of a missing fence.
    pub(crate) fn pair(&self) -> Option<(Event, Event)> {
        match self.found.violation.rule {
            Rule::Race { earlier, later } | Rule::ProxyFence { earlier, later } => Some((earlier, later)),
            _ => None,
        }
    }

    /// The op of an effect.
    pub(crate) fn op(&self, effect: EffectId) -> Option<OpId> {
        self.site_op(self.lowered.kernel.effects.get(effect.index())?.site)
    }

    /// The op of a site.
    pub(crate) fn site_op(&self, site: kernel::SiteId) -> Option<OpId> {
        self.code.op_of(self.lowered.map.sites.get(site.index())?)
    }

    /// The op of a numbered step.
    pub(crate) fn step_op(&self, step: u32) -> Option<OpId> {
        self.site_op(self.replay.record(step)?.site)
    }

    /// What a step does.
    pub(crate) fn kind(&self, record: &Record) -> Option<&EffectKind> {
        record.effect.and_then(|id| self.lowered.kernel.effects.get(id.index())).map(|effect| &effect.kind)
    }

    /// The operand through which an event touches memory.
    pub(crate) fn operand(&self, event: &Event) -> Option<ValueId> {
        self.code.value_in(self.words.event_range(event))
    }

    /// The value that an allocation defines.
    pub(crate) fn alloc(&self, buffer: BufferId) -> Option<ValueId> {
        self.code.value_in(self.lowered.map.buffers.get(buffer.0 as usize)?.1)
    }

    /// Which slot of its allocation a barrier is.
    pub(crate) fn slot_number(&self, place: BarrierPlace) -> i64 {
        let buffer = self.lowered.kernel.buffers.get(place.buffer.0 as usize);
        buffer.and_then(|buffer| place.start.checked_div(buffer.slot_bits)).unwrap_or(0) as i64
    }

    /// The barrier whose flip says that an access is over: its own, or that of the next arrival of
    /// its thread.
    pub(crate) fn completes(&self, event: &Event) -> Option<BarrierPlace> {
        match self.words.channels.barrier_of(event.channel) {
            Some(barrier) => self.replay.end.barriers().get(barrier).map(|(place, _)| *place),
            None => self.replay.next_arrival(event.thread, event.step.saturating_sub(1)).map(|next| next.place),
        }
    }

    /// The step of the first arrival of a thread after a step, the step itself left out.
    pub(crate) fn arrival_after(&self, thread: u16, step: u32) -> Option<u32> {
        self.replay.next_arrival(thread, step).map(|next| next.step)
    }

    /// Ops that arrive on a barrier's allocation in this run, by thread; each once, by first step.
    pub(crate) fn arrivals(&self, buffer: BufferId) -> Vec<(u16, OpId)> {
        let mut out = Vec::new();
        for record in &self.replay.records {
            let arrives = record
                .barriers
                .iter()
                .any(|barrier| barrier.place.buffer == buffer && matches!(barrier.act, BarrierAction::Arrive { .. }));
            if arrives && let Some(op) = self.site_op(record.site) {
                out.push((record.thread, op));
            }
        }
        let mut seen = Vec::new();
        out.retain(|entry| {
            let fresh = !seen.contains(entry);
            seen.push(*entry);
            fresh
        });
        out
    }

    /// Ops of the text that could arrive on a barrier of an allocation.
    pub(crate) fn arriving(&self, buffer: BufferId) -> Vec<OpId> {
        let Some(alloc) = self.alloc(buffer) else { return Vec::new() };
        let tree = self.code.tree;
        let ops = self.lowered.map.sites.iter().filter_map(|site| self.code.op_of(site));
        let mut out: Vec<OpId> = ops
            .filter(|op| {
                let other = ["wait_barrier", "init_barrier", "inval_barrier", "read_barrier_phase"];
                let other = other.iter().any(|name| self.code.is_barrier_op(*op, name));
                !other && tree.operands(*op).iter().any(|value| self.code.root(*value) == alloc)
            })
            .filter(|op| tree.op_name(*op) != "ttg.warp_specialize")
            .collect();
        out.sort_unstable();
        out.dedup();
        out
    }

    /// Whether any op could complete a phase of an allocation's barriers.
    pub(crate) fn can_flip(&self, buffer: BufferId) -> bool {
        self.alloc(buffer).is_none() || !self.arriving(buffer).is_empty()
    }

    /// The last of the proxy fences that directly follow an op, or the op.
    pub(crate) fn past_fences(&self, op: OpId) -> OpId {
        let tree = self.code.tree;
        let ops = tree.parent_block(op).map(|block| tree.block_ops(block)).unwrap_or_default();
        let later = ops.iter().copied().skip_while(|other| *other != op).skip(1);
        later.take_while(|other| tree.op_name(*other) == "ttng.fence_async_shared").last().unwrap_or(op)
    }

    /// A draft before an op.
    pub(crate) fn draft(&self, at: OpId) -> Draft<'a> {
        Draft::new(self.code, at)
    }
}

/// A candidate of one edit.
pub(crate) fn fix(title: impl Into<Message>, edits: impl IntoIterator<Item = Edit>) -> Candidate {
    Fix { title: title.into(), edits: super::draft::ordered(edits.into_iter().collect()) }
}
