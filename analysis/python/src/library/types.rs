//! Types of memory and tensor descriptors in the IR, with aliases for their layouts.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use rustc_hash::FxHasher;

use crate::emit::{LayoutAlias, Type};
use crate::interp::{Interp, Stop};
use crate::value::{DType, DescKind, DescSpace, Value};
use ttgir::MemSpace;

/// The text of a layout of shared or tensor memory.
pub fn layout_text<'a>(interp: &Interp<'a>, layout: &Value<'a>) -> Result<String, Stop> {
    match layout {
        Value::Object(object) => match object.class.text {
            Some(text) => text(interp, object),
            None => interp.raise(format!("`{}` is no layout of shared or tensor memory", object.class.path)),
        },
        Value::Unknown(reason) => interp.unknown(reason.clone()),
        other => interp.raise(format!("a {} is no layout", other.class_name())),
    }
}

/// The name of a layout at the top of the module. It is kept by object and content: views hand the layout of their
/// memory on.
fn alias<'a>(interp: &mut Interp<'a>, layout: &Value<'a>) -> Result<LayoutAlias, Stop> {
    let key = match layout {
        Value::Object(object) => {
            let mut hasher = FxHasher::default();
            hash(layout, &mut hasher, 8).then(|| (object.clone(), (Rc::as_ptr(object), hasher.finish())))
        }
        _ => None,
    };
    if let Some((_, known)) = key.as_ref().and_then(|(_, key)| interp.state.layouts.get(key)) {
        return Ok(*known);
    }
    let text = layout_text(interp, layout)?;
    let alias = interp.builder.alias(&text);
    if let Some((object, key)) = key {
        interp.state.layouts.insert(key, (object, alias));
    }
    Ok(alias)
}

/// Hashes what a value holds; whether all of it could be.
fn hash(value: &Value<'_>, into: &mut FxHasher, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    std::mem::discriminant(value).hash(into);
    let all = |items: &[Value<'_>], into: &mut FxHasher| {
        items.len().hash(into);
        items.iter().all(|item| hash(item, into, depth))
    };
    match value {
        Value::None => {}
        Value::Bool(value) => value.hash(into),
        Value::Int(value) => value.hash(into),
        Value::Str(text) => text.hash(into),
        Value::DType(dtype) => dtype.hash(into),
        Value::Tuple(items) => return all(items, into),
        Value::List(items) => return items.try_borrow().is_ok_and(|items| all(&items, into)),
        Value::Object(object) => {
            object.class.path.hash(into);
            return object.fields.iter().all(|(_, value)| hash(value, into, depth));
        }
        _ => return false,
    }
    true
}

/// The type of a memory descriptor.
pub fn memory_type<'a>(
    interp: &mut Interp<'a>,
    space: DescSpace,
    dtype: DType,
    shape: &[i64],
    alloc_shape: &[i64],
    layout: &Value<'a>,
) -> Result<Type, Stop> {
    let layout = alias(interp, layout)?;
    Ok(Type::MemDesc {
        shape: shape.into(),
        element: dtype.ir().into(),
        layout,
        space: match space {
            DescSpace::Shared => MemSpace::Shared,
            DescSpace::Tensor => MemSpace::Tensor,
        },
        alloc_shape: alloc_shape.into(),
    })
}

/// The type of a tensor descriptor; plain Triton leaves the layout of its blocks open, as `None`.
pub fn descriptor_type<'a>(
    interp: &mut Interp<'a>,
    kind: DescKind,
    dtype: DType,
    block: &[i64],
    layout: &Value<'a>,
) -> Result<Type, Stop> {
    let layout = match layout {
        Value::None => None,
        layout => Some(alias(interp, layout)?),
    };
    let element = match dtype {
        DType::UInt8 => "ui8",
        DType::UInt16 => "ui16",
        DType::UInt32 => "ui32",
        DType::UInt64 => "ui64",
        _ => dtype.ir_name(),
    };
    Ok(Type::TensorDesc { im2col: kind == DescKind::Im2col, block: block.into(), element, layout })
}
