//! What is worth knowing and no finding: waits that tell their thread nothing, counts that differ though
//! the phases are right, slots that nobody uses, buffers of one slot, zeros that are overwritten, tokens
//! that nobody takes.
//!
//! What runs say of waits is told only of kernels without a finding: in a broken kernel a wait may be
//! idle because it is the wrong one. A wait is redundant if in no run and no round it has anything new
//! to say: then leaving it out changes no order of anything. A wait that has, though nothing needs it,
//! is not found.

use super::barriers::Barriers;
use super::buffers::{BufferAccesses, accesses};
use super::edges::row;
use super::ordering_facts::{OrderingFacts, Waits};
use super::pairs::{BarrierArray, OrderedBy};
use super::trace::Trace;
use super::uses::{stores_zeros, used};
use super::{PartitionUse, Remark, RemarkKind};
use base::TextRange;
use findings::Finding;
use kernel::{BufferId, EffectId, EffectKind, Instr, Mode, ViewOp};
use std::collections::BTreeMap;

/// Everything that remarks are made of.
pub(super) struct Remarks<'a> {
    pub trace: &'a Trace<'a>,
    pub ordering_facts: &'a OrderingFacts,
    pub memory: &'a BufferAccesses,
    pub barriers: &'a Barriers,
    pub findings: &'a [Finding],
}

/// An op of the text that waits: its effects are alternatives.
struct Waiting {
    used: PartitionUse,
    array: Option<BarrierArray>,
    sum: Waits,
}

