//! Values as lists of what the kernel computes, for branches, loops and partitions.

use std::cell::RefCell;
use std::rc::Rc;

use crate::emit::Ssa;
use crate::interp::Interp;
use crate::limits::values::AGGREGATES as LEVELS;
use crate::value::{ClassInstance, Object, Tensor, TensorDesc, Value};

/// The class of block pointers, which are taken apart into their scalars.
pub const BLOCK_POINTER: &str = "tl.block_pointer";

fn is_block(object: &Object<'_>) -> bool {
    object.class.path == BLOCK_POINTER
}

/// The parts of a value that cannot be taken apart further, in a fixed order.
pub fn leaves<'a>(value: &Value<'a>, out: &mut Vec<Value<'a>>) {
    leaves_within(value, LEVELS, out);
}

fn leaves_within<'a>(value: &Value<'a>, levels: u32, out: &mut Vec<Value<'a>>) {
    let Some(levels) = levels.checked_sub(1) else {
        out.push(value.clone());
        return;
    };
    let mut inner = |part: &Value<'a>| leaves_within(part, levels, out);
    match value {
        Value::Tuple(items) => items.iter().for_each(inner),
        Value::Instance(instance) => instance.fields.borrow().iter().for_each(|(_, field)| inner(field)),
        Value::Object(object) if is_block(object) => object.fields.iter().for_each(|(_, field)| inner(field)),
        Value::TensorDesc(desc) => {
            out.push(value.clone());
            desc.shape.iter().chain(&desc.strides).for_each(|part| leaves_within(part, levels, out));
        }
        _ => out.push(value.clone()),
    }
}

/// The value with other leaves, as many as it has.
pub fn rebuild<'a>(value: &Value<'a>, next: &mut dyn FnMut() -> Value<'a>) -> Value<'a> {
    rebuild_within(value, LEVELS, next)
}

fn rebuild_within<'a>(value: &Value<'a>, levels: u32, next: &mut dyn FnMut() -> Value<'a>) -> Value<'a> {
    let Some(levels) = levels.checked_sub(1) else { return next() };
    match value {
        Value::Tuple(items) => {
            let items: Vec<_> = items.iter().map(|item| rebuild_within(item, levels, next)).collect();
            Value::Tuple(items.into())
        }
        Value::Instance(instance) => {
            let fields = instance.fields.borrow();
            let fields =
                fields.iter().map(|(name, field)| (name.clone(), rebuild_within(field, levels, next))).collect();
            Value::Instance(Rc::new(ClassInstance { class: instance.class.clone(), fields: RefCell::new(fields) }))
        }
        Value::Object(object) if is_block(object) => {
            let fields =
                object.fields.iter().map(|(name, field)| (*name, rebuild_within(field, levels, next))).collect();
            Value::Object(Rc::new(Object { class: object.class, fields }))
        }
        Value::TensorDesc(desc) => {
            let own = match next() {
                Value::TensorDesc(desc) => desc.ssa,
                _ => desc.ssa,
            };
            let shape = desc.shape.iter().map(|part| rebuild_within(part, levels, next)).collect();
            let strides = desc.strides.iter().map(|part| rebuild_within(part, levels, next)).collect();
            Value::TensorDesc(Rc::new(TensorDesc { ssa: own, shape, strides, ..TensorDesc::clone(desc) }))
        }
        _ => next(),
    }
}

/// Whether two values have the same parts.
pub(super) fn alike<'a>(a: &Value<'a>, b: &Value<'a>) -> bool {
    alike_within(a, b, LEVELS)
}

