//! Comparisons.

use crate::doubt::DoubtKind;
use ruff_python_ast::CmpOp;

use super::registers::{known, opaque};
use crate::interp::{Eval, Interp};
use crate::syntax::operators::{ordered, predicate};
use crate::value::{DType, Tensor, Value};
use ttgir::build::numbers::wrap;

impl<'a> Interp<'a> {
    /// `a op b`.
    pub fn compare(&mut self, op: CmpOp, a: &Value<'a>, b: &Value<'a>) -> Eval<'a> {
        // Whatever it is, it is a truth value; tensors are compared below.
        let open = self.follows_host() && (crate::host::is_unknown(a) || crate::host::is_unknown(b));
        // The environment is taken to hold nothing, as by `os.environ.get`.
        if let (Value::Lib(path), CmpOp::In | CmpOp::NotIn) = (b, op)
            && &**path == "os.environ"
        {
            return Ok(Value::Bool(op == CmpOp::NotIn));
        }
        if open
            && matches!(op, CmpOp::In | CmpOp::NotIn)
            && !matches!(b, Value::Tuple(_) | Value::List(_) | Value::Dict(_) | Value::Set(_))
        {
            return Ok(crate::host::number(crate::host::OpenNumber::Bool));
        }
        match op {
            CmpOp::Is | CmpOp::IsNot => {
                if open
                    && let Value::None = b
                    && let Value::Host(_) = a
                {
                    return Ok(Value::Bool(op == CmpOp::IsNot));
                }
                if open && [a, b].into_iter().any(|value| matches!(value, Value::Unknown(_) | Value::Lib(_))) {
                    return Ok(crate::host::number(crate::host::OpenNumber::Bool));
                }
                if let Some(unknown) = [a, b].into_iter().find(|value| matches!(value, Value::Unknown(_))) {
                    return Ok(unknown.clone());
                }
                let same = match (a, b) {
                    (Value::Lib(path), Value::None) if path.starts_with(super::rows::FILE) => false,
                    (Value::Lib(_), Value::None) | (Value::None, Value::Lib(_)) => {
                        return Ok(Value::Unknown("whether a library has this is not known".into()));
                    }
                    _ => super::host::equal(a, b) && a.class_name() == b.class_name(),
                };
                return Ok(Value::Bool(same == (op == CmpOp::Is)));
            }
            CmpOp::In | CmpOp::NotIn => {
                let found = match b {
                    Value::Str(text) => match a {
                        Value::Str(part) => text.contains(&**part),
                        Value::Unknown(_) => return Ok(a.clone()),
                        _ => return self.raise("what is looked for in a text is no text"),
                    },
                    Value::Unknown(_) => return Ok(b.clone()),
                    _ => {
                        let items = self.items(b)?;
                        if open && !items.iter().any(|item| super::host::equal(item, a)) {
                            return Ok(crate::host::number(crate::host::OpenNumber::Bool));
                        }
                        if let Some(unknown) = items.iter().find(|item| matches!(item, Value::Unknown(_)))
                            && !items.iter().any(|item| super::host::equal(item, a))
                        {
                            return Ok(unknown.clone());
                        }
                        if let Value::Unknown(_) = a {
                            return Ok(a.clone());
                        }
                        items.iter().any(|item| super::host::equal(item, a))
                    }
                };
                return Ok(Value::Bool(found == (op == CmpOp::In)));
            }
            _ => {}
        }
        let unknown = [a, b].into_iter().find(|value| matches!(value, Value::Unknown(_)));
        if let Some(unknown) = unknown {
            return Ok(match open {
                true => crate::host::number(crate::host::OpenNumber::Bool),
                false => unknown.clone(),
            });
        }
        if let Some(number) = a.member_number() {
            return self.compare(op, &number, b);
        }
        if let Some(number) = b.member_number() {
            return self.compare(op, a, &number);
        }
        if matches!(a, Value::Host(_)) || matches!(b, Value::Host(_)) {
            let made = crate::host::binary(self, None, a, b)?;
            let own = if crate::host::is_number(&made) { crate::host::compared(op, a, b) } else { None };
            return Ok(own.unwrap_or(made));
        }
        let (forward, reflected) = match op {
            CmpOp::Eq => ("__eq__", "__eq__"),
            CmpOp::NotEq => ("__ne__", "__ne__"),
            CmpOp::Lt => ("__lt__", "__gt__"),
            CmpOp::LtE => ("__le__", "__ge__"),
            CmpOp::Gt => ("__gt__", "__lt__"),
            _ => ("__ge__", "__le__"),
        };
        if let Some(result) = self.overloaded(a, b, forward, reflected)? {
            return Ok(result);
        }
        if matches!(a, Value::Tensor(_)) || matches!(b, Value::Tensor(_)) {
            let number = |value: &Value<'a>| {
                matches!(value, Value::Tensor(_) | Value::Bool(_) | Value::Int(_) | Value::Float(_))
            };
            if number(a) && number(b) {
                return self.compare_computed(op, a, b);
            }
        }
        match op {
            CmpOp::Eq | CmpOp::NotEq => {
                let torch = |value: &Value<'a>| matches!(value, Value::Lib(path) if path.starts_with("torch."));
                let known = self.follows_host() && torch(a) && torch(b)
                    || matches!((a, b), (Value::DType(_), of) | (of, Value::DType(_)) if torch(of));
                if (matches!(a, Value::Lib(_)) || matches!(b, Value::Lib(_))) && !super::host::equal(a, b) && !known {
                    return Ok(Value::Unknown("a value of a library is compared".into()));
                }
                match super::host::compared(a, b) {
                    Some(equal) => Ok(Value::Bool(equal == (op == CmpOp::Eq))),
                    None => Ok(Value::Unknown("whether these values are equal is not known".into())),
                }
            }
            _ => {
                let Some(order) = super::host::order(a, b) else {
                    if matches!(a, Value::Lib(_)) || matches!(b, Value::Lib(_)) {
                        return Ok(Value::Unknown("a value of a library is compared".into()));
                    }
                    return self.raise(format!("{} and {} have no order", a.class_name(), b.class_name()));
                };
                Ok(Value::Bool(match op {
                    CmpOp::Lt => order.is_lt(),
                    CmpOp::LtE => order.is_le(),
                    CmpOp::Gt => order.is_gt(),
                    _ => order.is_ge(),
                }))
            }
        }
    }

    fn compare_computed(&mut self, op: CmpOp, a: &Value<'a>, b: &Value<'a>) -> Eval<'a> {
        let (shape, layout) = self.broadcast(a, b)?;
        let pointer = |value: &Value<'a>| matches!(value, Value::Tensor(Tensor { dtype: DType::Ptr(_), .. }));
        if pointer(a) || pointer(b) {
            let bit = opaque(DType::Int1, &shape, &layout);
            return Ok(Value::Tensor(if shape.is_empty() { self.free(DType::Int1) } else { bit }));
        }
        let dtype = self.common(a, b, false)?;
        // A number that was loaded beside one that counts.
        let is_int = |value: &Value<'a>| matches!(value, Value::Tensor(tensor) if tensor.dtype.is_int());
        if shape.is_empty() && dtype.is_float() && (is_int(a) || is_int(b)) {
            self.doubt(DoubtKind::NoInteger);
        }
        let constant = |value: &Value<'a>| match value {
            Value::Int(int) => Some(wrap(*int, dtype)),
            Value::Bool(bool) => Some(i128::from(*bool)),
            Value::Tensor(tensor) => tensor.constant.map(|value| wrap(value, dtype)),
            _ => None,
        };
        if let (Some(x), Some(y), true) = (constant(a), constant(b), dtype.is_int()) {
            let holds = match op {
                CmpOp::Eq => x == y,
                CmpOp::NotEq => x != y,
                CmpOp::Lt => x < y,
                CmpOp::LtE => x <= y,
                CmpOp::Gt => x > y,
                _ => x >= y,
            };
            return Ok(Value::Tensor(known(i128::from(holds), DType::Int1)));
        }
        let extent = (shape, layout);
        let (left, right) = (self.filled(a, dtype, &extent)?, self.filled(b, dtype, &extent)?);
        let word = if dtype.is_float() { ordered(op) } else { predicate(op, dtype.is_unsigned()) };
        Ok(Value::Tensor(self.compared(word, &left, &right)))
    }
}
