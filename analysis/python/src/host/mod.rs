//! What the host program around a kernel is made of, as far as it decides what the kernel is launched
//! with: tensors as shape and element type, tensor descriptors, and launches, which are recorded.
//!
//! Nothing is computed: tensors have no content, so a condition on one is not known. Of libraries only
//! what gives shapes, types and settings is modelled; the rest is [`Thing::Any`], on which every operation
//! is allowed and tells nothing.

mod arguments;
mod assume;
mod case;
mod code;
mod conditions;
mod descriptor;
mod device;
mod launch;
mod library;
mod open;
mod parameter;
mod parts;
mod print;
mod reach;
mod shapes;
mod site;
mod sizes;
pub mod thing;
mod torch;

use std::cell::RefCell;
use std::rc::Rc;

use ruff_python_ast::{CmpOp, Operator};

use crate::interp::{Eval, Interp};
use crate::library::Args;
use crate::value::{Partial, Value};
use thing::{any, method, tensor};

pub use base::ways::Ways;
pub use case::{Case, Cases};
pub use code::Code;
pub(crate) use conditions::{compared, negated};
pub use device::limits_of;
pub use open::{answer, as_tensor, element, is_number, is_open, is_unknown, may_be_tensor, number, unpacked};
pub use print::{Partly, expression, given, identity, partly};
pub use reach::{MODULE, Ran, code_at, reach, run};
pub(crate) use shapes::answer_part;
pub use site::{handed, is_divisible};
pub use sizes::{note_equal, operation};
pub use thing::{AutotuneConfig, HostDescriptor, HostLaunch, Launcher, OpenNumber, OpenTensor, Session, Thing, Tuner};

/// `thing.name`.
pub fn attribute<'a>(interp: &mut Interp<'a>, thing: &Rc<Thing<'a>>, name: &str) -> Eval<'a> {
    match &**thing {
        Thing::Tensor(tensor) => Ok(torch::attribute(interp, tensor, name)
            .unwrap_or_else(|| method(format!("torch.Tensor.{name}"), Value::Host(thing.clone())))),
        Thing::Descriptor(descriptor) => match descriptor.borrow().get(interp, name) {
            Some(value) => Ok(value),
            None => interp.raise(format!("a tensor descriptor has no attribute `{name}`")),
        },
        Thing::Launcher(launcher) => match name {
            "warmup" | "run" => Ok(launch::without_grid(&launcher.function, launcher)),
            "fn" => Ok(launcher.function.clone()),
            "configs" => Ok(Value::List(Rc::new(RefCell::new(launcher.configs.clone())))),
            "__name__" => Ok(Value::Str(launch::name(&launcher.function))),
            _ => Ok(any(name)),
        },
        Thing::Config(config) => match name {
            "kwargs" => Ok(Value::Dict(config.kwargs.clone())),
            "num_warps" => Ok(config.num_warps.map_or(Value::Int(4), |warps| Value::Int(warps.into()))),
            "num_ctas" => Ok(config.num_ctas.map_or(Value::Int(1), |ctas| Value::Int(ctas.into()))),
            "pre_hook" => Ok(config.pre_hook.clone()),
            "all_kwargs" => Ok(method("triton.Config.all_kwargs", Value::Host(thing.clone()))),
            _ => Ok(any(name)),
        },
        Thing::Any(of) => Ok(library::attribute_of_any(interp, of, name)),
        Thing::Request(param) if name == "param" => Ok(param.clone()),
        Thing::OpenTensor(tensor) => Ok(open::attribute(interp, tensor, name)
            .unwrap_or_else(|| method(format!("torch.Tensor.{name}"), Value::Host(thing.clone())))),
        Thing::OpenSizes(_) if name == "numel" => Ok(method("torch.Size.numel", Value::Host(thing.clone()))),
        Thing::OpenSizes(_) | Thing::OpenNumber(..) => {
            Ok(Value::Unknown(format!("`{name}` of what is not known").into()))
        }
        Thing::Options(options) => Ok(arguments::attribute(thing, options, name)),
        Thing::Asked(value, _) => interp.attribute(value, name),
        Thing::Request(_) | Thing::Tuner(_) | Thing::Param(_) | Thing::Truth(_) => Ok(any(name)),
    }
}

