//! Storage that several of TLX's buffers share, and where they lie in it.

use std::rc::Rc;

use super::super::layouts::build;
use super::operand::{scalar, space};
use builtins::operand::{field, given, int, need};
use dialects::Tlx;
use python::emit::{Attr, Op, Ssa, Type};
use python::interp::{Eval, Interp, Stop};
use python::library::{Bound, LibClass, NOTHING, Part, Row};
use python::value::{DType, DescSpace, Object, Value};

const SPEC: &str = "tl.extra.tlx.storage_alias_spec";
const GROUP: &str = "tl.extra.tlx.reuse_group";

pub(super) const PART: Part = Part {
    rows: &[Row::effect(
        "tl.extra.tlx.storage_alias_spec.set_buffer_overlap",
        "self, overlap_def",
        4,
        |interp, bound| {
            let spec = handle(interp, need(interp, bound, "self")?, SPEC)?;
            let group = handle(interp, need(interp, bound, "overlap_def")?, GROUP)?;
            let op = Op::new(Tlx::SetBufferOverlap).operand("storage_alias_spec", spec);
            interp.emit_effect(op.operand("overlap_def", group))
        },
    )],
    classes: &[
        LibClass::new(SPEC, "storage=None, buffer_size_bytes=None, handle=None", &[], 4, shared_storage),
        LibClass::new(GROUP, "*args, group_type=None, group_size=1, handle=None", &[], 4, group),
    ],
    ..NOTHING
};

/// The object of a class with the value that an op gave it.
fn with_handle<'a>(class: &'static LibClass, bound: &Bound<'a>, ssa: Ssa) -> Value<'a> {
    let mut made = build(class, bound, &[]);
    made.fields.retain(|(name, _)| *name != "handle");
    made.fields.push(("handle", scalar(ssa, DType::Void)));
    Value::Object(Rc::new(made))
}

/// The value of a storage.
pub(super) fn storage<'a>(interp: &Interp<'a>, spec: &Rc<Object<'a>>) -> Result<Ssa, Stop> {
    handle(interp, &Value::Object(spec.clone()), SPEC)
}

fn handle<'a>(interp: &Interp<'a>, value: &Value<'a>, path: &str) -> Result<Ssa, Stop> {
    match value {
        Value::Object(object) if object.class.path == path => {
            let ssa = field(object, "handle").and_then(|of| if let Value::Tensor(of) = of { of.ssa } else { None });
            ssa.map_or_else(|| interp.unknown("which storage this is is not known"), Ok)
        }
        Value::Unknown(reason) => interp.unknown(reason.clone()),
        _ => interp.raise(format!("this is no `{path}`")),
    }
}

fn shared_storage<'a>(interp: &mut Interp<'a>, class: &'static LibClass, bound: &Bound<'a>) -> Eval<'a> {
    interp.explicit_memory = true;
    let (kind, ty) = match space(interp, bound)? {
        DescSpace::Shared => ("smem", "!tlx.storage_alias_spec<smem>"),
        DescSpace::Tensor => ("tmem", "!tlx.storage_alias_spec<tmem>"),
    };
    let size = given(bound, "buffer_size_bytes").map(|size| int(interp, size, "buffer_size_bytes")).transpose()?;
    let mut op = Op::new(Tlx::StorageAliasSpec).attr("storage", Attr::Dialect(kind.to_owned()));
    if let Some(size) = size {
        op = op.attr("buffer_size_bytes", size);
    }
    let ssa = interp.emit_value(op.result("result", Type::Scalar(ty)))?;
    Ok(with_handle(class, bound, ssa))
}

fn group<'a>(interp: &mut Interp<'a>, class: &'static LibClass, bound: &Bound<'a>) -> Eval<'a> {
    let mut elements = Vec::new();
    for one in &bound.rest {
        elements.push(match one {
            Value::MemDesc(of) => of.ssa,
            other => handle(interp, other, GROUP)?,
        });
    }
    let (kind, ty) = match given(bound, "group_type") {
        Some(Value::Type(name)) if name.ends_with("distinct") => ("distinct", "!tlx.reuse_group<distinct>"),
        Some(Value::Unknown(reason)) => return interp.unknown(reason.clone()),
        _ => ("shared", "!tlx.reuse_group<shared>"),
    };
    let size = given(bound, "group_size").map_or(Ok(1), |size| int(interp, size, "group_size"))?;
    let mut op = Op::new(Tlx::ReuseGroup).operands("elements", &elements);
    op = op.attr("group_kind", Attr::Dialect(kind.to_owned()));
    if size != 1 {
        op = op.attr("group_size", size);
    }
    let ssa = interp.emit_value(op.result("result", Type::Scalar(ty)))?;
    Ok(with_handle(class, bound, ssa))
}
