//! Builtins that only the evaluator can be: assertions, imports at run time.

use crate::emit::{Attr, Op};
use crate::interp::{Eval, Interp};
use crate::library::{Bound, NOTHING, Part, Row};
use crate::reason::chained;
use crate::value::{DType, Tensor, Value};
use dialects::Llvm;

/// This file's share of the table.
pub static PART: Part = Part {
    rows: &[
        Row::new("gl.static_assert", "cond, msg=''", 4, static_assert),
        Row::new("importlib.import_module", "name, package=None", 4, import_module),
        Row::new("importlib.util.spec_from_file_location", "name, location=None, *, loader=None", 4, spec_from_file),
        Row::new("importlib.util.module_from_spec", "spec", 4, module_from_spec),
    ],
    ..NOTHING
};

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
