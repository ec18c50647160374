//! One path: a state of the machine, what its threads' variables are, and what was decided.

use super::context::ProofContext;
use super::facts::{Fact, Facts};
use super::value::{IterationKey, Sum, Symbol, SymbolOrigin, Symbols, Value};
use kernel::{BlockId, Var};
use machine::{Machine, State};
use std::rc::Rc;

/// How far a loop is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct LoopPosition {
    /// The loop goes on while its driver is larger than this.
    pub at: i64,
    /// Iterations since it was entered.
    pub iteration: i64,
}

/// A path up to here.
#[derive(Clone, Debug)]
pub(super) struct Path {
    /// The machine's state at its end.
    pub state: State,
    /// By CTA and variable; paths share what none of them has changed.
    pub values: Vec<Rc<Vec<Value>>>,
    /// By CTA and loop.
    pub places: Vec<Vec<LoopPosition>>,
    /// What was decided.
    pub facts: Facts,
    /// Requests made to cluster launch control.
    pub requests: i64,
    /// Threads that stand at something else than an effect, and go on first.
    pub moving: Vec<usize>,
}

impl Path {
    /// What a variable is for a thread.
    pub(super) fn value(&self, cta: usize, var: Var) -> Value {
        self.values.get(cta).and_then(|values| values.get(var.index())).cloned().unwrap_or(Value::Unknown)
    }

    /// Sets a variable, in the machine too where it is a number.
    pub(super) fn set(&mut self, cta: usize, var: Var, value: Value) {
        let number = match &value {
            Value::Rest { rest, .. } => Some(*rest),
            other => other.known(),
        };
        if let Some(number) = number {
            let _ = self.state.set(cta, var, number);
        }
        if let Some(slot) = self.values.get_mut(cta).and_then(|values| Rc::make_mut(values).get_mut(var.index())) {
            *slot = value;
        }
    }

    /// How far a loop is in a CTA.
    pub(super) fn place(&self, cta: usize, number: usize) -> LoopPosition {
        self.places.get(cta).and_then(|places| places.get(number)).copied().unwrap_or_default()
    }
}

/// A symbol as it is noticed at a block: in which iterations of the loops around.
///
/// The number of iterations of an inner loop is decided anew in each iteration of the outer one,
/// else no state would ever come again. It is the same number in every run of the kernel, so
/// more runs are covered than there are, never fewer.
pub(super) fn noticed(
    context: &ProofContext<'_>,
    symbols: &mut Symbols,
    path: &Path,
    cta: usize,
    block: BlockId,
    symbol: Symbol,
) -> Symbol {
    let varies = symbols.varies(symbol);
    if !varies && !context.nested.contains(&symbol) && !context.turned.contains(&symbol) {
        return symbol;
    }
    let mut key = IterationKey::new();
    for &number in context.around.get(block.index()).into_iter().flatten() {
        let driver = context.loops[number].driver.symbol();
        if driver == symbol {
            break;
        }
        key.push((driver, path.place(cta, number).at));
    }
    if context.turned.contains(&symbol) {
        let marker = symbols.of(SymbolOrigin::Turn(symbol));
        key.push((marker, context.turn(block, symbol)));
    }
    if key.is_empty() && !varies { symbol } else { symbols.of(SymbolOrigin::At(symbol, key)) }
}

/// The key of an execution: all iterations of the loops around a block.
pub(super) fn execution(context: &ProofContext<'_>, path: &Path, cta: usize, block: BlockId) -> IterationKey {
    let around = context.around.get(block.index()).into_iter().flatten();
    around.map(|&number| (context.loops[number].driver.symbol(), path.place(cta, number).at)).collect()
}

/// What is known of a symbol as noticed somewhere: of itself, and of it there.
pub(super) fn fact(symbols: &Symbols, facts: &Facts, symbol: Symbol) -> Fact {
    let own = facts.get(symbol);
    match symbols.origin(symbol) {
        // Facts that exclude each other are never added, so the fallback is never taken.
        Some(SymbolOrigin::At(base, _)) => own.and(&facts.get(*base)).unwrap_or(own),
        _ => own,
    }
}

/// Forgets what was decided for iterations that every thread has left.
pub(super) fn forget(context: &ProofContext<'_>, symbols: &Symbols, machine: &Machine<'_>, path: &mut Path) {
    let Path { state, places, facts, .. } = path;
    facts.0.retain(|symbol, _| {
        let Some(SymbolOrigin::At(base, key)) = symbols.origin(*symbol) else { return true };
        (0..state.threads().len()).any(|thread| {
            let at = &state.threads()[thread];
            if at.life != machine::ThreadStatus::Running {
                return false;
            }
            let cta = machine.position_of(thread);
            let around = context.around.get(at.block.index()).map_or(&[][..], |around| around.as_slice());
            let ahead = |driver: Symbol| {
                let ahead = context.ahead.get(at.block.index());
                ahead.is_some_and(|ahead| {
                    ahead.iter().zip(&context.loops).any(|(ahead, summary)| *ahead && summary.driver.symbol() == driver)
                })
            };
            for (depth, (driver, place)) in key.iter().enumerate() {
                if let Some(SymbolOrigin::Turn(_)) = symbols.origin(*driver) {
                    return context.turn(at.block, *base) <= *place;
                }
                match around.get(depth) {
                    Some(&number) if context.loops[number].driver.symbol() == *driver => {
                        let mine = places.get(cta).and_then(|places| places.get(number)).map_or(0, |place| place.at);
                        if mine != *place {
                            return mine < *place;
                        }
                    }
                    _ => return ahead(*driver),
                }
            }
            true
        })
    });
}

/// A sum whose symbols are the same number wherever it is carried from here.
pub(super) fn settled(
    context: &ProofContext<'_>,
    symbols: &mut Symbols,
    path: &Path,
    cta: usize,
    block: BlockId,
    sum: &Sum,
) -> Sum {
    let mut settled = Sum::constant(sum.add);
    for &(symbol, factor) in &sum.terms {
        let symbol = if symbols.varies(symbol) { noticed(context, symbols, path, cta, block, symbol) } else { symbol };
        settled.terms.push((symbol, factor));
    }
    settled.terms.sort_unstable();
    settled
}
