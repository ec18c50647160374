//! `with tlx.async_tasks():`, the partitions of a kernel: one for each `with tlx.async_task(…):` in it, or as many as
//! `replicate` says. A partition sees the variables of the kernel around it, and gives none back.

use std::rc::Rc;

use super::super::layouts::build;
use super::super::partitions::check_partitions;
use super::super::warp_specialize::{capture, captured, inside};
use builtins::operand::{field, int};
use dialects::Ttg;
use python::emit::{Op, Ssa};
use python::eval::flat::{computed, leaves};
use python::interp::{Eval, Interp, Stop};
use python::library::{Bound, LibClass, NOTHING, Part, Row};
use python::value::{Object, Value};
use ruff_python_ast::{Stmt, StmtWith};

const TASK: &str = "tl.extra.tlx.async_task";

pub(super) const PART: Part = Part {
    classes: &[
        LibClass::new("tl.extra.tlx.async_tasks", "exclusive=False, no_ending_cluster_sync=False", &[], 4, plain)
            .block(specialize),
        LibClass::new(
            TASK,
            "task=None, *, num_warps=None, num_regs=None, registers=None, replicate=1, warp_group_start_id=None",
            &[],
            4,
            plain,
        )
        .block(|interp, _, statements| interp.run_enclosed(statements)),
    ],
    rows: &[Row::new("tl.extra.tlx.async_task_replica_id", "", 4, |interp, _| match interp.replica {
        Some(replica) => Ok(Value::Int(replica.into())),
        None => interp.raise("`async_task_replica_id` is asked for outside of an `async_task`"),
    })],
    ..NOTHING
};

fn plain<'a>(_: &mut Interp<'a>, class: &'static LibClass, bound: &Bound<'a>) -> Eval<'a> {
    let defaults = [("replicate", Value::Int(1))];
    Ok(Value::Object(Rc::new(build(class, bound, &defaults))))
}

/// A `with tlx.async_task(…):`.
struct Task<'a> {
    body: &'a [Stmt],
    is_default: bool,
    /// Warps of each partition, but the default one.
    warps: i64,
    registers: Option<i64>,
    replicas: i64,
}

/// A partition that is no default one.
struct Worker<'a> {
    body: &'a [Stmt],
    warps: i64,
    registers: Option<i64>,
    replica: i64,
    label: String,
}

/// The most partitions of a kernel, by the warps of a block.
const MOST: i64 = 32;

fn specialize<'a>(interp: &mut Interp<'a>, _: &Object<'a>, statements: &'a [Stmt]) -> Result<(), Stop> {
    let mut tasks = Vec::new();
    find(interp, statements, &mut tasks)?;
    let mut defaults = tasks.iter().filter(|task| task.is_default);
    let (Some(default), None) = (defaults.next(), defaults.next()) else {
        return interp.raise("`async_tasks` has one `async_task(\"default\")`, and no more");
    };
    let mut workers = Vec::new();
    for (number, task) in tasks.iter().enumerate() {
        let (first, warps) = if task.is_default { (1, i64::from(interp.num_warps)) } else { (0, task.warps) };
        if task.replicas < 1 || task.replicas > MOST {
            return interp.raise(format!("`replicate` is {}, and at least 1", task.replicas));
        }
        for replica in first..task.replicas {
            let mut label = if task.is_default { "default".to_owned() } else { format!("task{number}") };
            if task.replicas > 1 {
                label = format!("{label}.{replica}");
            }
            workers.push(Worker { body: task.body, warps, registers: task.registers, replica, label });
        }
    }
    let default = default.body;
    if workers.is_empty() {
        return within(interp, 0, default);
    }
    emit(interp, default, &workers)
}

/// The tasks of these statements, those of the ways that constants take.
fn find<'a>(interp: &mut Interp<'a>, statements: &'a [Stmt], into: &mut Vec<Task<'a>>) -> Result<(), Stop> {
    for statement in statements {
        match statement {
            Stmt::With(with) => into.push(task(interp, with)?),
            Stmt::If(branch) => {
                let mut ways = std::iter::once((Some(&*branch.test), &branch.body))
                    .chain(branch.elif_else_clauses.iter().map(|clause| (clause.test.as_ref(), &clause.body)));
                let taken = ways.find_map(|(test, body)| {
                    let Some(test) = test else { return Some(Ok(body)) };
                    let holds = interp.expr(test).and_then(|value| match interp.truth(&value) {
                        Some(holds) => Ok(holds),
                        None => interp.unknown("which tasks there are is not known"),
                    });
                    match holds {
                        Ok(holds) => holds.then_some(Ok(body)),
                        Err(stop) => Some(Err(stop)),
                    }
                });
                if let Some(body) = taken.transpose()? {
                    find(interp, body, into)?;
                }
            }
            Stmt::Pass(_) => {}
            _ => return interp.raise("`async_tasks` holds nothing but `with tlx.async_task(…):`"),
        }
    }
    Ok(())
}

