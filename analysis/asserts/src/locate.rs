//! Which op an assert is about.
//!
//! A device names a file, a line and a message. The ops that come from there are narrowed down by what the message
//! is about: only a write meets outstanding reads, only a wait notices a deadlock, and the operand that is named
//! must be one of the op's. The thread says which partition it is. Where the IR was compiled with its own lines as
//! locations ([`AssertLocation::Text`]) the line alone names the op. What is left is all shown.
//!
//! Deviation: the first warps of the partitions are those that Triton allocates, the largest partition first; where
//! the text says otherwise (`warpGroupStartIds`) that counts.

use super::{AssertMessage, DeadlockAt, PendingKind};
use base::{LineIndex, TextRange};
use findings::buffer_of;
use kernel::{Access, Effect, EffectKind, Lowered, Mode, Proxy, Site, Var};
use ttgir::{OpId, SourceLoc, Tree};

/// Where an assert stands, by its device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AssertLocation {
    /// In a file that the IR was compiled from.
    Source {
        /// As the IR names it, or as a path ends.
        file: String,
        /// From 1.
        line: u32,
    },
    /// In the text of the IR itself.
    Text {
        /// From 1.
        line: u32,
    },
}

/// An op that an assert may be about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CandidateOp {
    /// The op.
    pub op: OpId,
    /// Its name.
    pub name: String,
    /// The operand that the message is about, and else the op's name.
    pub range: TextRange,
    /// The buffer or the barrier, as the text names it.
    pub buffer: Option<String>,
    /// Which partition it stands in: 0 is the default one.
    pub partition: usize,
    /// Where it comes from, the innermost call first.
    pub chain: Vec<SourceLoc>,
    /// Name of the kernel.
    pub kernel: String,
}

/// All ops that an assert may be about, in the order of the text.
pub fn locate(
    tree: &Tree,
    kernels: &[Lowered],
    at: &AssertLocation,
    message: &AssertMessage,
    thread: Option<u32>,
) -> Vec<CandidateOp> {
    let lines = LineIndex::new(tree.text());
    let mut ops = Vec::new();
    for &top in tree.top() {
        walk(tree, top, None, &mut ops);
    }
    let all: Vec<(OpId, Option<Inside>)> = match at {
        AssertLocation::Text { line } => {
            let here = |op: OpId| lines.line_col(tree.op_name_range(op).start).line + 1 == *line;
            ops.into_iter().filter(|(op, _)| here(*op)).collect()
        }
        AssertLocation::Source { file, line } => from_source(tree, ops, file, *line),
    };
    let fitting: Vec<_> = all.iter().filter(|(op, _)| fits(tree, kernels, *op, message)).cloned().collect();
    // A message that no op at the place can give: a rewritten op, say. All of them are better than none.
    let mut left = if fitting.is_empty() { all } else { fitting };
    if let Some(thread) = thread {
        let of_thread: Vec<_> =
            left.iter().filter(|(_, inside)| partition_of(tree, *inside, thread) == number(*inside)).cloned().collect();
        if !of_thread.is_empty() {
            left = of_thread;
        }
    }
    left.into_iter().map(|(op, inside)| place(tree, kernels, op, inside, message)).collect()
}

/// Whether two paths name one file: equal, or one is the end of the other.
pub fn same_file(a: &str, b: &str) -> bool {
    let parts = |path: &str| -> Vec<String> {
        path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".").map(str::to_owned).collect()
    };
    let (a, b) = (parts(a), parts(b));
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    !short.is_empty() && long.ends_with(&short)
}

/// Which partition of which op something stands in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Inside {
    specialize: OpId,
    /// 0 is the default one.
    number: usize,
}

fn number(inside: Option<Inside>) -> usize {
    inside.map_or(0, |inside| inside.number)
}

/// An op and all below it, in the order of the text.
fn walk(tree: &Tree, op: OpId, inside: Option<Inside>, out: &mut Vec<(OpId, Option<Inside>)>) {
    out.push((op, inside));
    let specialize = tree.op_name(op) == "ttg.warp_specialize";
    let holder = tree.op_name(op) == "ttg.warp_specialize.partitions";
    for (at, &region) in tree.regions(op).iter().enumerate() {
        let inside = match inside {
            _ if specialize => Some(Inside { specialize: op, number: at }),
            Some(outer) if holder => Some(Inside { number: at + 1, ..outer }),
            inside => inside,
        };
        for &block in tree.blocks(region) {
            for &op in tree.block_ops(block) {
                walk(tree, op, inside, out);
            }
        }
    }
}

/// The ops that come from a line: by the innermost file, exactly if it can be, else by the file's name alone.
fn from_source(tree: &Tree, ops: Vec<(OpId, Option<Inside>)>, file: &str, line: u32) -> Vec<(OpId, Option<Inside>)> {
    let name = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
    let mut loose = Vec::new();
    let mut exact = Vec::new();
    for (op, inside) in ops {
        let Some(loc) = tree.loc(op).into_iter().next().filter(|loc| loc.line == line) else { continue };
        if same_file(&loc.file, file) {
            exact.push((op, inside));
        } else if name(&loc.file) == name(file) {
            loose.push((op, inside));
        }
    }
    if exact.is_empty() { loose } else { exact }
}