/// `thing.name = value`.
pub fn set_attribute<'a>(thing: &Thing<'a>, name: &str, value: Value<'a>) {
    if let Thing::Descriptor(descriptor) = thing {
        descriptor.borrow_mut().set(name, value);
    }
}

/// `thing(…)`.
pub fn call<'a>(interp: &mut Interp<'a>, thing: &Rc<Thing<'a>>, args: Args<'a>) -> Eval<'a> {
    match &**thing {
        Thing::Launcher(launcher) => launch::launch(interp, launcher, args),
        Thing::Tuner(tuner) => tuner.tune(interp, args),
        Thing::Any(name) => {
            site::written(args.pos.iter().chain(args.named.iter().map(|(_, value)| value)));
            Ok(any(name.clone()))
        }
        _ => interp.raise("this cannot be called"),
    }
}

/// `path(…)` of a library; `None` where it is none of those that host code is followed through.
pub fn call_library<'a>(interp: &mut Interp<'a>, path: &str, args: Args<'a>) -> Option<Eval<'a>> {
    let mut named = args.named.iter();
    if !crate::syntax::torch_names::reads(path) || named.any(|(name, _)| &**name == "out") {
        site::written(args.pos.iter().chain(args.named.iter().map(|(_, value)| value)));
    }
    if let Some(rest) = path.strip_prefix("torch.Tensor.") {
        let mut args = args;
        let receiver = if args.pos.is_empty() { None } else { Some(args.pos.remove(0)) };
        // Methods of such names write to their tensor, but for one that only marks it.
        if rest.ends_with('_') && rest != "requires_grad_" {
            site::written(&receiver);
        }
        if let Some(Value::Host(thing)) = &receiver
            && let Thing::Tensor(tensor) = &**thing
        {
            return Some(torch::method(interp, tensor, rest, &args));
        }
        if let Some(Value::Host(thing)) = receiver
            && let Thing::OpenTensor(tensor) = &*thing
        {
            return Some(Ok(open::closed(open::method(tensor, rest, &args))));
        }
        return None;
    }
    if is_jit(path) {
        return args.pos.first().and_then(launch::jitted).map(Ok);
    }
    if path == "argparse.ArgumentParser" {
        return Some(Ok(arguments::parser()));
    }
    if let Some(name) = path.strip_prefix("argparse.ArgumentParser.") {
        return Some(Ok(arguments::call(name, &args).unwrap_or(Value::None)));
    }
    if path == "torch.Size.numel" {
        return Some(Ok(open::count_of_sizes(args.pos.first())));
    }
    if let Some(name) = path.strip_prefix("torch.") {
        if open::asks_for_open_type(&args)
            && let Some(made) = open::function(name, &args)
        {
            return Some(Ok(made));
        }
        return Some(match torch::function(interp, path, &args) {
            Ok(Value::Unknown(why)) => Ok(open::function(name, &args).unwrap_or(Value::Unknown(why))),
            made => made,
        });
    }
    library::call(interp, path, args)
}

/// Whether a function of a library makes kernels.
pub fn is_jit(path: &str) -> bool {
    matches!(path, "triton.jit" | "gluon.jit")
}

/// Whether a function of a library says what kernels are compiled for: modules ask for it before any kernel is made.
pub fn is_of_target(path: &str) -> bool {
    matches!(
        path,
        "triton.runtime.driver.active.get_current_target"
            | "torch.cuda.get_device_capability"
            | "torch.cuda.is_available"
    )
}

/// What an attribute of a library is, where it is no function.
pub fn constant<'a>(interp: &Interp<'a>, path: &str) -> Option<Value<'a>> {
    library::constant(interp, path)
}

