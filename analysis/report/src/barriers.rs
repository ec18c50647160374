//! Barrier arrays: who uses them how, and how slots and phases run.

use super::buffers::{BufferAccesses, accesses};
use super::expr::Expr;
use super::loads;
use super::scalars::Exprs;
use super::trace::Trace;
use super::uses::{note, slot, used, with_barrier};
use super::{BarrierSummary, Expect, Mechanism};
use base::TextRange;
use kernel::{BufferId, Completion, EffectId, EffectKind, Issuer, LoopId, Mode, Var};
use rustc_hash::FxHashMap;

/// The barriers of a kernel.
#[derive(Clone, Debug, Default)]
pub struct Barriers {
    /// One a barrier array, in the order of the allocations; then named barriers, then the cluster's.
    pub rows: Vec<BarrierSummary>,
    /// The kernel's buffers, as indices of [`Barriers::rows`].
    pub of: FxHashMap<BufferId, usize>,
    /// Named barriers by number, as indices of [`Barriers::rows`].
    pub named: FxHashMap<u64, usize>,
    /// The barrier of all CTAs, as an index of [`Barriers::rows`].
    pub cluster: Option<usize>,
}

/// How an operation's arrivals come.
pub fn mechanism(issuer: Issuer, completion: &Completion) -> Mechanism {
    match (completion, issuer) {
        (Completion::InTurn(_), _) => Mechanism::Tdm,
        (Completion::Frontier(_), _) | (_, Issuer::TensorCore) => Mechanism::Mma,
        _ => Mechanism::Tma,
    }
}

/// The barriers that an effect uses, each with how it arrives, if it does.
pub(super) fn used_by(kind: &EffectKind) -> Vec<(Var, Option<Mechanism>)> {
    match kind {
        EffectKind::Init { barrier, .. }
        | EffectKind::Invalidate { barrier }
        | EffectKind::Wait { barrier, .. }
        | EffectKind::ReadPhase { barrier, .. } => vec![(*barrier, None)],
        // Of an expectation, what counts is what it waits for.
        EffectKind::Expect { barrier, bytes, .. } => {
            vec![(*barrier, Some(if *bytes > 0 { Mechanism::Tma } else { Mechanism::Arrive }))]
        }
        EffectKind::Arrive { barrier, .. } => vec![(*barrier, Some(Mechanism::Arrive))],
        EffectKind::TensorCoreCommit { barrier, .. } => vec![(*barrier, Some(Mechanism::TensorCoreCommit))],
        EffectKind::AsyncCopyArrive { barrier, .. } => vec![(*barrier, Some(Mechanism::AsyncCopy))],
        EffectKind::Operation { issuer, completion, .. } => {
            let how = mechanism(*issuer, completion);
            completion.arrivals().iter().map(|arrival| (arrival.barrier, Some(how))).collect()
        }
        _ => Vec::new(),
    }
}

/// A use that names a slot, on its way into the row.
struct Slotted {
    partition: usize,
    loops: Vec<LoopId>,
    slot: Expr,
    setup: bool,
    /// What the operation copies, where it is one.
    copies: Option<(String, u64)>,
    expects: Option<(TextRange, u64)>,
    op: String,
}