/// Whether an op can give a message.
fn fits(tree: &Tree, kernels: &[Lowered], op: OpId, message: &AssertMessage) -> bool {
    let name = tree.op_name(op);
    match message {
        AssertMessage::Race(_) | AssertMessage::Global(_) => return touches_global(name),
        AssertMessage::ScatterConflict => return name == "ttg.local_scatter",
        AssertMessage::Other(text) => {
            let said = tree.attr(op, "message").map(|attr| tree.attr_text(attr));
            return name == "tt.assert" && said.is_none_or(|said| said.trim_matches('"') == text);
        }
        AssertMessage::Deadlock(DeadlockAt::PartitionExit) => {
            return matches!(name, "ttg.warp_yield" | "ttg.warp_return");
        }
        AssertMessage::Deadlock(DeadlockAt::Return) => return name == "tt.return",
        _ => {}
    }
    effects_of(tree, kernels, op).any(|(_, effect)| gives(&effect.kind, message))
}

fn touches_global(name: &str) -> bool {
    let op = name.rsplit('.').next().unwrap_or(name);
    matches!(op, "load" | "store" | "async_copy_global_to_local")
        || ["atomic_", "descriptor_", "async_tma_", "cluster_barrier"].iter().any(|start| op.starts_with(start))
        || op.contains("barrier")
}

/// The effects of an op, beside their kernel.
fn effects_of<'a>(tree: &'a Tree, kernels: &'a [Lowered], op: OpId) -> impl Iterator<Item = (&'a Lowered, &'a Effect)> {
    let range = tree.op_name_range(op);
    kernels.iter().flat_map(move |lowered| {
        let here = move |effect: &&Effect| site(lowered, effect).is_some_and(|site| site.name == range);
        lowered.kernel.effects.iter().filter(here).map(move |effect| (lowered, effect))
    })
}

fn site<'a>(lowered: &'a Lowered, effect: &Effect) -> Option<&'a Site> {
    lowered.map.sites.get(effect.site.index())
}

/// Whether an effect can give a message.
fn gives(kind: &EffectKind, message: &AssertMessage) -> bool {
    let arrives = match kind {
        EffectKind::Operation { completion, .. } => !completion.arrivals().is_empty(),
        EffectKind::Expect { .. }
        | EffectKind::Arrive { .. }
        | EffectKind::TensorCoreCommit { .. }
        | EffectKind::AsyncCopyArrive { .. } => true,
        _ => false,
    };
    match message {
        // A later arrival reads the word of the barrier that is invalidated.
        AssertMessage::OutstandingReads(_) if matches!(kind, EffectKind::Invalidate { .. }) => true,
        AssertMessage::OutstandingWrites(_)
        | AssertMessage::OutstandingReads(_)
        | AssertMessage::Pending(_)
        | AssertMessage::MissingFence(_) => accesses(kind).iter().any(|access| concerns(access, message)),
        AssertMessage::StorageReuse | AssertMessage::ReusedWhileTracking => {
            matches!(kind, EffectKind::Init { .. }) || accesses(kind).iter().any(|access| access.mode == Mode::Write)
        }
        AssertMessage::Reinit => matches!(kind, EffectKind::Init { .. }),
        AssertMessage::NotLive => {
            arrives
                || matches!(
                    kind,
                    EffectKind::Wait { .. } | EffectKind::Invalidate { .. } | EffectKind::ReadPhase { .. }
                )
        }
        AssertMessage::WaitedInvalidation => matches!(kind, EffectKind::Invalidate { .. }),
        AssertMessage::Underflow(_) => arrives,
        AssertMessage::Deadlock(DeadlockAt::Cluster) => {
            matches!(kind, EffectKind::ClusterArrive { .. } | EffectKind::ClusterWait)
        }
        AssertMessage::Deadlock(_) => matches!(kind, EffectKind::Wait { .. }),
        AssertMessage::NoBuffer => arrives || !accesses(kind).is_empty() || matches!(kind, EffectKind::Wait { .. }),
        _ => false,
    }
}

fn accesses(kind: &EffectKind) -> &[Access] {
    match kind {
        EffectKind::Operation { accesses, .. } => accesses,
        EffectKind::ClcLoad { source, .. } => std::slice::from_ref(source),
        _ => &[],
    }
}

/// Whether an access can be the one that a message is about.
fn concerns(access: &Access, message: &AssertMessage) -> bool {
    let named = |operand: &str| operand.is_empty() || access.operand.is_empty() || access.operand == operand;
    match message {
        AssertMessage::OutstandingWrites(operand) => named(operand),
        AssertMessage::OutstandingReads(operand) => named(operand) && access.mode == Mode::Write,
        AssertMessage::MissingFence(operand) => named(operand) && access.proxy == Proxy::Async,
        AssertMessage::Pending(PendingKind::AsyncCopyIn | PendingKind::TdmIn) => true,
        AssertMessage::Pending(_) => access.mode == Mode::Write,
        _ => false,
    }
}

