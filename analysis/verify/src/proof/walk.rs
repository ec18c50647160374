//! Scalars and jumps of one thread, from one effect to the next, with inputs left open.
//!
//! Where the way on depends on a symbol, the walk stops with the possible facts about it, and is
//! taken up again on one path each.

use super::super::demand::{Demand, effect_operands};
use super::super::outcome::OpenReason;
use super::context::ProofContext;
use super::facts::{Fact, NO_HIGH, gcd, range};
use super::path::{LoopPosition, Path, fact, noticed, settled};
use super::value::{Driver, Sum, Symbol, SymbolOrigin, Symbols, Value};
pub(super) use crate::limits::proof::SPLIT;
use kernel::{BlockId, Effect, InputId, Instr, JumpTarget, Pure, Terminator, Var};
use machine::Machine;
use smallvec::SmallVec;

/// Why a walk stops before the next effect.
#[derive(Debug)]
pub(super) enum WalkStop {
    /// The facts of which one holds.
    Fork(Symbol, SmallVec<[Fact; 3]>),
    /// The proof is given up.
    Open(OpenReason),
}

/// What a walk needs.
pub(super) struct Walk<'a, 'k> {
    /// What was found out before any run.
    pub context: &'a ProofContext<'k>,
    /// The machine, which leaves scalars to the walk.
    pub machine: &'a Machine<'k>,
    /// Symbols by number, with their origins.
    pub symbols: &'a mut Symbols,
}

/// Where an instruction is executed.
#[derive(Clone, Copy)]
pub(super) struct Here {
    /// The position of the CTA.
    pub(super) cta: usize,
    /// The block that the thread is in.
    pub(super) block: BlockId,
}

/// What a walk finds out, or why it stops.
pub(super) type Answer<T> = Result<T, WalkStop>;

impl Walk<'_, '_> {
    /// Takes a thread to its next effect with a true predicate, or the start or end of partitions;
    /// false where it stops at the head of a loop before, so that others can catch up.
    pub(super) fn advance(&mut self, path: &mut Path, thread: usize) -> Answer<bool> {
        let cta = self.machine.position_of(thread);
        for _ in 0..100_000 {
            let at = &path.state.threads()[thread];
            let (id, instr) = (at.block, at.instr as usize);
            let here = Here { cta, block: id };
            let kernel = self.context.kernel;
            let Some(block) = kernel.blocks.get(id.index()) else { return Err(WalkStop::Open(OpenReason::Budget)) };
            match block.instrs.get(instr) {
                Some(Instr::Effect(effect)) => {
                    let Some(effect) = kernel.effects.get(effect.index()) else {
                        return Err(WalkStop::Open(OpenReason::Budget));
                    };
                    let happens = effect.leaders & self.machine.cta_of(thread) == 0
                        && match effect.predicate {
                            Some(predicate) => self.bit(path, here, predicate)?,
                            None => true,
                        };
                    if happens {
                        return self.settle(path, here, effect).map(|()| true);
                    }
                }
                Some(Instr::Let(dst, pure)) => {
                    if let Some(Some(sum)) = self.context.fixed.get(dst.index()) {
                        let sum = settled(self.context, self.symbols, path, cta, id, sum);
                        path.set(cta, *dst, Value::Sum(sum));
                    } else if self.context.wanted.get(dst.index()) != Some(&Demand::Nothing) {
                        let value = self.evaluate(path, here, *dst, pure)?;
                        path.set(cta, *dst, value);
                    }
                }
                Some(instr) => self.view(path, here, thread, instr)?,
                None => {
                    let target = match &block.terminator {
                        Terminator::Jump(target) => target,
                        Terminator::Branch(condition, yes, no) => {
                            if self.bit(path, here, *condition)? {
                                yes
                            } else {
                                no
                            }
                        }
                        _ => return Ok(true),
                    };
                    let from = id;
                    path.state.enter_block(thread, target.block);
                    self.enter(path, cta, Some(from), target);
                    if self.context.head_of.get(target.block.index()).is_some_and(Option::is_some) {
                        return Ok(false);
                    }
                    continue;
                }
            }
            path.state.skip_instr(thread);
        }
        Err(WalkStop::Open(OpenReason::Budget))
    }