fn alike_within<'a>(a: &Value<'a>, b: &Value<'a>, levels: u32) -> bool {
    let Some(levels) = levels.checked_sub(1) else { return true };
    let alike = |a: &Value<'a>, b: &Value<'a>| alike_within(a, b, levels);
    match (a, b) {
        (Value::Tuple(a), Value::Tuple(b)) => a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| alike(a, b)),
        (Value::Instance(a), Value::Instance(b)) => {
            Rc::ptr_eq(a, b) || {
                let (x, y) = (a.fields.borrow(), b.fields.borrow());
                std::ptr::eq(a.class.def, b.class.def)
                    && x.len() == y.len()
                    && x.iter().zip(y.iter()).all(|((m, a), (n, b))| m == n && alike(a, b))
            }
        }
        (Value::Object(a), Value::Object(b)) if is_block(a) && is_block(b) => {
            a.fields.len() == b.fields.len() && a.fields.iter().zip(&b.fields).all(|((_, a), (_, b))| alike(a, b))
        }
        (Value::Object(a), _) | (_, Value::Object(a)) if is_block(a) => false,
        (Value::TensorDesc(a), Value::TensorDesc(b)) => {
            a.shape.len() == b.shape.len() && a.strides.len() == b.strides.len()
        }
        (Value::Tuple(_) | Value::Instance(_) | Value::TensorDesc(_), _)
        | (_, Value::Tuple(_) | Value::Instance(_) | Value::TensorDesc(_)) => false,
        _ => true,
    }
}

/// The SSA value of a leaf that is one.
pub(super) fn own(value: &Value<'_>) -> Option<Ssa> {
    match value {
        Value::Tensor(tensor) => tensor.ssa,
        Value::MemDesc(memory) => Some(memory.ssa),
        Value::TensorDesc(desc) => Some(desc.ssa),
        _ => None,
    }
}

/// Whether a leaf is computed by the kernel.
pub fn computed(value: &Value<'_>) -> bool {
    matches!(value, Value::Tensor(_) | Value::MemDesc(_) | Value::TensorDesc(_))
}

/// Whether a leaf is a register tensor, or another value without content.
pub fn content_free(value: &Value<'_>) -> bool {
    matches!(value, Value::Tensor(Tensor { ssa: None, constant: None, .. }))
}

/// Whether two leaves are the same value.
pub(super) fn same<'a>(a: &Value<'a>, b: &Value<'a>) -> bool {
    match (a, b) {
        (Value::Tensor(x), Value::Tensor(y)) => {
            // A constant is the same wherever it was emitted.
            let constant = x.constant.is_some() || x.ssa == y.ssa;
            x.dtype == y.dtype && x.shape == y.shape && x.constant == y.constant && constant
        }
        (Value::TensorDesc(_), Value::TensorDesc(_)) | (Value::MemDesc(_), Value::MemDesc(_)) => own(a) == own(b),
        (Value::Unknown(a), Value::Unknown(b)) => a == b,
        (Value::Tensor(_), _) | (_, Value::Tensor(_)) => false,
        (Value::Instance(a), Value::Instance(b)) if Rc::ptr_eq(a, b) => true,
        _ => std::mem::discriminant(a) == std::mem::discriminant(b) && super::host::equal(a, b),
    }
}

/// A leaf that is known in every region: constants are emitted again where they are needed.
pub(super) fn anywhere<'a>(value: Value<'a>) -> Value<'a> {
    match value {
        Value::Tensor(tensor @ Tensor { constant: Some(_), .. }) => Value::Tensor(Tensor { ssa: None, ..tensor }),
        value => value,
    }
}

/// A leaf with another SSA value.
pub fn with_ssa<'a>(like: &Value<'a>, ssa: Ssa) -> Value<'a> {
    match like {
        Value::Tensor(tensor) => Value::Tensor(Tensor { ssa: Some(ssa), constant: None, ..tensor.clone() }),
        Value::MemDesc(memory) => {
            let mut memory = crate::value::MemDesc::clone(memory);
            memory.ssa = ssa;
            Value::MemDesc(Rc::new(memory))
        }
        Value::TensorDesc(desc) => Value::TensorDesc(Rc::new(TensorDesc { ssa, ..TensorDesc::clone(desc) })),
        other => other.clone(),
    }
}

impl<'a> Interp<'a> {
    /// The SSA value of a leaf; opaque ones and constants are emitted here.
    pub fn leaf_ssa(&mut self, value: &Value<'a>) -> Option<Ssa> {
        match value {
            Value::Tensor(Tensor { constant: Some(constant), dtype, .. }) => {
                let constant = self.constant(*constant, *dtype);
                constant.ssa
            }
            Value::Tensor(tensor) => Some(self.ssa(tensor)),
            other => own(other),
        }
    }
}
