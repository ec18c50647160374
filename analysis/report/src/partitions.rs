//! Partitions: what each of them is for, by the ops that tell it from the others.

use super::PartitionRow;
use super::buffers::Memory;
use super::trace::Trace;
use kernel::Space;
use rustc_hash::{FxHashMap, FxHashSet};
use ttgir::queries::memory::captured;
use ttgir::queries::spot::walk;
use ttgir::{Def, OpId, Tree, ValueId};

/// What an op says of its partition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Tells {
    Mma,
    /// A load by the tensor memory accelerator.
    TmaLoad,
    /// `cp.async`.
    AsyncCopy,
    /// A load by AMD's tensor data mover.
    TdmLoad,
    /// Gives out tiles.
    Schedule,
    Reduce,
    Exp,
    TensorLoad,
    TensorStore,
    /// A store to global memory.
    Store,
    /// A load from global memory by threads.
    Load,
    SharedStore,
    SharedLoad,
}

/// Ops that tell, most telling first.
const OPS: [(&str, Tells); 42] = [
    ("ttng.tc_gen5_mma", Tells::Mma),
    ("ttng.tc_gen5_mma_scaled", Tells::Mma),
    ("ttng.warp_group_dot", Tells::Mma),
    ("tt.dot", Tells::Mma),
    ("tt.dot_scaled", Tells::Mma),
    ("amdg.wmma", Tells::Mma),
    ("ttng.async_tma_copy_global_to_local", Tells::TmaLoad),
    ("ttng.async_tma_gather", Tells::TmaLoad),
    ("tt.descriptor_load", Tells::TmaLoad),
    ("tt.descriptor_gather", Tells::TmaLoad),
    ("nvws.descriptor_load", Tells::TmaLoad),
    ("nvws.descriptor_gather", Tells::TmaLoad),
    ("ttg.async_copy_global_to_local", Tells::AsyncCopy),
    ("amdg.buffer_load_to_local", Tells::AsyncCopy),
    ("amdg.async_tdm_copy_global_to_local", Tells::TdmLoad),
    ("amdg.async_tdm_gather", Tells::TdmLoad),
    ("ttng.clc_try_cancel", Tells::Schedule),
    ("nvws.clc_try_cancel", Tells::Schedule),
    ("math.exp2", Tells::Exp),
    ("math.exp", Tells::Exp),
    ("tt.reduce", Tells::Reduce),
    ("tt.scan", Tells::Reduce),
    ("ttng.tmem_load", Tells::TensorLoad),
    ("ttng.tmem_store", Tells::TensorStore),
    ("ttng.async_tma_copy_local_to_global", Tells::Store),
    ("ttng.async_tma_reduce", Tells::Store),
    ("ttng.async_tma_scatter", Tells::Store),
    ("amdg.async_tdm_copy_local_to_global", Tells::Store),
    ("amdg.async_tdm_scatter", Tells::Store),
    ("tt.descriptor_store", Tells::Store),
    ("tt.descriptor_reduce", Tells::Store),
    ("tt.descriptor_scatter", Tells::Store),
    ("tt.store", Tells::Store),
    ("tt.atomic_rmw", Tells::Store),
    ("amdg.buffer_store", Tells::Store),
    ("ttg.local_store", Tells::SharedStore),
    ("ttng.async_shared_store", Tells::SharedStore),
    ("ttg.local_load", Tells::SharedLoad),
    ("tt.load", Tells::Load),
    ("amdg.buffer_load", Tells::Load),
    ("ttng.tc_gen5_commit", Tells::Mma),
    ("ttng.tmem_copy", Tells::Mma),
];

/// Key ops that a row names.
const KEY_OPS: usize = 6;

/// Names that a role lists.
const NAMES: usize = 4;

/// What a partition does.
#[derive(Default)]
struct Work {
    ops: FxHashMap<&'static str, u32>,
    /// What it loads, by the names of descriptors or pointers.
    loads: Vec<String>,
    /// Whether some of its tensor memory stores stand in the block of a load from there.
    rescales: bool,
}