    /// Assigns a block's parameters, and notes where its loop is.
    pub(super) fn enter(&mut self, path: &mut Path, cta: usize, from: Option<BlockId>, target: &JumpTarget) {
        let Some(block) = self.context.kernel.blocks.get(target.block.index()) else { return };
        let values: SmallVec<[Value; 8]> = target.args.iter().map(|&arg| path.value(cta, arg)).collect();
        for (&param, value) in block.params.iter().zip(values) {
            path.set(cta, param, value);
        }
        let Some(Some(number)) = self.context.head_of.get(target.block.index()).copied() else { return };
        let around = |block: BlockId| self.context.around.get(block.index());
        let again = from.and_then(around).is_some_and(|around| around.contains(&number));
        let before = path.place(cta, number);
        let iteration = if again { before.iteration + 1 } else { 0 };
        let summary = &self.context.loops[number];
        let counter = summary.counted.as_ref().map(|counted| path.value(cta, counted.counter));
        let at = match (&summary.driver, &summary.counted, counter) {
            (Driver::Bound { factor, add, .. }, Some(_), Some(counter)) => {
                counter.known().map(|counter| (counter - add).div_euclid(*factor))
            }
            (Driver::Free(_), Some(_), Some(counter)) => counter.known(),
            _ => Some(iteration),
        };
        if let Some(slot) = path.places.get_mut(cta).and_then(|places| places.get_mut(number)) {
            *slot = LoopPosition { at: at.unwrap_or(iteration), iteration };
        }
        if let (Driver::Free(symbol), None) = (&summary.driver, &summary.counted) {
            // An open-ended loop: the front is kept as if it were a decision.
            let symbol = noticed(self.context, self.symbols, path, cta, summary.head, *symbol);
            let low = path.facts.get(symbol).low.max(iteration);
            path.facts.0.insert(symbol, Fact::between(low, NO_HIGH));
        }
    }

    /// Makes everything that an effect reads a number.
    fn settle(&mut self, path: &mut Path, here: Here, effect: &Effect) -> Answer<()> {
        let mut operands: SmallVec<[(Var, Demand); 8]> = SmallVec::new();
        effect_operands(effect, |var, demand| operands.push((var, demand)));
        for (var, demand) in operands {
            if demand == Demand::Modulo(2) {
                let bit = self.bit(path, here, var)?;
                let _ = path.state.set(here.cta, var, i64::from(bit));
            } else {
                let number = self.number(path, here, var)?;
                let _ = path.state.set(here.cta, var, number);
            }
        }
        Ok(())
    }

    fn view(&mut self, path: &mut Path, here: Here, thread: usize, instr: &Instr) -> Answer<()> {
        let dst = match instr {
            Instr::View { dst, src, op } => {
                if self.context.wanted.get(dst.index()) == Some(&Demand::Nothing) {
                    return Ok(());
                }
                self.number(path, here, *src)?;
                if let Some(operand) = op.operand() {
                    let number = self.number(path, here, operand)?;
                    let _ = path.state.set(here.cta, operand, number);
                }
                *dst
            }
            Instr::Base(dst, _) => *dst,
            Instr::Word(word) => {
                if let Some((dst, otherwise)) = word.defines() {
                    let value = path.value(here.cta, otherwise);
                    path.set(here.cta, dst, value);
                }
                return Ok(());
            }
            _ => return Ok(()),
        };
        if self.machine.compute(&mut path.state, thread, instr).is_err() {
            return Err(WalkStop::Open(OpenReason::Budget));
        }
        let value = Value::constant(path.state.var(here.cta, dst));
        path.set(here.cta, dst, value);
        Ok(())
    }

    /// The number that a variable holds.
    fn number(&mut self, path: &Path, here: Here, var: Var) -> Answer<i64> {
        match self.resolve(path, here, path.value(here.cta, var)) {
            Value::Sum(sum) if sum.terms.is_empty() => Ok(sum.add),
            Value::Sum(sum) => {
                let symbol = sum.terms[0].0;
                let (low, high) = self.range(path, here, &Sum::symbol(symbol));
                if high - low >= SPLIT {
                    return Err(self.noticed_input(symbol));
                }
                Err(self.fork(path, symbol, (low..=high).map(|value| Fact::between(value, value))))
            }
            _ => Err(WalkStop::Open(OpenReason::Unfollowed)),
        }
    }

