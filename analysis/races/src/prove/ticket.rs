//! Tickets: what programs draw from a counter that is only ever added to. No two draws give the same number.

use rustc_hash::FxHashMap;

use crate::program::{Access, Action, Base, Program, Scope, Update};
use crate::term::{Node, Term};

/// The word that tickets are drawn from, and how far apart two are at least.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Counter {
    base: u32,
    offset: Term,
    pub(crate) step: i64,
}

impl Counter {
    /// Whether tickets of both are drawn from one word.
    pub(crate) fn is(self, other: Counter) -> bool {
        self.base == other.base && self.offset == other.offset
    }
}

/// By source, the counter of which it gives tickets.
pub(crate) fn tickets(program: &Program) -> FxHashMap<u32, Counter> {
    let mut found: FxHashMap<u32, Counter> = FxHashMap::default();
    for access in &program.accesses {
        if let (Some(source), Some(counter)) = (access.source, counter(program, access)) {
            found.insert(source, counter);
        }
    }
    // What a loop carries is a ticket where it begins and goes on with one.
    let mut open = !found.is_empty();
    while std::mem::take(&mut open) {
        for carried in program.loops.iter().flat_map(|of| &of.carried) {
            let of = |term: Term| match program.terms.node(term) {
                Node::Read(source, ..) => found.get(source).copied(),
                _ => None,
            };
            if let (Some(first), Some(next)) = (of(carried.first), of(carried.next))
                && first.is(next)
            {
                open |= found.insert(carried.source, first).is_none();
            }
        }
    }
    found
}

/// The counter that an access draws from: one word, known before the launch, to which all writes add.
fn counter(program: &Program, access: &Access) -> Option<Counter> {
    let Base::Argument(base) = access.base else { return None };
    let shared = |node: &Node| match node {
        Node::Symbol(symbol, _) => !symbol.is_shared(),
        Node::Read(..) => true,
        _ => false,
    };
    if program.terms.any_leaf(access.offset, shared) {
        return None;
    }
    let mut step = i64::MAX;
    for other in program.accesses.iter().filter(|other| other.action.writes()) {
        match other.base {
            Base::Unknown => return None,
            Base::Argument(of) if of != base => {}
            Base::Argument(_) => step = step.min(added(program, other)?),
        }
    }
    added(program, access).map(|_| Counter { base, offset: access.offset, step })
}

/// What an access adds to one word, where that is a positive number and it is atomic for all programs.
fn added(program: &Program, access: &Access) -> Option<i64> {
    let Action::Atomic(Update::Add, ordering) = access.action else { return None };
    let scalar = access.lanes.iter().all(|size| *size == 1);
    let by = program.terms.constant(access.value?).filter(|by| *by > 0)?;
    (scalar && ordering.scope != Scope::Cta && program.terms.constant(access.mask) == Some(1)).then_some(by)
}
