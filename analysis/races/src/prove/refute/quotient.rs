//! Quotients that are equal because what is divided is not as far apart as the divisor is large, and what has only one
//! value left.

use super::system::System;
use super::{Equation, Refuter, State, solved};
use crate::prove::poly::Poly;
use terms::{BinOp, Node, Term, Variable};

impl Refuter<'_> {
    /// Adds `x/g = y/g` for the same quotient in both instances, where `|g·(x/g) - g·(y/g)| < g` follows. Divisors that
    /// programs do not share count too, once they are known to be equal: the last group of tiles may be smaller.
    pub(super) fn near_quotients(&mut self, state: &mut State) -> bool {
        let quotient = |atom: &Term| match self.program.terms.node(*atom) {
            Node::Binary(BinOp::DivS | BinOp::DivU | BinOp::FloorDivS, _, divisor) => Some((*atom, *divisor)),
            _ => None,
        };
        let mut quotients: Vec<(Term, Term)> = state.said.iter().filter_map(quotient).collect();
        quotients.sort();
        let mut found = Vec::new();
        let mut system: Option<System> = None;
        for (quotient, divisor) in quotients {
            let [other, others] = [quotient, divisor].map(|term| self.program.terms.renamed(term, 1, 2));
            if other == quotient || !state.said.contains(&other) {
                continue;
            }
            let between = |this: &mut Self, a: Term, b: Term| {
                let difference = this.poly(a).minus(&this.poly(b));
                solved(state, difference)
            };
            if between(self, divisor, others).is_none_or(|difference| !difference.is_zero()) {
                continue;
            }
            let Some(apart) = between(self, quotient, other).filter(|apart| !state.is_known(apart)) else { continue };
            let divisor = self.poly(divisor);
            let Some(divisor) = solved(state, divisor) else { continue };
            let Some(distance) = apart.times(&divisor) else { continue };
            let zeros = state.equations.iter().map(|equation| &equation.zero);
            let system = system.get_or_insert_with(|| System::new(&state.facts, zeros));
            if self.is_below(system, &distance, &divisor) {
                found.push(Equation { zero: apart, meets: false, rows: true });
            }
        }
        let any = !found.is_empty();
        state.equations.extend(found);
        any
    }

    /// Adds what remainders, minima and rounds are where only one value is left: groups of one tile have no remainder, and
    /// a loop over one tile has one round.
    pub(super) fn pinned(&mut self, state: &mut State) -> bool {
        let mut atoms: Vec<Term> = state.said.iter().copied().collect();
        atoms.sort();
        let mut found = Vec::new();
        let mut system: Option<System> = None;
        for atom in atoms {
            let only = match *self.program.terms.node(atom) {
                Node::Binary(BinOp::RemS | BinOp::RemU, _, divisor)
                    if self.program.terms.constant(divisor).is_none() =>
                {
                    Some(0)
                }
                Node::Variable(Variable::Round(_), _) => Some(0),
                Node::Binary(BinOp::MinS | BinOp::MinU, a, b) => {
                    self.program.terms.constant(a).or(self.program.terms.constant(b))
                }
                _ => None,
            };
            let zero = only.and_then(|only| solved(state, Poly::atom(atom).shifted(-i128::from(only))));
            let Some(zero) = zero.filter(|zero| zero.as_constant().is_none() && !state.is_known(zero)) else {
                continue;
            };
            let zeros = state.equations.iter().map(|equation| &equation.zero);
            let system = system.get_or_insert_with(|| System::new(&state.facts, zeros));
            // It is neither more nor less.
            if self.excludes(system, &zero.shifted(-1)) && self.excludes(system, &zero.scaled(-1).shifted(-1)) {
                found.push(Equation { zero, meets: false, rows: true });
            }
        }
        let any = !found.is_empty();
        state.equations.extend(found);
        any
    }
}
