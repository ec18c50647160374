//! Builtins that only the evaluator can be: loops, assertions, partitions, imports at run time.

use std::rc::Rc;

use crate::emit::{Attr, Op};
use crate::interp::{Eval, Interp};
use crate::library::{Bound, NOTHING, Part, Row};
use crate::reason::chained;
use crate::value::{DType, Range, Tensor, Value};
use dialects::Llvm;

/// The bounds of a loop, and what its compilation is asked for.
const TL_RANGE: &str = "arg1, arg2=None, step=None, num_stages=None, loop_unroll_factor=None, \
     disallow_acc_multi_buffer=False, flatten=False, warp_specialize=False, disable_licm=False";

/// This file's share of the table.
pub static PART: Part = Part {
    rows: &[
        Row::new("range", "*args", 4, range),
        Row::new("tl.range", TL_RANGE, 4, tl_range),
        Row::new("gl.static_assert", "cond, msg=''", 4, static_assert),
        Row::new("importlib.import_module", "name, package=None", 4, import_module),
        Row::new("importlib.util.spec_from_file_location", "name, location=None, *, loader=None", 4, spec_from_file),
        Row::new("importlib.util.module_from_spec", "spec", 4, module_from_spec),
    ],
    ..NOTHING
};

fn range<'a>(interp: &mut Interp<'a>, args: &Bound<'a>) -> Eval<'a> {
    let (start, stop, step) = match &args.rest[..] {
        [stop] => (Value::Int(0), stop.clone(), Value::Int(1)),
        [start, stop] => (start.clone(), stop.clone(), Value::Int(1)),
        [start, stop, step] => (start.clone(), stop.clone(), step.clone()),
        _ => return interp.raise("a range has one to three bounds"),
    };
    counted(interp, start, stop, step)
}

fn tl_range<'a>(interp: &mut Interp<'a>, args: &Bound<'a>) -> Eval<'a> {
    let given = |at: usize| args.at(at).filter(|value| !matches!(value, Value::None)).cloned();
    let first = given(0).unwrap_or(Value::None);
    let (start, stop) = match given(1) {
        Some(stop) => (first, stop),
        None => (Value::Int(0), first),
    };
    counted(interp, start, stop, given(2).unwrap_or(Value::Int(1)))
}

fn counted<'a>(interp: &mut Interp<'a>, start: Value<'a>, stop: Value<'a>, step: Value<'a>) -> Eval<'a> {
    if matches!(step, Value::Int(0)) {
        return interp.raise("the step of a range is 0");
    }
    Ok(Value::Range(Rc::new(Range { start, stop, step, unrolled: false })))
}

fn static_assert<'a>(interp: &mut Interp<'a>, args: &Bound<'a>) -> Eval<'a> {
    let Some(condition) = args.at(0) else { return Ok(Value::None) };
    match (condition, interp.truth(condition)) {
        (Value::Unknown(reason), _) => interp.unknown(chained("whether this holds", reason)),
        // A constant of which nothing is known holds for what the assertion says of it.
        (Value::Tensor(condition), _) if interp.state.open_constants => interp.assume_holds(&condition.clone()),
        (Value::Tensor(_), _) => interp.raise("a static assertion is about constexprs, and this is computed"),
        (_, Some(false)) => {
            let message = args.at(1).map(|message| interp.str(message)).unwrap_or_default();
            let colon = if message.is_empty() { "" } else { ": " };
            interp.raise(format!("the static assertion fails{colon}{message}"))
        }
        (Value::Int(_) | Value::Float(_) | Value::Str(_), _) if interp.in_kernel() => {
            interp.raise(format!("a static assertion is about a bool, and this is {}", condition.class_name()))
        }
        _ => Ok(Value::None),
    }
}

impl<'a> Interp<'a> {
    /// Emits that a condition of the kernel holds.
    pub fn assume_holds(&mut self, condition: &Tensor<'a>) -> Eval<'a> {
        let condition = self.cast(condition, DType::Int1)?;
        let condition = self.ssa(&condition);
        let op = Op::new(Llvm::IntrAssume).operand("operands", condition);
        self.emit_effect(op.attr("op_bundle_sizes", Attr::Dialect("array<i32>".to_owned())))
    }
}

fn import_module<'a>(interp: &mut Interp<'a>, args: &Bound<'a>) -> Eval<'a> {
    match args.at(0) {
        Some(Value::Str(name)) => interp.import_module(&name.clone()),
        _ => interp.unknown("the name of the module is not known"),
    }
}

/// How the specification of a module at a path is told from other names of libraries.
pub(super) const FILE: &str = "importlib.spec:";

/// What `spec_from_file_location` gives stands for the path, until a module is made of it.
fn spec_from_file<'a>(interp: &mut Interp<'a>, args: &Bound<'a>) -> Eval<'a> {
    let path = match args.at(1) {
        Some(value @ (Value::Str(_) | Value::Instance(_) | Value::Object(_))) => interp.str(value),
        _ => return interp.unknown("the path of the module is not known"),
    };
    Ok(Value::Lib(format!("{FILE}{path}").into()))
}

/// Running it happens here already; `exec_module` comes later and changes nothing.
fn module_from_spec<'a>(interp: &mut Interp<'a>, args: &Bound<'a>) -> Eval<'a> {
    match args.at(0) {
        Some(Value::Lib(path)) if path.starts_with(FILE) => {
            let path = path.trim_start_matches(FILE).to_owned();
            interp.file_at(&path)
        }
        // What `find_spec` has found names a module of a library.
        Some(spec @ Value::Instance(_)) => match interp.attribute(&spec.clone(), "name")? {
            Value::Str(name) => Ok(Value::Lib(name)),
            _ => interp.unknown("which module this is is not known"),
        },
        _ => interp.unknown("the path of the module is not known"),
    }
}
