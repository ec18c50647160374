//! The conditions that a condition is made of.

use crate::program::Program;
use terms::{BinOp, Node, Term};

/// The conditions of which some are made, each once.
pub(crate) fn conjuncts(program: &Program, of: &[Term]) -> Vec<Term> {
    let mut open = of.to_vec();
    let mut all = Vec::new();
    while let Some(term) = open.pop() {
        match *program.terms.node(term) {
            Node::Binary(BinOp::And, a, b) if program.terms.bits(term) == 1 => open.extend([b, a]),
            _ if all.contains(&term) => {}
            _ => all.push(term),
        }
    }
    all
}
