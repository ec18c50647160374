//! Launches: `kernel[grid](…)`, `kernel.warmup(…)`, behind `autotune` and `heuristics` or not.

use std::cell::RefCell;
use std::rc::Rc;

use super::sizes::uncompared;
use super::thing::{AutotuneConfig, HostLaunch, Launcher, Thing, Tuner, any, asked as as_asked, may_be_asked};
use crate::interp::{Eval, Interp, Stop};
use crate::library::Args;
use crate::limits::launches::CONFIGS;
use crate::value::{FnKind, Function, FunctionNode, Value};
use ruff_python_ast::Expr;
use syntax::bodies::run_parameters;

impl<'a> Launcher<'a> {
    pub(super) fn of(function: Value<'a>) -> Launcher<'a> {
        let (configs, heuristics) = (Vec::new(), Vec::new());
        Launcher { function, configs, prune: None, heuristics, grid: false, programs: Value::None }
    }

    /// The function itself.
    pub fn kernel(&self) -> Option<Rc<Function<'a>>> {
        match &self.function {
            Value::Function(function) => Some(function.clone()),
            Value::Host(thing) => match &**thing {
                Thing::Launcher(inner) => inner.kernel(),
                _ => None,
            },
            _ => None,
        }
    }
}

impl<'a> Tuner<'a> {
    pub(super) fn tune(&self, interp: &Interp<'a>, args: Args<'a>) -> Eval<'a> {
        let Some(function) = args.pos.into_iter().next() else { return interp.raise("no kernel is given") };
        let mut launcher = opened(&function);
        launcher.configs.extend(self.configs.iter().cloned());
        launcher.prune = self.prune.clone().or(launcher.prune);
        launcher.heuristics.extend(self.heuristics.iter().cloned());
        Ok(Value::Host(Rc::new(Thing::Launcher(launcher))))
    }
}

fn opened<'a>(kernel: &Value<'a>) -> Launcher<'a> {
    match kernel {
        Value::Host(thing) => match &**thing {
            Thing::Launcher(launcher) => launcher.clone(),
            _ => Launcher::of(kernel.clone()),
        },
        _ => Launcher::of(kernel.clone()),
    }
}

pub(super) fn with_grid<'a>(kernel: &Value<'a>, grid: &Value<'a>) -> Value<'a> {
    Value::Host(Rc::new(Thing::Launcher(Launcher { grid: true, programs: grid.clone(), ..opened(kernel) })))
}

pub(super) fn without_grid<'a>(_: &Value<'a>, launcher: &Launcher<'a>) -> Value<'a> {
    Value::Host(Rc::new(Thing::Launcher(Launcher { grid: true, ..launcher.clone() })))
}

pub(super) fn name(function: &Value<'_>) -> Rc<str> {
    match function {
        Value::Function(function) => function.def.name().into(),
        _ => "kernel".into(),
    }
}

/// The kernel that `triton.jit(function)` makes.
pub(super) fn jitted<'a>(value: &Value<'a>) -> Option<Value<'a>> {
    let Value::Function(function) = value else { return None };
    Some(Value::Function(Rc::new(Function {
        def: function.def,
        kind: FnKind::Jit,
        scope: function.scope.clone(),
        defaults: function.defaults.clone(),
        role: function.role,
    })))
}

fn count(value: &Value<'_>) -> Option<u32> {
    let Value::Int(number) = value else { return None };
    u32::try_from(*number).ok().filter(|number| (1..=64).contains(number))
}

