//! Arithmetic that the kernel does.
//!
//! Scalars and register tensors become ops, with the types that Triton gives them; integers that are computed
//! from constants are constants.

use std::rc::Rc;

use ruff_python_ast::Operator;

use super::registers::{Extent, known, none, opaque};
use crate::emit::{Op, Ssa};
use crate::interp::{Eval, Interp, Stop};
use crate::value::{DType, Tensor, Value};
use dialects::{Arith, Tt};
use ttgir::build::numbers::wrap;

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
            Value::Float(float) => DType::of_float(*float),
            Value::Tensor(tensor) => tensor.dtype,
            Value::Unknown(reason) => return self.unknown(reason.clone()),
            Value::Lib(path) => return self.unknown(format!("the value of `{path}` is not known")),
            value => match value.member_number() {
                Some(number) => return self.number_type(&number),
                None => return self.raise(format!("{} cannot be a tensor", value.class_name())),
            },
        })
    }

    /// A number as a scalar of the kernel.
    pub(super) fn as_tensor(&mut self, value: &Value<'a>) -> Value<'a> {
        if let Some(number) = value.member_number() {
            return self.as_tensor(&number);
        }
        match (value, self.number_type(value)) {
            (Value::Bool(bool), _) => Value::Tensor(known(i128::from(*bool), DType::Int1)),
            (Value::Int(int), Ok(dtype)) => Value::Tensor(known(*int, dtype)),
            (Value::Float(float), Ok(dtype)) => Value::Tensor(self.float(*float, dtype)),
            _ => value.clone(),
        }
    }

    /// A host number or a scalar as an SSA value of a type; casts are emitted.
    pub fn scalar(&mut self, value: &Value<'a>, dtype: DType) -> Result<Ssa, Stop> {
        let tensor = self.scalar_tensor(value, dtype)?;
        Ok(self.ssa(&tensor))
    }

    /// The same, as a tensor; a tensor keeps its shape.
    pub fn scalar_tensor(&mut self, value: &Value<'a>, dtype: DType) -> Result<Tensor<'a>, Stop> {
        match value {
            Value::Bool(_) | Value::Int(_) if dtype.is_int() => {
                let int = self.int(value)?;
                let int = if dtype == DType::Int1 { i128::from(int != 0) } else { wrap(int, dtype) };
                Ok(known(int, dtype))
            }
            Value::Bool(_) | Value::Int(_) if dtype.is_float() => {
                let int = self.int(value)?;
                Ok(self.float(int as f64, dtype))
            }
            Value::Float(float) if dtype.is_float() => Ok(self.float(*float, dtype)),
            Value::Float(float) if dtype.is_int() && *float == 0.0 => Ok(known(0, dtype)),
            Value::Bool(_) | Value::Int(_) | Value::Float(_) => Ok(opaque(dtype, &Rc::from([]), &Rc::new(Value::None))),
            Value::Tensor(tensor) => self.cast(tensor, dtype),
            Value::Unknown(reason) => self.unknown(reason.clone()),
            Value::Lib(path) => self.unknown(format!("the value of `{path}` is not known")),
            value => match value.member_number() {
                Some(number) => self.scalar_tensor(&number, dtype),
                None => self.raise(format!("a number is needed here, and this is {}", value.class_name())),
            },
        }
    }

    /// The type in which two operands meet.
    ///
    /// # Errors
    ///
    /// Where one is no number, or they do not go together.
    pub fn common(&mut self, a: &Value<'a>, b: &Value<'a>, division: bool) -> Result<DType, Stop> {
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
            return self.moved(of, by, op == Operator::Sub, &(shape, layout)).map(Value::Tensor);
        }
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
        let extent = (shape, layout);
        if dtype.is_int() {
            let (left, right) = (self.scalar_tensor(a, dtype)?, self.scalar_tensor(b, dtype)?);
            return self.int_op(op, &left, &right, dtype, &extent).map(Value::Tensor);
        }
        let (left, right) = (self.filled(a, dtype, &extent)?, self.filled(b, dtype, &extent)?);
        let op = match op {
            Operator::Add => Arith::Addf,
            Operator::Sub => Arith::Subf,
            Operator::Mult => Arith::Mulf,
            Operator::Div => Arith::Divf,
            Operator::Mod => Arith::Remf,
            _ => return Ok(Value::Tensor(opaque(dtype, &extent.0, &extent.1))),
        };
        Ok(Value::Tensor(self.binary_op(op, &left, &right)))
    }

    /// A pointer that is moved by so many elements.
    fn moved(&mut self, of: &Tensor<'a>, by: &Value<'a>, back: bool, extent: &Extent<'a>) -> Result<Tensor<'a>, Stop> {
        let mut offset = self.number_type(by)?;
        if !offset.is_int() {
            return self.raise(format!("a pointer is moved by integers, not by {}", offset.name()));
        }
        let mut by = self.scalar_tensor(by, offset)?;
        if back {
            let own = (by.shape.clone(), by.layout.clone());
            by = self.int_op(Operator::Sub, &known(0, offset), &by, offset, &own)?;
        }
        if by.constant == Some(0) {
            return Ok(self.shaped(of, extent));
        }
        // Offsets count as signed.
        if offset.is_unsigned() && offset.bits() < 64 {
            offset = DType::Int64;
            by = self.cast(&by, offset)?;
        }
        let (pointer, by) = (self.shaped(of, extent), self.shaped(&by, extent));
        let (pointer, by) = (self.ssa(&pointer), self.ssa(&by));
        let moved = Op::new(Tt::Addptr).operand("ptr", pointer).operand("offset", by);
        Ok(self.register_op(moved, "result", of.dtype, extent))
    }

    fn int_op(
        &mut self,
        op: Operator,
        a: &Tensor<'a>,
        b: &Tensor<'a>,
        dtype: DType,
        extent: &Extent<'a>,
    ) -> Result<Tensor<'a>, Stop> {
        if let (Some(x), Some(y)) = (a.constant, b.constant)
            && let Some(value) = fold(op, x, y, dtype)
        {
            return Ok(known(wrap(value, dtype), dtype));
        }
        // What the compiler folds at once, where the one that is left has the shape of both.
        let left = |tensor: &Tensor<'a>| tensor.shape == extent.0;
        match (op, a.constant.filter(|_| left(b)), b.constant.filter(|_| left(a))) {
            (Operator::Add | Operator::BitOr | Operator::BitXor, _, Some(0)) => return Ok(a.clone()),
            (Operator::Add | Operator::BitOr | Operator::BitXor, Some(0), _) => return Ok(b.clone()),
            (Operator::Sub | Operator::LShift | Operator::RShift, _, Some(0)) => return Ok(a.clone()),
            (Operator::Mult | Operator::FloorDiv, _, Some(1)) => return Ok(a.clone()),
            (Operator::Mult, Some(1), _) => return Ok(b.clone()),
            (Operator::Mult | Operator::BitAnd, _, Some(0)) | (Operator::Mult | Operator::BitAnd, Some(0), _) => {
                return Ok(self.shaped(&known(0, dtype), extent));
            }
            (Operator::Mod, _, Some(1)) => return Ok(self.shaped(&known(0, dtype), extent)),
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
        let (a, b) = (self.shaped(a, extent), self.shaped(b, extent));
        let (left, right) = (self.ssa(&a), self.ssa(&b));
        Ok(self.register_op(Op::new(name).operand("lhs", left).operand("rhs", right), "result", dtype, extent))
    }

    /// A condition, which Triton only takes as a boolean or a pointer.
    fn bit(&mut self, tensor: &Tensor<'a>) -> Result<Tensor<'a>, Stop> {
        match tensor.dtype {
            DType::Int1 | DType::Ptr(_) => self.cast(tensor, DType::Int1),
            other => {
                self.raise(format!("`not`, `and` and `or` take booleans, and this is {}: compare it", other.name()))
            }
        }
    }

    /// `not value`.
    pub(super) fn not(&mut self, tensor: &Tensor<'a>) -> Eval<'a> {
        let bit = self.bit(tensor)?;
        self.arithmetic(Operator::BitXor, &Value::Tensor(bit), &Value::Bool(true))
    }

    /// `a and b`, `a or b` of computed values.
    pub(super) fn logical(&mut self, and: bool, a: &Value<'a>, b: &Value<'a>) -> Eval<'a> {
        let mut bit = |value: &Value<'a>| match value {
            Value::Tensor(tensor) => self.bit(tensor).map(Value::Tensor),
            value => Ok(value.clone()),
        };
        let (a, b) = (bit(a)?, bit(b)?);
        self.binary(if and { Operator::BitAnd } else { Operator::BitOr }, &a, &b)
    }

    /// The shape of two operands together, and the layout of the one that has one.
    pub(super) fn broadcast(&mut self, a: &Value<'a>, b: &Value<'a>) -> Result<Extent<'a>, Stop> {
        let parts = |value: &Value<'a>| match value {
            Value::Tensor(tensor) => (tensor.shape.clone(), tensor.layout.clone()),
            _ => none(),
        };
        self.together(parts(a), parts(b))
    }

    /// The shape to which two are broadcast, with the layout of the first that has one. Dimensions of size 1 are put
    /// before the shorter one.
    ///
    /// # Errors
    ///
    /// Where they do not go together.
    pub fn together(&self, a: Extent<'a>, b: Extent<'a>) -> Result<Extent<'a>, Stop> {
        let ((left, left_layout), (right, right_layout)) = (a, b);
        if left.is_empty() {
            return Ok((right, right_layout));
        }
        if !right.is_empty() {
            self.check_layouts(&left_layout, &right_layout)?;
        }
        let layout = if matches!(*left_layout, Value::None) { right_layout } else { left_layout };
        if right.is_empty() || left == right {
            return Ok((left, layout));
        }
        let rank = left.len().max(right.len());
        let mut shape = Vec::with_capacity(rank);
        for at in 0..rank {
            let size = |of: &[i64]| (at + of.len()).checked_sub(rank).and_then(|at| of.get(at).copied()).unwrap_or(1);
            let (x, y) = (size(&left), size(&right));
            if x != y && x != 1 && y != 1 {
                return self.raise(format!("shapes {left:?} and {right:?} do not go together"));
            }
            shape.push(x.max(y));
        }
        self.check_block(&shape)?;
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
    fn integers_meet_as_in_c() {
        assert_eq!(promote(DType::Int32, DType::Int64), DType::Int64);
        assert_eq!(promote(DType::UInt32, DType::Int32), DType::UInt32);
        assert_eq!(promote(DType::Int64, DType::UInt32), DType::Int64);
        assert_eq!(promote(DType::Int1, DType::Int32), DType::Int32);
    }
}
