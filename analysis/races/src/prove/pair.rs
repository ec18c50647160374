//! Two accesses of two program instances: whether they can meet.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::convert::{Converter, Fact};
use super::poly::Poly;
use super::range::Ranges;
use super::refute::{Hypothesis, Refuter, Spread};
use super::table::{Premise, Table, Trust};
use super::ticket::Counter;
use crate::launch::Known;
use crate::limits::proofs::{BUDGET, DEPTH, LENGTHS, SHALLOW};
use crate::program::{Base, Program, Source};
use terms::{Node, Term, Variable};

/// That two accesses never meet, and what that rests on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Apart {
    pub(crate) spreads: Vec<Spread>,
    pub(crate) premises: BTreeSet<Premise>,
}

/// Decides pairs of accesses of one kernel.
pub(crate) struct Prover<'p> {
    pub(crate) program: &'p mut Program,
    pub(crate) convert: Converter,
    /// Whose accesses are compared.
    pub(crate) instances: Instances,
    /// What is drawn from counters, by its source.
    pub(crate) tickets: FxHashMap<u32, Counter>,
    /// How tables of indices are read, by argument.
    pub(crate) tables: &'p FxHashMap<u32, Table>,
    /// Arguments whose tensors nothing writes.
    pub(crate) constant: &'p FxHashSet<u32>,
    /// What a launch gives.
    pub(crate) known: &'p FxHashMap<Variable, i64>,
    /// The launch, for what its numbers speak against.
    pub(crate) launch: &'p Known,
    /// Along which axes of the grid a launch says how many programs there are, be it by a formula.
    pub(crate) sized: [bool; 3],
    /// Axes of the grid on which programs may differ.
    pub(crate) axes: Vec<u8>,
    /// The table that says how long stretches are, where one is assumed to.
    pub(crate) length: Option<u32>,
    /// Tables that could have said how long a stretch is that was met.
    pub(crate) asked: FxHashSet<u32>,
    /// Rows of constraints that proofs by tables may still cost.
    pub(crate) rows: usize,
    /// What was assumed in vain.
    pub(crate) wanted: Vec<Spread>,
    /// Of each spread that was thought of, whether it fails somewhere in any launch.
    pub(crate) broken: FxHashMap<Spread, bool>,
    /// The same, whether launches of the host speak against it.
    pub(crate) contradicted: FxHashMap<Spread, bool>,
}

/// Of which two program instances accesses are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Instances {
    /// Of two that differ along one of the axes at least.
    Two,
    /// Of one and the same.
    One,
}