/// Records a launch, one for each configuration, and gives what stands for the compiled kernel.
pub(super) fn launch<'a>(interp: &mut Interp<'a>, launcher: &Launcher<'a>, args: Args<'a>) -> Eval<'a> {
    let Some(function) = launcher.kernel() else { return Ok(any("kernel")) };
    if !launcher.grid {
        return interp.raise("a kernel is launched with a grid: `kernel[grid](…)`");
    }
    if function.kind != FnKind::Jit {
        return Ok(any("kernel"));
    }
    let unpacked = args.named.iter().any(|(name, _)| &**name == "**");
    let (mut given, options) = bind(interp, &function, args)?;
    let grid = options.iter().find(|(name, _)| **name == *"grid").map_or(&launcher.programs, |(_, grid)| grid);
    if unpacked {
        let missing: Vec<Rc<str>> =
            params(&function).filter(|name| !given.iter().any(|(known, _)| **known == **name)).map(Rc::from).collect();
        let why = "what `**` unpacks is not known";
        given.extend(missing.into_iter().map(|name| (name, Value::Unknown(why.into()))));
    }
    // Sizes and strides that are handed over whole are a tuple.
    for (_, value) in &mut given {
        if let Value::Host(thing) = &*value
            && let Thing::OpenSizes(dims) = &**thing
            && let Some(all) = dims.all()
        {
            *value = Value::Tuple(all.into());
        }
    }
    // `warmup` takes the type of a tensor for the tensor.
    for (name, value) in &mut given {
        if let (Value::Lib(_), Some(dtype)) = (&*value, super::torch::dtype_name(value))
            && !annotation(&function, name).is_some_and(|annotation| interp.is_constexpr(annotation))
        {
            *value = super::open::open_tensor(Some(dtype), None);
        }
    }
    let conditions = asked(&mut given);
    let mut configs = launcher.configs.clone();
    // Which of them are left is not known where the function is not followed that says so.
    let mut is_pruned = true;
    if let Some(prune) = &launcher.prune {
        match pruned(interp, prune, &configs, &given) {
            Ok(Value::List(left)) => configs = left.borrow().clone(),
            _ => is_pruned = false,
        }
    }
    configs.truncate(CONFIGS);
    let mut tries: Vec<Option<Rc<Thing<'a>>>> = configs.iter().filter_map(thing).map(Some).collect();
    if tries.is_empty() {
        tries.push(None);
    }
    let tuned = tries.len() > 1;
    let before = interp.session.as_ref().map_or(0, |session| session.conditions.len());
    for config in tries {
        let mut arguments = given.clone();
        // What heuristics say of one configuration says nothing of another one.
        interp.session.iter_mut().for_each(|session| session.conditions.truncate(before));
        let option = |name: &str| options.iter().find(|(key, _)| **key == *name).and_then(|(_, value)| count(value));
        let along_x = options.iter().find(|(key, _)| **key == *"ctas_per_cga").and_then(|(_, value)| cluster(value));
        let (mut num_warps, mut num_ctas) = (option("num_warps"), along_x.or(option("num_ctas")));
        let mut unsure = Vec::new();
        if let Some(thing) = &config
            && let Thing::Config(config) = &**thing
        {
            arguments = arguments.into_iter().map(|(name, value)| (name, copied(value))).collect();
            for (key, value) in config.kwargs.borrow().iter() {
                if let Value::Str(name) = key {
                    unsure.extend((!is_pruned).then(|| name.clone()));
                    set(&mut arguments, name, value.clone());
                }
            }
            num_warps = num_warps.or(config.num_warps);
            num_ctas = num_ctas.or(config.num_ctas);
            if !matches!(config.pre_hook, Value::None) {
                let all = arguments.iter().chain(&options);
                let dict = all.map(|(name, value)| (Value::Str(name.clone()), value.clone())).collect();
                let dict = Value::Dict(Rc::new(RefCell::new(dict)));
                let hook = config.pre_hook.clone();
                // What it could not be followed through leaves the descriptors as they are.
                let _ = interp.call(&hook, Args { pos: vec![dict], named: Vec::new() }, interp.at);
            }
        }
        for (name, heuristic) in &launcher.heuristics {
            let all = with_defaults(&function, &arguments);
            let values: Vec<Value<'a>> = all.iter().map(|(_, value)| value.clone()).collect();
            let dict = all.into_iter().map(|(name, value)| (Value::Str(name), value)).collect();
            let dict = Value::Dict(Rc::new(RefCell::new(dict)));
            let args = Args { pos: vec![dict], named: Vec::new() };
            if let Ok(value) = uncompared(&values, || interp.call(heuristic, args, interp.at)) {
                unsure.extend((!is_pruned).then(|| name.clone()));
                set(&mut arguments, name, value);
            }
        }
        // A parameter of that name takes the option as well.
        for (name, slot) in [("num_warps", &mut num_warps), ("num_ctas", &mut num_ctas)] {
            let own = arguments.iter().find(|(key, _)| **key == *name).and_then(|(_, value)| count(value));
            *slot = slot.or(own);
        }
        let known = |name: &str| params(&function).any(|param| param == name);
        arguments.retain(|(name, _)| known(name));
        let mut told = with_defaults(&function, &arguments);
        let open = |name: &str| Value::Unknown(format!("what `{name}` is given is not known").into());
        let missing = params(&function).filter(|name| !told.iter().any(|(known, _)| **known == **name));
        let missing: Named<'a> = missing.map(|name| (name.into(), open(name))).collect();
        told.extend(missing);
        ask(&mut told, &conditions);
        let counts = programs(interp, grid, &told);
        answer(interp, &mut arguments, &conditions);
        let sizes = counts.each_ref().map(|size| match size {
            Value::Int(size) => u32::try_from(*size).ok().filter(|size| *size > 0),
            _ => None,
        });
        let names: Vec<&str> = params(&function).collect();
        let taken = interp.session.as_ref().map_or(&[][..], |session| &session.conditions);
        let facts = super::site::facts(&arguments, &names, (&counts, sizes), taken);
        let grid = match sizes {
            [Some(x), Some(y), Some(z)] => Some([x, y, z]),
            _ => None,
        };
        let (file, at) = (interp.file, interp.at);
        let chosen = interp.session.as_ref().is_some_and(|session| session.chosen);
        let function = function.clone();
        let launch =
            HostLaunch { function, arguments, num_warps, num_ctas, grid, facts, file, at, chosen, unsure, tuned };
        if let Some(session) = &mut interp.session {
            session.launches.push(launch);
        }
    }
    interp.session.iter_mut().for_each(|session| session.conditions.truncate(before));
    super::site::written(given.iter().map(|(_, value)| value));
    Ok(any("compiled kernel"))
}

