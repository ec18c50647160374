//! Types of memory and tensor descriptors in the IR, with aliases for their layouts.

use crate::emit::Type;
use crate::interp::{Interp, Stop};
use crate::value::{DType, DescKind, Space, Value};
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

/// The type of a memory descriptor.
pub fn memory_type<'a>(
    interp: &mut Interp<'a>,
    space: Space,
    dtype: DType,
    shape: &[i64],
    alloc_shape: &[i64],
    layout: &Value<'a>,
) -> Result<Type, Stop> {
    let layout = layout_text(interp, layout)?;
    Ok(Type::MemDesc {
        shape: shape.into(),
        element: dtype.ir().into(),
        layout: interp.builder.alias(&layout),
        space: match space {
            Space::Shared => MemSpace::Shared,
            Space::Tensor => MemSpace::Tensor,
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
        layout => Some(layout_text(interp, layout)?),
    };
    let element = match dtype {
        DType::UInt8 => "ui8",
        DType::UInt16 => "ui16",
        DType::UInt32 => "ui32",
        DType::UInt64 => "ui64",
        _ => dtype.ir_name(),
    };
    let layout = layout.map(|layout| interp.builder.alias(&layout));
    Ok(Type::TensorDesc { im2col: kind == DescKind::Im2col, block: block.into(), element, layout })
}