impl Barriers {
    pub(super) fn of(trace: &Trace<'_>, memory: &BufferAccesses) -> Barriers {
        let map = &trace.lowered.map;
        let kernel = trace.kernel();
        let mut all = Barriers::default();
        let mut order: Vec<usize> = (0..kernel.buffers.len()).filter(|at| kernel.buffers[*at].barriers).collect();
        order.sort_by_key(|at| (map.buffers.get(*at).map(|(_, range)| range.start), *at));
        for at in order {
            let id = BufferId(at as u32);
            all.of.insert(id, all.rows.len());
            all.rows.push(row(trace, id));
        }
        let mut slotted: Vec<Vec<Slotted>> = Vec::new();
        slotted.resize_with(all.rows.len(), Vec::new);
        let mut phases: Vec<Vec<Expr>> = vec![Vec::new(); all.rows.len()];
        let exprs = Exprs::new(trace);
        for (id, effect) in trace.effects() {
            for (place, (barrier, how)) in used_by(&effect.kind).into_iter().enumerate() {
                for chain in trace.chains(barrier) {
                    let Some(&number) = all.of.get(&chain.buffer) else { continue };
                    let row = &mut all.rows[number];
                    row.mechanisms.extend(how);
                    let index = slot(trace, &chain);
                    let mut use_ = used(trace, id, effect);
                    use_.what = with_barrier(trace, effect, place);
                    if row.depth > 1 {
                        use_.slot = index.as_ref().map_or_else(String::new, Expr::to_string);
                    }
                    let (partition, op) = (use_.partition, use_.op.clone());
                    note(&mut row.uses, use_);
                    match effect.kind {
                        EffectKind::Init { count, .. } => counted(row, count),
                        EffectKind::Wait { phase, .. } => push(&mut phases[number], exprs.of(phase)),
                        _ => {}
                    }
                    slotted[number].push(Slotted {
                        partition,
                        loops: trace.loops_around(id),
                        slot: index.unwrap_or(Expr::Number(0)),
                        setup: matches!(effect.kind, EffectKind::Init { .. } | EffectKind::Invalidate { .. }),
                        copies: copy(memory, &effect.kind, id, place).or_else(|| loads::copies(trace, effect)),
                        expects: match effect.kind {
                            EffectKind::Expect { bytes, .. } => Some((trace.site(effect.site).name, bytes)),
                            _ => None,
                        },
                        op,
                    });
                }
            }
            all.without_storage(trace, id);
        }
        for ((row, slotted), phases) in all.rows.iter_mut().zip(slotted).zip(phases) {
            let mut indices = Vec::new();
            let ring = slotted.iter().filter(|used| row.depth > 1 && !used.setup);
            ring.for_each(|used| push(&mut indices, used.slot.clone()));
            row.index = indices.iter().map(Expr::to_string).collect();
            row.phase = phases.iter().map(Expr::to_string).collect();
            row.stagger = stagger(row.depth, &slotted);
            row.expects = expects(&slotted);
            indices.extend(phases);
            row.carried = exprs.carried(&indices);
        }
        for row in &mut all.rows {
            row.mechanisms.sort();
            row.mechanisms.dedup();
        }
        all
    }

    /// Named barriers and the barrier of all CTAs.
    fn without_storage(&mut self, trace: &Trace<'_>, id: EffectId) {
        let effect = trace.kernel().effect(id);
        let (number, how) = match &effect.kind {
            EffectKind::NamedArrive { id: number, .. } | EffectKind::NamedWait { id: number } => {
                let number = trace.constant(*number).and_then(|number| u64::try_from(number).ok());
                (Some(number), Mechanism::Named)
            }
            EffectKind::ClusterArrive { .. } | EffectKind::ClusterWait => (None, Mechanism::Cluster),
            _ => return,
        };
        let rows = &mut self.rows;
        let mut new = |name: String| {
            rows.push(plain(name, 1));
            rows.len() - 1
        };
        let row = match number {
            Some(Some(number)) => *self.named.entry(number).or_insert_with(|| new(format!("named barrier {number}"))),
            // One whose number is computed is told where it is used.
            Some(None) => return,
            None => *self.cluster.get_or_insert_with(|| new("cluster barrier".to_owned())),
        };
        let mut use_ = used(trace, id, effect);
        use_.what = with_barrier(trace, effect, 0);
        note(&mut self.rows[row].uses, use_);
        self.rows[row].mechanisms.push(how);
    }
}

fn push(list: &mut Vec<Expr>, expr: Expr) {
    if !list.contains(&expr) {
        list.push(expr);
    }
}

/// Notes the count of a slot; where slots differ there is none.
fn counted(row: &mut BarrierSummary, count: u32) {
    let before = row.uses.iter().filter(|used| used.what.starts_with("initialises")).count();
    row.count = match (before, row.count) {
        (0 | 1, None) => Some(count),
        (_, known) => known.filter(|known| *known == count),
    };
}

