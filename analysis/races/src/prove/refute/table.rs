//! What follows from what is assumed of tables of indices.

use rustc_hash::{FxHashMap, FxHashSet};

use super::system::System;
use super::{Equation, Hypothesis, Refuter, State, solved};
use crate::program::{Base, Source};
use crate::prove::convert::Fact;
use crate::prove::poly::Poly;
use crate::prove::table::{Premise, Table, Trust};
use terms::{BinOp, Node, Term, Variable};

/// A value of a table.
pub(super) struct Value {
    pub(super) atom: Term,
    pub(super) argument: u32,
    pub(super) table: Table,
    /// Of which access, in which of the two instances.
    source: u32,
    pub(super) copy: u8,
    /// Where it stands, in values.
    pub(super) place: Poly,
}

impl Refuter<'_> {
    /// The values of tables that hypotheses speak of.
    fn values(&mut self, state: &State) -> Vec<Value> {
        let mut atoms: Vec<Term> = state.said.iter().copied().collect();
        atoms.sort();
        let mut values = Vec::new();
        for atom in atoms {
            let Node::Read(source, _, copy) = *self.program.terms.node(atom) else { continue };
            let Some(word) = self.constant_word(state, atom, source) else { continue };
            let Some(table) = self.tables.get(&word.argument).copied() else { continue };
            let place = solved(state, word.offset.clone()).and_then(|offset| offset.exactly_by(word.bytes));
            let Some(place) = place else { continue };
            values.push(Value { atom, argument: word.argument, table, source, copy, place });
        }
        values
    }

    /// The values that loops carry and that say where a value of a table stands.
    pub(super) fn places(&mut self, state: &State) -> Vec<Term> {
        let places = self.values(state).into_iter().map(|value| value.place);
        let mut atoms: Vec<Term> = places.flat_map(|place| place.atoms().collect::<Vec<_>>()).collect();
        atoms.sort();
        atoms.dedup();
        atoms
    }

    /// Adds what follows; whether anything is new.
    pub(super) fn by_tables(&mut self, state: &mut State) -> bool {
        if self.trust == Trust::Nothing {
            return false;
        }
        let values = self.values(state);
        if values.is_empty() {
            return false;
        }
        // All of it, for one may follow from another.
        let natural = self.trust >= Trust::Natural && self.natural(state, &values);
        let rows = self.rows(state, &values);
        let ascending = self.ascending(state, &values);
        let chunks = self.whole_chunks(state, &values);
        let behind = self.behind(state, &values);
        natural || rows || ascending || chunks || behind
    }

    /// Indices are not negative.
    fn natural(&mut self, state: &mut State, values: &[Value]) -> bool {
        let mut any = false;
        for value in values.iter().filter(|value| matches!(value.table, Table::Rows(_))) {
            self.premises.insert(Premise::Natural(value.argument));
            let Some(poly) = solved(state, Poly::atom(value.atom)) else { continue };
            if state.natural.insert(value.atom) && poly.as_constant().is_none() {
                state.facts.push(Fact::at_least_zero(poly));
                any = true;
            }
        }
        any
    }

    /// Rows with the same values are one row; so are slots of two tables, of which programs read the one and write the
    /// other.
    fn rows(&mut self, state: &mut State, values: &[Value]) -> bool {
        // By instance, table and row: the values of its columns.
        let mut rows: FxHashMap<(u8, u32, Poly), Vec<Option<Term>>> = FxHashMap::default();
        for value in values {
            let Table::Rows(width) = value.table else { continue };
            // What says but whether something is done, of which tiles are none, says the same of many.
            if !self.locates(value.argument) {
                continue;
            }
            let column = value.place.offset().rem_euclid(width.into());
            let row = value.place.shifted(-column).exactly_by(width.into());
            let (Some(row), Ok(width), Ok(column)) = (row, usize::try_from(width), usize::try_from(column)) else {
                continue;
            };
            let columns = rows.entry((value.copy, value.argument, row)).or_insert_with(|| vec![None; width]);
            if let Some(at) = columns.get_mut(column) {
                *at = Some(value.atom);
            }
        }
        let mut whole: Vec<(u8, u32, Poly, Vec<Term>)> = rows
            .into_iter()
            .filter_map(|((copy, table, row), columns)| {
                Some((copy, table, row, columns.into_iter().collect::<Option<Vec<Term>>>()?))
            })
            .collect();
        whole.sort();
        let mut any = false;
        for (_, table, mine, columns) in whole.iter().filter(|(copy, ..)| *copy == 1) {
            for (_, of, other, others) in whole.iter().filter(|(copy, ..)| *copy == 2) {
                if of != table && (columns.len() > 1 || others.len() > 1) {
                    continue;
                }
                let zero = mine.minus(other);
                let alike = |(a, b): (&Term, &Term)| {
                    solved(state, Poly::atom(*a).minus(&Poly::atom(*b))).is_some_and(|poly| poly.is_zero())
                };
                let known = zero.is_zero() || state.equations.iter().any(|equation| equation.zero == zero);
                if known || !columns.iter().zip(others).all(alike) {
                    continue;
                }
                state.equations.push(Equation { zero, meets: true, rows: true });
                self.premises.insert(match of == table {
                    true => Premise::Distinct(*table, columns.len() as i64),
                    false => Premise::Aside(*table.min(of), *table.max(of)),
                });
                any = true;
            }
        }
        any
    }

    /// Whether where one of the two accesses goes, or which of its lanes take part, depends on what a table holds.
    fn locates(&self, argument: u32) -> bool {
        let accesses = self.accesses.map(|access| &self.program.accesses[access as usize]);
        let mut open: Vec<Term> = accesses.iter().flat_map(|access| [access.offset, access.mask]).collect();
        let mut seen = FxHashSet::default();
        let mut found = false;
        while let Some(term) = open.pop().filter(|_| !found) {
            self.program.terms.leaves(term, &mut |node| {
                let Node::Read(source, ..) = node else { return };
                let Some(Source::Access(number)) = self.program.sources.get(*source as usize) else { return };
                let access = &self.program.accesses[*number as usize];
                found |= access.base == Base::Argument(argument);
                if seen.insert(*number) {
                    open.push(access.offset);
                }
            });
        }
        found
    }

    /// How long the stretch is that begins where a value says, and what is assumed with it.
    fn length(&mut self, state: &State, values: &[Value], start: &Value) -> Option<(Poly, Premise)> {
        if start.table != Table::Rows(1) {
            return None;
        }
        let mut beside = values
            .iter()
            .filter(|value| value.argument != start.argument && value.copy == start.copy && value.place == start.place);
        let Some(length) = self.length else {
            self.asked.extend(beside.map(|value| value.argument));
            return None;
        };
        let value = beside.find(|value| value.argument == length)?;
        match value.table {
            Table::Ends => self.chunks(state, values, start, value),
            Table::Rows(_) => Some((Poly::atom(value.atom), Premise::Apart(start.argument, length))),
        }
    }

    /// What begins further on begins behind the end.
    fn behind(&mut self, state: &mut State, values: &[Value]) -> bool {
        let mut any = false;
        let mut system: Option<System> = None;
        for low in values {
            let Some((length, premise)) = self.length(state, values, low) else { continue };
            for high in values.iter().filter(|high| high.argument == low.argument && high.copy != low.copy) {
                if state.ascending.contains(&(low.atom, high.atom)) {
                    continue;
                }
                let zeros = state.equations.iter().map(|equation| &equation.zero);
                let system = system.get_or_insert_with(|| System::new(&state.facts, zeros));
                // Not at the same place, nor ahead.
                if !self.excludes(system, &low.place.minus(&high.place)) {
                    continue;
                }
                let room = Poly::atom(high.atom).minus(&Poly::atom(low.atom)).minus(&length);
                let Some(room) = solved(state, room) else { continue };
                state.ascending.insert((low.atom, high.atom));
                state.facts.push(Fact::at_least_zero(room));
                self.premises.insert(premise.clone());
                any = true;
            }
        }
        any
    }

    /// What stands further on is not less.
    fn ascending(&mut self, state: &mut State, values: &[Value]) -> bool {
        let mut any = false;
        let mut system: Option<System> = None;
        for low in values.iter().filter(|value| value.table == Table::Ends) {
            for high in values.iter().filter(|high| high.argument == low.argument && high.atom != low.atom) {
                if state.ascending.contains(&(low.atom, high.atom)) {
                    continue;
                }
                let distance = high.place.minus(&low.place);
                let ahead = match distance.as_constant() {
                    Some(distance) => distance >= 0,
                    None => {
                        let zeros = state.equations.iter().map(|equation| &equation.zero);
                        let system = system.get_or_insert_with(|| System::new(&state.facts, zeros));
                        self.excludes(system, &distance.scaled(-1).shifted(-1))
                    }
                };
                let Some(poly) = solved(state, Poly::atom(high.atom).minus(&Poly::atom(low.atom))) else { continue };
                if !ahead || !state.ascending.insert((low.atom, high.atom)) || poly.as_constant() == Some(0) {
                    continue;
                }
                state.facts.push(Fact::at_least_zero(poly));
                self.premises.insert(Premise::Ascending(low.argument));
                any = true;
            }
        }
        any
    }

    /// Two stretches of a table, one of each instance: which lies ahead, or whether they are one.
    pub(super) fn stretches(&mut self, state: &mut State) -> Option<Vec<Hypothesis>> {
        if self.trust == Trust::Nothing {
            return None;
        }
        let (a, b, distance) = self.open_stretches(state)?;
        state.compared.insert((a, b));
        state.apart_by.push(distance.clone());
        let ways = [
            Fact::at_least_zero(distance.shifted(-1)),
            Fact::at_least_zero(distance.scaled(-1).shifted(-1)),
            Fact::zero(distance),
        ];
        Some(ways.map(Hypothesis::Relation).to_vec())
    }

    /// The same: their values, and how far the first is behind the second.
    pub(super) fn open_stretches(&mut self, state: &State) -> Option<(Term, Term, Poly)> {
        let values = self.values(state);
        let begins = |value: &&Value| value.table == Table::Ends || self.length(state, &values, value).is_some();
        let begin: Vec<&Value> = values.iter().filter(begins).collect();
        let ends = |copy: u8| begin.iter().filter(move |value| value.copy == copy);
        for mine in ends(1) {
            for other in ends(2).filter(|other| other.source == mine.source) {
                let distance = mine.place.minus(&other.place);
                let decided = state.compared.contains(&(mine.atom, other.atom)) || state.apart_by.contains(&distance);
                if distance.as_constant().is_none() && !decided {
                    return Some((mine.atom, other.atom, distance));
                }
            }
        }
        None
    }

    /// Takes programs for one that differ by multiples of a number by which alone nothing that they touch tells them
    /// apart: a grid of `batch·heads`, or with an axis for batches, for sequences that a table lays behind each other has
    /// one batch.
    pub(super) fn assume_few(&mut self, state: &mut State) -> bool {
        if self.trust < Trust::Few || self.open_stretches(state).is_some() {
            return false;
        }
        let axes = self.axes.to_vec();
        for (axis, distance) in axes.into_iter().zip(state.distances.clone()) {
            if distance.is_zero() || self.known.contains_key(&Variable::Programs(axis)) {
                continue;
            }
            // What a launch says of the grid is not assumed away, but for how many batches it has.
            let sized = self.is_sized(axis);
            let of_one_batch = if sized { self.launch.host.of_one_batch(axis, self.program) } else { None };
            if sized && of_one_batch.is_none() {
                continue;
            }
            let content = distance.content();
            let by_number = distance.exactly_by(content).map(|high| (Poly::constant(content), high));
            let ways = self.by_strides(&distance).into_iter();
            let by_stride = ways.filter(|(.., low)| low.is_zero()).map(|(stride, high, _)| (stride, high));
            for (most, high) in by_number.into_iter().chain(by_stride) {
                let known =
                    high.as_constant().is_some() || state.equations.iter().any(|equation| equation.zero == high);
                // Who asks for a program's number is launched for more than one.
                if most.as_constant() == Some(1) || known || self.has_programs(&most) || self.tells_apart(axis, &most) {
                    continue;
                }
                if of_one_batch.as_ref().is_some_and(|programs| *programs != most) {
                    continue;
                }
                self.premises.insert(Premise::Few(axis, most));
                state.equations.push(Equation { zero: high, meets: false, rows: true });
                return true;
            }
        }
        false
    }

    /// Whether where one of the two accesses goes depends on more of a program's number along an axis than its remainder
    /// by `most`.
    fn tells_apart(&mut self, axis: u8, most: &Poly) -> bool {
        let mut open: Vec<Term> = Vec::new();
        for access in self.accesses {
            let access = &self.program.accesses[access as usize];
            open.extend([access.offset, access.mask, access.path]);
        }
        let mut seen = FxHashSet::default();
        while let Some(term) = open.pop() {
            if !seen.insert(term) {
                continue;
            }
            match self.program.terms.node(term).clone() {
                Node::Const(_) => {}
                Node::Variable(variable, _) => {
                    if variable == Variable::Program(axis) {
                        return true;
                    }
                }
                // A remainder of the number, or of a sum with it.
                Node::Binary(BinOp::RemS | BinOp::RemU, a, b) if self.poly(b) == *most => {
                    let number = self.program.terms.as_width(Variable::Program(axis), 0);
                    let rest = self.poly(a).minus(&Poly::atom(number));
                    match rest.mentions(number) {
                        true => open.push(a),
                        false => open.extend(rest.atoms()),
                    }
                }
                Node::Binary(_, a, b) => open.extend([a, b]),
                Node::Select(c, a, b) => open.extend([c, a, b]),
                Node::Trunc(a) | Node::ExtS(a) | Node::ExtU(a) => open.push(a),
                Node::Read(source, lanes, _) => {
                    open.extend(lanes.iter());
                    match self.program.sources.get(source as usize) {
                        Some(Source::Access(number)) => {
                            let access = &self.program.accesses[*number as usize];
                            open.extend([access.offset, access.mask]);
                        }
                        _ => return true,
                    }
                }
            }
        }
        false
    }
}
