//! How many programs there are along an axis of which the launch says nothing, where constants of the kernel hang on it.

use super::{Equation, Refuter, State};
use crate::limits::proofs::PERSISTENT;
use crate::prove::convert::Fact;
use crate::prove::poly::Poly;
use crate::prove::table::Premise;
use terms::{Node, Variable};

impl Refuter<'_> {
    /// Assumes that no more programs are launched along an axis than a constant of the kernel has room for; whether
    /// there was one. What a launch says of the grid is not assumed away.
    pub(super) fn assume_programs(&mut self, state: &mut State) -> bool {
        if !self.assume {
            return false;
        }
        self.strided(state) || self.roomy(state)
    }

    /// Whether a launch says how many programs there are along an axis.
    pub(super) fn is_sized(&self, axis: u8) -> bool {
        self.sized.get(usize::from(axis)).is_none_or(|sized| *sized)
    }

    /// Programs go through tiles by a stride, `for tile in range(program_id(0), tiles, PROGRAMS)`, or those along one axis
    /// lie between those along another: there are so many.
    fn strided(&mut self, state: &mut State) -> bool {
        let axes = self.axes;
        for (axis, distance) in axes.iter().copied().zip(state.distances.clone()) {
            if distance.is_zero() || self.is_sized(axis) {
                continue;
            }
            let is = |poly: &Poly, of: fn(&Variable) -> bool| {
                poly.atoms()
                    .any(|atom| matches!(self.program.terms.node(atom), Node::Variable(variable, _) if of(variable)))
            };
            let least = if is(&distance, |variable| matches!(variable, Variable::Round(_))) { PERSISTENT } else { 2 };
            let content = distance.content();
            let by_number = distance.exactly_by(content).filter(|_| content >= least);
            let by_number = by_number.map(|high| (Poly::constant(content), high));
            let ways = self.by_strides(&distance).into_iter();
            let by_stride = ways.filter(|(.., low)| low.is_zero()).map(|(stride, high, _)| (stride, high));
            for (most, high) in by_stride.chain(by_number) {
                let counts = |atom| match self.program.terms.node(atom) {
                    Node::Variable(Variable::Round(_) | Variable::Lane(_), _) => true,
                    Node::Variable(Variable::Program(of), _) => *of != axis,
                    _ => false,
                };
                let known = state.equations.iter().any(|equation| equation.zero == high);
                let moves = is(&high, |variable| !matches!(variable, Variable::Lane(_)));
                if known || self.has_programs(&most) || !moves || !high.atoms().all(counts) {
                    continue;
                }
                self.premises.insert(Premise::Few(axis, most));
                state.equations.push(Equation { zero: high, meets: false, rows: true });
                return true;
            }
        }
        false
    }

    /// A row has room for so many programs: `out + program_id(0)*8 + program_id(1)`.
    fn roomy(&mut self, state: &mut State) -> bool {
        let axes = self.axes;
        for axis in axes.iter().copied() {
            if self.is_sized(axis) || state.few.contains(&axis) {
                continue;
            }
            let own = |poly: &Poly, copy: u8| {
                let mut terms = poly.terms();
                terms.find_map(|(monomial, coefficient)| match monomial.as_slice() {
                    [atom] => match self.program.terms.node(*atom) {
                        Node::Variable(Variable::Program(of), whose) if *of == axis && *whose == copy => {
                            Some(coefficient.abs())
                        }
                        _ => None,
                    },
                    _ => None,
                })
            };
            let room = |equation: &Equation| {
                let step = own(&equation.zero, 1).filter(|step| own(&equation.zero, 2) == Some(*step))?;
                let sizes = equation.zero.terms().filter(|(monomial, _)| !monomial.is_empty());
                let next = sizes.map(|(_, size)| size.abs()).filter(|size| *size > step).min()?;
                (next % step == 0).then_some(next / step)
            };
            let Some(most) = state.equations.iter().filter(|equation| equation.meets).find_map(room) else { continue };
            state.few.push(axis);
            let programs = self.program.terms.variable(Variable::Programs(axis), 32);
            let programs = self.poly(programs);
            state.facts.push(Fact::ordered(&programs, &Poly::constant(most)));
            self.premises.insert(Premise::Few(axis, Poly::constant(most)));
            return true;
        }
        false
    }
}