/// What an arrival's operation writes, and how many bytes of it the barrier counts.
fn copy(memory: &BufferAccesses, kind: &EffectKind, id: EffectId, place: usize) -> Option<(String, u64)> {
    let EffectKind::Operation { completion, .. } = kind else { return None };
    let bytes = completion.arrivals().get(place).map(|arrival| arrival.bytes).filter(|bytes| *bytes > 0)?;
    let written = accesses(kind).iter().position(|access| access.mode == Mode::Write)?;
    let (buffer, member) = *memory.of.get(&(id, written))?;
    Some((memory.buffers.get(buffer)?.members.get(member)?.name.clone(), bytes))
}

/// Uses in one iteration whose slots differ by constants.
struct Ring<'u> {
    partition: usize,
    loops: &'u [LoopId],
    base: Expr,
    offsets: Vec<(String, i64)>,
}

/// Offsets of slots that uses in one iteration name, where they differ by constants.
fn stagger(depth: u64, uses: &[Slotted]) -> Vec<(String, i64)> {
    let mut rings: Vec<Ring<'_>> = Vec::new();
    if depth < 2 {
        return Vec::new();
    }
    // Copies are known by what they write; other uses by their op.
    let named = uses.iter().filter(|used| used.copies.is_some()).count() > 1;
    for used in uses.iter().filter(|used| !used.setup && !used.loops.is_empty()) {
        if named && used.copies.is_none() {
            continue;
        }
        let (base, offset) = used.slot.staggered();
        // Constants do not run after each other.
        if matches!(base, Expr::Number(_)) {
            continue;
        }
        let name = used.copies.as_ref().map_or(&used.op, |(name, _)| name);
        let entry = (name.clone(), offset);
        let same =
            |ring: &&mut Ring<'_>| ring.partition == used.partition && ring.loops == used.loops && ring.base == base;
        match rings.iter_mut().find(same) {
            Some(ring) if ring.offsets.contains(&entry) => {}
            Some(ring) => ring.offsets.push(entry),
            None => {
                rings.push(Ring { partition: used.partition, loops: &used.loops, base, offsets: vec![entry] });
            }
        }
    }
    let differs = |ring: &Ring<'_>| ring.offsets.iter().any(|(_, offset)| *offset != ring.offsets[0].1);
    rings.into_iter().find(differs).map(|ring| ring.offsets).unwrap_or_default()
}

/// Expectations, each with the copies after it that its barrier counts, up to the next one.
fn expects(uses: &[Slotted]) -> Vec<Expect> {
    let mut expects: Vec<Expect> = Vec::new();
    for (at, used) in uses.iter().enumerate() {
        let Some((range, bytes)) = used.expects else { continue };
        let same = |other: &&Slotted| {
            other.partition == used.partition && other.slot == used.slot && other.loops == used.loops
        };
        let rest = uses[at + 1..].iter().filter(same).take_while(|other| other.expects.is_none());
        let parts: Vec<(String, u64)> = rest.filter_map(|other| other.copies.clone()).collect();
        let expect = Expect { range, bytes, parts };
        if !expects.contains(&expect) {
            expects.push(expect);
        }
    }
    expects
}

fn plain(name: String, depth: u64) -> BarrierSummary {
    BarrierSummary {
        name,
        range: TextRange::default(),
        abstract_of: None,
        depth,
        count: None,
        mechanisms: Vec::new(),
        index: Vec::new(),
        phase: Vec::new(),
        carried: Vec::new(),
        stagger: Vec::new(),
        expects: Vec::new(),
        uses: Vec::new(),
        aliases: Vec::new(),
        protects: Vec::new(),
        traffic: Vec::new(),
    }
}

fn row(trace: &Trace<'_>, id: BufferId) -> BarrierSummary {
    let lowered = trace.lowered;
    let info = &lowered.kernel.buffers[id.0 as usize];
    let known = lowered.map.abstracts.iter().find(|known| known.buffer == id);
    let range = lowered.map.buffers.get(id.0 as usize).map(|(_, range)| *range).unwrap_or_default();
    BarrierSummary {
        range: known.map_or(range, |known| known.range),
        abstract_of: known.map(|known| (known.of.name(), known.half)),
        ..plain(lowered.map.buffer(id), info.bits / info.slot_bits.max(1).min(info.bits.max(1)))
    }
}
