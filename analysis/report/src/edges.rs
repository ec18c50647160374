//! The dependency graph: which barrier lets whom go on after whom, and for the sake of what.
//!
//! An edge is made of the pairs of accesses that it is the last link to order: a write before a read
//! points forward, a read before an overwrite back. What only orders writes, or nothing that the runs
//! show, is control. A pair of writes is told by the edge that also lets a reader or a producer go on,
//! where there is one.

use super::barriers::{Barriers, mechanism};
use super::buffers::BufferAccesses;
use super::ordering_facts::OrderingFacts;
use super::pairs::{AccessSite, BarrierArray, OrderedBy, Pair, SyncLink};
use super::trace::Trace;
use super::{Direction, Edge, Mechanism};
use base::TextRange;
use kernel::{AbstractOf, EffectId, EffectKind, Kernel, Mode, Terminator};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Who tells whom by what.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
struct Link {
    array: Option<BarrierArray>,
    from: u16,
    to: u16,
}

impl Link {
    fn of(tie: &SyncLink) -> Link {
        Link { array: tie.array, from: tie.from, to: tie.to }
    }
}

/// Edges in the making.
#[derive(Default)]
struct Sum {
    mechanisms: BTreeMap<Mechanism, u32>,
    data: BTreeSet<(usize, usize)>,
    arrivals: BTreeSet<EffectId>,
    waits: BTreeSet<EffectId>,
    pairs: u32,
}

impl Sum {
    fn tie(&mut self, kernel: &Kernel, tie: &SyncLink, weight: u32) {
        self.arrivals.extend(tie.arrival);
        self.waits.extend(tie.wait);
        *self.mechanisms.entry(how(kernel, tie)).or_default() += weight;
    }

    fn add(&mut self, other: Sum) {
        for (mechanism, weight) in other.mechanisms {
            *self.mechanisms.entry(mechanism).or_default() += weight;
        }
        self.data.extend(other.data);
        self.arrivals.extend(other.arrivals);
        self.waits.extend(other.waits);
        self.pairs += other.pairs;
    }
}

/// The edges of a kernel.
pub(super) struct Edges {
    /// Forward ones first, then by barrier.
    pub rows: Vec<Edge>,
    of: FxHashMap<(Option<BarrierArray>, u16, u16, Direction), usize>,
    rows_of: FxHashMap<BarrierArray, usize>,
}

/// Which way the edge of a pair points.
pub(super) fn direction(earlier: Mode, later: Mode) -> Direction {
    match (earlier, later) {
        (Mode::Write, Mode::Read) => Direction::Forward,
        (Mode::Read, _) => Direction::Backward,
        (Mode::Write, Mode::Write) => Direction::Control,
    }
}

impl Edges {
    /// The edges that the runs show.
    pub(super) fn new(
        trace: &Trace<'_>,
        ordering_facts: &OrderingFacts,
        memory: &BufferAccesses,
        barriers: &Barriers,
    ) -> Edges {
        let kernel = &trace.lowered.kernel;
        let mut sums: BTreeMap<(Direction, Link), Sum> = BTreeMap::new();
        for (pair, met) in ordering_facts.pairs() {
            let OrderedBy::Sync(tie) = pair.how else { continue };
            let direction = direction(pair.earlier.mode, pair.later.mode);
            let sum = sums.entry((direction, Link::of(&tie))).or_default();
            sum.tie(kernel, &tie, met.near + met.far);
            sum.pairs += met.near;
            sum.data.extend(data(memory, pair));
        }
        merge(&mut sums);
        attach(kernel, &mut sums, ordering_facts);
        let mut edges = Edges { rows: Vec::new(), of: FxHashMap::default(), rows_of: FxHashMap::default() };
        let mut sums: Vec<((Direction, Link), Sum)> = sums.into_iter().collect();
        sums.sort_by_key(|((direction, link), _)| (*direction, barrier(barriers, link), *link));
        for ((direction, link), sum) in sums {
            edges.rows_of.extend(link.array.zip(barrier(barriers, &link)));
            edges.of.insert((link.array, link.from, link.to, direction), edges.rows.len());
            edges.rows.push(edge(trace, barriers, direction, &link, &sum));
        }
        edges
    }

