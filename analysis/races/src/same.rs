//! What stores write: one value from several programs, which is the same whoever comes last, and sums of which one is lost.

use std::collections::BTreeSet;

use dialects::{Arith, OpCode, Tt};
use ttgir::{Def, OpId, Tree, ValueId};

use base::{Cancel, Cancelled};

use crate::decide::Decider;
use crate::extract::axis;
use crate::program::{Access, Action, Base, Source};
use crate::prove::Premise;
use crate::report::Reason;
use crate::run::{Outcome, Setting};
use crate::strides::{Pair, pair};
use terms::{Node, Term};

impl Decider<'_> {
    /// Whether what two accesses race for is written by one store, and its value depends on nothing by which the two
    /// programs differ that does not also make up where it writes: `store(out + i % n, load(x + i % n))`. In a loop it is
    /// the store of one round; whoever ends last has then written the last one.
    pub(crate) fn writes_the_same(
        &mut self,
        outcomes: &[(Setting, Outcome)],
        (first, second): Pair,
        cancel: &Cancel<'_>,
    ) -> Result<bool, Cancelled> {
        let mut meetings = outcomes.iter().flat_map(|(_, outcome)| &outcome.races);
        let Some(meeting) = meetings.find(|meeting| pair(meeting) == (first, second)) else { return Ok(false) };
        let one = first == second && !meeting.first.pending && meeting.first.rounds == meeting.second.rounds;
        let access = &self.program.accesses[first as usize];
        let operand = |name: &str| self.tree.group(access.op, name).first().copied();
        let (true, true, Some(place), Some(value)) =
            (one, self.tree.is(access.op, Tt::Store), operand("ptr"), operand("value"))
        else {
            return Ok(false);
        };
        let (place, value) = (Made::of(self.tree, place), Made::of(self.tree, value));
        let is_constant = |load: &OpId| {
            let mut own = self.program.accesses.iter().filter(|access| access.op == *load);
            let written = |base: Base| {
                let tensor = self.tensor(base);
                let mut writes = self.program.accesses.iter().filter(|access| access.action.writes());
                tensor.is_none() || writes.any(|access| self.tensor(access.base).is_none_or(|of| Some(of) == tensor))
            };
            own.all(|access| !written(access.base))
        };
        let same = !place.lost
            && !value.lost
            && value.wrapped.is_subset(&place.wrapped)
            && value.ranges.is_subset(&place.ranges)
            && value.loads.iter().all(is_constant);
        let axes: Vec<u8> = place.programs.union(&value.programs).copied().collect();
        if !same || axes.is_empty() {
            return Ok(same);
        }
        // Programs that meet agree along these axes.
        let proofs = self.prove_pairs(vec![(first, second)], &axes, cancel)?;
        Ok(proofs.open.is_empty() && proofs.spreads.is_empty() && proofs.premises.is_empty())
    }
}

impl Decider<'_> {
    /// That a program adds to what is where a table says, and stores the sum, without an atomic: kernels that add up expect that
    /// values of the table occur twice, and then one of the two sums is lost. So do those that count with atomics there.
    pub(crate) fn lost_sums(&self, premises: &BTreeSet<Premise>) -> Option<Reason> {
        let tables = premises.iter().filter_map(|premise| match premise {
            Premise::Distinct(table, width) => Some((*table, *width)),
            _ => None,
        });
        tables.into_iter().find_map(|(table, width)| {
            let name = &self.program.arguments.get(table as usize)?.name;
            let counts =
                |access: &&Access| width == 1 && access.action.ordering().is_some() && self.reads(access.offset, table);
            if let Some(counted) = self.program.accesses.iter().find(counts) {
                let text =
                    format!("an atomic goes where `{name}` says, and whether no value of it occurs twice is not known");
                return Some(Reason { range: self.tree.op_header_range(counted.op), text });
            }
            let store = self.program.accesses.iter().find(|access| {
                access.action == Action::Store && self.reads(access.offset, table) && self.adds_to(access)
            })?;
            let text = format!("it adds to what is there, and whether no value of `{name}` occurs twice is not known");
            Some(Reason { range: self.tree.op_header_range(store.op), text })
        })
    }

    /// Whether a value of a table is in an expression.
    fn reads(&self, term: Term, table: u32) -> bool {
        self.program.terms.any_leaf(term, |node| match node {
            Node::Read(source, ..) => match self.program.sources.get(*source as usize) {
                Some(Source::Access(number)) => self.program.accesses[*number as usize].base == Base::Argument(table),
                _ => false,
            },
            _ => false,
        })
    }

    /// Whether what is stored is a sum of what was loaded from the same place.
    fn adds_to(&self, store: &Access) -> bool {
        let mut open: Vec<ValueId> = self.tree.group(store.op, "value").first().copied().into_iter().collect();
        let mut summed = false;
        let mut seen: BTreeSet<ValueId> = BTreeSet::new();
        while let Some(value) = open.pop() {
            let Def::Result(op, _) = self.tree.value_def(value) else { continue };
            if !seen.insert(value) {
                continue;
            }
            match self.tree.code(op) {
                Some(OpCode::Arith(Arith::Addf | Arith::Addi)) => summed = true,
                Some(OpCode::Arith(Arith::Extf | Arith::Truncf | Arith::Extsi | Arith::Extui | Arith::Trunci)) => {}
                Some(OpCode::Arith(Arith::Sitofp | Arith::Uitofp | Arith::Fptosi | Arith::Fptoui)) => {}
                Some(OpCode::Tt(Tt::FpToFp | Tt::Bitcast)) => {}
                Some(OpCode::Tt(Tt::Load)) => {
                    let own = self.program.accesses.iter().find(|access| access.op == op);
                    if summed && own.is_some_and(|own| own.base == store.base && own.offset == store.offset) {
                        return true;
                    }
                    continue;
                }
                _ => continue,
            }
            open.extend(self.tree.operands(op));
        }
        false
    }
}