    /// The low bit of a variable.
    pub(super) fn bit(&mut self, path: &Path, here: Here, var: Var) -> Answer<bool> {
        let value = path.value(here.cta, var);
        match self.rest(path, here, &value, 2)? {
            Some(rest) => Ok(rest == 1),
            None => Err(WalkStop::Open(OpenReason::Unfollowed)),
        }
    }

    /// The inputs that a symbol is made of keep the proof open.
    pub(super) fn noticed_input(&self, symbol: Symbol) -> WalkStop {
        WalkStop::Open(leaf(self.symbols, symbol, 0).map_or(OpenReason::Unfollowed, OpenReason::Noticed))
    }

    /// What is known of a symbol here.
    pub(super) fn look(&mut self, path: &Path, here: Here, symbol: Symbol) -> Fact {
        let there = noticed(self.context, self.symbols, path, here.cta, here.block, symbol);
        fact(self.symbols, &path.facts, there)
    }

    pub(super) fn range(&mut self, path: &Path, here: Here, sum: &Sum) -> (i64, i64) {
        range(sum, |symbol| self.look(path, here, symbol))
    }

    /// A value with symbols replaced that are known exactly.
    pub(super) fn resolve(&mut self, path: &Path, here: Here, value: Value) -> Value {
        let Value::Sum(sum) = &value else { return value };
        if sum.terms.is_empty() {
            return value;
        }
        let mut resolved = Sum { add: sum.add, terms: SmallVec::new() };
        for &(symbol, factor) in &sum.terms {
            match self.look(path, here, symbol).exact() {
                Some(exact) => resolved.add = resolved.add.saturating_add(exact.saturating_mul(factor)),
                None => resolved.terms.push((symbol, factor)),
            }
        }
        Value::Sum(resolved)
    }

    /// The paths on which a symbol has one of several facts.
    pub(super) fn fork(&self, path: &Path, symbol: Symbol, facts: impl Iterator<Item = Fact>) -> WalkStop {
        let known = fact(self.symbols, &path.facts, symbol);
        WalkStop::Fork(symbol, facts.filter(|fact| known.and(fact).is_some()).collect())
    }

    /// A value modulo a number; `None` where nothing of it is known.
    pub(super) fn rest(&mut self, path: &Path, here: Here, value: &Value, modulus: i64) -> Answer<Option<i64>> {
        let sum = match value {
            Value::Sum(sum) => sum,
            Value::Rest { modulus: own, rest } => {
                return Ok((own % modulus == 0).then(|| rest.rem_euclid(modulus)));
            }
            Value::Unknown => return Ok(None),
        };
        let mut total = i128::from(sum.add);
        for &(symbol, factor) in &sum.terms {
            let needed = modulus / gcd(modulus, factor.rem_euclid(modulus));
            if needed == 1 {
                continue;
            }
            match self.look(path, here, symbol).rest(needed) {
                Some(rest) => total += i128::from(rest) * i128::from(factor),
                None if needed <= SPLIT => {
                    // Rests are the same in all iterations: they are few.
                    let rests = (0..needed).map(|rest| Fact { modulus: needed, rest, ..Fact::default() });
                    return Err(self.fork(path, symbol, rests));
                }
                None => return Err(self.noticed_input(symbol)),
            }
        }
        Ok(Some(total.rem_euclid(i128::from(modulus)) as i64))
    }
}

/// The first input that a symbol is made of.
pub(super) fn leaf(symbols: &Symbols, symbol: Symbol, depth: u32) -> Option<InputId> {
    let first =
        |sums: &[Sum]| sums.iter().flat_map(|sum| &sum.terms).find_map(|&(symbol, _)| leaf(symbols, symbol, depth + 1));
    if depth > 32 {
        return None;
    }
    match symbols.origin(symbol)? {
        SymbolOrigin::Input(input) => Some(*input),
        SymbolOrigin::Function(Pure::Load(input, ()), _) => Some(*input),
        SymbolOrigin::Function(_, sums) => first(sums),
        SymbolOrigin::Trips(a, b, c) | SymbolOrigin::LoopPosition(a, b, c) => first(&[a.clone(), b.clone(), c.clone()]),
        SymbolOrigin::Counter(base) | SymbolOrigin::Turn(base) | SymbolOrigin::At(base, _) => {
            leaf(symbols, *base, depth + 1)
        }
    }
}
