//! Operations on values of which something is left open.

use super::value::{Sum, SymbolOrigin, Symbols, Value};
use kernel::{Pure, Width};

/// The result without any decision: exact arithmetic on sums, a symbol of its own for the rest.
/// `None`: the operation is undefined on these numbers. Assumed: sums do not wrap.
pub(super) fn plain<V: Copy>(pure: &Pure<V>, values: &[Value], symbols: &mut Symbols) -> Option<Value> {
    let value = |at: usize| values.get(at).cloned().unwrap_or(Value::Unknown);
    if let Pure::Input(input) = pure {
        return Some(Value::Sum(Sum::symbol(symbols.of(SymbolOrigin::Input(*input)))));
    }
    if let Some(known) = values.iter().map(Value::known).collect::<Option<Vec<i64>>>()
        && !matches!(pure, Pure::Load(..))
    {
        let mut at = 0usize;
        let numbered = pure.map(|_| {
            at += 1;
            at - 1
        });
        let result = numbered.eval(|at| known.get(at).copied().unwrap_or(0), |_| 0, |_, _| 0)?;
        return Some(Value::constant(result));
    }
    let linear = |factor: i64| match (value(0), value(1)) {
        (Value::Sum(a), Value::Sum(b)) => a.plus(&b, factor).map(Value::Sum),
        _ => None,
    };
    let exact = match *pure {
        Pure::Copy(_) => Some(value(0)),
        Pure::Add(width, ..) if width != Width(1) => linear(1),
        Pure::Sub(width, ..) if width != Width(1) => linear(-1),
        Pure::Mul(width, ..) if width != Width(1) => match (value(0), value(1)) {
            (Value::Sum(a), Value::Sum(b)) if b.terms.is_empty() => Sum::default().plus(&a, b.add).map(Value::Sum),
            (Value::Sum(a), Value::Sum(b)) if a.terms.is_empty() => Sum::default().plus(&b, a.add).map(Value::Sum),
            _ => None,
        },
        Pure::ExtS(from, ..) if from != Width(1) => Some(value(0)),
        Pure::ExtU(..) => Some(value(0)),
        Pure::Trunc(to, _) if to.0 >= 32 => Some(value(0)),
        _ => None,
    };
    if let Some(exact) = exact {
        return Some(exact);
    }
    let blank = pure.map(|_| kernel::Var(0));
    let result = symbols.function(&blank, values.iter().cloned());
    Some(result.map_or(Value::Unknown, |symbol| Value::Sum(Sum::symbol(symbol))))
}

/// The result of an operation on rests that needs no decision: sums, products and bits modulo
/// what is known of both. `rest` gives an operand modulo a number, where it is known.
pub(super) fn rests<V: Copy>(
    pure: &Pure<V>,
    modulus: i64,
    mut rest: impl FnMut(usize, i64) -> Option<i64>,
) -> Option<Value> {
    let result = match *pure {
        Pure::Add(..) => rest(0, modulus)? + rest(1, modulus)?,
        Pure::Mul(..) => rest(0, modulus)?.checked_mul(rest(1, modulus)?)?,
        Pure::And(..) if modulus & (modulus - 1) == 0 => rest(0, modulus)? & rest(1, modulus)?,
        Pure::Or(..) if modulus & (modulus - 1) == 0 => rest(0, modulus)? | rest(1, modulus)?,
        Pure::Xor(..) if modulus & (modulus - 1) == 0 => rest(0, modulus)? ^ rest(1, modulus)?,
        Pure::Copy(_) | Pure::ExtU(..) => rest(0, modulus)?,
        Pure::ExtS(from, ..) if from != Width(1) => rest(0, modulus)?,
        Pure::Trunc(to, _) if 1i64.checked_shl(u32::from(to.0)).is_none_or(|range| range % modulus == 0) => {
            rest(0, modulus)?
        }
        _ => return None,
    };
    Some(Value::Rest { modulus, rest: result.rem_euclid(modulus) })
}
