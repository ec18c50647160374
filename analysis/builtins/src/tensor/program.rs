//! The program and its compilation: ids and hints.

use super::shapes::none;
use crate::operand;
use crate::values::arg;
use dialects::Tt;
use python::doubt::DoubtKind;
use python::emit::{Op, Type};
use python::eval::registers::MAX_ELEMENTS;
use python::interp::{Eval, Interp};
use python::library::{Bound, Fixed, NOTHING, Part, Row};
use python::value::{DType, Tensor, Value};

pub(super) const PART: Part = Part {
    rows: &[
        Row::new("gl.program_id", "axis", 4, program_id),
        Row::new("gl.num_programs", "axis", 4, num_programs),
        Row::new("gl.tuple", "args, type=None", 4, tuple),
        Row::new("gl.static_print", "*values, sep=' ', end='\\n', file=None, flush=False", 4, none),
        Row::new("gl.assume", "cond", 4, assume),
        Row::new("tl.condition", "arg1, disable_licm=False", 4, itself),
        // They order launches, of which the analysis sees one.
        Row::new("tl.extra.cuda.gdc_wait", "", 4, none),
        Row::new("tl.extra.cuda.gdc_launch_dependents", "", 4, none),
        Row::new("tl.extra.cuda.num_warps", "", 4, |interp, _| Ok(Value::Int(interp.num_warps.into()))),
        Row::new("tl.extra.cuda.num_threads", "", 4, |interp, _| Ok(Value::Int(i128::from(interp.num_warps) * 32))),
        Row::new("tl.extra.cuda.globaltimer", "", 4, |interp, _| Ok(Value::Tensor(interp.free(DType::Int64)))),
        Row::new("tl.extra.cuda.smid", "", 4, |interp, _| Ok(Value::Tensor(interp.free(DType::Int32)))),
        Row::new("gl.multiple_of", "input, values", 4, itself),
        Row::new("gl.max_contiguous", "input, values", 4, itself),
        Row::new("gl.max_constancy", "input, values", 4, itself),
    ],
    constants: &[("tl.TRITON_MAX_TENSOR_NUMEL", Fixed::Int(MAX_ELEMENTS))],
    ..NOTHING
};

fn itself<'a>(_: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(arg(bound, 0))
}

fn tuple<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(Value::Tuple(crate::values::items(interp, &arg(bound, 0))?.into()))
}

fn grid<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, op: Tt) -> Eval<'a> {
    let axis = operand::int(interp, &arg(bound, 0), "axis")?;
    let Some(axis) = usize::try_from(axis).ok().and_then(|axis| ["x", "y", "z"].get(axis)) else {
        return interp.raise(format!("the axis of a program is 0, 1 or 2, not {axis}"));
    };
    let ssa = interp.computed(Op::new(op).attr("axis", *axis), "result", &Type::I32);
    let (shape, layout) = (std::rc::Rc::from([]), std::rc::Rc::new(Value::None));
    Ok(Value::Tensor(Tensor { ssa: Some(ssa), dtype: DType::Int32, shape, layout, constant: None }))
}

fn program_id<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    grid(interp, bound, Tt::GetProgramId)
}

fn num_programs<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    grid(interp, bound, Tt::GetNumPrograms)
}

/// An assumption that does not hold makes what follows meaningless, but is not refused.
fn assume<'a>(interp: &mut Interp<'a>, args: &Bound<'a>) -> Eval<'a> {
    let Some(condition) = args.at(0).cloned() else { return Ok(Value::None) };
    if interp.truth(&condition) == Some(false) {
        interp.doubt(DoubtKind::Assertion);
    }
    let Value::Tensor(condition) = condition else { return Ok(Value::None) };
    interp.assume_holds(&condition)
}
