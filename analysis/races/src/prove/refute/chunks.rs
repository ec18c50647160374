//! Stretches as long as a sequence has chunks: how many that is, is computed of where the sequence begins and the next one
//! does, `cdiv(ends[n + 1] - ends[n], CHUNK)`, and where they begin stands in a table of its own.

use super::table::Value;
use super::{Refuter, State, solved};
use crate::prove::convert::Fact;
use crate::prove::poly::Poly;
use crate::prove::table::{Premise, Table};
use terms::{BinOp, Node, Term, Variable};

impl Refuter<'_> {
    /// How far it is from each value of a table to the next one.
    fn steps(&self, state: &State, values: &[Value], of: Option<&Value>) -> Vec<(Poly, Term, Term)> {
        let ends = values.iter().filter(|value| value.table == Table::Ends);
        let ends = ends.filter(|value| of.is_none_or(|of| value.atom == of.atom));
        let mut steps = Vec::new();
        for low in ends {
            let next = |high: &&Value| high.argument == low.argument && high.place == low.place.shifted(1);
            for high in values.iter().filter(|high| high.copy == low.copy).filter(next) {
                let step = solved(state, Poly::atom(high.atom).minus(&Poly::atom(low.atom)));
                steps.extend(step.map(|step| (step, low.atom, high.atom)));
            }
        }
        steps
    }

    /// Quotients of what is rounded up, with what that is, and by what it is divided.
    fn rounded_up(&mut self, state: &State) -> Vec<(Term, Poly, i128)> {
        let mut atoms: Vec<Term> = state.said.iter().copied().collect();
        atoms.sort();
        let mut all = Vec::new();
        for atom in atoms {
            let Node::Binary(op, a, b) = *self.program.terms.node(atom) else { continue };
            let (whole, Some(size)) = (self.poly(a), self.poly(b).as_constant().filter(|size| *size > 0)) else {
                continue;
            };
            let whole = match op {
                BinOp::DivS | BinOp::FloorDivS => whole.shifted(1 - size),
                BinOp::CeilDivS => whole,
                _ => continue,
            };
            all.extend(solved(state, whole).map(|whole| (atom, whole, size)));
        }
        all
    }

    /// What a quotient is of the length of a sequence, which is not negative; whether that is new.
    pub(super) fn whole_chunks(&mut self, state: &mut State, values: &[Value]) -> bool {
        let steps = self.steps(state, values, None);
        let mut any = false;
        for (atom, whole, size) in self.rounded_up(state) {
            if !steps.iter().any(|(step, ..)| *step == whole) || !state.natural.insert(atom) {
                continue;
            }
            let Some(chunks) = solved(state, Poly::atom(atom)).map(|chunks| chunks.scaled(size)) else { continue };
            state.facts.push(Fact::ordered(&whole, &chunks));
            state.facts.push(Fact::ordered(&chunks.shifted(1 - size), &whole));
            any = true;
        }
        any
    }

    /// How long the stretch is that begins at `start`, where sequences begin at values like `first`, which stands at the
    /// same place.
    pub(super) fn chunks(
        &mut self,
        state: &State,
        values: &[Value],
        start: &Value,
        first: &Value,
    ) -> Option<(Poly, Premise)> {
        let (step, low, high) = self.steps(state, values, Some(first)).into_iter().next()?;
        let all = self.rounded_up(state);
        let size = all.iter().find(|(_, whole, _)| *whole == step).map(|(.., size)| *size)?;
        // Of so many chunks one is kept.
        let mut kept = 1;
        let mut atoms: Vec<Term> = state.said.iter().copied().collect();
        atoms.sort();
        for atom in atoms {
            let Node::Binary(BinOp::DivS, of, by) = *self.program.terms.node(atom) else { continue };
            let of = self.poly(of);
            let counts =
                of.atoms().any(|atom| matches!(self.program.terms.node(atom), Node::Variable(Variable::Round(_), _)));
            kept = kept.max(self.program.terms.constant(by).filter(|_| counts).map_or(1, i128::from));
        }
        let size = size.checked_mul(kept)?;
        let terms = &mut self.program.terms;
        let by = terms.int(i64::try_from(size).ok()?, terms.bits(low));
        let length = terms.binary(BinOp::Sub, high, low);
        let count = terms.binary(BinOp::CeilDivS, length, by);
        Some((Poly::atom(count), Premise::Chunks(start.argument, first.argument, i64::try_from(size).ok()?)))
    }
}
