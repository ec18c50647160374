//! Partitions: what each of them is for, by the ops that tell it from the others.

use std::collections::BTreeMap;

use super::PartitionRow;
use super::buffers::BufferAccesses;
use super::trace::Trace;
use super::uses::stores_zeros;
use dialects::{Func, OpCode, PartitionHint, Tt};
use kernel::Space;
use rustc_hash::{FxHashMap, FxHashSet};
use ttgir::queries::spot::captured;
use ttgir::queries::spot::walk;
use ttgir::{Def, OpId, Tree, ValueId};

/// Key ops that a row names.
const KEY_OPS: usize = 6;

/// Names that a role lists.
const NAMES: usize = 4;

/// An op that tells: those that name the hardware before those that leave it open.
type Telling = (PartitionHint, bool, OpCode);

/// What a partition does.
#[derive(Default)]
struct Work {
    /// How often it has each op that tells, most telling first.
    ops: BTreeMap<Telling, u32>,
    /// What it loads, by the names of descriptors or pointers.
    loads: Vec<String>,
    /// Whether some of its tensor memory stores stand in the block of a load from there.
    rescales: bool,
}

/// One row a partition, default first.
pub(super) fn rows(trace: &Trace<'_>, memory: &BufferAccesses) -> Vec<PartitionRow> {
    let lowered = trace.lowered;
    let mut work: Vec<Work> = Vec::new();
    work.resize_with(lowered.kernel.partitions.len(), Work::default);
    let mut open: Vec<(OpId, Vec<usize>)> = trace.function.into_iter().map(|op| (op, Vec::new())).collect();
    let functions = functions(trace.tree);
    let mut called: FxHashSet<(OpId, Vec<usize>)> = FxHashSet::default();
    while let Some((function, by)) = open.pop() {
        for call in count(trace, function, &by, &mut work) {
            let Some(&callee) = functions.get(callee(trace.tree, call.0).unwrap_or("")) else { continue };
            // Each once: functions that call each other would not end.
            if called.insert((callee, call.1.clone())) {
                open.push((callee, call.1));
            }
        }
    }
    let partitions = lowered.map.warps.iter().zip(&work).enumerate();
    let mut rows: Vec<PartitionRow> = partitions
        .map(|(number, (&warps, work))| PartitionRow {
            label: lowered.map.partition(number),
            range: lowered.map.partitions.get(number).map(|(_, range)| *range).unwrap_or_default(),
            role: role(work),
            key_ops: key_ops(work),
            warps,
        })
        .collect();
    tell_apart(memory, &mut rows);
    rows
}

fn functions(tree: &Tree) -> FxHashMap<&str, OpId> {
    let mut functions = FxHashMap::default();
    walk(tree, tree.top(), &mut |op| {
        if tree.op_name(op).ends_with(".func")
            && let Some(name) = tree.attr(op, "sym_name").and_then(|attr| tree.attr_str(attr))
        {
            functions.insert(name, op);
        }
    });
    functions
}

fn callee(tree: &Tree, call: OpId) -> Option<&str> {
    let attr = tree.attr(call, "callee")?;
    Some(tree.attr_str(attr).unwrap_or_else(|| tree.attr_text(attr)).trim_start_matches('@'))
}

/// Counts the ops of a function for the partitions that execute them; gives the calls in it.
fn count(trace: &Trace<'_>, function: OpId, by: &[usize], work: &mut [Work]) -> Vec<(OpId, Vec<usize>)> {
    let tree = trace.tree;
    let mut calls = Vec::new();
    walk(tree, &[function], &mut |op| {
        let Some(code) = tree.code(op) else { return };
        let call = matches!(code, OpCode::Tt(Tt::Call) | OpCode::Func(Func::Call));
        let hint = code.decl().partition;
        if hint.is_none() && !call {
            return;
        }
        let executors = if by.is_empty() { trace.executors(op) } else { by.to_vec() };
        if call {
            calls.push((op, executors));
            return;
        }
        let Some(hint) = hint else { return };
        let telling = (hint, matches!(code, OpCode::Tt(_) | OpCode::Nvws(_)), code);
        for executor in executors {
            let Some(work) = work.get_mut(executor) else { continue };
            *work.ops.entry(telling).or_default() += 1;
            if matches!(hint, PartitionHint::TmaLoad | PartitionHint::AsyncCopy | PartitionHint::TdmLoad)
                && let Some(source) = source(tree, op)
                && !work.loads.contains(&source)
            {
                work.loads.push(source);
            }
            // Zeros are a new accumulator, not a corrected one.
            work.rescales |= hint == PartitionHint::TensorStore && is_beside_load(tree, op) && !stores_zeros(tree, op);
        }
    });
    calls
}

