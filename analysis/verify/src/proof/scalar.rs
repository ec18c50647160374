//! What an operation on open values gives, and what has to be decided for it.

use super::super::demand::Demand;
use super::super::outcome::OpenReason;
use super::eval::{plain, rests};
use super::facts::Fact;
use super::path::{Path, execution};
use super::sums::varies;
use super::value::{Sum, Symbol, SymbolOrigin, Value};
use super::walk::{Answer, Here, Walk, WalkStop};
use kernel::{CmpOp, InputId, InputKind, Pure, Var, Width};
use smallvec::SmallVec;

impl Walk<'_, '_> {
    /// The value of an operation.
    pub(super) fn evaluate(&mut self, path: &mut Path, here: Here, dst: Var, pure: &Pure<Var>) -> Answer<Value> {
        let known = |var: Var| path.values[here.cta].get(var.index()).and_then(Value::known);
        if !matches!(pure, Pure::Input(_) | Pure::Load(..)) && pure.operands().iter().all(|&var| known(var).is_some()) {
            let number = pure.eval(|var| known(var).unwrap_or(0), |_| 0, |_, _| 0);
            return number.map(Value::constant).ok_or(WalkStop::Open(OpenReason::Budget));
        }
        match *pure {
            Pure::Input(input) => return Ok(self.input(path, here, input)),
            Pure::Load(input, _) => return Ok(self.load(path, here, dst, input)),
            Pure::Select(condition, a, b) => {
                let chosen = if self.bit(path, here, condition)? { a } else { b };
                return Ok(path.value(here.cta, chosen));
            }
            Pure::Cmp(op, width, a, b) => {
                let (x, y) = (path.value(here.cta, a), path.value(here.cta, b));
                let holds = self.compare(path, here, Some(dst), op, width, &x, &y)?;
                return Ok(holds.map_or(Value::Unknown, |holds| Value::constant(i64::from(holds))));
            }
            Pure::MaxS(width, a, b) | Pure::MinS(width, a, b) => {
                let (x, y) = (path.value(here.cta, a), path.value(here.cta, b));
                let Some(less) = self.compare(path, here, None, CmpOp::Slt, width, &x, &y)? else {
                    return Ok(Value::Unknown);
                };
                return Ok(if less == matches!(pure, Pure::MaxS(..)) { y } else { x });
            }
            Pure::Copy(a) => return Ok(path.value(here.cta, a)),
            _ => {}
        }
        let values: SmallVec<[Value; 3]> =
            pure.operands().iter().map(|&operand| path.value(here.cta, operand)).collect();
        let linear = matches!(pure, Pure::Add(..) | Pure::Sub(..) | Pure::Mul(..) | Pure::ExtS(..) | Pure::ExtU(..));
        if linear
            && let Some(Value::Sum(sum)) = plain(pure, &values, self.symbols)
            && !sum.terms.iter().any(|&(symbol, _)| self.is_function(symbol, pure))
        {
            return Ok(Value::Sum(sum));
        }
        let values: SmallVec<[Value; 3]> = values.into_iter().map(|value| self.resolve(path, here, value)).collect();
        if values.iter().all(|value| value.known().is_some()) {
            return plain(pure, &values, self.symbols).ok_or(WalkStop::Open(OpenReason::Budget));
        }
        let demand = self.context.kept.get(dst.index()).copied().unwrap_or(Demand::Whole);
        if let Some(value) = self.divide(path, here, pure, &values, demand)? {
            return Ok(value);
        }
        if let Some(value) = self.logic(path, here, pure, &values)? {
            return Ok(value);
        }
        if let Demand::Modulo(modulus) = demand {
            let modulus = (modulus as i64).max(2);
            let mut parts: SmallVec<[Option<i64>; 3]> = SmallVec::new();
            for value in &values {
                let known = match value.known() {
                    Some(known) => Some(known.rem_euclid(modulus)),
                    None => self.rest(path, here, value, modulus)?,
                };
                parts.push(known);
            }
            if let Some(value) = rests(pure, modulus, |at, _| parts.get(at).copied().flatten()) {
                return Ok(value);
            }
        }
        Ok(plain(pure, &values, self.symbols).unwrap_or(Value::Unknown))
    }

    /// Whether a symbol was made for this very operation.
    fn is_function(&self, symbol: Symbol, pure: &Pure<Var>) -> bool {
        matches!(self.symbols.origin(symbol), Some(SymbolOrigin::Function(of, _)) if *of == pure.map(|_| ()))
    }

