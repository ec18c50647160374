//! What a kernel asks of its compilation: warps, CTAs, constants, layouts, cache policies.

use std::rc::Rc;

use super::layouts::{build, opaque_registers, opaque_shared};
use builtins::operand::{given, ints, need};
use python::interp::{Eval, Interp};
use python::library::{Bound, LibClass, Row};
use python::library::{NOTHING, Part};
use python::value::{DType, Range, Value};

pub(super) const PART: Part = Part {
    rows: &[
        Row::new("gl.constexpr", "value", 4, |interp, bound| {
            let value = need(interp, bound, "value")?;
            match value {
                Value::Tensor(tensor) if tensor.constant.is_none() => {
                    interp.raise("a constexpr is asked for, and the kernel computes this value")
                }
                _ => Ok(value.clone()),
            }
        }),
        Row::new("gl._unwrap_if_constexpr", "value", 4, |interp, bound| Ok(need(interp, bound, "value")?.clone())),
        Row::new("gl.static_range", "arg1, arg2=None, step=None", 4, static_range),
        Row::new("gl.num_warps", "", 6, |interp, _| Ok(Value::Int(interp.num_warps.into()))),
        Row::new("gl.num_ctas", "", 6, |interp, _| Ok(Value::Int(interp.num_ctas.into()))),
        Row::new("gl.to_linear_layout", "layout, shape", 6, |interp, bound| {
            let layout = need(interp, bound, "layout")?;
            let shape = ints(interp, need(interp, bound, "shape")?, "shape")?;
            match layout {
                Value::Object(object) if matches!(object.class.path, "gl.AutoLayout" | "gl.SharedLinearLayout") => {
                    Ok(layout.clone())
                }
                Value::Object(object) if object.class.is_a("gl.SharedLayout") => opaque_shared(interp, &[]),
                _ => opaque_registers(interp, &shape),
            }
        }),
        // Bits of a number as those of another: nothing but registers.
        Row::new("gl.fpsan.embed", "input", 9, |interp, bound| {
            let bits = match need(interp, bound, "input")? {
                Value::Tensor(tensor) => tensor.dtype.bits(),
                _ => 32,
            };
            let dtype = match bits {
                8 => DType::Int8,
                16 => DType::Int16,
                64 => DType::Int64,
                _ => DType::Int32,
            };
            retyped(interp, bound, dtype)
        }),
        Row::new("gl.fpsan.unembed", "input, dtype", 9, |interp, bound| {
            let dtype = builtins::operand::dtype(interp, need(interp, bound, "dtype")?, "dtype")?;
            retyped(interp, bound, dtype)
        }),
        Row::new("gl.bank_conflicts", "distr_ty, shared_ty", 6, |interp, _| {
            interp.unknown("bank conflicts are not counted")
        }),
    ],
    classes: &[
        LibClass::new(
            "gl.nvidia.ampere.CachePolicy",
            "cache_modifier=None, l1=None, l2=None, l2_prefetch_size=None",
            &[],
            9,
            plain,
        ),
        LibClass::new(
            "gl.nvidia.ampere.FractionalEvictionPolicy",
            "primary, fraction, secondary='evict_unchanged'",
            &[],
            9,
            plain,
        ),
        LibClass::new("gl.CachePolicy", "cache_modifier=None, eviction_policy=None", &[], 9, plain),
    ],
    ..NOTHING
};

/// Registers of another element type, whose content is not followed.
fn retyped<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, dtype: DType) -> Eval<'a> {
    match need(interp, bound, "input")? {
        Value::Tensor(tensor) if !tensor.shape.is_empty() => {
            let (shape, layout) = (tensor.shape.clone(), Value::clone(&tensor.layout));
            Ok(interp.registers(dtype, &shape, layout))
        }
        _ => Ok(Value::Tensor(interp.free(dtype))),
    }
}

fn plain<'a>(_: &mut Interp<'a>, class: &'static LibClass, bound: &Bound<'a>) -> Eval<'a> {
    Ok(Value::Object(Rc::new(build(class, bound, &[]))))
}

fn static_range<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let first = need(interp, bound, "arg1")?.clone();
    let (start, stop) = match given(bound, "arg2") {
        Some(stop) => (first, stop.clone()),
        None => (Value::Int(0), first),
    };
    let step = given(bound, "step").cloned().unwrap_or(Value::Int(1));
    for bound in [&start, &stop, &step] {
        match bound {
            Value::Int(_) | Value::Bool(_) => {}
            Value::Unknown(reason) => return interp.unknown(reason.clone()),
            Value::Tensor(_) => {
                return interp.raise("`static_range` counts to constants; the kernel computes this one");
            }
            Value::Lib(path) => return interp.unknown(format!("the value of `{path}` is not known")),
            other => return interp.raise(format!("`static_range` counts in integers, not in {}", other.class_name())),
        }
    }
    if matches!(step, Value::Int(0)) {
        return interp.raise("`static_range` with a step of 0");
    }
    Ok(Value::Range(Rc::new(Range { start, stop, step, unrolled: true })))
}