impl<'p> Prover<'p> {
    /// A prover that has not thought of anything yet, with what a launch says of `program`.
    pub(crate) fn new(
        program: &'p mut Program,
        launch: &'p Known,
        known: &'p FxHashMap<Variable, i64>,
        (tables, constant): (&'p FxHashMap<u32, Table>, &'p FxHashSet<u32>),
        axes: &[u8],
    ) -> Prover<'p> {
        let ranges = Ranges::new(program, known);
        let counts = launch.host.counts(program);
        let convert = Converter::of_launch(program, ranges, counts);
        Prover {
            program,
            convert,
            instances: Instances::Two,
            tickets: FxHashMap::default(),
            tables,
            constant,
            known,
            launch,
            sized: launch.given,
            axes: axes.to_vec(),
            length: None,
            asked: FxHashSet::default(),
            rows: 0,
            wanted: Vec::new(),
            broken: FxHashMap::default(),
            contradicted: FxHashMap::default(),
        }
    }

    /// That two accesses never touch a common byte, whatever launch there is.
    pub(crate) fn surely_apart(&mut self, a: u32, b: u32) -> bool {
        self.attempt(a, b, (false, Trust::Nothing), SHALLOW).is_some_and(|apart| apart.spreads.is_empty())
    }

    /// That access `a` of one program and access `b` of another never touch a common byte.
    pub(crate) fn apart(&mut self, a: u32, b: u32) -> Option<Apart> {
        // Most pairs need no choice; the others are tried both ways once, with what may be assumed.
        if let Some(apart) = self.attempt(a, b, (false, Trust::Nothing), SHALLOW) {
            return Some(apart);
        }
        let known = self.wanted.len();
        let apart = self.attempt(a, b, (true, Trust::Nothing), DEPTH);
        if apart.is_some() || !self.hangs_on_tables(a, b) {
            return apart;
        }
        // What would have to hold without them is wanted by nobody, if it can be done with them.
        let lengths = self.lengths(a, b);
        // With as little as does. Lengths of stretches that were never asked for make no difference.
        self.asked.clear();
        let mut apart = self.with_tables(a, b);
        for length in lengths.into_iter().take(LENGTHS) {
            if apart.is_some() {
                break;
            }
            if self.asked.contains(&length) {
                self.length = Some(length);
                apart = self.with_tables(a, b);
            }
        }
        self.length = None;
        self.wanted.truncate(known);
        apart
    }

    /// The same, with what may be assumed of tables: most kernels need no more of them than their order, and where all of
    /// it does not help, nothing between does.
    fn with_tables(&mut self, a: u32, b: u32) -> Option<Apart> {
        if let Some(apart) = self.attempt(a, b, (true, Trust::Order), DEPTH) {
            return Some(apart);
        }
        let most = self.attempt(a, b, (true, Trust::Few), DEPTH)?;
        Some(self.attempt(a, b, (true, Trust::Natural), DEPTH).unwrap_or(most))
    }

    /// Whether where one of two accesses goes is read from a table.
    fn hangs_on_tables(&self, a: u32, b: u32) -> bool {
        let parts = [a, b].map(|access| &self.program.accesses[access as usize]);
        let mut terms = parts.into_iter().flat_map(|access| [access.offset, access.mask, access.path]);
        terms.any(|term| self.program.terms.any_leaf(term, |node| self.table(node).is_some()))
    }

    /// The table that a value is read from, and how it is read.
    fn table(&self, node: &Node) -> Option<(u32, Table)> {
        let Node::Read(source, ..) = node else { return None };
        let Source::Access(number) = *self.program.sources.get(*source as usize)? else { return None };
        let Base::Argument(argument) = self.program.accesses.get(number as usize)?.base else { return None };
        self.tables.get(&argument).map(|table| (argument, *table))
    }

    /// Tables that may say how far the accesses of a program go.
    fn lengths(&self, a: u32, b: u32) -> BTreeSet<u32> {
        let parts = [a, b].map(|access| &self.program.accesses[access as usize]);
        let mut found = BTreeSet::new();
        for term in parts.into_iter().flat_map(|access| [access.mask, access.path]) {
            self.program.terms.leaves(term, &mut |node| {
                let long = |table: &Table| matches!(table, Table::Rows(1) | Table::Ends);
                found.extend(self.table(node).filter(|(_, table)| long(table)).map(|(table, _)| table));
            });
        }
        found
    }

    /// The sources of indices. What a masked read gives where its mask does not hold is none.
    fn indices(&self) -> FxHashSet<u32> {
        let always = |mask| self.program.terms.constant(mask) == Some(1);
        let accesses = self.program.accesses.iter().filter(|access| always(access.mask));
        let indices = accesses.filter(|access| match access.base {
            Base::Argument(argument) => matches!(self.tables.get(&argument), Some(Table::Rows(_))),
            Base::Unknown => false,
        });
        indices.filter_map(|access| access.source).collect()
    }

    /// `assume` says whether strides may be large enough, and tables as such kernels need them.
    fn attempt(&mut self, a: u32, b: u32, assume: (bool, Trust), depth: usize) -> Option<Apart> {
        let natural = if assume.1 >= Trust::Natural { self.indices() } else { FxHashSet::default() };
        if natural != self.convert.natural {
            // A remainder of an index fits into a row where the index is not negative, and not where it may be.
            self.broken.clear();
            self.convert.natural = natural;
        }
        let budget = if assume.1 == Trust::Nothing { BUDGET } else { BUDGET.min(self.rows) };
        let tickets = self.tickets.iter();
        self.convert.programs = tickets.filter_map(|(source, counter)| Some((*source, counter.axis()?))).collect();
        let hypotheses = self.hypotheses(a, b);
        let lanes = [a, b].map(|access| self.program.accesses[access as usize].lanes.clone());
        let mut refuter = Refuter {
            program: self.program,
            convert: &mut self.convert,
            lanes,
            accesses: [a, b],
            known: self.known,
            launch: self.launch,
            sized: self.sized,
            tickets: &self.tickets,
            tables: self.tables,
            constant: self.constant,
            axes: &self.axes,
            assume: assume.0,
            trust: assume.1,
            length: self.length,
            asked: &mut self.asked,
            depth,
            spreads: Vec::new(),
            broken: &mut self.broken,
            contradicted: &mut self.contradicted,
            premises: BTreeSet::new(),
            budget,
        };
        let refuted = refuter.refute(hypotheses);
        let spent = budget - refuter.budget;
        let mut spreads = std::mem::take(&mut refuter.spreads);
        let mut premises = std::mem::take(&mut refuter.premises);
        if assume.1 != Trust::Nothing {
            self.rows = self.rows.saturating_sub(spent);
        }
        let relied: Vec<u32> = self.convert.relied.take().into_iter().collect();
        for source in relied {
            if let Some(Source::Access(number)) = self.program.sources.get(source as usize)
                && let Base::Argument(argument) = self.program.accesses[*number as usize].base
            {
                premises.insert(Premise::Natural(argument));
            }
        }
        if !refuted {
            self.wanted.extend(spreads);
            return None;
        }
        spreads.sort();
        spreads.dedup();
        Some(Apart { spreads, premises })
    }

    /// Both execute, on different places of the grid or in one program, and touch a common byte.
    fn hypotheses(&mut self, a: u32, b: u32) -> Vec<Hypothesis> {
        let mut all = Vec::new();
        let mut offsets = Vec::new();
        for (copy, access) in [(1, a), (2, b)] {
            let access = &self.program.accesses[access as usize];
            let (offset, mask, path, bytes) = (access.offset, access.mask, access.path, access.bytes);
            let mut memo = FxHashMap::default();
            let terms = &mut self.program.terms;
            all.push(Hypothesis::Condition(terms.instance(path, copy, &mut memo), true));
            all.push(Hypothesis::Condition(terms.instance(mask, copy, &mut memo), true));
            let offset = terms.instance(offset, copy, &mut memo);
            offsets.push((self.poly(offset), i128::from(bytes)));
        }
        let axes = self.axes.clone();
        let distances = axes.into_iter().map(|axis| {
            let terms = &mut self.program.terms;
            let [mine, others] = [1, 2].map(|copy| Poly::atom(terms.as_width(Variable::Program(axis), copy)));
            mine.minus(&others)
        });
        match self.instances {
            Instances::Two => all.push(Hypothesis::Distinct(distances.collect())),
            Instances::One => all.extend(distances.map(Hypothesis::Meeting)),
        }
        let ((x, size), (y, other)) = (offsets[0].clone(), offsets[1].clone());
        let difference = x.minus(&y);
        let aligned = size == other && difference.exactly_by(size).is_some();
        match difference.exactly_by(size).filter(|_| aligned) {
            Some(elements) => all.push(Hypothesis::Meeting(elements)),
            None => {
                all.push(Hypothesis::Relation(Fact::ordered(&difference.shifted(1), &Poly::constant(other))));
                all.push(Hypothesis::Relation(Fact::ordered(&difference.scaled(-1).shifted(1), &Poly::constant(size))));
            }
        }
        all
    }

    fn poly(&mut self, term: Term) -> Poly {
        let poly = self.convert.poly(&mut self.program.terms, term);
        let mut made = poly.clone();
        for atom in poly.atoms() {
            if let Node::Variable(variable, _) = self.program.terms.node(atom)
                && let Some(value) = self.known.get(variable)
                && let Some(next) = made.substitute(atom, &Poly::constant((*value).into()))
            {
                made = next;
            }
        }
        made
    }
}