/// One row a partition, default first.
pub(super) fn rows(trace: &Trace<'_>, memory: &Memory) -> Vec<PartitionRow> {
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
    let partitions = lowered.kernel.partitions.iter().zip(&work).enumerate();
    let mut rows: Vec<PartitionRow> = partitions
        .map(|(number, (partition, work))| PartitionRow {
            label: lowered.map.partition(number),
            range: lowered.map.partitions.get(number).map(|(_, range)| *range).unwrap_or_default(),
            role: role(work),
            key_ops: key_ops(work),
            warps: partition.warps,
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
        let name = tree.op_name(op);
        let call = matches!(name, "tt.call" | "func.call");
        let row = OPS.iter().find(|(known, _)| *known == name);
        if row.is_none() && !call {
            return;
        }
        let executors = if by.is_empty() { trace.executors(op) } else { by.to_vec() };
        if call {
            calls.push((op, executors));
            return;
        }
        let Some((name, tells)) = row else { return };
        for executor in executors {
            let Some(work) = work.get_mut(executor) else { continue };
            *work.ops.entry(name).or_default() += 1;
            if matches!(tells, Tells::TmaLoad | Tells::AsyncCopy | Tells::TdmLoad)
                && let Some(source) = source(tree, op)
                && !work.loads.contains(&source)
            {
                work.loads.push(source);
            }
            work.rescales |= *tells == Tells::TensorStore && is_beside_load(tree, op);
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
            Def::Result(op, _) if matches!(tree.op_name(op), "tt.addptr" | "tt.splat" | "tt.broadcast") => {
                *tree.operands(op).first()?
            }
            _ => break,
        };
    }
    Some(tree.value_name(value).to_owned())
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
    let counted = OPS.iter().filter_map(|(name, _)| Some(((*name).to_owned(), *work.ops.get(name)?)));
    counted.take(KEY_OPS).collect()
}

fn role(work: &Work) -> String {
    let does = |tells: Tells| OPS.iter().any(|(name, own)| *own == tells && work.ops.contains_key(name));
    let mut parts: Vec<String> = Vec::new();
    if does(Tells::Schedule) {
        parts.push("tile scheduler".to_owned());
    }
    let loads = [(Tells::TmaLoad, "TMA load"), (Tells::AsyncCopy, "cp.async load"), (Tells::TdmLoad, "TDM load")];
    let by: Vec<&str> = loads.iter().filter(|(tells, _)| does(*tells)).map(|(_, name)| *name).collect();
    if !by.is_empty() {
        parts.push(format!("{}{}", by.join(" and "), list(&work.loads)));
    }
    if does(Tells::Mma) {
        parts.push("MMA".to_owned());
    }
    let exp = does(Tells::Exp);
    match (exp, does(Tells::Reduce)) {
        (true, true) => parts.push("softmax".to_owned()),
        (true, false) => parts.push("exponentials".to_owned()),
        (false, true) => parts.push("reduction".to_owned()),
        (false, false) if work.rescales => parts.push("accumulator correction".to_owned()),
        _ => {}
    }
    let tensor = does(Tells::TensorLoad);
    match does(Tells::Store) {
        true if tensor || does(Tells::SharedLoad) || does(Tells::Mma) => parts.push("epilogue store".to_owned()),
        true => parts.push("store".to_owned()),
        false => {}
    }
    if parts.is_empty() {
        let rest = [
            (Tells::TensorLoad, "reads tensor memory"),
            (Tells::TensorStore, "writes tensor memory"),
            (Tells::SharedLoad, "reads shared memory"),
            (Tells::SharedStore, "writes shared memory"),
            (Tells::Load, "loads"),
        ];
        parts.extend(rest.iter().filter(|(tells, _)| does(*tells)).map(|(_, name)| (*name).to_owned()));
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
fn tell_apart(memory: &Memory, rows: &mut [PartitionRow]) {
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
