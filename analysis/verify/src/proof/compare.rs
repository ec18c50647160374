//! Comparisons of open values: what is known, and else which facts decide them.

use super::super::demand::Demand;
use super::super::outcome::OpenReason;
use super::facts::{Fact, NO_HIGH, NO_LOW};
use super::path::{Path, noticed, settled};
use super::value::{Driver, Sum, Symbol, SymbolOrigin, Value};
use super::walk::{Answer, Here, SPLIT, Walk, WalkStop};
use kernel::{CmpOp, Pure, Var, Width};
use smallvec::SmallVec;

impl Walk<'_, '_> {
    /// Whether a comparison holds; `None` where nothing is known of a side.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn compare(
        &mut self,
        path: &Path,
        here: Here,
        dst: Option<Var>,
        op: CmpOp,
        width: Width,
        a: &Value,
        b: &Value,
    ) -> Answer<Option<bool>> {
        let (Value::Sum(x), Value::Sum(y)) = (a, b) else { return Ok(None) };
        let is_test = || dst.is_some() && self.context.loops.iter().any(|summary| summary.test == dst);
        let op = match op {
            CmpOp::Eq | CmpOp::Ne => Some(op),
            _ if width == Width(1) => None,
            CmpOp::Slt | CmpOp::Sle | CmpOp::Sgt | CmpOp::Sge => Some(op),
            _ => {
                let tests = is_test();
                let small = |low: i64| low >= 0;
                let (lower, upper) = (self.range(path, here, x).0, self.range(path, here, y).0);
                let signed = tests || (small(lower) && small(upper));
                signed.then_some(match op {
                    CmpOp::Ult => CmpOp::Slt,
                    CmpOp::Ule => CmpOp::Sle,
                    CmpOp::Ugt => CmpOp::Sgt,
                    _ => CmpOp::Sge,
                })
            }
        };
        let (Some(op), Some(rest)) = (op, x.plus(y, -1)) else {
            if let (Some(a), Some(b)) = (a.known(), b.known()) {
                let pure: Pure<i64> = Pure::Cmp(op.unwrap_or(CmpOp::Eq), width, a, b);
                if op.is_some() {
                    return Ok(pure.eval(|value| value, |_| 0, |_, _| 0).map(|bit| bit == 1));
                }
            }
            return Err(WalkStop::Open(OpenReason::Unfollowed));
        };
        // `rest` against 0.
        let (low, high) = self.range(path, here, &rest);
        let known = match op {
            CmpOp::Slt => decided(high < 0, low >= 0),
            CmpOp::Sle => decided(high <= 0, low > 0),
            CmpOp::Sgt => decided(low > 0, high <= 0),
            CmpOp::Sge => decided(low >= 0, high < 0),
            CmpOp::Eq => decided(low == 0 && high == 0, low > 0 || high < 0),
            _ => decided(low > 0 || high < 0, low == 0 && high == 0),
        };
        if known.is_some() {
            return Ok(known);
        }
        if let Some((symbol, iteration, more)) = self.test(path, here, op, &rest) {
            let fact = self.look(path, here, symbol);
            return if fact.low > iteration {
                Ok(Some(more))
            } else if fact.high <= iteration {
                Ok(Some(!more))
            } else {
                Err(self.split(path, here, symbol, iteration, false))
            };
        }
        if let [(symbol, factor)] = *rest.terms.as_slice() {
            return self.threshold(path, here, op, symbol, factor, rest.add);
        }
        // A question of its own, remembered with its answer.
        let pure = Pure::Cmp(op, Width(64), (), ());
        let symbol = self.symbols.of(SymbolOrigin::Function(pure, smallvec::smallvec![rest, Sum::default()]));
        match self.look(path, here, symbol).exact() {
            Some(bit) => Ok(Some(bit == 1)),
            None => Err(self.fork(path, symbol, [Fact::between(1, 1), Fact::between(0, 0)].into_iter())),
        }
    }

    /// Whether `factor * symbol + add` is below, above or at 0.
    fn threshold(
        &mut self,
        path: &Path,
        here: Here,
        op: CmpOp,
        symbol: Symbol,
        factor: i64,
        add: i64,
    ) -> Answer<Option<bool>> {
        if matches!(op, CmpOp::Eq | CmpOp::Ne) {
            if add % factor != 0 {
                return Ok(Some(op == CmpOp::Ne));
            }
            let rest = self.look(path, here, symbol);
            let value = -add / factor;
            if rest.and(&Fact::between(value, value)).is_none() {
                return Ok(Some(op == CmpOp::Ne));
            }
            return Err(self.split(path, here, symbol, value, true));
        }
        // With a negative factor everything turns round.
        let (factor, add, op) = if factor > 0 {
            (factor, add, op)
        } else {
            let turned = match op {
                CmpOp::Slt => CmpOp::Sgt,
                CmpOp::Sle => CmpOp::Sge,
                CmpOp::Sgt => CmpOp::Slt,
                _ => CmpOp::Sle,
            };
            (-factor, -add, turned)
        };
        // symbol <= value holds as `yes` says.
        let (value, yes) = match op {
            CmpOp::Slt => ((-add - 1).div_euclid(factor), true),
            CmpOp::Sle => ((-add).div_euclid(factor), true),
            CmpOp::Sgt => ((-add).div_euclid(factor), false),
            _ => ((-add - 1).div_euclid(factor), false),
        };
        let fact = self.look(path, here, symbol);
        if fact.high <= value {
            Ok(Some(yes))
        } else if fact.low > value {
            Ok(Some(!yes))
        } else {
            Err(self.split(path, here, symbol, value, false))
        }
    }

    /// Paths on which a symbol is at most `value`, or larger; with `apart` the value on its own.
    fn split(&mut self, path: &Path, here: Here, symbol: Symbol, value: i64, apart: bool) -> WalkStop {
        let there = noticed(self.context, self.symbols, path, here.cta, here.block, symbol);
        // What is told apart by constants holds in all iterations.
        let small = value <= self.context.need_of(symbol).horizon;
        let there = if small { symbol } else { there };
        if self.context.rests_first
            && there != symbol
            && let Demand::Modulo(modulus) = self.context.need_of(symbol).demand
            && let modulus = modulus as i64
            && (2..=SPLIT).contains(&modulus)
            && path.facts.get(symbol).rest(modulus).is_none()
        {
            let rests = (0..modulus).map(|rest| Fact { modulus, rest, ..Fact::default() });
            return self.fork(path, symbol, rests);
        }
        let facts: SmallVec<[Fact; 3]> = if apart {
            smallvec::smallvec![
                Fact::between(NO_LOW, value - 1),
                Fact::between(value, value),
                Fact::between(value + 1, NO_HIGH),
            ]
        } else {
            smallvec::smallvec![Fact::between(value + 1, NO_HIGH), Fact::between(NO_LOW, value)]
        };
        self.fork(path, there, facts.into_iter())
    }

    /// A comparison of a counter that is a sum with its own bound: the trip count, the iteration
    /// and whether the comparison asks for more iterations.
    fn test(&mut self, path: &Path, here: Here, op: CmpOp, rest: &Sum) -> Option<(Symbol, i64, bool)> {
        let context = self.context;
        for summary in &context.loops {
            let (Driver::Trips(symbol), Some(counted)) = (&summary.driver, &summary.counted) else { continue };
            let mut sum = |sum: &Sum| settled(context, self.symbols, path, here.cta, summary.head, sum);
            let (lower, upper, step) = (sum(&counted.lower), sum(&counted.upper), sum(&counted.step));
            let length = upper.plus(&lower, -1)?;
            let symbol = &noticed(context, self.symbols, path, here.cta, summary.head, *symbol);
            // counter - upper < 0, or not.
            if matches!(op, CmpOp::Slt | CmpOp::Sge)
                && let Some(iteration) = length.plus(rest, 1).and_then(|done| done.times(&step))
                && iteration >= 0
            {
                return Some((*symbol, iteration, op == CmpOp::Slt));
            }
            // upper - counter > 0, or not.
            if matches!(op, CmpOp::Sgt | CmpOp::Sle)
                && let Some(iteration) = length.plus(rest, -1).and_then(|done| done.times(&step))
                && iteration >= 0
            {
                return Some((*symbol, iteration, op == CmpOp::Sgt));
            }
        }
        None
    }
}

fn decided(yes: bool, no: bool) -> Option<bool> {
    if yes {
        Some(true)
    } else if no {
        Some(false)
    } else {
        None
    }
}