/// `kernel[grid]`.
pub fn with_grid<'a>(kernel: &Value<'a>, grid: &Value<'a>) -> Value<'a> {
    launch::with_grid(kernel, grid)
}

/// `kernel.warmup`, `kernel.run`.
pub fn warmup<'a>(kernel: &Value<'a>) -> Value<'a> {
    launch::without_grid(kernel, &Launcher::of(kernel.clone()))
}

/// `thing[index]`.
pub fn item<'a>(interp: &mut Interp<'a>, thing: &Rc<Thing<'a>>, index: &Value<'a>) -> Eval<'a> {
    match &**thing {
        Thing::Tensor(tensor) => torch::index(interp, tensor, index),
        Thing::Launcher(_) => Ok(launch::with_grid(&Value::Host(thing.clone()), index)),
        Thing::Any(name) => Ok(any(name.clone())),
        Thing::OpenTensor(tensor) => Ok(open::item(tensor, index)),
        Thing::OpenSizes(dims) if !matches!(index, Value::Slice(_)) => {
            let size = interp.assumed_size();
            Ok(size.unwrap_or_else(|| open::size_at(dims, index)))
        }
        Thing::OpenSizes(dims) => Ok(open::size_at(dims, index)),
        _ => interp.raise("this has no elements"),
    }
}

/// What a loop over it sees; `None` where it is not known.
pub fn items<'a>(thing: &Thing<'a>) -> Option<Vec<Value<'a>>> {
    match thing {
        Thing::Tensor(tensor) => tensor.rows().map(|rows| rows.into_iter().map(self::tensor).collect()),
        Thing::OpenSizes(dims) => dims.all(),
        _ => None,
    }
}

/// `len(thing)`.
pub fn length(thing: &Thing<'_>) -> Option<i128> {
    match thing {
        Thing::Tensor(tensor) => tensor.shape.first().map(|size| i128::from(*size)),
        Thing::OpenSizes(dims) => dims.all().map(|all| all.len() as i128),
        _ => None,
    }
}

/// Of sizes, a tensor of which none is known, or the number of its dimensions: the sizes.
fn dims_of<'v, 'a>(value: &'v Value<'a>) -> Option<&'v Rc<thing::Dims<'a>>> {
    let Value::Host(thing) = value else { return None };
    match &**thing {
        Thing::OpenSizes(dims) | Thing::OpenNumber(_, thing::NumberOrigin::Rank(dims)) => Some(dims),
        Thing::OpenTensor(tensor) if tensor.shape.is_none() => Some(&tensor.dims),
        _ => None,
    }
}

/// Notes that a tensor has so many dimensions.
pub fn note_rank(value: &Value<'_>, rank: usize) {
    drop(dims_of(value).map(|dims| dims.unpacked(rank)));
}

/// Notes of a tensor whether it has no more than one dimension, or more; one without any counts as one of one element.
pub fn note_flat(value: &Value<'_>, flat: bool) {
    match dims_of(value) {
        Some(dims) if !flat => dims.note(1),
        Some(dims) if dims.may_be_flat() => drop(dims.unpacked(1)),
        _ => {}
    }
}

/// Whether it is how many dimensions a tensor has.
pub fn is_rank(value: &Value<'_>) -> bool {
    matches!(value, Value::Host(thing) if matches!(**thing, Thing::OpenNumber(_, thing::NumberOrigin::Rank(_))))
}

/// How a number of dimensions compares with a number; `None` where that is not known, and of what is none.
pub fn compares_rank(op: CmpOp, of: &Value<'_>, with: &Value<'_>) -> Option<bool> {
    let (Some(dims), Value::Int(with)) = (dims_of(of).filter(|_| is_rank(of)), with) else { return None };
    let between = dims.rank.get().map_or((dims.least.get(), i64::MAX), |rank| (rank, rank));
    crate::syntax::bodies::compares(op, between, i64::try_from(*with).ok()?)
}

