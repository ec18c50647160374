//! Numbers that are taken apart by a division: which block a number lies in says nothing of its place in the block.

use rustc_hash::FxHashMap;

use crate::program::Program;
use terms::{BinOp, Node, Term, Terms, Variable};

/// A quotient or a remainder of what programs do not share.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Digit {
    of: Term,
    by: Term,
    is_quotient: bool,
}

/// Of what expressions are made that programs do not share.
#[derive(Default)]
struct Made {
    digits: Vec<Digit>,
    /// What is in it otherwise.
    bare: Vec<Variable>,
}

impl Made {
    fn add(&mut self, terms: &Terms, term: Term) {
        match terms.node(term) {
            Node::Const(_) => {}
            Node::Variable(variable, _) if variable.is_shared() => {}
            Node::Variable(variable, _) => self.bare.push(*variable),
            Node::Trunc(a) | Node::ExtS(a) | Node::ExtU(a) => self.add(terms, *a),
            Node::Binary(op, of, by) => {
                let is_quotient = matches!(op, BinOp::DivS | BinOp::DivU | BinOp::FloorDivS);
                let divides = is_quotient || matches!(op, BinOp::RemS | BinOp::RemU);
                if divides && own(terms, *by).is_empty() && !own(terms, *of).is_empty() {
                    self.digits.push(Digit { of: *of, by: *by, is_quotient });
                } else {
                    self.add(terms, *of);
                    self.add(terms, *by);
                }
            }
            Node::Select(condition, a, b) => [condition, a, b].into_iter().for_each(|part| self.add(terms, *part)),
            Node::Read(_, lanes, _) => lanes.iter().for_each(|lane| self.add(terms, *lane)),
        }
    }
}

/// What an expression is made of that programs do not share.
fn own(terms: &Terms, term: Term) -> Vec<Variable> {
    let mut all = Vec::new();
    terms.leaves(term, &mut |node| match node {
        Node::Variable(variable, _) if !variable.is_shared() => all.push(*variable),
        _ => {}
    });
    all
}

/// Whether a condition speaks of the quotients of numbers of whose remainders `span` is made, or the other way round, and of
/// nothing else that `span` is made of.
pub(crate) fn is_of_other_digit(program: &Program, span: &[Term], condition: Term) -> bool {
    let mut terms = program.terms.clone();
    let condition = terms.instance(condition, 1, &mut FxHashMap::default());
    let (mut one, mut other) = (Made::default(), Made::default());
    span.iter().for_each(|atom| one.add(&terms, *atom));
    other.add(&terms, condition);
    let within = |bare: &Variable, made: &Made| {
        made.bare.contains(bare) || made.digits.iter().any(|digit| own(&terms, digit.of).contains(bare))
    };
    let meet = |a: &Digit, b: &Digit| {
        let others = own(&terms, b.of);
        own(&terms, a.of).iter().any(|variable| others.contains(variable))
    };
    let apart = |a: &Digit, b: &Digit| (a.of, a.by) == (b.of, b.by) && a.is_quotient != b.is_quotient;
    !other.bare.iter().any(|bare| within(bare, &one))
        && !one.bare.iter().any(|bare| within(bare, &other))
        && other.digits.iter().all(|a| one.digits.iter().all(|b| !meet(a, b) || apart(a, b)))
}
