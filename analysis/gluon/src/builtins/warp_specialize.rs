//! `gl.warp_specialize`, in all of its shapes.

use super::partitions::check_partitions;
use dialects::Ttg;
use python::emit::{Op, Ssa};
use python::eval::flat::{computed, content_free, leaves, rebuild, with_ssa};
use python::interp::Stop;
use python::interp::{Eval, Interp};
use python::library::{Args, Bound, NOTHING, Part, Row};
use python::value::{FnKind, Value};

pub(super) const PART: Part = Part {
    rows: &[
        Row::effect(
            "gl.warp_specialize",
            "args, default_partition, worker_partitions, worker_num_warps, worker_num_regs",
            4,
            one,
        )
        .until(4),
        Row::effect(
            "gl.warp_specialize",
            "default_args, default_partition, worker_args, worker_partitions, worker_num_warps, worker_num_regs",
            5,
            shared,
        )
        .until(5),
        Row::effect("gl.warp_specialize", "functions_and_args, worker_num_warps, worker_num_regs", 6, pairs).until(6),
        Row::effect("gl.warp_specialize", "functions_and_args, worker_num_warps, worker_num_regs=None", 7, pairs),
    ],
    ..NOTHING
};

/// A function and what it is called with.
type Task<'a> = (Value<'a>, Vec<Value<'a>>);

/// `functions_and_args, worker_num_warps, worker_num_regs`: since 3.6.
fn pairs<'a>(interp: &mut Interp<'a>, args: &Bound<'a>) -> Eval<'a> {
    let mut tasks = Vec::new();
    let Some(list) = args.get("functions_and_args") else { return Ok(Value::None) };
    for pair in interp.items(list)? {
        let parts = match &pair {
            Value::Tuple(parts) => parts.clone(),
            _ => return interp.raise("a partition is a function and a tuple of its arguments"),
        };
        let [function, given] = &*parts else {
            return interp.raise("a partition is a function and a tuple of its arguments");
        };
        let given = match given {
            Value::Tuple(items) => items.to_vec(),
            Value::Unknown(reason) => return interp.unknown(reason.clone()),
            _ => return interp.raise("the arguments of a partition are a tuple"),
        };
        tasks.push((function.clone(), given));
    }
    specialize(interp, tasks, args)
}

/// `default_args, default_partition, worker_args, worker_partitions, …`: 3.5.
fn shared<'a>(interp: &mut Interp<'a>, args: &Bound<'a>) -> Eval<'a> {
    let part = |name| args.get(name).cloned().unwrap_or(Value::None);
    let own = interp.items(&part("default_args"))?;
    let given = interp.items(&part("worker_args"))?;
    let mut tasks = vec![(part("default_partition"), own)];
    for worker in interp.items(&part("worker_partitions"))? {
        tasks.push((worker, given.clone()));
    }
    specialize(interp, tasks, args)
}

/// `args, default_partition, worker_partitions, …`: 3.4.
fn one<'a>(interp: &mut Interp<'a>, args: &Bound<'a>) -> Eval<'a> {
    let part = |name| args.get(name).cloned().unwrap_or(Value::None);
    let given = interp.items(&part("args"))?;
    let mut tasks = vec![(part("default_partition"), given.clone())];
    for worker in interp.items(&part("worker_partitions"))? {
        tasks.push((worker, given.clone()));
    }
    specialize(interp, tasks, args)
}

fn specialize<'a>(interp: &mut Interp<'a>, tasks: Vec<Task<'a>>, args: &Bound<'a>) -> Eval<'a> {
    let numbers = |interp: &mut Interp<'a>, name: &str| -> Result<Option<Vec<i64>>, Stop> {
        match args.get(name) {
            None | Some(Value::None) => Ok(None),
            Some(list) => {
                let items = interp.items(list)?;
                let number = |item: &Value<'a>| interp.int(item).map(|int| i64::try_from(int).unwrap_or(i64::MAX));
                items.iter().map(number).collect::<Result<Vec<_>, _>>().map(Some)
            }
        }
    };
    let warps = numbers(interp, "worker_num_warps")?.unwrap_or_default();
    let registers = numbers(interp, "worker_num_regs")?;
    let mut tasks = tasks.into_iter();
    let Some(default) = tasks.next() else { return interp.raise("there is no default partition") };
    let workers: Vec<Task<'a>> = tasks.collect();
    check_partitions(interp, workers.len(), &warps, registers.as_deref())?;
    emit_specialization(interp, &default, &workers, &warps, registers.as_deref())
}