/// Of what a value is made.
#[derive(Default)]
struct Made {
    /// Axes of the grid of which a program's number is in it, other than by `wrapped`.
    programs: BTreeSet<u8>,
    /// Whether it is made of what is not followed here.
    lost: bool,
    /// Remainders, minima and selections of what a program's number is in: several programs have the same ones.
    wrapped: BTreeSet<OpId>,
    /// Places in a tensor, but those that a sum or a product goes over.
    ranges: BTreeSet<OpId>,
    loads: BTreeSet<OpId>,
}

impl Made {
    fn of(tree: &Tree, value: ValueId) -> Made {
        let mut made = Made::default();
        made.walk(tree, value, true);
        made
    }

    /// Goes back from a value; `stops` says whether at what is wrapped.
    fn walk(&mut self, tree: &Tree, value: ValueId, stops: bool) {
        let mut seen: BTreeSet<(ValueId, bool)> = BTreeSet::new();
        let mut open = vec![(value, false)];
        while let Some((value, summed)) = open.pop() {
            if !seen.insert((value, summed)) {
                continue;
            }
            let op = match tree.value_def(value) {
                Def::Result(op, _) => op,
                Def::BlockArg(block, _) => match tree.parent_op(tree.parent_region(block)) {
                    Some(op) if tree.is(op, Tt::Func) => continue,
                    Some(op) => op,
                    None => continue,
                },
                Def::Undefined => continue,
            };
            let mut summed = summed;
            match tree.code(op) {
                Some(OpCode::Tt(Tt::GetProgramId)) => self.programs.extend([axis(tree, op, "axis")]),
                Some(OpCode::Tt(Tt::MakeRange)) if !summed => drop(self.ranges.insert(op)),
                Some(OpCode::Tt(Tt::Dot | Tt::DotScaled | Tt::Reduce)) => summed = true,
                Some(OpCode::Tt(Tt::Load)) => drop(self.loads.insert(op)),
                Some(OpCode::Arith(wraps)) if stops && is_wrapped(tree, op, wraps) => {
                    self.wrapped.insert(op);
                    continue;
                }
                Some(OpCode::Arith(_) | OpCode::Math(_) | OpCode::Scf(_)) => {}
                Some(OpCode::Tt(
                    Tt::MakeRange
                    | Tt::Splat
                    | Tt::Broadcast
                    | Tt::ExpandDims
                    | Tt::Addptr
                    | Tt::Reshape
                    | Tt::Trans
                    | Tt::Bitcast
                    | Tt::FpToFp
                    | Tt::GetNumPrograms
                    // A place of it is made of those before it, and of where it is.
                    | Tt::Scan,
                )) => {}
                _ => self.lost = true,
            }
            open.extend(tree.operands(op).iter().map(|operand| (*operand, summed)));
            // What a loop or a branch gives is what its blocks end with.
            for block in tree.regions(op).iter().flat_map(|region| tree.blocks(*region)) {
                let last = tree.block_ops(*block).last();
                open.extend(last.into_iter().flat_map(|last| tree.operands(*last)).map(|operand| (*operand, summed)));
            }
        }
    }
}

/// Whether an op gives the same number for several of its operand, a program's number in it.
fn is_wrapped(tree: &Tree, op: OpId, arith: Arith) -> bool {
    let is_number = || {
        let result = tree.results(op).first().and_then(|result| tree.value_type(*result));
        result.is_some_and(|ty| {
            let text = tree.type_canonical(ty);
            !text.contains("ptr") && ["i32", "i64"].iter().any(|integer| text.contains(integer))
        })
    };
    let wraps = matches!(arith, Arith::Remsi | Arith::Remui)
        || (matches!(arith, Arith::Select | Arith::Minsi | Arith::Minui) && is_number());
    let mut whole = Made::default();
    wraps
        && tree.results(op).first().is_some_and(|result| {
            whole.walk(tree, *result, false);
            !whole.programs.is_empty()
        })
}
