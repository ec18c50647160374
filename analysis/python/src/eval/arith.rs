//! Arithmetic that the kernel does.
//!
//! Integers of one value become ops, with the types that Triton gives them; what is computed from constants
//! is a constant. Floating point and register tensors are opaque, and pointers but for single ones to integers.

use std::rc::Rc;

use ruff_python_ast::Operator;

use crate::emit::{Op, Ssa, compare};
use crate::interp::{Eval, Interp, Stop};
use crate::value::{DType, Tensor, Value};
use dialects::{Arith, Tt};

/// A tensor whose content is not followed.
pub(super) fn opaque<'a>(dtype: DType, shape: &Rc<[i64]>, layout: &Rc<Value<'a>>) -> Tensor<'a> {
    Tensor { ssa: None, dtype, shape: shape.clone(), layout: layout.clone(), constant: None }
}

/// A constant that is not emitted until an op asks for it.
pub(super) fn known<'a>(value: i128, dtype: DType) -> Tensor<'a> {
    Tensor { constant: Some(value), ..opaque(dtype, &Rc::from([]), &Rc::new(Value::None)) }
}

/// The same tensor with another content.
pub(super) fn forget(value: Value<'_>) -> Value<'_> {
    match value {
        Value::Tensor(tensor) => Value::Tensor(Tensor { ssa: None, constant: None, ..tensor }),
        value => value,
    }
}

/// `value` as a number of this type: sign-extended, or between 0 and its maximum.
pub(super) fn wrap(value: i128, dtype: DType) -> i128 {
    let bits = dtype.bits();
    if bits == 0 || bits > 64 {
        return value;
    }
    let low = value & ((1i128 << bits) - 1);
    if !dtype.is_unsigned() && low >> (bits - 1) & 1 == 1 { low - (1i128 << bits) } else { low }
}

/// Bits of 0, 1 and 2 for booleans, integers and floating point: what a plain number adapts to.
fn rank(dtype: DType) -> u8 {
    match dtype {
        DType::Int1 => 0,
        dtype if dtype.is_int() => 1,
        _ => 2,
    }
}

impl<'a> Interp<'a> {
    /// The type that a number of Python has as a scalar.
    pub(super) fn number_type(&self, value: &Value<'a>) -> Result<DType, Stop> {
        Ok(match value {
            Value::Bool(_) => DType::Int1,
            Value::Int(int) => match *int {
                -0x8000_0000..=0x7fff_ffff => DType::Int32,
                0x8000_0000..=0xffff_ffff => DType::UInt32,
                -0x8000_0000_0000_0000..=0x7fff_ffff_ffff_ffff => DType::Int64,
                0x8000_0000_0000_0000..=0xffff_ffff_ffff_ffff => DType::UInt64,
                _ => return self.raise(format!("{int} does not fit into 64 bits")),
            },
            Value::Float(_) => DType::Fp32,
            Value::Tensor(tensor) => tensor.dtype,
            Value::Unknown(reason) => return self.unknown(reason.clone()),
            value => return self.raise(format!("{} cannot be a tensor", value.class_name())),
        })
    }

    /// A number as a scalar of the kernel.
    pub(super) fn as_tensor(&mut self, value: &Value<'a>) -> Value<'a> {
        match (value, self.number_type(value)) {
            (Value::Bool(bool), _) => Value::Tensor(known(i128::from(*bool), DType::Int1)),
            (Value::Int(int), Ok(dtype)) => Value::Tensor(known(*int, dtype)),
            (Value::Float(_), _) => Value::Tensor(opaque(DType::Fp32, &Rc::from([]), &Rc::new(Value::None))),
            _ => value.clone(),
        }
    }

    /// A host number or a scalar as an SSA value of a type; casts are emitted.
    pub fn scalar(&mut self, value: &Value<'a>, dtype: DType) -> Result<Ssa, Stop> {
        let tensor = self.scalar_tensor(value, dtype)?;
        Ok(self.ssa(&tensor))
    }

    /// The same, as a tensor.
    pub fn scalar_tensor(&mut self, value: &Value<'a>, dtype: DType) -> Result<Tensor<'a>, Stop> {
        match value {
            Value::Bool(_) | Value::Int(_) if dtype.is_int() => {
                let int = self.int(value)?;
                let int = if dtype == DType::Int1 { i128::from(int != 0) } else { wrap(int, dtype) };
                Ok(known(int, dtype))
            }
            Value::Bool(_) | Value::Int(_) | Value::Float(_) => Ok(opaque(dtype, &Rc::from([]), &Rc::new(Value::None))),
            Value::Tensor(tensor) => self.cast(tensor, dtype),
            Value::Unknown(reason) => self.unknown(reason.clone()),
            Value::Lib(path) => self.unknown(format!("the value of `{path}` is not known")),
            value => self.raise(format!("a number is needed here, and this is {}", value.class_name())),
        }
    }

    /// A tensor as one of another element type.
    pub fn cast(&mut self, tensor: &Tensor<'a>, dtype: DType) -> Result<Tensor<'a>, Stop> {
        if tensor.dtype == dtype {
            return Ok(tensor.clone());
        }
        if !tensor.shape.is_empty() || !dtype.is_int() {
            return Ok(opaque(dtype, &tensor.shape, &tensor.layout));
        }
        if !tensor.dtype.is_int() {
            return Ok(self.free(dtype));
        }
        if let Some(value) = tensor.constant {
            let value = if dtype == DType::Int1 { i128::from(value != 0) } else { wrap(value, dtype) };
            return Ok(known(value, dtype));
        }
        let from = self.ssa(tensor);
        let ty = dtype.ir();
        let ssa = if dtype == DType::Int1 {
            let zero = self.constant(0, tensor.dtype);
            let zero = self.ssa(&zero);
            self.computed(compare("ne", from, zero), "result", &ty)
        } else if dtype.bits() == tensor.dtype.bits() {
            from
        } else {
            let op = match (dtype.bits() < tensor.dtype.bits(), tensor.dtype.is_unsigned()) {
                (true, _) => Arith::Trunci,
                (false, true) => Arith::Extui,
                (false, false) => Arith::Extsi,
            };
            self.computed(Op::new(op).operand("in", from), "out", &ty)
        };
        Ok(Tensor { ssa: Some(ssa), dtype, ..tensor.clone() })
    }

    /// The type in which two operands meet.
    pub(super) fn common(&mut self, a: &Value<'a>, b: &Value<'a>, division: bool) -> Result<DType, Stop> {
        let (mut left, mut right) = (self.number_type(a)?, self.number_type(b)?);
        let (left_plain, right_plain) = (!matches!(a, Value::Tensor(_)), !matches!(b, Value::Tensor(_)));
        if left_plain != right_plain {
            let (plain, tensor) = if left_plain { (left, right) } else { (right, left) };
            if rank(plain) <= rank(tensor) {
                (left, right) = (tensor, tensor);
            }
        }
        if left.is_int() && right.is_int() {
            if division && left.is_unsigned() != right.is_unsigned() {
                return self.raise(format!(
                    "a division of {} and {}, which differ in their sign",
                    left.name(),
                    right.name()
                ));
            }
            return Ok(promote(left, right));
        }
        let either = |dtype| left == dtype || right == dtype;
        Ok(if either(DType::Fp64) {
            DType::Fp64
        } else if division || either(DType::Fp32) {
            DType::Fp32
        } else if either(DType::Fp16) {
            DType::Fp16
        } else if left == right {
            left
        } else if either(DType::Bf16) {
            DType::Fp32
        } else {
            DType::Fp16
        })
    }

    /// An operator with at least one operand that the kernel computes.
    pub(super) fn arithmetic(&mut self, op: Operator, a: &Value<'a>, b: &Value<'a>) -> Eval<'a> {
        let pointer = |value: &Value<'a>| matches!(value, Value::Tensor(Tensor { dtype: DType::Ptr(_), .. }));
        let (shape, layout) = self.broadcast(a, b)?;
        if pointer(a) || pointer(b) {
            let of = if pointer(a) { a } else { b };
            let Value::Tensor(of) = of else { return self.unknown("what this pointer is is not known") };
            if !matches!(op, Operator::Add | Operator::Sub) {
                return self.raise(format!("`{}` of a pointer", op.as_str()));
            }
            let by = if pointer(a) { b } else { a };
            return self.moved(of, by, op == Operator::Sub, &shape, &layout).map(Value::Tensor);
        }
        self.used(a);
        self.used(b);
        let division = matches!(op, Operator::Div | Operator::FloorDiv | Operator::Mod);
        let dtype = self.common(a, b, division)?;
        let dtype = match op {
            Operator::Div if dtype.is_int() => DType::Fp32,
            Operator::MatMult | Operator::Pow => return self.raise(format!("a tensor has no `{}`", op.as_str())),
            _ => dtype,
        };
        if !dtype.is_int()
            && matches!(op, Operator::BitAnd | Operator::BitOr | Operator::BitXor | Operator::LShift | Operator::RShift)
        {
            return self.raise(format!("`{}` of floating-point numbers", op.as_str()));
        }
        if !shape.is_empty() || !dtype.is_int() {
            return Ok(Value::Tensor(opaque(dtype, &shape, &layout)));
        }
        let (left, right) = (self.scalar_tensor(a, dtype)?, self.scalar_tensor(b, dtype)?);
        self.int_op(op, &left, &right, dtype).map(Value::Tensor)
    }

    /// A pointer that is moved by so many elements. Where to is followed for single ones to integers: what is loaded
    /// there may steer the kernel.
    fn moved(
        &mut self,
        of: &Tensor<'a>,
        by: &Value<'a>,
        back: bool,
        shape: &Rc<[i64]>,
        layout: &Rc<Value<'a>>,
    ) -> Result<Tensor<'a>, Stop> {
        let DType::Ptr(to) = of.dtype else { return Ok(opaque(of.dtype, shape, layout)) };
        let offset = if to.is_some_and(|to| to.is_int()) { self.number_type(by).ok() } else { None };
        let Some(offset) = offset.filter(|offset| offset.is_int() && *offset != DType::Int1 && shape.is_empty()) else {
            return Ok(opaque(of.dtype, shape, layout));
        };
        let mut by = self.scalar_tensor(by, offset)?;
        if back {
            by = self.int_op(Operator::Sub, &known(0, offset), &by, offset)?;
        }
        if by.constant == Some(0) {
            return Ok(of.clone());
        }
        let (pointer, by) = (self.ssa(of), self.ssa(&by));
        let moved = Op::new(Tt::Addptr).operand("ptr", pointer).operand("offset", by);
        let ssa = self.computed(moved, "result", &of.dtype.ir());
        Ok(Tensor { ssa: Some(ssa), ..opaque(of.dtype, shape, layout) })
    }

    fn int_op(&mut self, op: Operator, a: &Tensor<'a>, b: &Tensor<'a>, dtype: DType) -> Result<Tensor<'a>, Stop> {
        if let (Some(x), Some(y)) = (a.constant, b.constant)
            && let Some(value) = fold(op, x, y, dtype)
        {
            return Ok(known(wrap(value, dtype), dtype));
        }
        // What the compiler folds at once.
        match (op, a.constant, b.constant) {
            (Operator::Add | Operator::BitOr | Operator::BitXor, _, Some(0)) => return Ok(a.clone()),
            (Operator::Add | Operator::BitOr | Operator::BitXor, Some(0), _) => return Ok(b.clone()),
            (Operator::Sub | Operator::LShift | Operator::RShift, _, Some(0)) => return Ok(a.clone()),
            (Operator::Mult | Operator::FloorDiv, _, Some(1)) => return Ok(a.clone()),
            (Operator::Mult, Some(1), _) => return Ok(b.clone()),
            (Operator::Mult | Operator::BitAnd, _, Some(0)) | (Operator::Mult | Operator::BitAnd, Some(0), _) => {
                return Ok(known(0, dtype));
            }
            (Operator::Mod, _, Some(1)) => return Ok(self.constant(0, dtype)),
            _ => {}
        }
        let unsigned = dtype.is_unsigned();
        let name = match op {
            Operator::Add => Arith::Addi,
            Operator::Sub => Arith::Subi,
            Operator::Mult => Arith::Muli,
            Operator::FloorDiv | Operator::Div => {
                if unsigned {
                    Arith::Divui
                } else {
                    Arith::Divsi
                }
            }
            Operator::Mod => {
                if unsigned {
                    Arith::Remui
                } else {
                    Arith::Remsi
                }
            }
            Operator::LShift => Arith::Shli,
            Operator::RShift => {
                if unsigned {
                    Arith::Shrui
                } else {
                    Arith::Shrsi
                }
            }
            Operator::BitAnd => Arith::Andi,
            Operator::BitOr => Arith::Ori,
            Operator::BitXor => Arith::Xori,
            Operator::MatMult | Operator::Pow => return self.raise(format!("a tensor has no `{}`", op.as_str())),
        };
        Ok(self.emit_int(name, a, b, dtype))
    }

    fn emit_int(&mut self, op: Arith, a: &Tensor<'a>, b: &Tensor<'a>, dtype: DType) -> Tensor<'a> {
        let (left, right) = (self.ssa(a), self.ssa(b));
        let ssa = self.computed(Op::new(op).operand("lhs", left).operand("rhs", right), "result", &dtype.ir());
        Tensor { ssa: Some(ssa), ..opaque(dtype, &Rc::from([]), &Rc::new(Value::None)) }
    }

    /// Says that registers which an op computes are used; the math on them is not emitted.
    pub(super) fn used(&mut self, value: &Value<'a>) {
        if let Value::Tensor(tensor) = value
            && let (Some(ssa), false) = (tensor.ssa, tensor.shape.is_empty())
        {
            // An op that is declared nowhere is never refused.
            let _ = self.emit(Op::undeclared("tt.opaque").operand("operands", ssa));
        }
    }

    /// `not value`.
    pub(super) fn not(&mut self, tensor: &Tensor<'a>) -> Eval<'a> {
        let bit = self.cast(tensor, DType::Int1)?;
        self.arithmetic(Operator::BitXor, &Value::Tensor(bit), &Value::Bool(true))
    }

    /// `a and b`, `a or b` of computed values.
    pub(super) fn logical(&mut self, and: bool, a: &Value<'a>, b: &Value<'a>) -> Eval<'a> {
        let mut bit = |value: &Value<'a>| match value {
            Value::Tensor(tensor) => self.cast(tensor, DType::Int1).map(Value::Tensor),
            value => Ok(value.clone()),
        };
        let (a, b) = (bit(a)?, bit(b)?);
        self.binary(if and { Operator::BitAnd } else { Operator::BitOr }, &a, &b)
    }

    /// The shape of two operands together, and the layout of the one that has one.
    pub(super) fn broadcast(&mut self, a: &Value<'a>, b: &Value<'a>) -> Result<(Rc<[i64]>, Rc<Value<'a>>), Stop> {
        let none = || (Rc::from([]), Rc::new(Value::None));
        let parts = |value: &Value<'a>| match value {
            Value::Tensor(tensor) => (tensor.shape.clone(), tensor.layout.clone()),
            _ => none(),
        };
        let ((left, left_layout), (right, right_layout)) = (parts(a), parts(b));
        if left.is_empty() {
            return Ok((right, right_layout));
        }
        if right.is_empty() || left == right {
            let layout = if matches!(*left_layout, Value::None) { right_layout } else { left_layout };
            return Ok((left, layout));
        }
        if left.len() != right.len() {
            return self.raise(format!("shapes {left:?} and {right:?} do not go together"));
        }
        let mut shape = Vec::with_capacity(left.len());
        for (x, y) in left.iter().zip(right.iter()) {
            if x != y && *x != 1 && *y != 1 {
                return self.raise(format!("shapes {left:?} and {right:?} do not go together"));
            }
            shape.push(*x.max(y));
        }
        let layout = if matches!(*left_layout, Value::None) { right_layout } else { left_layout };
        Ok((shape.into(), layout))
    }
}