fn place(tree: &Tree, kernels: &[Lowered], op: OpId, inside: Option<Inside>, message: &AssertMessage) -> CandidateOp {
    let mut place = CandidateOp {
        op,
        name: tree.op_name(op).to_owned(),
        range: tree.op_name_range(op),
        buffer: None,
        partition: number(inside),
        chain: tree.loc(op),
        kernel: String::new(),
    };
    let mut effects = effects_of(tree, kernels, op).peekable();
    place.kernel = effects.peek().map(|(lowered, _)| lowered.map.kernel.clone()).unwrap_or_default();
    for (lowered, effect) in effects {
        let barrier = barrier_of(&effect.kind, message);
        let accesses = accesses(&effect.kind);
        let concerned: Vec<usize> = (0..accesses.len()).filter(|&at| concerns(&accesses[at], message)).collect();
        let view = match (barrier, concerned.as_slice()) {
            (Some(barrier), _) => Some(barrier),
            (None, [one]) => {
                if let Some(range) = operand_range(lowered, effect, *one) {
                    place.range = range;
                }
                Some(accesses[*one].view)
            }
            _ => None,
        };
        if let Some(buffer) = view.and_then(|view| buffer_of(&lowered.kernel, view)) {
            place.buffer.get_or_insert_with(|| lowered.map.buffer(buffer));
        }
    }
    place
}

/// The barrier that a message is about, where it is one.
fn barrier_of(kind: &EffectKind, message: &AssertMessage) -> Option<Var> {
    let about_barriers = matches!(
        message,
        AssertMessage::Reinit
            | AssertMessage::NotLive
            | AssertMessage::WaitedInvalidation
            | AssertMessage::Underflow(_)
            | AssertMessage::Deadlock(_)
    );
    match kind {
        _ if !about_barriers => None,
        EffectKind::Init { barrier, .. }
        | EffectKind::Invalidate { barrier }
        | EffectKind::Expect { barrier, .. }
        | EffectKind::Arrive { barrier, .. }
        | EffectKind::Wait { barrier, .. }
        | EffectKind::ReadPhase { barrier, .. }
        | EffectKind::TensorCoreCommit { barrier, .. }
        | EffectKind::AsyncCopyArrive { barrier, .. } => Some(*barrier),
        EffectKind::Operation { completion, .. } => match completion.arrivals() {
            [one] => Some(one.barrier),
            _ => None,
        },
        _ => None,
    }
}

/// Where an access's operand stands.
fn operand_range(lowered: &Lowered, effect: &Effect, access: usize) -> Option<TextRange> {
    let site = site(lowered, effect)?;
    let role = accesses(&effect.kind).get(access)?.operand;
    let found = if role.is_empty() {
        site.operands.get(access)
    } else {
        site.operands.iter().find(|(name, range)| name == role && !range.is_empty())
    };
    found.map(|(_, range)| *range).filter(|range| !range.is_empty())
}

/// Which partition of the op around `inside` a thread belongs to.
fn partition_of(tree: &Tree, inside: Option<Inside>, thread: u32) -> usize {
    let module = tree.top().iter().find(|op| tree.attr(**op, "ttg.num-warps").is_some());
    let number = |name: &str, otherwise: i64| {
        let attr = module.and_then(|op| tree.attr(*op, name)).and_then(|attr| tree.attr_int(attr));
        attr.filter(|number| *number > 0).unwrap_or(otherwise) as u32
    };
    let (default, lanes) = (number("ttg.num-warps", 4), number("ttg.threads-per-warp", 32));
    let warp = thread / lanes;
    let Some(inside) = inside.filter(|_| warp >= default) else { return 0 };
    let ints = |name: &str| {
        let attr = tree.attr(inside.specialize, name).map(|attr| tree.attr_ints(attr)).unwrap_or_default();
        attr.into_iter().map(|number| u32::try_from(number).unwrap_or(0)).collect::<Vec<u32>>()
    };
    let sizes = ints("partitionNumWarps");
    let said = ints("warpGroupStartIds");
    let starts = if said.len() == sizes.len() { said } else { allocate(&sizes, default) };
    let found = starts.iter().zip(&sizes).position(|(start, size)| (*start..start + size).contains(&warp));
    found.map_or(0, |at| at + 1)
}

/// First warps of partitions, as Triton gives them out: the largest first.
fn allocate(sizes: &[u32], default: u32) -> Vec<u32> {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(sizes[at]));
    let mut starts = vec![0; sizes.len()];
    let mut next = default;
    for at in order {
        starts[at] = next;
        next = next.saturating_add(sizes[at]);
    }
    starts
}