/// Arguments with the defaults of the parameters that are given none, as grids and heuristics are told of them.
fn with_defaults<'a>(function: &Function<'a>, arguments: &Named<'a>) -> Named<'a> {
    let missing = params(function).zip(&function.defaults).filter_map(|(name, default)| {
        let given = arguments.iter().any(|(known, _)| **known == *name);
        default.clone().filter(|_| !given).map(|default| (Rc::from(name), default))
    });
    let mut all = arguments.clone();
    all.extend(missing);
    all
}

/// The programs of a grid along x, y and z; it may be a function of the arguments.
fn programs<'a>(interp: &mut Interp<'a>, grid: &Value<'a>, arguments: &[(Rc<str>, Value<'a>)]) -> [Value<'a>; 3] {
    let unknown = || [const { Value::None }; 3];
    let sizes = match grid {
        Value::Tuple(sizes) => sizes.to_vec(),
        Value::List(sizes) => sizes.borrow().clone(),
        Value::Int(_) => vec![grid.clone()],
        Value::Function(_) => {
            let dict = arguments.iter().map(|(name, value)| (Value::Str(name.clone()), value.clone())).collect();
            let dict = Value::Dict(Rc::new(RefCell::new(dict)));
            return match interp.call(grid, Args { pos: vec![dict], named: Vec::new() }, interp.at) {
                Ok(Value::Function(_)) | Err(_) => unknown(),
                Ok(own) => programs(interp, &own, arguments),
            };
        }
        _ => return unknown(),
    };
    let mut grid = [const { Value::Int(1) }; 3];
    if sizes.is_empty() || sizes.len() > grid.len() {
        return unknown();
    }
    for (to, from) in grid.iter_mut().zip(sizes) {
        *to = from;
    }
    grid
}

fn thing<'a>(value: &Value<'a>) -> Option<Rc<Thing<'a>>> {
    if let Value::Host(thing) = value { Some(thing.clone()) } else { None }
}

