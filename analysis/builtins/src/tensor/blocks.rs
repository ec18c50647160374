//! Block pointers, which Triton had up to 3.8: a block of a tensor in global memory, by its base, shape and strides.
//!
//! A block pointer is an object of scalars; an access makes pointers and a mask of it, as Triton's compiler does.

use std::rc::Rc;

use ruff_python_ast::{CmpOp, Operator};

use super::shapes::{pointee, shape_of, tensor};
use crate::operand;
use crate::values::arg;
use dialects::Tt;
use python::emit::Op;
use python::eval::flat::BLOCK_POINTER;
use python::interp::{Eval, Interp, Stop};
use python::library::{Bound, LibClass, NOTHING, Part, Row, gone};
use python::target::Version;
use python::value::{DType, Object, Tensor, Value};

pub(super) const PART: Part = Part {
    rows: &[
        Row::new("tl.make_block_ptr", "base, shape, strides, offsets, block_shape, order", 4, make).refused(9),
        Row::new("tl.advance", "base, offsets", 4, advance).refused(9),
        Row::new("tl.block_pointer.advance", "self, offsets", 4, advance),
        Row::new("tl.block_pointer.@dtype", "self", 4, pointer_type),
        Row::new("tl.block_pointer.@type", "self", 4, pointer_type),
    ],
    classes: &[LibClass::new(BLOCK_POINTER, "base, shape, strides, offsets, block_shape", &[], 4, |interp, _, _| {
        interp.unknown("a block pointer is made by `make_block_ptr`")
    })],
    ..NOTHING
};

/// Numbers of a list as scalars of a type.
fn scalars<'a>(interp: &mut Interp<'a>, list: &Value<'a>, dtype: DType, name: &str) -> Eval<'a> {
    let mut all = Vec::new();
    for item in operand::list(interp, list, name)? {
        all.push(Value::Tensor(interp.scalar_tensor(&item, dtype)?));
    }
    Ok(Value::Tuple(all.into()))
}

fn make<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    if interp.version > Version(3, 8) {
        gone(interp, "make_block_ptr", "`make_tensor_descriptor`", 8);
    }
    let base = tensor(interp, bound, 0)?;
    pointee(interp, &base)?;
    if !base.shape.is_empty() {
        return interp.raise("the base of a block pointer is one pointer");
    }
    let block = shape_of(interp, &[arg(bound, 4)], "block_shape")?;
    interp.check_block(&block)?;
    let shape = scalars(interp, &arg(bound, 1), DType::Int64, "shape")?;
    let strides = scalars(interp, &arg(bound, 2), DType::Int64, "strides")?;
    let offsets = scalars(interp, &arg(bound, 3), DType::Int32, "offsets")?;
    for part in [&shape, &strides, &offsets] {
        if !matches!(part, Value::Tuple(items) if items.len() == block.len()) {
            return interp.raise("`shape`, `strides`, `offsets` and `block_shape` have the same number of dimensions");
        }
    }
    let Some(Value::LibClass(class)) = interp.library.lookup(BLOCK_POINTER, interp.version) else {
        return interp.unknown("block pointers are not known");
    };
    let block = Value::Tuple(block.into_iter().map(|size| Value::Int(size.into())).collect());
    let fields = vec![
        ("base", Value::Tensor(base)),
        ("shape", shape),
        ("strides", strides),
        ("offsets", offsets),
        ("block_shape", block),
    ];
    Ok(Value::Object(Rc::new(Object { class, fields })))
}

/// The type of the block's pointers; `element_ty` of it is that of its elements.
fn pointer_type<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    match arg(bound, 0) {
        Value::Object(of) => match operand::field(&of, "base") {
            Some(Value::Tensor(base)) => Ok(Value::DType(base.dtype)),
            _ => interp.unknown("where this block points is not known"),
        },
        _ => interp.raise("this is no block pointer"),
    }
}

fn advance<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let Value::Object(of) = arg(bound, 0) else { return interp.raise("only a block pointer is advanced") };
    let steps = operand::list(interp, &arg(bound, 1), "offsets")?;
    let before = part(interp, &of, "offsets")?;
    if steps.len() != before.len() {
        return interp.raise(format!("{} offsets for a block of {} dimensions", steps.len(), before.len()));
    }
    let mut offsets = Vec::new();
    for (offset, step) in before.iter().zip(&steps) {
        let step = interp.scalar_tensor(step, DType::Int32)?;
        offsets.push(interp.binary(Operator::Add, offset, &Value::Tensor(step))?);
    }
    let mut fields = of.fields.clone();
    for (name, value) in &mut fields {
        if *name == "offsets" {
            *value = Value::Tuple(offsets.clone().into());
        }
    }
    Ok(Value::Object(Rc::new(Object { class: of.class, fields })))
}

fn part<'a>(interp: &Interp<'a>, of: &Object<'a>, name: &str) -> Result<Rc<[Value<'a>]>, Stop> {
    match operand::field(of, name) {
        Some(Value::Tuple(items)) => Ok(items.clone()),
        _ => interp.unknown("what this block pointer is is not known"),
    }
}

/// Whether a value is a block pointer.
pub(super) fn block<'v, 'a>(value: &'v Value<'a>) -> Option<&'v Object<'a>> {
    match value {
        Value::Object(object) if object.class.path == BLOCK_POINTER => Some(object),
        _ => None,
    }
}

/// The pointers of a block, and where they are within the tensor along the dimensions that are checked.
pub(super) fn pointers<'a>(
    interp: &mut Interp<'a>,
    of: &Object<'a>,
    checked: &[i64],
) -> Result<(Tensor<'a>, Option<Value<'a>>), Stop> {
    let [shape, strides, offsets, block] =
        ["shape", "strides", "offsets", "block_shape"].map(|name| part(interp, of, name));
    let (shape, strides, offsets, block) = (shape?, strides?, offsets?, block?);
    let mut pointer = operand::field(of, "base").cloned().unwrap_or(Value::None);
    let rank = block.len();
    let (mut mask, none) = (None, Rc::new(Value::None));
    for (at, (((size, limit), stride), offset)) in block.iter().zip(&*shape).zip(&*strides).zip(&*offsets).enumerate() {
        let size = operand::int(interp, size, "block_shape")?;
        let range = Op::new(Tt::MakeRange).attr("end", size).attr("start", 0);
        let range = interp.register_op(range, "result", DType::Int32, &(Rc::from([size]), none.clone()));
        let range = interp.cast(&range, DType::Int64)?;
        let offset = interp.scalar_tensor(offset, DType::Int64)?;
        let place = interp.binary(Operator::Add, &Value::Tensor(offset), &Value::Tensor(range))?;
        let Value::Tensor(mut place) = place else { return interp.unknown("the place of a block is no tensor") };
        for other in (0..rank).filter(|other| *other != at) {
            place = interp.expanded(&place, other, &none);
        }
        let place = Value::Tensor(place);
        let distance = interp.binary(Operator::Mult, &place, stride)?;
        pointer = interp.binary(Operator::Add, &pointer, &distance)?;
        if checked.contains(&(at as i64)) {
            let (from, to) =
                (interp.compare(CmpOp::GtE, &place, &Value::Int(0))?, interp.compare(CmpOp::Lt, &place, limit)?);
            let inside = interp.binary(Operator::BitAnd, &from, &to)?;
            mask = Some(match mask {
                Some(before) => interp.binary(Operator::BitAnd, &before, &inside)?,
                None => inside,
            });
        }
    }
    match pointer {
        Value::Tensor(pointer) => Ok((pointer, mask)),
        _ => interp.unknown("the pointers of a block are not known"),
    }
}
