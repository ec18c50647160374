//! What host code calls of libraries on its way to a launch.

use std::cell::RefCell;
use std::rc::Rc;

use super::thing::{Thing, any};
use super::{descriptor, launch};
use crate::interp::{Eval, Interp, Stop};
use crate::library::Args;
use crate::target::Target;
use crate::value::Value;
use ttgir::cga::split_bases;

/// Streaming multiprocessors of the machine that is thought of; programs divide their work by it.
const PROCESSORS: i128 = 132;

fn str<'a>(text: &str) -> Value<'a> {
    Value::Str(text.into())
}

fn is_cuda(target: Target) -> bool {
    matches!(target, Target::Cuda(_))
}

/// `path` where it is no function.
pub(super) fn constant<'a>(interp: &Interp<'a>, path: &str) -> Option<Value<'a>> {
    Some(match path {
        "torch.version.hip" if is_cuda(interp.target) => Value::None,
        "torch.version.hip" => str("7.0"),
        "torch.version.cuda" if is_cuda(interp.target) => str("13.0"),
        "torch.version.cuda" => Value::None,
        "triton.__version__" => str(&format!("{}.{}.0", interp.version.0, interp.version.1)),
        "torch.__version__" => str("2.9.0"),
        "sys.argv" => Value::List(Rc::new(RefCell::new(vec![str("kernel.py")]))),
        _ => return None,
    })
}

/// Attributes of what is not modelled: those of a device are known all the same.
pub(super) fn attribute_of_any<'a>(interp: &Interp<'a>, of: &str, name: &str) -> Value<'a> {
    match (of, name) {
        ("current target", "backend") => str(if is_cuda(interp.target) { "cuda" } else { "hip" }),
        ("current target", "arch") => match interp.target {
            Target::Cuda(capability) => Value::Int(capability.into()),
            other => str(&other.name()),
        },
        ("current target", "warp_size") => Value::Int(interp.target.lanes().into()),
        ("device properties", "multi_processor_count") => Value::Int(PROCESSORS),
        ("device properties", "major") => Value::Int(super::device::capability(interp.target).0),
        ("device properties", "minor") => Value::Int(super::device::capability(interp.target).1),
        ("device properties", "gcnArchName") => str(&interp.target.name()),
        ("driver", "get_current_target") => Value::Lib("triton.runtime.driver.active.get_current_target".into()),
        ("device", "type") => str("cuda"),
        (limits, _) if limits.starts_with(super::device::LIMITS) => super::device::limit(limits, name),
        _ => any(name),
    }
}

