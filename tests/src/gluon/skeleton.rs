//! What a kernel does to barriers and memory at which place of the Python: the events of each partition in
//! the order of the text. Two texts of one kernel have the same skeleton.

use gluon::{Elaborated, Frame};
use kernel::{
    Access, Arrival, BlockId, BufferId, Completion, CtaSet, EffectKind, Instr, Kernel, Lowered, Recipients, Terminator,
};
use python::syntax::Module;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use ttgir::Tree;

/// A place in a Python file: line and column from 1.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place {
    /// The last part of the file's path.
    pub file: String,
    /// Line.
    pub line: u32,
    /// Column, in bytes.
    pub col: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.col)
    }
}

/// Something a kernel does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// Which partition; 0 is the default one and what is around it.
    pub partition: u32,
    /// What, with all numbers that are no variables.
    pub what: String,
    /// Where: the call, then the calls that lead there, inside the user's files.
    pub stack: Vec<Place>,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stack: Vec<String> = self.stack.iter().map(Place::to_string).collect();
        write!(f, "p{} {} @ {}", self.partition, self.what, stack.join(" < "))
    }
}

/// The skeleton of a kernel; `places` tells where in the Python an offset of its text comes from.
pub fn skeleton(lowered: &Lowered, places: impl Fn(u32) -> Vec<Place>) -> Vec<Event> {
    let kernel = &lowered.kernel;
    let owner = owners(kernel);
    let used = used(kernel);
    let mut events: Vec<(u32, u32, usize, Event)> = Vec::new();
    for (at, block) in kernel.blocks.iter().enumerate() {
        let Some(&partition) = owner.get(&BlockId(at as u32)) else { continue };
        for instr in &block.instrs {
            let Instr::Effect(id) = instr else { continue };
            let effect = kernel.effect(*id);
            // Layout conversions, which the compiler places, use registers too.
            if matches!(&effect.kind, EffectKind::Use { .. }) {
                continue;
            }
            // The compiler drops an allocation that nothing uses.
            if matches!(&effect.kind, EffectKind::Allocate(buffer) if !used.contains(buffer)) {
                continue;
            }
            let start = lowered.map.site(effect.site).range.start;
            let event = Event { partition, what: told(kernel, &effect.kind), stack: places(start) };
            events.push((partition, start, events.len(), event));
        }
    }
    events.sort_by_key(|(partition, start, at, _)| (*partition, *start, *at));
    events.into_iter().map(|(.., event)| event).collect()
}

/// Buffers that something is done with.
fn used(kernel: &Kernel) -> BTreeSet<BufferId> {
    let instrs = kernel.blocks.iter().flat_map(|block| &block.instrs);
    let bases = instrs.filter_map(|instr| if let Instr::Base(_, buffer) = instr { Some(*buffer) } else { None });
    bases.collect()
}

/// The partition that runs a block.
fn owners(kernel: &Kernel) -> BTreeMap<BlockId, u32> {
    let mut owner = BTreeMap::new();
    let mut open = vec![(kernel.entry, 0)];
    while let Some((block, partition)) = open.pop() {
        if owner.contains_key(&block) {
            continue;
        }
        owner.insert(block, partition);
        match &kernel.block(block).terminator {
            Terminator::Fork(fork) => {
                open.push((fork.default.block, partition));
                open.extend(fork.partitions.iter().map(|(number, target)| (target.block, *number)));
            }
            other => open.extend(other.targets().into_iter().map(|target| (target.block, partition))),
        }
    }
    owner
}

fn told(kernel: &Kernel, kind: &EffectKind) -> String {
    match kind {
        EffectKind::Allocate(buffer) => {
            let buffer = &kernel.buffers[buffer.0 as usize];
            format!("alloc {:?} bits={}", buffer.space, buffer.bits)
        }
        EffectKind::Operation { issuer, accesses, completion } => {
            let accesses: Vec<String> = accesses.iter().map(|one| access(kernel, one)).collect();
            format!("{issuer:?} {} {}", accesses.join(" "), completed(completion))
        }
        EffectKind::Init { count, .. } => format!("init count={count}"),
        EffectKind::Invalidate { .. } => "invalidate".into(),
        EffectKind::Expect { bytes, to, .. } => format!("expect bytes={bytes} {}", ctas(to)),
        EffectKind::Arrive { count, to, .. } => format!("arrive count={count} {}", ctas(to)),
        EffectKind::Wait { .. } => "wait".into(),
        EffectKind::ReadPhase { .. } => "read phase".into(),
        EffectKind::TensorCoreCommit { to, .. } => format!("tcgen05 commit {}", ctas(to)),
        EffectKind::AsyncCopyArrive { increments, to, .. } => format!("cp.async arrive {increments} {}", ctas(to)),
        EffectKind::Commit(kind) => format!("commit {kind:?}"),
        EffectKind::WaitGroup { kind, pending } => format!("wait group {kind:?} {pending}"),
        EffectKind::ProxyFence => "fence".into(),
        EffectKind::ClusterArrive { relaxed } => format!("cluster arrive relaxed={relaxed}"),
        EffectKind::ClusterWait => "cluster wait".into(),
        EffectKind::NamedArrive { .. } => "named arrive".into(),
        EffectKind::NamedWait { .. } => "named wait".into(),
        EffectKind::ClcLoad { .. } => "clc load".into(),
        EffectKind::Use { .. } => "use".into(),
        EffectKind::Unmodelled => "unmodelled".into(),
    }
}