fn task<'a>(interp: &mut Interp<'a>, with: &'a StmtWith) -> Result<Task<'a>, Stop> {
    let [item] = &with.items[..] else { return interp.raise("an `async_task` is the one item of its `with`") };
    let value = interp.expr(&item.context_expr)?;
    let of = match &value {
        Value::Object(object) if object.class.path == TASK => object.clone(),
        Value::Unknown(reason) => return interp.unknown(reason.clone()),
        _ => return interp.raise("`async_tasks` holds nothing but `with tlx.async_task(…):`"),
    };
    let given = |name| field(&of, name).filter(|value| !matches!(value, Value::None));
    let number = |name| given(name).map(|value| int(interp, value, name)).transpose();
    let is_default = match given("task") {
        Some(Value::Str(name)) if **name == *"default" => true,
        Some(_) => return interp.unknown("a task that is named by numbers is not followed"),
        None => false,
    };
    let registers = number("num_regs")?.or(number("registers")?);
    let (warps, replicas) = (number("num_warps")?, number("replicate")?.unwrap_or(1));
    match warps {
        None if !is_default => interp.raise("an `async_task` needs `num_warps`"),
        warps => Ok(Task { body: &with.body, is_default, warps: warps.unwrap_or(0), registers, replicas }),
    }
}

/// Runs the statements of a partition; what they assign is forgotten.
fn within<'a>(interp: &mut Interp<'a>, replica: i64, body: &'a [Stmt]) -> Result<(), Stop> {
    let outer = interp.replica.replace(replica);
    let before = interp.scope.snapshot();
    let ran = interp.run_enclosed(body);
    interp.scope.replace(before);
    interp.replica = outer;
    ran
}

fn emit<'a>(interp: &mut Interp<'a>, default: &'a [Stmt], workers: &[Worker<'a>]) -> Result<(), Stop> {
    let warps: Vec<i64> = workers.iter().map(|worker| worker.warps).collect();
    let registers: Option<Vec<i64>> = workers.iter().map(|worker| worker.registers).collect();
    check_partitions(interp, workers.len(), &warps, registers.as_deref())?;
    if !interp.is_dry_run() {
        let labels = workers.iter().map(|worker| worker.label.clone());
        interp.partitions = std::iter::once("default".to_owned()).chain(labels).collect();
    }
    let at = (interp.at, interp.what);
    let ((), own) = interp.region(|interp| {
        within(interp, 0, default)?;
        (interp.at, interp.what) = at;
        interp.emit(Op::new(Ttg::WarpYield)).map(drop)
    })?;

    let mut captures: Vec<Ssa> = Vec::new();
    let mut each = Vec::with_capacity(workers.len());
    for worker in workers {
        let (names, given): (Vec<Rc<str>>, Vec<Value<'a>>) = used(interp, worker.body).into_iter().unzip();
        let masks = capture(interp, &given, &mut captures);
        each.push((names, given, masks));
    }
    let (mut regions, mut first) = (Vec::new(), 0);
    for (worker, (names, given, masks)) in workers.iter().zip(&each) {
        let params: Vec<Ssa> = captures.iter().map(|captured| inside(interp, *captured)).collect();
        let (own, next) = captured(given, masks, &params, first);
        first = next;
        let before = interp.scope.snapshot();
        for (name, value) in names.iter().zip(own) {
            interp.scope.put(name.clone(), value);
        }
        let outer = std::mem::replace(&mut interp.num_warps, u32::try_from(worker.warps).unwrap_or(1));
        let region = interp.region(|interp| {
            within(interp, worker.replica, worker.body)?;
            (interp.at, interp.what) = at;
            interp.emit(Op::new(Ttg::WarpReturn)).map(drop)
        });
        interp.num_warps = outer;
        interp.scope.replace(before);
        let ((), code) = region?;
        regions.push(code.with_args(&params));
    }
    let mut op = Op::new(Ttg::WarpSpecialize)
        .operands("explicitCaptures", &captures)
        .attrs(registers.map(|registers| ("requestedRegisters", registers.into())))
        .attr("partitionNumWarps", warps)
        .region(own);
    for region in regions {
        op = op.region(region);
    }
    interp.emit(op).map(drop)
}

/// The variables of the kernel that statements mention and that hold something computed.
fn used<'a>(interp: &Interp<'a>, statements: &'a [Stmt]) -> Vec<(Rc<str>, Value<'a>)> {
    let range = statements.first().zip(statements.last());
    let range = range.map(|(first, last)| Interp::range(first).start as usize..Interp::range(last).end as usize);
    let file = interp.files.get(interp.file.0 as usize);
    let text = file.zip(range).and_then(|(file, range)| file.module.source().get(range)).unwrap_or_default();
    let words: rustc_hash::FxHashSet<&str> = text.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
    let names = interp.scope.names.borrow();
    let mentioned = names.iter().filter(|(name, _)| words.contains(&***name));
    let computes = |value: &Value<'a>| {
        let mut all = Vec::new();
        leaves(value, &mut all);
        all.iter().any(computed)
    };
    let all = mentioned.filter(|(_, value)| computes(value));
    all.map(|(name, value)| (name.clone(), value.clone())).collect()
}