    /// The row of a barrier array that has an edge.
    pub(super) fn barrier(&self, array: BarrierArray) -> Option<usize> {
        self.rows_of.get(&array).copied()
    }

    /// The edge that orders a pair.
    pub(super) fn of(&self, pair: &Pair) -> Option<usize> {
        let OrderedBy::Sync(tie) = pair.how else { return None };
        let wanted = direction(pair.earlier.mode, pair.later.mode);
        let any = [wanted, Direction::Backward, Direction::Forward, Direction::Control];
        any.iter().find_map(|direction| self.of.get(&(tie.array, tie.from, tie.to, *direction)).copied())
    }
}

/// Says of each barrier what it protects and how much went over it.
pub(super) fn fill(barriers: &mut Barriers, edges: &[Edge], ordering_facts: &OrderingFacts) {
    for array in ordering_facts.arrays() {
        if let Some(row) = row(barriers, array).and_then(|row| barriers.rows.get_mut(row)) {
            row.traffic = ordering_facts.traffic(array);
        }
    }
    for edge in edges {
        let Some(row) = edge.barrier.and_then(|row| barriers.rows.get_mut(row)) else { continue };
        row.protects.extend(&edge.data);
    }
    for row in &mut barriers.rows {
        row.protects.sort_unstable();
        row.protects.dedup();
    }
}

/// The member that an edge is there for: what is read, or was.
fn data(memory: &BufferAccesses, pair: &Pair) -> Option<(usize, usize)> {
    let member = |place: &AccessSite| memory.of.get(&(place.effect, usize::from(place.access))).copied();
    match pair.later.mode {
        Mode::Read => member(&pair.later),
        Mode::Write => member(&pair.earlier),
    }
}

/// Lets the edges of readers and producers tell of pairs of writes too.
fn merge(sums: &mut BTreeMap<(Direction, Link), Sum>) {
    let control: Vec<Link> =
        sums.keys().filter(|(direction, _)| *direction == Direction::Control).map(|(_, link)| *link).collect();
    for link in control {
        let to = [Direction::Backward, Direction::Forward].into_iter().find(|to| sums.contains_key(&(*to, link)));
        let Some(to) = to else { continue };
        let Some(sum) = sums.remove(&(Direction::Control, link)) else { continue };
        // What the edge is there for stays what is read.
        let sum = Sum { data: BTreeSet::new(), ..sum };
        sums.entry((to, link)).or_default().add(sum);
    }
}

/// Adds what else arrives and waits where an edge is, and edges for links that order no pair.
fn attach(kernel: &Kernel, sums: &mut BTreeMap<(Direction, Link), Sum>, ordering_facts: &OrderingFacts) {
    let all = [Direction::Forward, Direction::Backward, Direction::Control];
    let mut links: BTreeMap<Link, Vec<SyncLink>> = BTreeMap::new();
    for tie in ordering_facts.links() {
        links.entry(Link::of(tie)).or_default().push(*tie);
    }
    for (link, ordering_facts) in links {
        let known: Vec<Direction> = all.into_iter().filter(|way| sums.contains_key(&(*way, link))).collect();
        let told = |sums: &BTreeMap<(Direction, Link), Sum>, get: fn(&Sum) -> &BTreeSet<EffectId>, id: EffectId| {
            known.iter().any(|way| sums.get(&(*way, link)).is_some_and(|sum| get(sum).contains(&id)))
        };
        let mut spare = Sum::default();
        for tie in &ordering_facts {
            let arrival = tie.arrival.filter(|id| !told(sums, |sum| &sum.arrivals, *id));
            let wait = tie.wait.filter(|id| !told(sums, |sum| &sum.waits, *id));
            spare.tie(kernel, &SyncLink { arrival, wait, ..*tie }, 0);
        }
        if known.is_empty() {
            // An expectation is an arrival that others complete.
            spare.mechanisms.clear();
            for tie in &ordering_facts {
                let expects = tie.arrival.is_some_and(|id| matches!(kernel.effect(id).kind, EffectKind::Expect { .. }));
                *spare.mechanisms.entry(how(kernel, tie)).or_default() += u32::from(!expects);
            }
            sums.insert((Direction::Control, link), spare);
            continue;
        }
        for way in known {
            if let Some(sum) = sums.get_mut(&(way, link)) {
                sum.arrivals.extend(&spare.arrivals);
                sum.waits.extend(&spare.waits);
            }
        }
    }
}