impl Remarks<'_> {
    /// All remarks, in the order of the text.
    pub(super) fn all(&self) -> Vec<Remark> {
        let mut remarks = Vec::new();
        let sound = !self.findings.iter().any(|finding| finding.witness.is_some()) && !self.ordering_facts.unmodelled;
        if sound && self.ordering_facts.complete > 0 {
            let waits = self.waits();
            self.redundant(&waits, &mut remarks);
            self.counts(&mut remarks);
            self.depth(&mut remarks);
        }
        self.slots(&mut remarks);
        self.zeros(&mut remarks);
        remarks.extend(super::tokens::dropped(self.trace));
        remarks.sort_by_key(|remark| (remark.range, remark.kind.name()));
        remarks
    }

    fn range(&self, effect: EffectId) -> TextRange {
        self.trace.site(self.trace.lowered.kernel.effect(effect).site).name
    }

    fn label(&self, partition: usize) -> String {
        self.trace.lowered.map.partition(partition)
    }

    fn name(&self, array: BarrierArray) -> String {
        let row = row(self.barriers, array).and_then(|row| self.barriers.rows.get(row));
        row.map_or_else(|| "the barrier".to_owned(), |row| format!("`{}`", row.name))
    }

    fn array(&self, effect: EffectId) -> Option<BarrierArray> {
        let EffectKind::Wait { barrier, .. } = &self.trace.lowered.kernel.effect(effect).kind else { return None };
        let chains = self.trace.chains(*barrier);
        let [chain, rest @ ..] = chains.as_slice() else { return None };
        rest.iter().all(|other| other.buffer == chain.buffer).then_some(BarrierArray::Barriers(chain.buffer))
    }

    fn waits(&self) -> Vec<Waiting> {
        let mut waits: BTreeMap<(TextRange, usize), Waiting> = BTreeMap::new();
        for (id, effect) in self.trace.effects() {
            if !matches!(effect.kind, EffectKind::Wait { .. }) {
                continue;
            }
            let used = used(self.trace, id, effect);
            let key = (used.range, used.partition);
            let array = self.array(id);
            let known = waits.entry(key).or_insert_with(|| Waiting { used, array, sum: Waits::default() });
            let more = self.ordering_facts.waits(id);
            known.sum.rounds += more.rounds;
            known.sum.free += more.free;
            known.sum.again += more.again;
            known.sum.idle += more.idle;
        }
        waits.into_values().collect()
    }

    /// Waits that never tell their thread anything.
    fn redundant(&self, waits: &[Waiting], remarks: &mut Vec<Remark>) {
        let idle = |wait: &Waiting| {
            let passed = wait.sum.rounds - wait.sum.free;
            passed > 0 && wait.sum.idle == passed
        };
        for wait in waits.iter().filter(|wait| idle(wait)) {
            let (Some(array), sum) = (wait.array, wait.sum) else { continue };
            let seen = sum.again == sum.rounds - sum.free;
            // What it adds may be the number of a flip, by which another wait of its thread tells the next
            // flip from the one after.
            let others = waits.iter().any(|other| {
                other.array == wait.array
                    && other.used.partition == wait.used.partition
                    && other.used.range != wait.used.range
                    && !idle(other)
            });
            if !seen && others {
                continue;
            }
            let (who, name) = (self.label(wait.used.partition), self.name(array));
            let why = match (seen, sum.free) {
                (true, 0) => "it passes on a flip that its partition has seen already, in every round".to_owned(),
                (true, _) => {
                    "it passes at once in the first rounds, and then on a flip that its partition has seen already"
                        .to_owned()
                }
                (false, _) => "all that it has to say is known from earlier waits, in every round".to_owned(),
            };
            remarks.push(Remark {
                kind: RemarkKind::RedundantWait,
                range: wait.used.range,
                text: format!("the wait of {who} on {name} is redundant, not wrong: {why}"),
                sites: Vec::new(),
            });
        }
    }

    /// Several waits of a thread on one flip: a tally of counts would be short of arrivals.
    fn counts(&self, remarks: &mut Vec<Remark>) {
        let mut arrays: BTreeMap<(BarrierArray, usize), Vec<TextRange>> = BTreeMap::new();
        for (array, effects) in self.ordering_facts.shared() {
            let Some(first) = effects.first() else { continue };
            let ranges = arrays.entry((*array, self.trace.partition(*first))).or_default();
            ranges.extend(effects.iter().map(|effect| self.range(*effect)));
        }
        for ((array, partition), mut waits) in arrays {
            waits.sort();
            waits.dedup();
            let arrivals = self.ordering_facts.links().iter().filter(|tie| tie.array == Some(array));
            let mut arrivals: Vec<TextRange> =
                arrivals.filter_map(|tie| tie.arrival).map(|effect| self.range(effect)).collect();
            arrivals.sort();
            arrivals.dedup();
            let (who, name) = (self.label(partition), self.name(array));
            let ops = |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
            let text = format!(
                "{who} waits on {name} more often than it flips ({}, {}): counted as a semaphore that is a \
                 deadlock, but a wait takes nothing away, and the parities that these name are those of the flip that \
                 has come",
                ops(waits.len(), "wait"),
                ops(arrivals.len(), "arriving op"),
            );
            let Some(range) = waits.first().copied() else { continue };
            let sites = waits.into_iter().skip(1).chain(arrivals).collect();
            remarks.push(Remark { kind: RemarkKind::CountsDiffer, range, text, sites });
        }
    }

    /// Slots that are initialised and then left alone.
    fn slots(&self, remarks: &mut Vec<Remark>) {
        let mut dead: BTreeMap<BufferId, Vec<u64>> = BTreeMap::new();
        for place in self.ordering_facts.idle_places() {
            let slots = dead.entry(place.buffer).or_default();
            if !slots.contains(&place.start) {
                slots.push(place.start);
            }
        }
        for (buffer, mut starts) in dead {
            // The text allocates no barrier that stands for something else.
            if self.trace.lowered.map.abstracts.iter().any(|known| known.buffer == buffer) {
                continue;
            }
            let ended = self.ordering_facts.cut == 0 && self.ordering_facts.complete > 0;
            starts.retain(|start| match self.named(buffer) {
                Some(named) => !named.contains(start),
                None => ended,
            });
            starts.sort_unstable();
            let Some(info) = self.trace.lowered.kernel.buffers.get(buffer.0 as usize) else { continue };
            let slot = info.slot_bits.max(1);
            let mut numbers: Vec<String> = starts.iter().map(|start| (start / slot).to_string()).collect();
            let Some(last) = numbers.pop() else { continue };
            let (noun, verb) = if numbers.is_empty() { ("slot", "is") } else { ("slots", "are") };
            let list = if numbers.is_empty() { last } else { format!("{} and {last}", numbers.join(", ")) };
            let name = self.trace.lowered.map.buffer(buffer);
            let slots = if info.bits <= slot { "" } else { &format!("{noun} {list} of ") };
            let verb = if slots.is_empty() { "is" } else { verb };
            let range = self.trace.lowered.map.buffers.get(buffer.0 as usize).map(|(_, range)| *range);
            remarks.push(Remark {
                kind: RemarkKind::DeadSlot,
                range: range.unwrap_or_default(),
                text: format!("{slots}`{name}` {verb} initialised, and nobody waits or arrives there"),
                sites: self.inits(buffer),
            });
        }
    }

    /// Where in a barrier array anybody waits or arrives, in bits, if that can be told from the text.
    fn named(&self, buffer: BufferId) -> Option<Vec<u64>> {
        let mut starts = Vec::new();
        for effect in &self.trace.lowered.kernel.effects {
            if matches!(effect.kind, EffectKind::Init { .. } | EffectKind::Invalidate { .. }) {
                continue;
            }
            for (barrier, _) in super::barriers::used_by(&effect.kind) {
                for chain in self.trace.chains(barrier).iter().filter(|chain| chain.buffer == buffer) {
                    let mut start = 0;
                    for var in &chain.vars {
                        start += match self.trace.made(*var) {
                            super::trace::ValueDef::View(_, ViewOp::Shift(by)) => by,
                            super::trace::ValueDef::View(_, ViewOp::Index { index, stride, .. }) => {
                                u64::try_from(self.trace.constant(index)?).ok()? * stride
                            }
                            _ => 0,
                        };
                    }
                    starts.push(start);
                }
            }
        }
        Some(starts)
    }

    fn inits(&self, buffer: BufferId) -> Vec<TextRange> {
        let effects = self.trace.effects().into_iter();
        let inits = effects.filter(|(_, effect)| match effect.kind {
            EffectKind::Init { barrier, .. } => self.trace.chains(barrier).iter().any(|chain| chain.buffer == buffer),
            _ => false,
        });
        inits.map(|(_, effect)| self.trace.site(effect.site).name).collect()
    }

    /// Zeros that the first product overwrites unread, in another partition.
    fn zeros(&self, remarks: &mut Vec<Remark>) {
        let kernel = &self.trace.lowered.kernel;
        for (id, effect) in self.trace.effects() {
            let stores = accesses(&effect.kind).iter().any(|access| access.mode == Mode::Write);
            let op = &self.trace.site(effect.site).op;
            if !stores || !matches!(op.as_str(), "ttng.tmem_store" | "ttng.tmem_alloc") || !self.is_zero(id) {
                continue;
            }
            let after =
                || self.ordering_facts.pairs().iter().filter(|(pair, met)| pair.earlier.effect == id && met.near > 0);
            if self.ordering_facts.times(id) == 0 || after().any(|(pair, _)| pair.later.mode == Mode::Read) {
                continue;
            }
            let clears = |effect: EffectId, access: u16| {
                accesses(&kernel.effect(effect).kind).get(usize::from(access)).is_some_and(|access| access.clears)
            };
            let over = after().filter(|(pair, _)| {
                clears(pair.later.effect, pair.later.access) && pair.later.partition != pair.earlier.partition
            });
            let mut over: Vec<EffectId> = over.map(|(pair, _)| pair.later.effect).collect();
            over.sort_unstable();
            over.dedup();
            let Some(first) = over.first() else { continue };
            let who = self.label(self.trace.partition(*first));
            remarks.push(Remark {
                kind: RemarkKind::RedundantZero,
                range: self.range(id),
                text: format!(
                    "{} zeroes an accumulator that the first `{}` of {who} overwrites anyway: the store, and what \
                     orders it between the two, can go",
                    self.label(self.trace.partition(id)),
                    self.trace.site(kernel.effect(*first).site).op,
                ),
                sites: over.into_iter().map(|effect| self.range(effect)).collect(),
            });
        }
    }

    /// Whether an op stores zeros.
    fn is_zero(&self, effect: EffectId) -> bool {
        let site = self.trace.lowered.kernel.effect(effect).site;
        self.trace.op(site).is_some_and(|op| stores_zeros(self.trace.tree, op))
    }

    /// Buffers of one slot whose producer stands still until a consumer in another partition is done.
    fn depth(&self, remarks: &mut Vec<Remark>) {
        let mut told: Vec<usize> = Vec::new();
        for (pair, met) in self.ordering_facts.pairs() {
            let OrderedBy::Sync(tie) = pair.how else { continue };
            let back = (pair.earlier.mode, pair.later.mode) == (Mode::Read, Mode::Write);
            if met.near == 0 || !back || pair.earlier.partition == pair.later.partition {
                continue;
            }
            let member = |effect: EffectId, access: u16| self.memory.of.get(&(effect, usize::from(access))).copied();
            let Some((buffer, at)) = member(pair.later.effect, pair.later.access) else { continue };
            if member(pair.earlier.effect, pair.earlier.access) != Some((buffer, at)) || told.contains(&buffer) {
                continue;
            }
            let Some(info) = self.memory.buffers.get(buffer).filter(|info| info.slots == 1) else { continue };
            // Others live in it too: a second slot is not what they wait for.
            let Some(whole) = info.members.get(at).filter(|_| info.members.len() == 1) else { continue };
            let (reader, writer) = (usize::from(pair.earlier.partition), usize::from(pair.later.partition));
            let carried = |id: EffectId| !self.trace.loops_around(id).is_empty();
            // A value that its producer updates in place has no next one to work on.
            let updates = whole.readers.iter().any(|used| used.partition == writer);
            let late = tie.arrival.is_some_and(|arrival| self.late(pair.earlier.effect, arrival));
            if updates || !late || !carried(pair.earlier.effect) || !carried(pair.later.effect) {
                continue;
            }
            told.push(buffer);
            remarks.push(Remark {
                kind: RemarkKind::DepthOne,
                range: info.range,
                text: format!(
                    "`{}` has one slot: {} cannot fill it again before {} is done with it; with two they could \
                     overlap",
                    info.name,
                    self.label(writer),
                    self.label(reader),
                ),
                sites: [pair.earlier.effect, pair.later.effect].map(|effect| self.range(effect)).to_vec(),
            });
        }
    }

    /// Whether a release comes a while after the read: when the tensor core is done, or after a wait.
    fn late(&self, read: EffectId, release: EffectId) -> bool {
        let kernel = &self.trace.lowered.kernel;
        if !matches!(kernel.effect(release).kind, EffectKind::Arrive { .. }) {
            return true;
        }
        let holds = |instrs: &[Instr], wanted| instrs.iter().position(|instr| *instr == Instr::Effect(wanted));
        let found = kernel.blocks.iter().find_map(|block| Some((block, holds(&block.instrs, read)?)));
        let Some((block, from)) = found else { return false };
        let Some(to) = holds(&block.instrs, release) else { return true };
        block.instrs.get(from..to).unwrap_or_default().iter().any(|instr| {
            let Instr::Effect(id) = instr else { return false };
            matches!(kernel.effect(*id).kind, EffectKind::Wait { .. } | EffectKind::WaitGroup { .. })
        })
    }
}
