//! Types of memory and tensor descriptors as text of the IR, with aliases for their layouts.

use crate::interp::{Interp, Stop};
use crate::value::{DType, DescKind, Space, Value};

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

/// The type of a memory descriptor, as text.
pub fn memory_type<'a>(
    interp: &mut Interp<'a>,
    space: Space,
    dtype: DType,
    shape: &[i64],
    alloc_shape: &[i64],
    layout: &Value<'a>,
) -> Result<String, Stop> {
    let layout = layout_text(interp, layout)?;
    let layout = interp.emit.alias(&layout);
    let space = match space {
        Space::Shared => "#ttg.shared_memory",
        Space::Tensor => "#ttng.tensor_memory",
    };
    let whole = if shape == alloc_shape { String::new() } else { format!(", {}", dims(alloc_shape, "")) };
    Ok(format!("!ttg.memdesc<{}, {layout}, {space}, mutable{whole}>", dims(shape, &dtype.ir())))
}

/// The type of a tensor descriptor, as text.
pub fn descriptor_type<'a>(
    interp: &mut Interp<'a>,
    kind: DescKind,
    dtype: DType,
    block: &[i64],
    layout: &Value<'a>,
) -> Result<String, Stop> {
    let layout = layout_text(interp, layout)?;
    let layout = interp.emit.alias(&layout);
    let name = match kind {
        DescKind::Tiled | DescKind::Tdm => "!tt.tensordesc",
        DescKind::Im2col => "!ttng.tensordesc_im2col",
    };
    let element = match dtype {
        DType::UInt8 | DType::UInt16 | DType::UInt32 | DType::UInt64 => format!("u{}", dtype.ir()),
        _ => dtype.ir(),
    };
    Ok(format!("{name}<{}, {layout}>", dims(block, &element)))
}

/// `64x128xf16`.
fn dims(shape: &[i64], element: &str) -> String {
    let mut parts: Vec<String> = shape.iter().map(i64::to_string).collect();
    if !element.is_empty() {
        parts.push(element.to_owned());
    }
    parts.join("x")
}