fn access(kernel: &Kernel, access: &Access) -> String {
    let shape = kernel.shape(access.view).map(|shape| {
        let dims: String = shape.dims.iter().map(|dim| format!("{}/{}x", dim.size, dim.stride)).collect();
        format!("{dims}{}{}", shape.element, if shape.exact { "" } else { "?" })
    });
    let Access { mode, proxy, operand, clears, ctas, .. } = access;
    let clears = if *clears { " clears" } else { "" };
    format!("[{mode:?} {proxy:?} {operand}{clears} {} {}]", set(*ctas), shape.unwrap_or_default())
}

/// `own`, or which bits of the CTA's number do not count and which run through both values.
fn set(set: CtaSet) -> String {
    if set == CtaSet::OWN { "own".into() } else { format!("cta&!{}|{}", set.clear, set.spread) }
}

fn ctas(to: &Recipients) -> String {
    to.0.iter().map(|one| set(*one)).collect::<Vec<_>>().join("+")
}

fn completed(completion: &Completion) -> String {
    let name = match completion {
        Completion::InOrder => "in order".to_owned(),
        Completion::Transaction(_) => "transaction".to_owned(),
        Completion::Frontier(_) => "frontier".to_owned(),
        Completion::InTurn(_) => "in turn".to_owned(),
        Completion::Commit { kind, implicit, .. } => format!("group {kind:?} {implicit}"),
    };
    let told = |one: &Arrival| format!(" ({} arrivals, {} bytes, {})", one.count, one.bytes, ctas(&one.to));
    name + &completion.arrivals().iter().map(told).collect::<String>()
}

/// Where an offset of compiled text comes from, Triton's own files left out; `def` is the line of the
/// kernel's `def`, which stands for the start of a partition.
pub fn compiled(tree: &Tree, offset: u32, def: u32) -> Vec<Place> {
    let Some(op) = tree.op_at(offset) else { return Vec::new() };
    let mut stack: Vec<Place> = tree
        .loc(op)
        .into_iter()
        .filter(|loc| !library(&loc.file))
        .map(|loc| Place { file: base(&loc.file), line: loc.line, col: loc.col })
        .collect();
    if stack.len() > 1 && stack.last().is_some_and(|place| place.line == def) {
        stack.pop();
    }
    stack
}

/// Where an offset of elaborated text comes from. `modules` are the files of the elaboration.
pub fn elaborated(done: &Elaborated, modules: &dyn Fn(&str) -> Option<String>, offset: u32) -> Vec<Place> {
    let Some(origin) = done.origins.at(offset) else { return Vec::new() };
    let place = |file: usize, start: u32| {
        let path = done.files.get(file)?;
        let text = modules(path)?;
        let before = text.get(..start as usize)?;
        let line = before.matches('\n').count() as u32 + 1;
        let col = start - before.rfind('\n').map_or(0, |at| at as u32 + 1) + 1;
        Some(Place { file: base(path), line, col })
    };
    // Triton knows no call of a partition.
    let root = |frame: &Frame| {
        let text = done.files.get(frame.file.0 as usize).and_then(|path| modules(path)).unwrap_or_default();
        let call = text.get(frame.range.start as usize..frame.range.end as usize).unwrap_or("");
        call.split('(').next().is_some_and(|name| name.trim_end().ends_with("warp_specialize"))
    };
    let own = std::iter::once(place(origin.file.0 as usize, origin.range.start));
    let calls = done.origins.frames(origin).filter(|frame| !frame.iteration && !root(frame));
    let outer = calls.map(|frame| place(frame.file.0 as usize, frame.range.start));
    own.chain(outer).flatten().collect()
}

fn library(file: &str) -> bool {
    file.contains("site-packages") || file.starts_with("triton/")
}

fn base(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

/// The text of a module that tree ranges count in.
pub fn source(module: &Module) -> String {
    module.source().to_owned()
}

/// What two skeletons disagree about, in a few lines; nothing where they are equal.
pub fn differences(python: &[Event], compiled: &[Event]) -> Vec<String> {
    if python == compiled {
        return Vec::new();
    }
    let count = |events: &[Event]| {
        events.iter().fold(BTreeMap::<String, i64>::new(), |mut counts, event| {
            *counts.entry(event.to_string()).or_default() += 1;
            counts
        })
    };
    let (left, right) = (count(python), count(compiled));
    let keys: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    let mut lines = Vec::new();
    for key in keys {
        let (a, b) = (left.get(key).copied().unwrap_or(0), right.get(key).copied().unwrap_or(0));
        if a != b {
            lines.push(format!("{} {key} (Python {a}, compiled {b})", if a > b { "+" } else { "-" }));
        }
    }
    if lines.is_empty() {
        let at = python.iter().zip(compiled).position(|(a, b)| a != b).unwrap_or(0);
        lines.push(format!("the order differs from event {at} on: {} / {}", python[at], compiled[at]));
    }
    lines
}
