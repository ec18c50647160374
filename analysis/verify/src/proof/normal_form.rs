//! The normal form of a path: equal for paths that go on alike.
//!
//! It holds the normal form of the machine, where each thread stands, how far each of its loops is
//! relative to what was decided of the loop's driver, what is kept of its variables, and the
//! decisions that some thread has still to come to. What is left out is what only shifts along:
//! counters but for their rests, and how far the drivers are.

use super::super::demand::Demand;
use super::context::ProofContext;
use super::facts::{Fact, NO_HIGH, NO_LOW};
use super::path::{Path, fact, noticed};
use super::value::{Driver, IterationKey, Sum, Symbol, SymbolOrigin, Symbols, Value};
use kernel::BlockId;
use machine::{Machine, ThreadStatus};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Writes normal forms.
pub(super) struct NormalFormWriter<'a, 'k> {
    /// What was found out before any run.
    pub context: &'a ProofContext<'k>,
    /// The machine whose state it writes.
    pub machine: &'a Machine<'k>,
    /// Symbols by number, with their origins.
    pub symbols: &'a mut Symbols,
    /// What was read of the kernel for earlier forms.
    pub kept: &'a mut KeptVars,
}

/// By block and instruction: the variables that states keep there.
#[derive(Debug, Default)]
pub(super) struct KeptVars(FxHashMap<(BlockId, u32), Kept>);

/// Variables, and how much of each.
type Kept = Rc<[(usize, Demand)]>;

impl KeptVars {
    fn at(&mut self, context: &ProofContext<'_>, block: BlockId, instr: u32) -> Kept {
        let known = self.0.entry((block, instr)).or_insert_with(|| {
            let live = context.liveness.at(block, instr as usize);
            let live = live.iter().enumerate().filter(|(_, live)| **live);
            let demanded = live.map(|(var, _)| (var, context.kept.get(var).copied().unwrap_or(Demand::Whole)));
            demanded.filter(|(_, demand)| *demand != Demand::Nothing).collect()
        });
        known.clone()
    }
}

impl NormalFormWriter<'_, '_> {
    /// The normal form, and how many numbers and pieces of clocks were looked at for it; `out` is memory for it.
    pub(super) fn normal_form(&mut self, path: &Path, mut out: Vec<i64>) -> (Vec<i64>, u64) {
        out.clear();
        for thread in 0..path.state.threads().len() {
            self.thread(path, thread, &mut out);
        }
        if let Some(tiles) = self.context.tiles {
            out.push(path.requests - base(path.facts.get(tiles).low));
        }
        out.push(path.moving.len() as i64);
        let mut moving: Vec<i64> = path.moving.iter().map(|&thread| thread as i64).collect();
        moving.sort_unstable();
        out.extend(moving);
        let (mut facts, mut entries): (Vec<i64>, Vec<(usize, usize)>) = (Vec::new(), Vec::new());
        for &symbol in path.facts.0.keys() {
            let start = facts.len();
            self.symbol(path, symbol, &mut facts);
            self.fact(symbol, &fact(self.symbols, &path.facts, symbol), &mut facts);
            entries.push((start, facts.len()));
        }
        let entry = |&(start, end): &(usize, usize)| facts.get(start..end).unwrap_or_default();
        entries.sort_unstable_by(|a, b| entry(a).cmp(entry(b)));
        for entry in entries.iter().map(entry) {
            out.push(entry.len() as i64);
            out.extend_from_slice(entry);
        }
        let pieces = self.machine.normal_form(&path.state, &mut out);
        let work = out.len() as u64 + pieces;
        (out, work)
    }

    fn thread(&mut self, path: &Path, thread: usize, out: &mut Vec<i64>) {
        let at = &path.state.threads()[thread];
        out.push(at.life as i64);
        if at.life != ThreadStatus::Running {
            return;
        }
        let cta = self.machine.position_of(thread);
        out.extend([i64::from(at.block.0), i64::from(at.instr)]);
        let context = self.context;
        for &number in context.around.get(at.block.index()).into_iter().flatten() {
            let summary = &context.loops[number];
            let place = path.place(cta, number);
            let symbol = summary.driver.symbol();
            let relative = !matches!((&summary.driver, &summary.counted), (Driver::Free(_), Some(_)));
            let front = if relative {
                let there = noticed(context, self.symbols, path, cta, summary.head, symbol);
                base(fact(self.symbols, &path.facts, there).low)
            } else {
                0
            };
            out.push(place.at - front);
        }
        let values = path.values.get(cta);
        for &(var, demand) in self.kept.at(context, at.block, at.instr).iter() {
            let value = values.and_then(|values| values.get(var)).unwrap_or(&Value::Unknown);
            self.value(path, value, demand, out);
        }
    }

