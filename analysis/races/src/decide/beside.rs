//! Accesses of several partitions of one program: which of them may touch a common byte, and of which another partition
//! may see to the order with other programs. Whether barriers order partitions is for those to say who follow barriers.

use base::{Cancel, Cancelled};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Decider;
use crate::limits::proofs::BESIDE;
use crate::program::{Access, Base, Step};
use crate::prove::{Instances, Prover};
use crate::report::{Beside, Reason};
use terms::{Node, Variable};

/// In which partition of which `warp_specialize` an access stands, outermost first.
type Place = Vec<(u32, u32)>;

impl Decider<'_> {
    /// Pairs of accesses of partitions that run beside each other, as far as they are not proved apart.
    pub(crate) fn beside(mut self, cancel: &Cancel<'_>) -> Result<Vec<Beside>, Cancelled> {
        let mut places: FxHashMap<u32, Place> = FxHashMap::default();
        place(&self.program.steps, &mut Vec::new(), &mut 0, &mut places);
        let count = self.program.accesses.len() as u32;
        let pairs = (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b)));
        let pairs: Vec<(u32, u32)> = pairs
            .filter(|(a, b)| are_beside(places.get(a), places.get(b)) && self.may_race(*a as usize, *b as usize))
            .collect();
        if pairs.is_empty() {
            return Ok(Vec::new());
        }
        let (axes, known, constant, none) = (self.axes(), self.known(), self.constant(), FxHashMap::default());
        let mut prover = Prover::new(&mut self.program, &self.launch, &known, (&none, &constant), &axes);
        prover.instances = Instances::One;
        let mut open = Vec::new();
        for (number, (a, b)) in pairs.into_iter().enumerate() {
            cancel.check()?;
            // Beyond that many none is looked at.
            if number >= BESIDE || !prover.surely_apart(a, b) {
                open.push((a, b));
            }
        }
        Ok(open.into_iter().map(|(a, b)| self.pair_beside(a, b)).collect())
    }

    /// Accesses that another partition may order with those of other programs: it acquires or releases words of global
    /// memory, and hands on by barriers that it did.
    pub(super) fn handed_over(&self) -> FxHashSet<u32> {
        let mut places: FxHashMap<u32, Place> = FxHashMap::default();
        place(&self.program.steps, &mut Vec::new(), &mut 0, &mut places);
        let orders = |access: &Access| access.action.ordering().is_some_and(|of| of.acquire || of.release);
        let ordering = (0..).zip(&self.program.accesses).filter(|(_, access)| orders(access));
        let ordering: Vec<Option<&Place>> = ordering.map(|(at, _)| places.get(&at)).collect();
        let all = (0..).zip(&self.program.accesses).filter(|(_, access)| access.action.ordering().is_none());
        let is_handed = |at: &u32| ordering.iter().any(|orders| are_beside(places.get(at), *orders));
        all.map(|(at, _)| at).filter(is_handed).collect()
    }

    /// That how partitions hand on what they acquire is not followed, of an access.
    pub(super) fn order_of_partitions(&self, access: u32) -> Reason {
        self.at_access(
            access,
            "another partition acquires or releases, and what barriers hand on of that is not followed",
        )
    }

    fn pair_beside(&self, a: u32, b: u32) -> Beside {
        let [a, b] = [a, b].map(|at| &self.program.accesses[at as usize]);
        let tensor = match a.base {
            Base::Argument(argument) => self.program.arguments.get(argument as usize).map(|of| of.name.clone()),
            Base::Unknown => None,
        };
        Beside {
            ops: [a.op, b.op],
            ranges: [a, b].map(|access| self.tree.op_header_range(access.op)),
            writes: [a, b].map(|access| access.action.writes()),
            tensor: tensor.unwrap_or_default(),
            same: self.are_the_same(a, b),
        }
    }

    /// Whether two accesses touch the same elements wherever both are executed. Programs that steer themselves by words of
    /// global memory may order them so.
    fn are_the_same(&self, a: &Access, b: &Access) -> bool {
        let terms = &self.program.terms;
        let of_round = |node: &Node| matches!(node, Node::Variable(Variable::Round(_), _) | Node::Read(..));
        let fixed = |access: &Access| ![access.offset, access.mask].iter().any(|term| terms.any_leaf(*term, of_round));
        let steered = self.program.accesses.iter().any(|access| access.action.ordering().is_some());
        (a.offset, a.mask, &a.lanes, a.bytes) == (b.offset, b.mask, &b.lanes, b.bytes)
            && fixed(a)
            && self.program.gaps.is_empty()
            && !steered
    }
}

/// Notes in which partitions the accesses of some steps stand, `inside` those of the steps around.
fn place(steps: &[Step], inside: &mut Place, next: &mut u32, places: &mut FxHashMap<u32, Place>) {
    for step in steps {
        match step {
            Step::Access(access) => _ = places.insert(*access, inside.clone()),
            Step::If(_, then, otherwise) => {
                place(then, inside, next, places);
                place(otherwise, inside, next, places);
            }
            Step::Loop(_, before, body) => {
                place(before, inside, next, places);
                place(body, inside, next, places);
            }
            Step::Partitions(all) => {
                let number = *next;
                *next += 1;
                for (partition, steps) in (0..).zip(all) {
                    inside.push((number, partition));
                    place(steps, inside, next, places);
                    inside.pop();
                }
            }
            Step::StoreWait(_) => {}
        }
    }
}

/// Whether two places are in different partitions of one `warp_specialize`.
fn are_beside(one: Option<&Place>, other: Option<&Place>) -> bool {
    let (Some(one), Some(other)) = (one, other) else { return false };
    let apart = |(own, other): (&(u32, u32), &(u32, u32))| own.0 == other.0 && own.1 != other.1;
    one.iter().zip(other).any(apart)
}
