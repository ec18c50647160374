//! The expressions of which a kernel's accesses and loops are made.

use rustc_hash::FxHashSet;

use crate::program::Program;
use terms::{Node, Term};

/// All expressions that say where and whether something is accessed, and how long loops run.
pub(crate) fn used(program: &Program) -> Vec<Term> {
    let accesses = program.accesses.iter().flat_map(|access| [access.offset, access.mask, access.path]);
    parts(program, accesses.chain(program.loops.iter().map(|of| of.condition)).collect())
}

/// All expressions of which some are made, these among them.
pub(crate) fn parts(program: &Program, of: Vec<Term>) -> Vec<Term> {
    let mut open = of;
    let (mut seen, mut used) = (FxHashSet::default(), Vec::new());
    while let Some(term) = open.pop() {
        if !seen.insert(term) {
            continue;
        }
        used.push(term);
        match *program.terms.node(term) {
            Node::Const(_) | Node::Variable(..) | Node::Read(..) => {}
            Node::Trunc(a) | Node::ExtS(a) | Node::ExtU(a) => open.push(a),
            Node::Binary(_, a, b) => open.extend([a, b]),
            Node::Select(c, a, b) => open.extend([c, a, b]),
        }
    }
    used
}