    fn value(&mut self, path: &Path, value: &Value, demand: Demand, out: &mut Vec<i64>) {
        match (value, demand) {
            (Value::Sum(sum), Demand::Modulo(modulus)) if sum.terms.is_empty() => {
                out.extend([0, sum.add.rem_euclid(modulus as i64)]);
            }
            (Value::Sum(sum), Demand::Near { modulus, horizon }) if sum.terms.is_empty() => {
                out.extend([4, sum.add.min(horizon), sum.add.rem_euclid(modulus as i64)]);
            }
            (Value::Sum(sum), _) => {
                out.extend([1, sum.terms.len() as i64, sum.add]);
                for &(symbol, factor) in &sum.terms {
                    self.symbol(path, symbol, out);
                    out.push(factor);
                }
            }
            (Value::Rest { modulus, rest }, _) => out.extend([2, *modulus, *rest]),
            (Value::Unknown, _) => out.push(3),
        }
    }

    /// A symbol by what it stands for, iterations relative to the front.
    fn symbol(&mut self, path: &Path, symbol: Symbol, out: &mut Vec<i64>) {
        let Some(SymbolOrigin::At(base, key)) = self.symbols.origin(symbol).cloned() else {
            out.extend([-1, i64::from(symbol.0)]);
            return;
        };
        out.extend([i64::from(base.0), key.len() as i64]);
        for depth in 0..key.len() {
            let (driver, place) = key[depth];
            let front = match self.symbols.origin(driver) {
                Some(SymbolOrigin::Turn(_)) => 0,
                // A loop between numbers: its counter is kept as it is.
                Some(SymbolOrigin::LoopPosition(_, _, step)) if *step != Sum::default() => 0,
                _ => self.front(path, driver, &key[..depth]),
            };
            out.extend([i64::from(driver.0), place - front]);
        }
    }

    /// The front of a driver in an iteration of the loops around.
    fn front(&mut self, path: &Path, driver: Symbol, around: &[(Symbol, i64)]) -> i64 {
        let context = self.context;
        let there = if context.nested.contains(&driver) && !around.is_empty() {
            self.symbols.of(SymbolOrigin::At(driver, IterationKey::from_slice(around)))
        } else {
            driver
        };
        base(fact(self.symbols, &path.facts, there).low)
    }

    fn fact(&self, symbol: Symbol, fact: &Fact, out: &mut Vec<i64>) {
        let origin = match self.symbols.origin(symbol) {
            Some(SymbolOrigin::At(base, _)) => *base,
            _ => symbol,
        };
        let drives = self.context.loops.iter().any(|summary| summary.driver.symbol() == origin)
            || self.context.tiles == Some(origin);
        let need = self.context.need_of(origin);
        if !drives || !matches!(need.demand, Demand::Nothing | Demand::Modulo(_)) {
            out.extend([0, fact.low, fact.high, fact.modulus, fact.rest]);
            return;
        }
        let width = if fact.low <= NO_LOW || fact.high >= NO_HIGH { -1 } else { fact.high - fact.low };
        let near = |bound: i64| bound.min(need.horizon + 2);
        let high = if fact.low <= NO_LOW { fact.high } else { near(fact.high) };
        out.extend([1, width, near(fact.low), high, fact.modulus, fact.rest]);
        if let Demand::Modulo(modulus) = need.demand {
            // Positions are relative to the lower bound, so its rest is that of all of them.
            out.push(fact.low.rem_euclid(modulus as i64));
        }
    }
}

/// A lower bound as the point to count from.
fn base(low: i64) -> i64 {
    if low <= NO_LOW { 0 } else { low }
}