/// Arguments by the conditions that they would be, which are taken from them.
fn asked<'a>(arguments: &mut Named<'a>) -> Vec<(Rc<str>, u64)> {
    let mut conditions = Vec::new();
    for (name, value) in arguments {
        let Value::Host(thing) = &*value else { continue };
        let Thing::Asked(inner, condition) = &**thing else { continue };
        conditions.push((name.clone(), *condition));
        *value = inner.clone();
    }
    conditions
}

/// Puts them back, for the grid, which may ask.
fn ask(arguments: &mut Named<'_>, conditions: &[(Rc<str>, u64)]) {
    for (name, condition) in conditions {
        if let Some((_, value)) = arguments.iter_mut().find(|(known, _)| known == name)
            && may_be_asked(value)
        {
            *value = as_asked(value.clone(), *condition);
        }
    }
}

/// Says of arguments whether they hold, where this run has taken one way at that condition.
fn answer<'a>(interp: &Interp<'a>, arguments: &mut Named<'a>, conditions: &[(Rc<str>, u64)]) {
    let Some(ways) = interp.session.as_ref().and_then(|session| session.ways.as_ref()) else { return };
    for (name, condition) in conditions {
        let (Some(holds), Some((_, value))) =
            (ways.taken(*condition), arguments.iter_mut().find(|(known, _)| known == name))
        else {
            continue;
        };
        if may_be_asked(value) {
            let is_bool = matches!(&*value, Value::Host(thing) if matches!(**thing, Thing::OpenNumber(..)));
            *value = if is_bool { Value::Bool(holds) } else { Value::Host(Rc::new(Thing::Truth(holds))) };
        }
    }
}

/// Descriptors that a hook may change.
fn copied(value: Value<'_>) -> Value<'_> {
    if let Value::Host(thing) = &value
        && let Thing::Descriptor(descriptor) = &**thing
    {
        return Value::Host(Rc::new(Thing::Descriptor(descriptor.clone())));
    }
    value
}

fn set<'a>(arguments: &mut Vec<(Rc<str>, Value<'a>)>, name: &Rc<str>, value: Value<'a>) {
    match arguments.iter_mut().find(|(key, _)| key == name) {
        Some((_, slot)) => *slot = value,
        None => arguments.push((name.clone(), value)),
    }
}

fn pruned<'a>(
    interp: &mut Interp<'a>,
    prune: &Value<'a>,
    configs: &[Value<'a>],
    given: &[(Rc<str>, Value<'a>)],
) -> Eval<'a> {
    let configs = Value::List(Rc::new(RefCell::new(configs.to_vec())));
    let dict = given.iter().map(|(name, value)| (Value::Str(name.clone()), value.clone())).collect();
    let dict = Value::Dict(Rc::new(RefCell::new(dict)));
    interp.call(prune, Args { pos: vec![configs, dict], named: given.to_vec() }, interp.at)
}

fn params<'f>(function: &'f Function<'_>) -> impl Iterator<Item = &'f str> {
    let all = function.def.parameters().into_iter();
    all.flat_map(|params| params.iter_non_variadic_params()).map(|param| param.name().as_str())
}

/// What a parameter is annotated with.
fn annotation<'a>(function: &Function<'a>, name: &str) -> Option<&'a Expr> {
    let mut all = function.def.parameters()?.iter_non_variadic_params();
    all.find(|param| param.name().as_str() == name)?.annotation()
}

type Named<'a> = Vec<(Rc<str>, Value<'a>)>;

