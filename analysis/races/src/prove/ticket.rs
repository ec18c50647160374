//! Tickets: what programs draw from a counter that is only ever added to, or are granted by cluster launch control. No
//! two draws give the same number.

use rustc_hash::FxHashMap;

use crate::program::{Access, Action, Base, MemSyncScope, Program, Source, Update};
use terms::{Node, Term, Variable};

/// What tickets are drawn from, and how far apart two are at least.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Counter {
    from: Stock,
    pub(crate) step: i64,
}

/// What tickets are drawn from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stock {
    /// A word of a tensor.
    Word { base: u32, offset: Term },
    /// The grid, along its only axis: each program has its own number, and is granted those of programs that are not
    /// launched for it.
    Grid(u8),
}

impl Counter {
    /// Whether tickets of both are drawn from one stock.
    pub(crate) fn is(self, other: Counter) -> bool {
        self.from == other.from
    }

    /// The axis of the grid whose programs are tickets.
    pub(crate) fn axis(self) -> Option<u8> {
        match self.from {
            Stock::Grid(axis) => Some(axis),
            Stock::Word { .. } => None,
        }
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
    let grid = match program.axes.as_slice() {
        [axis] => Some(Counter { from: Stock::Grid(*axis), step: 1 }),
        _ => None,
    };
    for (source, of) in (0u32..).zip(&program.sources) {
        if let (Source::Granted(axis), Some(grid)) = (of, grid)
            && grid.axis() == Some(*axis)
        {
            found.insert(source, grid);
        }
    }
    // What a loop carries is a ticket where it begins and goes on with one.
    let mut open = !found.is_empty();
    while std::mem::take(&mut open) {
        for carried in program.loops.iter().flat_map(|of| &of.carried).filter(|of| of.lanes.is_empty()) {
            let Some(first) = drawn(program, &found, grid, carried.first) else { continue };
            if found.contains_key(&carried.source) {
                continue;
            }
            // It may go on with what it was.
            found.insert(carried.source, first);
            if drawn(program, &found, grid, carried.next).is_some_and(|next| first.is(next)) {
                open = true;
            } else {
                found.remove(&carried.source);
            }
        }
    }
    found
}

/// The counter of which a value is a ticket: one that was drawn, one of two of them, or the number of the program.
fn drawn(program: &Program, found: &FxHashMap<u32, Counter>, grid: Option<Counter>, term: Term) -> Option<Counter> {
    match *program.terms.node(term) {
        Node::Read(source, ..) => found.get(&source).copied(),
        Node::Variable(Variable::Program(axis), _) => grid.filter(|grid| grid.axis() == Some(axis)),
        Node::Select(_, a, b) => {
            let (a, b) = (drawn(program, found, grid, a)?, drawn(program, found, grid, b)?);
            a.is(b).then_some(a)
        }
        Node::ExtS(inner) | Node::ExtU(inner) => drawn(program, found, grid, inner),
        _ => None,
    }
}

/// The counter that an access draws from: one word, known before the launch, to which all writes add.
fn counter(program: &Program, access: &Access) -> Option<Counter> {
    let Base::Argument(base) = access.base else { return None };
    let shared = |node: &Node| match node {
        Node::Variable(variable, _) => !variable.is_shared(),
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
    added(program, access).map(|_| Counter { from: Stock::Word { base, offset: access.offset }, step })
}

/// What an access adds to one word, where that is a positive number and it is atomic for all programs.
fn added(program: &Program, access: &Access) -> Option<i64> {
    let Action::Atomic(Update::Add, ordering) = access.action else { return None };
    let scalar = access.lanes.iter().all(|size| *size == 1);
    let by = program.terms.constant(access.value?).filter(|by| *by > 0)?;
    (scalar && ordering.scope != MemSyncScope::Cta && program.terms.constant(access.mask) == Some(1)).then_some(by)
}