/// The integer type in which two meet.
pub fn promote(a: DType, b: DType) -> DType {
    match (a.is_unsigned(), b.is_unsigned()) {
        (x, y) if x == y => {
            if a.bits() > b.bits() {
                a
            } else {
                b
            }
        }
        (true, _) => {
            if a.bits() >= b.bits() {
                a
            } else {
                b
            }
        }
        _ => {
            if b.bits() >= a.bits() {
                b
            } else {
                a
            }
        }
    }
}

fn fold(op: Operator, a: i128, b: i128, dtype: DType) -> Option<i128> {
    let unsigned = dtype.is_unsigned();
    let bits = dtype.bits();
    match op {
        Operator::Add => a.checked_add(b),
        Operator::Sub => a.checked_sub(b),
        Operator::Mult => a.checked_mul(b),
        Operator::FloorDiv => a.checked_div(b),
        Operator::Mod => a.checked_rem(b),
        Operator::LShift => u32::try_from(b).ok().filter(|b| *b < bits).map(|b| a << b),
        Operator::RShift if unsigned => u32::try_from(b).ok().filter(|b| *b < bits).map(|b| wrap(a, dtype) >> b),
        Operator::RShift => u32::try_from(b).ok().filter(|b| *b < bits).map(|b| a >> b),
        Operator::BitAnd => Some(a & b),
        Operator::BitOr => Some(a | b),
        Operator::BitXor => Some(a ^ b),
        Operator::Div | Operator::MatMult | Operator::Pow => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_wrap_like_registers() {
        assert_eq!(wrap(0x8000_0000, DType::Int32), -0x8000_0000);
        assert_eq!(wrap(-1, DType::UInt32), 0xffff_ffff);
        assert_eq!(wrap(3, DType::Int1), 1);
    }

    #[test]
    fn integers_meet_as_in_c() {
        assert_eq!(promote(DType::Int32, DType::Int64), DType::Int64);
        assert_eq!(promote(DType::UInt32, DType::Int32), DType::UInt32);
        assert_eq!(promote(DType::Int64, DType::UInt32), DType::Int64);
        assert_eq!(promote(DType::Int1, DType::Int32), DType::Int32);
    }
}