/// What a copy reads: its descriptor or pointer, by the name outside of partitions.
fn source(tree: &Tree, op: OpId) -> Option<String> {
    let value = ["desc", "src", "srcMem"].iter().find_map(|group| tree.group(op, group).first())?;
    let mut value = *value;
    for _ in 0..16 {
        value = match tree.value_def(value) {
            Def::BlockArg(block, number) => match captured(tree, block, number as usize) {
                Some(outer) => outer,
                None => carried(tree, value).unwrap_or(value),
            },
            Def::Result(op, _) if is_passed_on(tree.op_name(op)) => *tree.operands(op).first()?,
            _ => break,
        };
    }
    Some(tree.value_name(value).to_owned())
}

/// Whether an op gives what it is handed first, moved or widened.
fn is_passed_on(op: &str) -> bool {
    matches!(op, "tt.addptr" | "tt.splat" | "tt.broadcast" | "amdg.update_tensor_descriptor")
}

/// What a loop argument starts with.
fn carried(tree: &Tree, value: ValueId) -> Option<ValueId> {
    let Def::BlockArg(block, number) = tree.value_def(value) else { return None };
    let op = tree.parent_op(tree.parent_region(block))?;
    let at = (number as usize).checked_sub(1).filter(|_| tree.op_name(op) == "scf.for")?;
    tree.group(op, "initArgs").get(at).copied()
}

/// Whether a load from tensor memory stands before a store in its block.
fn is_beside_load(tree: &Tree, store: OpId) -> bool {
    let Some(block) = tree.parent_block(store) else { return false };
    let before = tree.block_ops(block).iter().take_while(|op| **op != store);
    before.into_iter().any(|op| tree.op_name(*op) == "ttng.tmem_load")
}

fn key_ops(work: &Work) -> Vec<(String, u32)> {
    work.ops.iter().map(|((.., code), count)| (code.decl().name.to_owned(), *count)).take(KEY_OPS).collect()
}

fn role(work: &Work) -> String {
    let does = |hint: PartitionHint| work.ops.keys().any(|(own, ..)| *own == hint);
    let mut parts: Vec<String> = Vec::new();
    if does(PartitionHint::Schedule) {
        parts.push("tile scheduler".to_owned());
    }
    let loads = [
        (PartitionHint::TmaLoad, "TMA load"),
        (PartitionHint::AsyncCopy, "cp.async load"),
        (PartitionHint::TdmLoad, "TDM load"),
    ];
    let by: Vec<&str> = loads.iter().filter(|(hint, _)| does(*hint)).map(|(_, name)| *name).collect();
    if !by.is_empty() {
        parts.push(format!("{}{}", by.join(" and "), list(&work.loads)));
    }
    let mma = does(PartitionHint::Mma) || does(PartitionHint::MmaHelper);
    if mma {
        parts.push("MMA".to_owned());
    }
    let exp = does(PartitionHint::Exp);
    match (exp, does(PartitionHint::Reduce)) {
        (true, true) => parts.push("softmax".to_owned()),
        (true, false) => parts.push("exponentials".to_owned()),
        (false, true) => parts.push("reduction".to_owned()),
        (false, false) if work.rescales => parts.push("accumulator correction".to_owned()),
        _ => {}
    }
    let tensor = does(PartitionHint::TensorLoad);
    match does(PartitionHint::BlockStore) || does(PartitionHint::Store) {
        true if tensor || does(PartitionHint::SharedLoad) || mma => parts.push("epilogue store".to_owned()),
        true => parts.push("store".to_owned()),
        false => {}
    }
    if parts.is_empty() {
        let rest = [
            (PartitionHint::TensorLoad, "reads tensor memory"),
            (PartitionHint::TensorStore, "writes tensor memory"),
            (PartitionHint::SharedLoad, "reads shared memory"),
            (PartitionHint::SharedStore, "writes shared memory"),
            (PartitionHint::Load, "loads"),
        ];
        parts.extend(rest.iter().filter(|(hint, _)| does(*hint)).map(|(_, name)| (*name).to_owned()));
    }
    parts.join(", ")
}

fn list(names: &[String]) -> String {
    match names.len() {
        0 => String::new(),
        1..=NAMES => format!(" ({})", names.join(", ")),
        more => format!(" ({} and {} more)", names[..NAMES].join(", "), more - NAMES),
    }
}

/// Adds what they work on to roles that several partitions have.
fn tell_apart(memory: &BufferAccesses, rows: &mut [PartitionRow]) {
    let roles: Vec<String> = rows.iter().map(|row| row.role.clone()).collect();
    for (number, row) in rows.iter_mut().enumerate() {
        if row.role.is_empty() || roles.iter().filter(|role| **role == row.role).count() < 2 {
            continue;
        }
        let mut names: Vec<String> = Vec::new();
        for space in [Space::Tensor, Space::Shared] {
            if !names.is_empty() {
                break;
            }
            for buffer in memory.buffers.iter().filter(|buffer| buffer.space == space) {
                let mut uses = buffer.members.iter().flat_map(|member| member.readers.iter().chain(&member.writers));
                if uses.any(|used| used.partition == number) {
                    names.push(buffer.name.clone());
                }
            }
        }
        row.role = format!("{}{}", row.role, list(&names));
    }
}
