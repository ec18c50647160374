//! Pairs of accesses that may race, and which of them are proved apart.

use std::collections::BTreeSet;

use base::{Cancel, Cancelled, TextRange};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Decider, Proofs};
use crate::choose::{is_contradicted, is_never_met, settings};
use crate::limits::proofs::{BY_TABLES, PAIRS, PAIRS_OF_MANY};
use crate::limits::runs::PROGRAMS;
use crate::program::{Base, MemSyncScope};
use crate::prove::{Counter, Premise, Prover, Spread, Table, tables, tickets};
use crate::report::Query;
use crate::run::{Allowance, Meeting, Outcome, Setting, explore};
use crate::smt::Question;
use crate::strides::pair;
use terms::Variable;

impl Decider<'_> {
    /// Pairs of accesses that may race where they meet, and whether there are too many.
    pub(crate) fn pairs(&self) -> (Vec<(u32, u32)>, bool) {
        let mut pairs = Vec::new();
        let count = self.program.accesses.len();
        for a in 0..count {
            for b in a..count {
                if self.may_race(a, b) {
                    pairs.push((a as u32, b as u32));
                }
            }
        }
        let limited = pairs.len() > PAIRS;
        if limited {
            pairs.truncate(PAIRS_OF_MANY);
        }
        (pairs, limited)
    }

    pub(super) fn may_race(&self, a: usize, b: usize) -> bool {
        let (a, b) = (&self.program.accesses[a], &self.program.accesses[b]);
        if !a.action.writes() && !b.action.writes() {
            return false;
        }
        match (self.tensor(a.base), self.tensor(b.base)) {
            (Some(x), Some(y)) if x == y => {}
            _ => return false,
        }
        match (a.action.ordering(), b.action.ordering()) {
            (Some(x), Some(y)) => x.scope == MemSyncScope::Cta || y.scope == MemSyncScope::Cta || a.bytes != b.bytes,
            _ => true,
        }
    }

    pub(super) fn prove(&mut self, axes: &[u8], cancel: &Cancel<'_>) -> Result<Proofs, Cancelled> {
        let (pairs, limited) = self.pairs();
        Ok(Proofs { limited, ..self.prove_pairs(pairs, axes, cancel)? })
    }

    pub(crate) fn prove_pairs(
        &mut self,
        pairs: Vec<(u32, u32)>,
        axes: &[u8],
        cancel: &Cancel<'_>,
    ) -> Result<Proofs, Cancelled> {
        let (known, tickets) = (self.known(), self.tickets());
        let (tables, constant) = (self.tables(), self.constant());
        let of_data = (&tables, &constant);
        let mut prover = Prover::new(&mut self.program, &self.launch, &known, of_data, axes);
        (prover.tickets, prover.rows) = (tickets, BY_TABLES);
        let mut proofs = Proofs {
            open: Vec::new(),
            spreads: Vec::new(),
            premises: BTreeSet::new(),
            wanted: Vec::new(),
            limited: false,
            overflows: false,
        };
        // A tile that is read and then written is one set of addresses.
        let mut sets = FxHashMap::default();
        let alike: Vec<u32> = (0u32..)
            .zip(&prover.program.accesses)
            .map(|(at, access)| {
                let set = (access.offset, access.mask, access.path, access.lanes.clone(), access.bytes);
                *sets.entry(set).or_insert(at)
            })
            .collect();
        let mut decided: FxHashMap<(u32, u32), bool> = FxHashMap::default();
        let mut fits: FxHashMap<Spread, bool> = FxHashMap::default();
        let free = self.launch.without_conditions();
        for (a, b) in pairs {
            cancel.check()?;
            let (x, y) = (alike[a as usize], alike[b as usize]);
            let apart = match decided.get(&(x.min(y), x.max(y))) {
                Some(apart) => *apart,
                None => {
                    let apart = prover.apart(x.min(y), x.max(y));
                    // What some launch has to allow, and with numbers that are known this one.
                    let mut possible = |spread: &Spread| {
                        *fits.entry(spread.clone()).or_insert_with(|| {
                            let alone = std::slice::from_ref(spread);
                            !crate::say::is_impossible(prover.program, spread)
                                && (self.launch.host.is_empty()
                                    || !is_contradicted(prover.program, &self.launch, spread))
                                && (!self.launch.tells_sizes() || !settings(prover.program, &free, alone).is_empty())
                        })
                    };
                    let apart = apart.filter(|apart| {
                        let told = |premise: &Premise| premise.holds(&self.launch.contents) != Some(false);
                        apart.spreads.iter().all(&mut possible) && apart.premises.iter().all(told)
                    });
                    decided.insert((x.min(y), x.max(y)), apart.is_some());
                    let proved = apart.is_some();
                    if let Some(apart) = apart {
                        let open = |spread: &Spread| !crate::say::is_certain(prover.program, spread);
                        proofs.spreads.extend(apart.spreads.into_iter().filter(open));
                        let open = |premise: &Premise| premise.holds(&self.launch.contents).is_none();
                        proofs.premises.extend(apart.premises.into_iter().filter(open));
                    }
                    proved
                }
            };
            if !apart {
                proofs.open.push((a, b));
            }
        }
        proofs.wanted = std::mem::take(&mut prover.wanted);
        proofs.overflows = prover.convert.overflows();
        Ok(proofs)
    }

    /// Whether all that is assumed can hold at once.
    pub(super) fn are_possible(&self, spreads: &[Spread]) -> bool {
        // That no launch which the host makes is small enough to be run says nothing of it.
        let free = self.launch.without_conditions();
        spreads.is_empty()
            || !is_never_met(&self.program, &free, spreads) && !settings(&self.program, &free, spreads).is_empty()
    }

    /// Takes races out of runs that the sizes which were tried have made, where their pairs were not looked at: what
    /// would keep them apart was not known when sizes were chosen. Gives what that was.
    pub(super) fn clear_unproved(
        &mut self,
        outcomes: &mut [(Setting, Outcome)],
        axes: &[u8],
        cancel: &Cancel<'_>,
    ) -> Result<Vec<Spread>, Cancelled> {
        let mut pairs: Vec<(u32, u32)> =
            outcomes.iter().flat_map(|(_, outcome)| outcome.races.iter().map(pair)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs.truncate(PAIRS);
        let proofs = self.prove_pairs(pairs, axes, cancel)?;
        let stays = |race: &Meeting| proofs.wanted.is_empty() && proofs.open.contains(&pair(race));
        outcomes.iter_mut().for_each(|(_, outcome)| outcome.races.retain(stays));
        Ok(proofs.spreads)
    }

    /// Pairs of ops that are proved apart and that a run shows to race all the same: none, if proofs and runs are
    /// right.
    pub(crate) fn contradictions(mut self, cancel: &Cancel<'_>) -> Result<Vec<(TextRange, TextRange)>, Cancelled> {
        let axes = self.axes();
        let proofs = self.prove(&axes, cancel)?;
        let mut wrong = Vec::new();
        let all = (0..self.program.accesses.len() as u32).collect();
        let mut allowance = Allowance::whole();
        for setting in settings(&self.program, &self.launch, &proofs.spreads) {
            if setting.programs() > PROGRAMS {
                continue;
            }
            let outcome = explore(&self.program, &setting, &all, &mut allowance, cancel)?;
            for race in outcome.races.iter().filter(|race| race.programs[0] != race.programs[1]) {
                let (a, b) = (race.first.access, race.second.access);
                if !proofs.limited && !proofs.open.contains(&(a.min(b), a.max(b))) {
                    let place = |access: u32| self.tree.op_header_range(self.program.accesses[access as usize].op);
                    wrong.push((place(a), place(b)));
                }
            }
        }
        Ok(wrong)
    }

    /// A question a set of two accesses, with our answer.
    pub(crate) fn queries(mut self, cancel: &Cancel<'_>) -> Result<Vec<Query>, Cancelled> {
        let (axes, known, drawn) = (self.axes(), self.known(), self.tickets());
        let (none, constant) = (FxHashMap::default(), self.constant());
        let mut queries = Vec::new();
        for (a, b) in self.pairs().0 {
            cancel.check()?;
            let place = |access: u32| self.tree.op_header_range(self.program.accesses[access as usize].op);
            let ops = (place(a), place(b));
            // What is assumed of tables is no part of the question.
            let of_data = (&none, &constant);
            let mut prover = Prover::new(&mut self.program, &self.launch, &known, of_data, &axes);
            prover.tickets = drawn.clone();
            let apart = prover.apart(a, b);
            let spreads = apart.as_ref().map_or_else(Vec::new, |apart| apart.spreads.clone());
            let premises = apart.as_ref().map_or_else(BTreeSet::new, |apart| apart.premises.clone());
            let mut question = Question {
                premises: &premises,
                program: &mut self.program,
                pair: (a, b),
                axes: &axes,
                known: &known,
                tickets: &drawn,
                spreads: &spreads,
            };
            let text = question.text();
            queries.push(Query { kernel: self.name.clone(), ops, apart: apart.is_some(), text });
        }
        Ok(queries)
    }

    /// Whether the launch gives one tensor for two arguments.
    fn is_aliased(&self) -> bool {
        let arguments = 0..self.program.arguments.len() as u32;
        let tensors: FxHashSet<Option<u32>> = arguments.map(|at| self.tensor(Base::Argument(at))).collect();
        tensors.len() < self.program.arguments.len()
    }

    /// What the launch gives.
    pub(super) fn known(&self) -> FxHashMap<Variable, i64> {
        let values = self.launch.values.iter();
        let mut known: FxHashMap<Variable, i64> =
            values.map(|(argument, value)| (Variable::Argument(*argument), *value)).collect();
        let sizes = self.launch.sizes.iter();
        known.extend(sizes.map(|((argument, dim), size)| (Variable::DescriptorSize(*argument, *dim), *size)));
        for axis in 0..3u8 {
            if let Some(count) = self.launch.grid[usize::from(axis)] {
                known.insert(Variable::Programs(axis), count);
            }
        }
        known
    }

    /// What is drawn from counters.
    fn tickets(&self) -> FxHashMap<u32, Counter> {
        if self.is_aliased() {
            return FxHashMap::default();
        }
        let mut drawn = tickets(&self.program);
        // Of programs that differ along another axis, several have one number along this one.
        let axes = self.axes();
        drawn.retain(|_, counter| counter.axis().is_none_or(|axis| axes.iter().all(|other| *other == axis)));
        drawn
    }

    /// Arguments whose tensors nothing writes.
    pub(super) fn constant(&self) -> FxHashSet<u32> {
        let writes = self.program.accesses.iter().filter(|access| access.action.writes());
        let written: FxHashSet<Option<u32>> = writes.map(|access| self.tensor(access.base)).collect();
        let arguments = 0..self.program.arguments.len() as u32;
        arguments.filter(|argument| !written.contains(&self.tensor(Base::Argument(*argument)))).collect()
    }

    /// How tables of indices are read.
    fn tables(&mut self) -> FxHashMap<u32, Table> {
        let constant = self.constant();
        tables(&mut self.program, |argument| constant.contains(&argument))
    }
}