/// How an arrival is made.
fn how(kernel: &Kernel, tie: &SyncLink) -> Mechanism {
    let Some(arrival) = tie.arrival else {
        return match tie.array {
            None => Mechanism::Join,
            Some(BarrierArray::Named(_)) => Mechanism::Named,
            Some(BarrierArray::Cluster) => Mechanism::Cluster,
            Some(BarrierArray::Barriers(_)) => Mechanism::Arrive,
        };
    };
    match &kernel.effect(arrival).kind {
        EffectKind::Operation { issuer, completion, .. } => mechanism(*issuer, completion),
        EffectKind::TensorCoreCommit { .. } => Mechanism::TensorCoreCommit,
        EffectKind::AsyncCopyArrive { .. } => Mechanism::AsyncCopy,
        EffectKind::NamedArrive { .. } => Mechanism::Named,
        EffectKind::ClusterArrive { .. } => Mechanism::Cluster,
        _ => Mechanism::Arrive,
    }
}

fn barrier(barriers: &Barriers, link: &Link) -> Option<usize> {
    row(barriers, link.array?)
}

/// The row of a barrier array.
pub(super) fn row(barriers: &Barriers, array: BarrierArray) -> Option<usize> {
    match array {
        BarrierArray::Barriers(buffer) => barriers.of.get(&buffer).copied(),
        BarrierArray::Named(number) => barriers.named.get(&number).copied(),
        BarrierArray::Cluster => barriers.cluster,
    }
}

fn edge(trace: &Trace<'_>, barriers: &Barriers, direction: Direction, link: &Link, sum: &Sum) -> Edge {
    let kernel = &trace.lowered.kernel;
    let ranges = |effects: &BTreeSet<EffectId>| -> Vec<TextRange> {
        let mut ranges: Vec<TextRange> = effects.iter().map(|id| trace.site(kernel.effect(*id).site).name).collect();
        ranges.sort();
        ranges.dedup();
        ranges
    };
    let most = sum.mechanisms.iter().max_by_key(|(mechanism, weight)| (**weight, std::cmp::Reverse(**mechanism)));
    let (mut arrivals, mut waits) = (ranges(&sum.arrivals), ranges(&sum.waits));
    if link.array.is_none() {
        let forks = kernel.blocks.iter().filter_map(|block| match &block.terminator {
            Terminator::Fork(fork) => Some(trace.site(fork.site).name),
            _ => None,
        });
        arrivals = forks.collect();
        waits = arrivals.clone();
    }
    Edge {
        from: usize::from(link.from),
        to: usize::from(link.to),
        barrier: barrier(barriers, link),
        mechanism: most.map_or(Mechanism::Arrive, |(mechanism, _)| *mechanism),
        direction,
        data: sum.data.iter().copied().collect(),
        arrivals,
        waits,
        pairs: sum.pairs,
        planned: barrier(barriers, link)
            .and_then(|row| barriers.rows.get(row)?.abstract_of)
            .is_some_and(|(what, _)| what == AbstractOf::Channel.name()),
    }
}