fn emit_specialization<'a>(
    interp: &mut Interp<'a>,
    default: &Task<'a>,
    workers: &[Task<'a>],
    warps: &[i64],
    registers: Option<&[i64]>,
) -> Eval<'a> {
    let at = interp.at;
    if !interp.is_dry_run() {
        interp.partitions = std::iter::once(default).chain(workers).map(|task| function_name(&task.0)).collect();
    }
    for (function, _) in std::iter::once(default).chain(workers) {
        if !matches!(function, Value::Function(function) if function.kind == FnKind::Jit) {
            return interp.unknown("a partition is no function of the kernel");
        }
    }
    let (result, own) = interp.region(|interp| {
        let args = Args { pos: default.1.clone(), named: Vec::new() };
        let result = interp.call(&default.0, args, at)?;
        let mut all = Vec::new();
        leaves(&result, &mut all);
        let mut yields = Vec::new();
        for leaf in all.iter().filter(|leaf| computed(leaf) && !content_free(leaf)) {
            yields.extend(interp.leaf_ssa(leaf));
        }
        let types = interp.types(&yields);
        interp.emit(Op::new(Ttg::WarpYield).operands("values", &yields))?;
        Ok((result, types))
    })?;
    let (result, types) = result;

    // What the workers are given goes in as one list; constants are known inside as well.
    let mut captures: Vec<Ssa> = Vec::new();
    let each: Vec<Vec<Vec<bool>>> = workers.iter().map(|(_, given)| capture(interp, given, &mut captures)).collect();
    let mut regions = Vec::new();
    let mut first = 0;
    for (((function, given), masks), warps) in workers.iter().zip(&each).zip(warps) {
        let params: Vec<Ssa> = captures.iter().map(|captured| inside(interp, *captured)).collect();
        let (inner, next) = captured(given, masks, &params, first);
        first = next;
        let outer = std::mem::replace(&mut interp.num_warps, u32::try_from(*warps).unwrap_or(1));
        let args = Args { pos: inner, named: Vec::new() };
        let region = interp.region(|interp| {
            interp.call(function, args, at)?;
            interp.emit(Op::new(Ttg::WarpReturn)).map(drop)
        });
        interp.num_warps = outer;
        let ((), code) = region?;
        regions.push(code.with_args(&params));
    }

    let requested = registers.filter(|registers| !registers.is_empty());
    let mut op = Op::new(Ttg::WarpSpecialize)
        .operands("explicitCaptures", &captures)
        .attrs(requested.map(|registers| ("requestedRegisters", registers.to_vec().into())))
        .attr("partitionNumWarps", warps.to_vec())
        .region(own);
    for region in regions {
        op = op.region(region);
    }
    let results = interp.emit(op.results("defaultPassthrough", types))?;

    let mut all = Vec::new();
    leaves(&result, &mut all);
    let mut given = results.into_iter();
    let mut next = all.into_iter().map(|leaf| {
        let handed = computed(&leaf) && !content_free(&leaf);
        match given.next().filter(|_| handed) {
            Some(ssa) => with_ssa(&leaf, ssa),
            None => leaf,
        }
    });
    Ok(rebuild(&result, &mut || next.next().unwrap_or(Value::None)))
}

/// Adds what these values are made of to what partitions capture; of each leaf of each value, whether it is captured.
pub(super) fn capture<'a>(interp: &mut Interp<'a>, given: &[Value<'a>], captures: &mut Vec<Ssa>) -> Vec<Vec<bool>> {
    let mut masks = Vec::with_capacity(given.len());
    for value in given {
        let mut all = Vec::new();
        leaves(value, &mut all);
        let mut mask = Vec::with_capacity(all.len());
        for leaf in &all {
            let constant = matches!(leaf, Value::Tensor(tensor) if tensor.constant.is_some());
            let captured = computed(leaf) && !content_free(leaf) && !constant;
            if captured {
                captures.extend(interp.leaf_ssa(leaf));
            }
            mask.push(captured);
        }
        masks.push(mask);
    }
    masks
}

/// These values as a partition has them, whose arguments are `params`: those from number `first` on are of these values.
/// With them comes the number of the argument behind the last.
pub(super) fn captured<'a>(
    given: &[Value<'a>],
    masks: &[Vec<bool>],
    params: &[Ssa],
    first: usize,
) -> (Vec<Value<'a>>, usize) {
    let mut next = first;
    let mut inner = Vec::with_capacity(given.len());
    for (value, mask) in given.iter().zip(masks) {
        let mut all = Vec::new();
        leaves(value, &mut all);
        let mut replaced = all.into_iter().zip(mask).map(|(leaf, captured)| {
            if *captured && let Some(param) = params.get(next) {
                next += 1;
                return with_ssa(&leaf, *param);
            }
            match leaf {
                // A constant of outside is emitted again where it is needed.
                Value::Tensor(mut tensor) => {
                    tensor.ssa = None;
                    Value::Tensor(tensor)
                }
                leaf => leaf,
            }
        });
        inner.push(rebuild(value, &mut || replaced.next().unwrap_or(Value::None)));
    }
    (inner, next)
}

fn function_name(value: &Value<'_>) -> String {
    match value {
        Value::Function(function) => function.def.name().to_owned(),
        Value::Bound(bound) => function_name(&bound.1),
        Value::Partial(partial) => function_name(&partial.function),
        _ => "?".to_owned(),
    }
}

/// What a captured value is inside of a partition: an argument, which has its name.
pub(super) fn inside(interp: &mut Interp<'_>, captured: Ssa) -> Ssa {
    let ty = interp.ty(captured);
    let param = interp.builder.fresh(ty);
    interp.builder.name_after(param, captured, "");
    param
}
