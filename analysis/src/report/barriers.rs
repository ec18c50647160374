//! Barrier arrays: who uses them how.

use super::trace::Trace;
use super::uses::used;
use super::{Barrier, Mechanism};
use crate::sync::{BufferId, EffectKind, Issuer, Lowered, Var};
use crate::syntax::ttgir::Tree;
use rustc_hash::FxHashMap;

/// The barriers of a kernel.
#[derive(Clone, Debug, Default)]
pub struct Barriers {
    /// One a barrier array, in the order of the allocations; then named barriers, then the cluster's.
    pub rows: Vec<Barrier>,
    /// The kernel's buffers, as indices of [`Barriers::rows`].
    pub of: FxHashMap<BufferId, usize>,
    /// Named barriers by number, as indices of [`Barriers::rows`].
    pub named: FxHashMap<u64, usize>,
    /// The barrier of all CTAs, as an index of [`Barriers::rows`].
    pub cluster: Option<usize>,
}

/// The barriers that an effect uses, each with how it arrives, if it does.
pub(super) fn barriers(kind: &EffectKind) -> Vec<(Var, Option<Mechanism>)> {
    match kind {
        EffectKind::Init { barrier, .. }
        | EffectKind::Invalidate { barrier }
        | EffectKind::Wait { barrier, .. }
        | EffectKind::ReadPhase { barrier, .. } => vec![(*barrier, None)],
        EffectKind::Expect { barrier, .. } | EffectKind::Arrive { barrier, .. } => {
            vec![(*barrier, Some(Mechanism::Arrive))]
        }
        EffectKind::TensorCoreCommit { barrier, .. } => vec![(*barrier, Some(Mechanism::TensorCoreCommit))],
        EffectKind::AsyncCopyArrive { barrier, .. } => vec![(*barrier, Some(Mechanism::AsyncCopy))],
        EffectKind::Operation { issuer, completion, .. } => {
            let how = mechanism(*issuer, completion);
            completion.arrivals().iter().map(|arrival| (arrival.barrier, Some(how))).collect()
        }
        _ => Vec::new(),
    }
}

/// How the arrivals of an operation come.
pub fn mechanism(issuer: Issuer, completion: &crate::sync::Completion) -> Mechanism {
    use crate::sync::Completion;
    match (completion, issuer) {
        (Completion::InTurn(_), _) => Mechanism::Tdm,
        (Completion::Frontier(_), _) | (_, Issuer::TensorCore) => Mechanism::Mma,
        _ => Mechanism::Tma,
    }
}

impl Barriers {
    /// The barriers of a lowered kernel.
    pub fn new(tree: &Tree, lowered: &Lowered) -> Barriers {
        Barriers::of(&Trace::new(tree, lowered))
    }

    pub(super) fn of(trace: &Trace<'_>) -> Barriers {
        let lowered = trace.lowered;
        let kernel = &lowered.kernel;
        let mut all = Barriers::default();
        let mut order: Vec<usize> = (0..kernel.buffers.len()).filter(|at| kernel.buffers[*at].barriers).collect();
        order.sort_by_key(|at| (lowered.map.buffers.get(*at).map(|(_, range)| range.start), *at));
        for at in order {
            let id = BufferId(at as u32);
            all.of.insert(id, all.rows.len());
            all.rows.push(row(trace, id));
        }
        for (id, effect) in trace.effects() {
            for (barrier, how) in barriers(&effect.kind) {
                for chain in trace.chains(barrier) {
                    let Some(&row) = all.of.get(&chain.buffer) else { continue };
                    all.rows[row].uses.push(used(trace, id, effect));
                    all.rows[row].mechanisms.extend(how);
                }
            }
            match &effect.kind {
                EffectKind::NamedArrive { id: number, .. } | EffectKind::NamedWait { id: number } => {
                    let Some(number) = trace.constant(*number).and_then(|number| u64::try_from(number).ok()) else {
                        continue;
                    };
                    let rows = &mut all.rows;
                    let row = *all.named.entry(number).or_insert_with(|| {
                        rows.push(plain(format!("named barrier {number}"), 1));
                        rows.len() - 1
                    });
                    all.rows[row].uses.push(used(trace, id, effect));
                    all.rows[row].mechanisms.push(Mechanism::Named);
                }
                EffectKind::ClusterArrive { .. } | EffectKind::ClusterWait => {
                    let rows = &mut all.rows;
                    let row = *all.cluster.get_or_insert_with(|| {
                        rows.push(plain("cluster barrier".to_owned(), 1));
                        rows.len() - 1
                    });
                    all.rows[row].uses.push(used(trace, id, effect));
                    all.rows[row].mechanisms.push(Mechanism::Cluster);
                }
                _ => {}
            }
        }
        for row in &mut all.rows {
            row.mechanisms.sort();
            row.mechanisms.dedup();
        }
        all
    }
}

fn plain(name: String, depth: u64) -> Barrier {
    Barrier {
        name,
        range: crate::base::TextRange::default(),
        abstract_of: None,
        depth,
        count: None,
        mechanisms: Vec::new(),
        index: Vec::new(),
        phase: Vec::new(),
        stagger: Vec::new(),
        expects: Vec::new(),
        uses: Vec::new(),
        aliases: Vec::new(),
        protects: Vec::new(),
        traffic: Vec::new(),
    }
}

fn row(trace: &Trace<'_>, id: BufferId) -> Barrier {
    let lowered = trace.lowered;
    let info = &lowered.kernel.buffers[id.0 as usize];
    let known = lowered.map.abstracts.iter().find(|known| known.buffer == id);
    let range = lowered.map.buffers.get(id.0 as usize).map(|(_, range)| *range).unwrap_or_default();
    Barrier {
        range: known.map_or(range, |known| known.range),
        abstract_of: known.map(|known| (known.of.name(), known.half)),
        ..plain(lowered.map.buffer(id), info.bits / info.slot_bits.max(1).min(info.bits.max(1)))
    }
}