/// Arguments by parameter, and the options that are none.
fn bind<'a>(interp: &Interp<'a>, function: &Function<'a>, args: Args<'a>) -> Result<(Named<'a>, Named<'a>), Stop> {
    let run = if let FunctionNode::Def(def) = function.def { run_parameters(def) } else { None };
    let generated = run.is_some();
    let names: Vec<&str> = run.unwrap_or_else(|| params(function).collect());
    let (mut arguments, mut options): (Named<'a>, Named<'a>) = (Vec::new(), Vec::new());
    let (mut pos, more) = (args.pos, names.len());
    match pos.len().checked_sub(names.len()) {
        Some(3) if generated => options.push(("grid".into(), Value::Tuple(pos.split_off(more).into()))),
        // Which of them it is given is not known.
        Some(1..) if generated => return Ok((arguments, options)),
        _ => {}
    }
    for (at, value) in pos.into_iter().enumerate() {
        match names.get(at) {
            Some(name) => arguments.push(((*name).into(), value)),
            None if function.def.parameters().is_some_and(|params| params.vararg.is_some()) => break,
            None => {
                return interp.raise(format!(
                    "`{}` takes {} arguments, more are given",
                    function.def.name(),
                    names.len()
                ));
            }
        }
    }
    for (name, value) in args.named {
        if &*name == "**" {
            continue;
        }
        if matches!(&*name, "num_warps" | "num_ctas") {
            options.push((name.clone(), value.clone()));
        }
        if names.contains(&&*name) {
            set(&mut arguments, &name, value);
        } else {
            options.push((name, value));
        }
    }
    Ok((arguments, options))
}

/// The CTAs of a cluster of several along the first axis of the grid, `(2, 1, 1)`, of which each runs a program of its own.
fn cluster(value: &Value<'_>) -> Option<u32> {
    match super::torch::ints(value)?[..] {
        [along_x, 1, 1] | [along_x, 1] | [along_x] => u32::try_from(along_x).ok().filter(|count| *count > 1),
        _ => None,
    }
}

/// `triton.Config(kwargs, num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, pre_hook=None)`.
pub(super) fn config<'a>(args: &Args<'a>) -> Value<'a> {
    let order = ["kwargs", "num_warps", "num_stages", "num_ctas", "maxnreg", "pre_hook"];
    let get = |name: &str| {
        let named = args.named.iter().find(|(key, _)| **key == *name).map(|(_, value)| value);
        named.or_else(|| args.pos.get(order.iter().position(|known| *known == name)?))
    };
    let kwargs = match get("kwargs") {
        Some(Value::Dict(entries)) => entries.clone(),
        _ => Rc::default(),
    };
    Value::Host(Rc::new(Thing::Config(AutotuneConfig {
        kwargs,
        num_warps: get("num_warps").and_then(count),
        num_ctas: get("ctas_per_cga").and_then(cluster).or(get("num_ctas").and_then(count)),
        pre_hook: get("pre_hook").cloned().unwrap_or(Value::None),
    })))
}

/// `triton.autotune(configs, key, …)`.
pub(super) fn autotune<'a>(args: &Args<'a>) -> Value<'a> {
    let named = |name: &str| args.named.iter().find(|(key, _)| **key == *name).map(|(_, value)| value);
    let configs = match named("configs").or_else(|| args.pos.first()) {
        Some(Value::List(configs)) => configs.borrow().clone(),
        Some(Value::Tuple(configs)) => configs.to_vec(),
        _ => Vec::new(),
    };
    let prune = named("prune_configs_by").and_then(|by| {
        let Value::Dict(entries) = by else { return None };
        let entries = entries.borrow();
        let early = |key: &Value<'_>| matches!(key, Value::Str(name) if &**name == "early_config_prune");
        entries.iter().find(|(key, _)| early(key)).map(|(_, value)| value.clone())
    });
    Value::Host(Rc::new(Thing::Tuner(Tuner { configs, prune, heuristics: Vec::new() })))
}

/// `triton.heuristics({name: function})`.
pub(super) fn heuristics<'a>(args: &Args<'a>) -> Value<'a> {
    let values = args.pos.first().or_else(|| args.named.first().map(|(_, value)| value));
    let mut heuristics = Vec::new();
    if let Some(Value::Dict(entries)) = values {
        for (key, value) in entries.borrow().iter() {
            if let Value::Str(name) = key {
                heuristics.push((name.clone(), value.clone()));
            }
        }
    }
    Value::Host(Rc::new(Thing::Tuner(Tuner { heuristics, ..Tuner::default() })))
}