/// `path(…)`.
pub(super) fn call<'a>(interp: &mut Interp<'a>, path: &str, args: Args<'a>) -> Option<Eval<'a>> {
    if let Some(made) = descriptor::make(interp, path, &args) {
        return Some(made);
    }
    let last = path.rsplit('.').next().unwrap_or(path);
    let target = interp.target;
    let value = match path {
        "triton.Config" => launch::config(&args),
        "triton.Config.all_kwargs" => match args.pos.first() {
            Some(Value::Host(thing)) => match &**thing {
                Thing::Config(config) => Value::Dict(config.kwargs.clone()),
                _ => any(last),
            },
            _ => any(last),
        },
        "triton.autotune" | "triton.runtime.autotuner.autotune" => launch::autotune(&args),
        "triton.heuristics" => launch::heuristics(&args),
        "triton.cdiv" => match (args.pos.first(), args.pos.get(1)) {
            (Some(Value::Int(a)), Some(Value::Int(b))) if *b > 0 => Value::Int((a + b - 1).div_euclid(*b)),
            _ => any(last),
        },
        "triton.next_power_of_2" => match args.pos.first() {
            Some(Value::Int(a)) if (1..1 << 62).contains(a) => {
                Value::Int(i128::from((*a as u64).checked_next_power_of_two().unwrap_or(1)))
            }
            _ => any(last),
        },
        "triton.runtime.driver.active.get_current_target" => any("current target"),
        "triton.runtime.driver.active.get_active_torch_device" => any("device"),
        "triton.TensorWrapper" | "triton.reinterpret" => {
            super::torch::reinterpreted(&args).unwrap_or_else(|| any(last))
        }
        "triton.testing.do_bench" | "triton.testing.do_bench_cudagraph" => {
            let Some(function) = args.pos.into_iter().next() else { return Some(Ok(any(last))) };
            let at = interp.at;
            return Some(interp.call(&function, Args::default(), at).map(|_| any(last)));
        }
        "pytest.skip" | "pytest.xfail" | "pytest.fail" | "sys.exit" | "exit" | "unittest.skip" => {
            return Some(leave(interp, "the test ends itself here"));
        }
        _ if last == "make_cga_layout" => match cga_layout(&args) {
            Some(layout) => layout,
            None => Value::Unknown("the CTAs of a cluster are not known".into()),
        },
        "pytest.param" => Value::Host(Rc::new(Thing::Param(args.pos))),
        "sys.modules.get" => Value::None,
        "os.environ.get" | "os.getenv" => args.pos.get(1).cloned().unwrap_or(Value::None),
        _ if matches!(last, "MXFP4Tensor" | "MXScaleTensor") => super::torch::quantized(last, &args),
        _ if last == "run_in_process" => {
            let mut pos = args.pos.into_iter();
            let (function, inner) = (pos.next(), pos.next());
            let inner = match inner {
                Some(Value::Tuple(items)) => items.to_vec(),
                Some(Value::List(items)) => items.borrow().clone(),
                _ => Vec::new(),
            };
            let Some(function) = function else { return Some(Ok(any(last))) };
            let at = interp.at;
            // An exception of the other process is an outcome here.
            let done = interp.call(&function, Args { pos: inner, named: Vec::new() }, at);
            return Some(match done {
                Err(stop @ (crate::interp::Stop::Cancelled | crate::interp::Stop::Limit(_))) => Err(stop),
                _ => Ok(any("outcome of the process")),
            });
        }
        _ => match last {
            "is_cuda" => Value::Bool(is_cuda(target)),
            "is_hip" | "is_hip_cdna" => Value::Bool(!is_cuda(target)),
            "is_interpreter" | "is_xpu" | "is_cpu" => Value::Bool(false),
            "is_hopper" => Value::Bool(matches!(target, Target::Cuda(90..100))),
            "is_blackwell" => Value::Bool(matches!(target, Target::Cuda(100..120))),
            "is_hopper_or_newer" => Value::Bool(matches!(target, Target::Cuda(90..))),
            "is_blackwell_or_newer" => Value::Bool(matches!(target, Target::Cuda(100..))),
            "is_ampere_or_newer" => Value::Bool(matches!(target, Target::Cuda(80..))),
            "is_hip_gfx1250" | "is_gfx1250" => Value::Bool(target == Target::Gfx1250),
            "is_hip_cdna4" => Value::Bool(target == Target::Gfx950),
            "is_hip_cdna3" => Value::Bool(target == Target::Gfx942),
            _ if path.starts_with("triton.") || path.starts_with("pytest.") || path.starts_with("numpy.") => any(last),
            _ => return None,
        },
    };
    Some(Ok(value))
}

/// `make_cga_layout(ctas_per_cga, cta_split, cta_order)`.
fn cga_layout<'a>(args: &Args<'a>) -> Option<Value<'a>> {
    let list = |at: usize| args.pos.get(at).and_then(super::torch::ints);
    let rows = split_bases(&list(0)?, &list(1)?, &list(2)?);
    let row =
        |row: Vec<i64>| Value::List(Rc::new(RefCell::new(row.into_iter().map(|at| Value::Int(at.into())).collect())));
    Some(Value::List(Rc::new(RefCell::new(rows.into_iter().map(row).collect()))))
}

/// Stops where host code ends itself: `pytest.skip`, `sys.exit`, an exception.
fn leave<'a, T>(interp: &Interp<'a>, why: &str) -> Result<T, Stop> {
    interp.raise(why.to_owned())
}
