//! Register tensors as SSA values: constants, casts, and operands that are brought to one shape.
//!
//! The ops are those of Triton's front end, on tensors without layouts: `tt.splat`, `tt.expand_dims`,
//! `tt.broadcast`, and the casts of `arith` and `tt`. A constant beside a tensor is a constant tensor at once.

use std::rc::Rc;

use crate::emit::{Attr, Op, Ssa, Type, compare};
use crate::interp::{Interp, Stop};
use crate::value::{DType, Tensor, Value};
use dialects::{Arith, Tt};
use ttgir::build::numbers::{float_text, wrap};

/// Elements of a tensor at most (`TRITON_MAX_TENSOR_NUMEL`).
pub const MAX_ELEMENTS: i64 = 1 << 20;

/// A tensor whose content is not followed.
pub(super) fn opaque<'a>(dtype: DType, shape: &Rc<[i64]>, layout: &Rc<Value<'a>>) -> Tensor<'a> {
    Tensor { ssa: None, dtype, shape: shape.clone(), layout: layout.clone(), constant: None }
}

/// A constant that is not emitted until an op asks for it.
pub(super) fn known<'a>(value: i128, dtype: DType) -> Tensor<'a> {
    Tensor { constant: Some(value), ..opaque(dtype, &Rc::from([]), &Rc::new(Value::None)) }
}

/// A shape, and the layout of registers that have it.
pub type Extent<'a> = (Rc<[i64]>, Rc<Value<'a>>);