/// Notes that a size is a multiple of a number.
pub fn note_multiple(value: &Value<'_>, of: i64) {
    if let Value::Host(thing) = value
        && let Thing::OpenNumber(_, thing::NumberOrigin::Free { multiple, .. }) = &*sizes::alike(thing)
    {
        multiple.set(multiple.get().max(of));
    }
}

/// `bool(thing)`: kernels, descriptors and configurations are true; of a tensor it is not known.
pub fn truth(thing: &Thing<'_>) -> Option<bool> {
    match thing {
        Thing::Descriptor(_) | Thing::Launcher(_) | Thing::Config(_) => Some(true),
        Thing::Truth(holds) => Some(*holds),
        _ => None,
    }
}

/// Arithmetic, or a comparison where there is no operator, in which one side is a host value.
pub fn binary<'a>(interp: &mut Interp<'a>, op: Option<Operator>, left: &Value<'a>, right: &Value<'a>) -> Eval<'a> {
    let of = |value: &Value<'a>| match value {
        Value::Host(thing) => match &**thing {
            Thing::Tensor(tensor) => Some(tensor.clone()),
            _ => None,
        },
        _ => None,
    };
    if let Some(value) = open::binary(op, left, right) {
        return Ok(value);
    }
    let comparison = op.is_none();
    match (of(left), of(right)) {
        (Some(left), Some(right)) if op == Some(Operator::MatMult) => {
            Ok(::torch::product(&left, &right).map_or_else(|| any("product"), tensor))
        }
        (Some(left), Some(right)) => torch::broadcast(interp, &left, &right, comparison),
        (Some(one), None) => Ok(tensor(sizes::with_number(&one, op, right))),
        (None, Some(one)) if matches!(op, Some(Operator::Add | Operator::Mult)) => {
            Ok(tensor(sizes::with_number(&one, op, left)))
        }
        (None, Some(one)) => Ok(tensor(one.compared(comparison))),
        (None, None) => Ok(Value::Unknown("this operation is not followed".into())),
    }
}

/// What tunes a kernel by a list of configurations, as `triton.autotune` is told of them.
pub fn tuner<'a>(named: Vec<(Rc<str>, Value<'a>)>) -> Value<'a> {
    launch::autotune(&Args { pos: Vec::new(), named })
}

/// `value op= …` of a tensor, which stays where it is; `None` of what is none.
pub fn in_place<'a>(value: &Value<'a>) -> Option<Value<'a>> {
    let is_tensor = matches!(value, Value::Host(thing) if matches!(**thing, Thing::Tensor(_) | Thing::OpenTensor(_)));
    is_tensor.then(|| {
        site::written([value]);
        value.clone()
    })
}

/// An element or a part of a value is assigned.
pub fn set_item(value: &Value<'_>) {
    site::written([value]);
}

/// `dataclasses.replace(value, …)` of a host value.
pub fn replaced<'a>(args: &Args<'a>) -> Option<Value<'a>> {
    let Some(Value::Host(thing)) = args.pos.first() else { return None };
    let Thing::Descriptor(descriptor) = &**thing else { return None };
    Some(descriptor::replaced(&descriptor.borrow(), &args.named))
}

/// `forward` of a function that torch differentiates, with the context that `apply` makes.
pub fn with_context<'a>(forward: &Value<'a>) -> Value<'a> {
    Value::Partial(Rc::new(Partial { function: forward.clone(), args: vec![any("ctx")], named: Vec::new() }))
}

/// Whether a value tells nothing, so that what is done with it may fail here and not in Python.
pub fn is_vague(value: &Value<'_>) -> bool {
    matches!(value, Value::Host(thing) if matches!(
        **thing,
        Thing::Any(_)
            | Thing::OpenTensor(_)
            | Thing::OpenSizes(_)
            | Thing::OpenNumber(..)
            | Thing::Asked(..)
            | Thing::Truth(_)
    ))
}