    /// An input where it is read: one that may differ each time is a symbol for each time.
    fn input(&mut self, path: &mut Path, here: Here, input: InputId) -> Value {
        let info = self.context.kernel.inputs.get(input.index());
        if info.is_some_and(|info| info.kind == InputKind::CtaRank) {
            return Value::constant(i64::from(self.machine.cluster().number(here.cta)));
        }
        let base = self.symbols.of(SymbolOrigin::Input(input));
        let mut symbol = base;
        if varies(self.context.kernel, input) {
            let key = execution(self.context, path, here.cta, here.block);
            symbol = self.symbols.of(SymbolOrigin::At(base, key));
        }
        if info.is_some_and(|info| info.width == 1) {
            path.facts.add(base, &Fact::between(0, 1));
        }
        Value::Sum(Sum::symbol(symbol))
    }

    fn load(&mut self, path: &Path, here: Here, dst: Var, input: InputId) -> Value {
        let place = smallvec::smallvec![Sum::constant(i64::from(dst.0))];
        let base = self.symbols.of(SymbolOrigin::Function(Pure::Load(input, ()), place));
        let key = execution(self.context, path, here.cta, here.block);
        Value::Sum(Sum::symbol(self.symbols.of(SymbolOrigin::At(base, key))))
    }

    /// Remainders, masks and quotients by constants; `None` for other operations.
    fn divide(
        &mut self,
        path: &Path,
        here: Here,
        pure: &Pure<Var>,
        values: &[Value],
        demand: Demand,
    ) -> Answer<Option<Value>> {
        let (Some(value), Some(by)) = (values.first(), values.get(1).and_then(Value::known)) else { return Ok(None) };
        let (divisor, quotient, signed) = match *pure {
            Pure::RemS(..) | Pure::RemU(..) => (by, false, true),
            Pure::And(..) if by >= 0 && (by + 1) & by == 0 => (by + 1, false, false),
            Pure::DivS(..) | Pure::DivU(..) => (by, true, true),
            Pure::FloorDivS(..) => (by, true, false),
            Pure::ShrS(..) if (0..16).contains(&by) => (1 << by, true, false),
            Pure::ShrU(..) if (0..16).contains(&by) => (1 << by, true, true),
            _ => return Ok(None),
        };
        if divisor <= 0 {
            return Ok(None);
        }
        if let Value::Sum(sum) = value {
            let (low, high) = self.range(path, here, sum);
            if low >= 0 && high < divisor {
                return Ok(Some(if quotient { Value::constant(0) } else { value.clone() }));
            }
            if signed && low < 0 {
                // What the machine does with negative numbers is not what a rest says.
                if high < 0 {
                    return Ok(None);
                }
                match self.compare(path, here, None, CmpOp::Sge, Width(64), value, &Value::constant(0))? {
                    Some(true) => {}
                    _ => return Ok(None),
                }
            }
        }
        if !quotient {
            return Ok(self.rest(path, here, value, divisor)?.map(Value::constant));
        }
        let Demand::Modulo(modulus) = demand else { return Ok(None) };
        let modulus = modulus as i64;
        let Some(whole) = divisor.checked_mul(modulus) else { return Ok(None) };
        let rest = self.rest(path, here, value, whole)?;
        Ok(rest.map(|rest| Value::Rest { modulus, rest: rest / divisor }))
    }

    /// Operations on conditions; `None` for other operations.
    fn logic(&mut self, path: &Path, here: Here, pure: &Pure<Var>, values: &[Value]) -> Answer<Option<Value>> {
        let (Pure::And(width, ..) | Pure::Or(width, ..) | Pure::Xor(width, ..)) = pure else { return Ok(None) };
        let [a, b] = values else { return Ok(None) };
        if *width != Width(1) {
            return Ok(None);
        }
        let absorbs = match pure {
            Pure::And(..) => Some(0),
            Pure::Or(..) => Some(1),
            _ => None,
        };
        if absorbs.is_some() && (a.known() == absorbs || b.known() == absorbs) {
            return Ok(absorbs.map(Value::constant));
        }
        let (Some(x), Some(y)) = (self.rest(path, here, a, 2)?, self.rest(path, here, b, 2)?) else {
            return Ok(Some(Value::Unknown));
        };
        Ok(Some(Value::constant(match pure {
            Pure::And(..) => x & y,
            Pure::Or(..) => x | y,
            _ => x ^ y,
        })))
    }
}
