//! Strides that are assumed to be longer than a dense tensor has them, and places before the start of a row.

use super::system::System;
use super::{Refuter, Spread};
use crate::prove::convert::Fact;
use crate::prove::poly::{Monomial, Poly};
use terms::{BinOp, Node, Term, Variable};

impl Refuter<'_> {
    /// Whether rows are a few elements closer to each other than an argument says: `row * (stride - 1)`. That the argument
    /// leaves room for these as well is true of no dense tensor.
    pub(super) fn leaves_out_dense(&self, spread: &Spread) -> bool {
        let mut terms = spread.stride.terms().filter(|(monomial, _)| !monomial.is_empty());
        let (Some((monomial, by)), None) = (terms.next(), terms.next()) else { return false };
        let is_argument =
            |atom: &Term| matches!(self.program.terms.node(*atom), Node::Variable(Variable::Argument(_), _));
        !spread.rows && by > 0 && spread.stride.offset() < 0 && monomial.len() == 1 && monomial.iter().all(is_argument)
    }

    /// Whether a span is negative in another program than the first one along some axis, where all that adds to it is 0:
    /// `lane - program`.
    pub(super) fn is_negative_at_start(&self, span: &Poly, facts: &[Fact]) -> bool {
        let backward = |monomial: &Monomial| match monomial.as_slice() {
            [atom] => match self.program.terms.node(*atom) {
                Node::Variable(Variable::Program(axis), 1) if self.axes.contains(axis) => Some(*atom),
                _ => None,
            },
            _ => None,
        };
        let behind: Vec<Term> =
            span.terms().filter(|(_, by)| *by < 0).filter_map(|(monomial, _)| backward(monomial)).collect();
        if behind.is_empty() {
            return false;
        }
        // What adds to it is 0 where one of its factors is.
        let mut zeros: Vec<Poly> = Vec::new();
        for (monomial, _) in span.terms().filter(|(_, by)| *by > 0) {
            let Some((atom, of)) = monomial.iter().find_map(|atom| Some((*atom, self.starts_at_zero(*atom)?))) else {
                continue;
            };
            if !behind.contains(&of) {
                zeros.push(Poly::of(monomial.clone(), 1));
                zeros.extend([atom, of].map(Poly::atom));
            }
        }
        behind.into_iter().any(|program| {
            let mut system = System::new(facts, &zeros);
            let row = system.row(&Poly::atom(program).shifted(-1), false);
            system.simplex.assert(row);
            if system.simplex.contradictory() {
                return false;
            }
            let row = system.row(span, false);
            system.simplex.contradicts(row)
        })
    }

    /// The program, lane or round that an expression is, or is a quotient or a remainder of: where that is 0, so is it.
    fn starts_at_zero(&self, atom: Term) -> Option<Term> {
        match *self.program.terms.node(atom) {
            Node::Variable(Variable::Program(_) | Variable::Lane(_) | Variable::Round(_), 1) => Some(atom),
            Node::Binary(
                BinOp::DivS | BinOp::DivU | BinOp::FloorDivS | BinOp::CeilDivS | BinOp::RemS | BinOp::RemU,
                of,
                _,
            ) => matches!(self.program.terms.node(of), Node::Variable(variable, 1) if !variable.is_shared())
                .then_some(of),
            _ => None,
        }
    }
}
