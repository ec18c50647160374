//! Windows of rows: what a program writes begins a step behind what the one before it does, and where the step is less than
//! the window, both write some rows.
//!
//! A stride of a tensor is what it is so that rows lie apart: that is assumed. How far numbers of rows lie apart, which a
//! stride is multiplied with, is nothing that a tensor has, and windows may be there to overlap.

use crate::conjuncts::conjuncts;
use crate::decide::Decider;
use crate::prove::{Monomial, Poly, Spread};
use crate::report::Reason;
use terms::{Node, Term, Variable};

impl Decider<'_> {
    /// That nothing says whether the windows of programs overlap.
    pub(crate) fn windows(&self, spreads: &[Spread]) -> Option<Reason> {
        let rows = spreads.iter().filter_map(|spread| self.rows_of(spread));
        let open = |rows: &Spread| !crate::say::is_certain(&self.program, rows) && self.is_window(rows);
        let rows = rows.into_iter().find(open)?;
        let op = self.program.accesses[rows.access as usize].op;
        let text = format!(
            "nothing says that {}, without which rows of two programs overlap",
            crate::say::spread(&self.program, &rows)
        );
        Some(Reason { range: self.tree.op_header_range(op), text })
    }

    /// What is assumed, said of numbers of rows: those that one program goes through, and how far programs are apart. `None`
    /// where it is about elements.
    fn rows_of(&self, spread: &Spread) -> Option<Spread> {
        let mut strides = spread.stride.terms();
        let (Some((stride, content)), None) = (strides.next_back(), strides.next_back()) else { return None };
        if spread.rows {
            return self.is_count(&spread.span).then(|| spread.clone());
        }
        // The stride of rows is multiplied with both.
        spread.span.terms().find_map(|(monomial, _)| {
            let (of_row, step): (Monomial, Monomial) = stride.iter().copied().partition(|atom| monomial.contains(atom));
            if of_row.is_empty() || step.is_empty() {
                return None;
            }
            let rows = spread.span.terms().filter_map(|(monomial, by)| {
                let rest: Monomial = monomial.iter().copied().filter(|atom| !of_row.contains(atom)).collect();
                (rest.len() + of_row.len() == monomial.len()).then_some((rest, by))
            });
            let span = Poly::sum(rows.collect());
            let rows = Spread { stride: Poly::of(step, content), span, access: spread.access, rows: true };
            self.is_count(&rows.span).then_some(rows)
        })
    }

    /// Whether it counts lanes and iterations of one program, and nothing else.
    fn is_count(&self, of: &Poly) -> bool {
        let own = |atom: Term| {
            matches!(self.program.terms.node(atom), Node::Variable(Variable::Lane(_) | Variable::Round(_), _))
        };
        !of.is_zero() && of.atoms().all(own)
    }

    /// Whether how far programs are apart is a number of its own, and how many rows one of them goes through another one;
    /// or the length of a block, where a mask ends the rows of all programs.
    fn is_window(&self, rows: &Spread) -> bool {
        let Some(most) = crate::say::bound(&mut self.program.clone(), rows) else { return false };
        rows.stride.atoms().all(|atom| self.is_plain(atom)) && (most.as_constant().is_none() || self.ends(rows))
    }

    /// Whether a mask says of rows by how far programs are apart where they end.
    fn ends(&self, rows: &Spread) -> bool {
        let access = &self.program.accesses[rows.access as usize];
        let terms = &self.program.terms;
        // Parts of spans are those of one of two programs, masks those of any.
        let mentions = |condition: Term, part: Term| {
            let Node::Variable(variable, _) = terms.node(part) else { return false };
            terms.any_leaf(condition, |node| matches!(node, Node::Variable(other, _) if other == variable))
        };
        conjuncts(&self.program, &[access.mask, access.path])
            .into_iter()
            .any(|term| rows.stride.atoms().chain(rows.span.atoms()).all(|part| mentions(term, part)))
    }

    /// An argument of which no launch says that it is a number of some tensor.
    fn is_plain(&self, atom: Term) -> bool {
        match self.program.terms.node(atom) {
            Node::Variable(Variable::Argument(at), _) => {
                self.launch.value(*at).is_none() && !self.launch.of_tensors.contains(at)
            }
            _ => false,
        }
    }
}