impl<'a> Interp<'a> {
    /// A floating-point constant; formats of eight bits are rounded from `f32`, as Triton does.
    pub fn float(&mut self, value: f64, dtype: DType) -> Tensor<'a> {
        self.dense_float(value, dtype, &none())
    }

    /// A floating-point constant of a shape.
    fn dense_float(&mut self, value: f64, dtype: DType, extent: &Extent<'a>) -> Tensor<'a> {
        if dtype.bits() == 8 {
            let wide = self.dense_float(value, DType::Fp32, extent);
            return self.cast(&wide, dtype).unwrap_or(wide);
        }
        self.dense(&float_text(value, dtype), dtype, extent)
    }

    /// A constant of a shape, by its text in the IR.
    fn dense(&mut self, text: &str, dtype: DType, (shape, layout): &Extent<'a>) -> Tensor<'a> {
        let mut made = opaque(dtype, shape, layout);
        let ty = made.ir();
        let value = match (&**shape, dtype) {
            ([], DType::Int1) => Attr::Dialect(text.to_owned()),
            ([], _) => Attr::Dialect(format!("{text} : {ty}")),
            _ => Attr::Dialect(format!("dense<{text}> : {ty}")),
        };
        made.ssa = Some(self.computed(Op::new(Arith::Constant).attr("value", value), "result", &ty));
        made
    }

    /// A number as registers of a type and shape: a constant tensor.
    ///
    /// # Errors
    ///
    /// Where it is no number.
    pub fn filled(&mut self, value: &Value<'a>, dtype: DType, extent: &Extent<'a>) -> Result<Tensor<'a>, Stop> {
        let number = match value {
            Value::Float(float) => Some(*float),
            Value::Bool(bool) => Some(f64::from(u8::from(*bool))),
            Value::Int(int) => Some(*int as f64),
            _ => None,
        };
        if let (Some(number), true) = (number, dtype.is_float()) {
            return Ok(self.dense_float(number, dtype, extent));
        }
        let scalar = self.scalar_tensor(value, dtype)?;
        Ok(self.shaped(&scalar, extent))
    }

    /// Looks whether Triton has tensors of a shape.
    ///
    /// # Errors
    ///
    /// Where a dimension is no power of two, or there are too many elements.
    pub fn check_block(&self, shape: &[i64]) -> Result<(), Stop> {
        if let Some(odd) = shape.iter().find(|size| u64::try_from(**size).is_ok_and(|size| !size.is_power_of_two())) {
            return self.raise(format!("a tensor has a dimension of {odd}, which is no power of two"));
        }
        match shape.iter().copied().fold(1, i64::saturating_mul) {
            elements if elements > MAX_ELEMENTS => {
                self.raise(format!("a tensor has {elements} elements, and Triton takes {MAX_ELEMENTS} at most"))
            }
            _ => Ok(()),
        }
    }

    /// A tensor in another shape that it is broadcast to.
    pub fn shaped(&mut self, tensor: &Tensor<'a>, extent: &Extent<'a>) -> Tensor<'a> {
        let (shape, layout) = extent;
        if tensor.shape == *shape {
            return tensor.clone();
        }
        if let (Some(value), true) = (tensor.constant, tensor.shape.is_empty()) {
            let text = match tensor.dtype {
                DType::Int1 => if value & 1 == 0 { "false" } else { "true" }.to_owned(),
                _ => tensor.dtype.signed(value).to_string(),
            };
            return self.dense(&text, tensor.dtype, extent);
        }
        if tensor.shape.is_empty() {
            let src = self.ssa(tensor);
            return self.register_op(Op::new(Tt::Splat).operand("src", src), "result", tensor.dtype, extent);
        }
        let mut from = tensor.clone();
        while from.shape.len() < shape.len() {
            from = self.expanded(&from, 0, &Rc::new(Value::None));
        }
        if from.shape == *shape {
            from.layout = layout.clone();
            return from;
        }
        let src = self.ssa(&from);
        self.register_op(Op::new(Tt::Broadcast).operand("src", src), "result", tensor.dtype, extent)
    }

    /// With a dimension of size 1 put in; a scalar becomes a tensor.
    pub fn expanded(&mut self, tensor: &Tensor<'a>, axis: usize, layout: &Rc<Value<'a>>) -> Tensor<'a> {
        let mut shape = tensor.shape.to_vec();
        let axis = axis.min(shape.len());
        shape.insert(axis, 1);
        let extent: Extent<'a> = (shape.into(), layout.clone());
        if tensor.shape.is_empty() {
            return self.shaped(tensor, &extent);
        }
        let src = self.ssa(tensor);
        let op = Op::new(Tt::ExpandDims).operand("src", src).attr("axis", axis as i64);
        self.register_op(op, "result", tensor.dtype, &extent)
    }

    /// Emits an op that gives registers, by the group of its result.
    pub fn register_op(
        &mut self,
        op: Op,
        group: &'static str,
        dtype: DType,
        (shape, layout): &Extent<'a>,
    ) -> Tensor<'a> {
        let mut made = opaque(dtype, shape, layout);
        made.ssa = Some(self.computed(op, group, &made.ir()));
        made
    }

    /// Emits an op on two values of one type.
    pub fn binary_op(&mut self, op: impl Into<dialects::OpCode>, a: &Tensor<'a>, b: &Tensor<'a>) -> Tensor<'a> {
        let (left, right) = (self.ssa(a), self.ssa(b));
        let extent = (a.shape.clone(), a.layout.clone());
        self.register_op(Op::new(op).operand("lhs", left).operand("rhs", right), "result", a.dtype, &extent)
    }

    /// A comparison of two values of one type, by its predicate for integers or floats.
    pub fn compared(&mut self, predicate: &str, a: &Tensor<'a>, b: &Tensor<'a>) -> Tensor<'a> {
        let (left, right) = (self.ssa(a), self.ssa(b));
        let op = match a.dtype.is_float() {
            true => Op::new(Arith::Cmpf).attr("predicate", predicate).operand("lhs", left).operand("rhs", right),
            false => compare(predicate, left, right),
        };
        self.register_op(op, "result", DType::Int1, &(a.shape.clone(), a.layout.clone()))
    }

    /// A scalar or register tensor as one of another element type.
    ///
    /// # Errors
    ///
    /// As [`Interp::emit`].
    pub fn cast(&mut self, tensor: &Tensor<'a>, dtype: DType) -> Result<Tensor<'a>, Stop> {
        let from = tensor.dtype;
        if from == dtype {
            return Ok(tensor.clone());
        }
        if let (Some(value), true, true) = (tensor.constant, tensor.shape.is_empty(), from.is_int()) {
            if dtype.is_int() {
                let value = if dtype == DType::Int1 { i128::from(value != 0) } else { wrap(value, dtype) };
                return Ok(known(value, dtype));
            }
            if dtype.is_float() {
                return Ok(self.float(wrap(value, from) as f64, dtype));
            }
        }
        let converted = |interp: &mut Interp<'a>, op: Op, group: &'static str| {
            interp.register_op(op, group, dtype, &(tensor.shape.clone(), tensor.layout.clone()))
        };
        if dtype == DType::Int1 && (from.is_int() || from.is_float()) {
            let zero = self.zero(tensor);
            let predicate = if from.is_int() { "ne" } else { "une" };
            return Ok(self.compared(predicate, tensor, &zero));
        }
        let Some(cast) = conversion(from, dtype) else {
            return match (from, dtype) {
                // By way of `f32`, or of a wide integer.
                _ if from.is_float() && dtype.is_float() => {
                    let wide = self.cast(tensor, DType::Fp32)?;
                    self.cast(&wide, dtype)
                }
                (DType::Ptr(_), _) if dtype == DType::Int1 => {
                    let wide = self.cast(tensor, DType::Int64)?;
                    self.cast(&wide, dtype)
                }
                _ if tensor.shape.is_empty() => Ok(self.free(dtype)),
                _ => Ok(opaque(dtype, &tensor.shape, &tensor.layout)),
            };
        };
        let value = self.ssa(tensor);
        Ok(match cast {
            Conversion::None => Tensor { ssa: Some(value), dtype, ..tensor.clone() },
            Conversion::Arith(op) => converted(self, Op::new(op).operand("in", value), "out"),
            Conversion::Tt(op) => converted(self, Op::new(op).operand("src", value), "result"),
            Conversion::Rounded => {
                let op = Op::new(Tt::FpToFp).operand("src", value).attr("rounding", "rtne");
                converted(self, op, "result")
            }
        })
    }

    /// Zeros like a tensor.
    pub fn zero(&mut self, like: &Tensor<'a>) -> Tensor<'a> {
        let extent = (like.shape.clone(), like.layout.clone());
        if like.dtype.is_float() {
            return self.dense_float(0.0, like.dtype, &extent);
        }
        self.shaped(&known(0, like.dtype), &extent)
    }

    /// The bits of a value as another type of the same width.
    pub fn bits(&mut self, tensor: &Tensor<'a>, dtype: DType) -> Tensor<'a> {
        if tensor.dtype.ir() == dtype.ir() {
            return Tensor { dtype, ..tensor.clone() };
        }
        let src = self.ssa(tensor);
        let extent = (tensor.shape.clone(), tensor.layout.clone());
        self.register_op(Op::new(Tt::Bitcast).operand("src", src), "result", dtype, &extent)
    }

    /// `condition ? yes : no`, of operands in one type and of one shape or of none.
    pub fn selected(&mut self, condition: &Tensor<'a>, yes: &Tensor<'a>, no: &Tensor<'a>) -> Tensor<'a> {
        let [test, a, b] = [condition, yes, no].map(|part| self.ssa(part));
        let op = Op::new(Arith::Select).operand("condition", test).operand("true_value", a).operand("false_value", b);
        self.register_op(op, "result", yes.dtype, &(yes.shape.clone(), yes.layout.clone()))
    }

    /// The value where its type is the one that is asked for; else one of which only the type is known.
    pub(super) fn of_type(&mut self, value: Ssa, ty: &Type) -> Ssa {
        if *self.builder.ty(value) == *ty { value } else { self.opaque(ty) }
    }
}

/// No shape.
pub(super) fn none<'a>() -> Extent<'a> {
    (Rc::from([]), Rc::new(Value::None))
}

/// The op of a cast.
enum Conversion {
    /// The types are one in the IR.
    None,
    Arith(Arith),
    Tt(Tt),
    /// `tt.fp_to_fp`, rounded to nearest even.
    Rounded,
}

/// How one element type becomes another; none where it goes by way of a third, or not at all.
fn conversion(from: DType, to: DType) -> Option<Conversion> {
    use Conversion::{Arith as A, None as Same, Rounded, Tt as T};
    let standard = |dtype: DType| dtype.is_float() && dtype.bits() > 8;
    let (narrow, wide) = (from.bits() > to.bits(), from.bits() < to.bits());
    Some(match (from, to) {
        (DType::Ptr(_), DType::Ptr(_)) if from.ir() == to.ir() => Same,
        (DType::Ptr(_), DType::Ptr(_)) => T(Tt::Bitcast),
        (DType::Ptr(_), _) if to.is_int() && to.bits() == 64 => T(Tt::PtrToInt),
        (_, DType::Ptr(_)) if from.is_int() => T(Tt::IntToPtr),
        _ if from.is_int() && to.is_int() => match (narrow, wide) {
            (true, _) => A(Arith::Trunci),
            (_, true) if from.is_unsigned() => A(Arith::Extui),
            (_, true) => A(Arith::Extsi),
            _ => Same,
        },
        (DType::Bf16, DType::Fp16) | (DType::Fp16, DType::Bf16) => Rounded,
        _ if from.is_float() && to.is_float() && (from.bits() == 8 || to.bits() == 8) => match narrow {
            true => Rounded,
            false => T(Tt::FpToFp),
        },
        _ if standard(from) && standard(to) && narrow => A(Arith::Truncf),
        _ if standard(from) && standard(to) && wide => A(Arith::Extf),
        _ if standard(from) && to.is_int() && to.is_unsigned() => A(Arith::Fptoui),
        _ if standard(from) && to.is_int() => A(Arith::Fptosi),
        _ if from.is_int() && standard(to) && from.is_unsigned() => A(Arith::Uitofp),
        _ if from.is_int() && standard(to) => A(Arith::Sitofp),
        _ => return Option::None,
    })
}
