//! What an op does to memory and barriers, in words, by its declaration.

use dialects::{BarrierVerb, OpCompletion, OpDecl, OpEffect, OperandAccess, RemoteStoreKind, TokenOp, ViewKind};
use kernel::{CommitKind, Issuer, Mode, Proxy};
use ttgir::queries::expr::known_name;
use ttgir::queries::memory::{Use, is_memory, path, root_of};
use ttgir::{OpId, Tree, ValueId};

/// Sentences about an op; `operand` says what the operands of a group are called, `None` where the op has none of them.
pub(crate) fn effects(decl: &OpDecl, operand: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    let mut out = Vec::new();
    let named = |group: &str| operand(group).unwrap_or_else(|| format!("`{group}`"));
    match decl.effect {
        OpEffect::Pure => {}
        OpEffect::Nothing => out.push("Touches no shared or tensor memory and no barrier.".to_owned()),
        OpEffect::Unknown => out.push("What it does to memory and barriers is not known.".to_owned()),
        OpEffect::Unmodelled(why) => out.push(format!("Not followed: {why}.")),
        OpEffect::Structure => out.push("Its regions are followed.".to_owned()),
        OpEffect::Memory { issuer, accesses, completion } => {
            out.extend(accesses.iter().map(|access| accessed(access, &named(access.group))));
            out.push(issued(issuer).to_owned());
            out.push(completed(completion, issuer, &named));
        }
        OpEffect::Mma { scaled } => {
            out.push(format!("Reads {} and {} through the async proxy.", named("a"), named("b")));
            if scaled {
                out.push(format!("Reads the scales {} and {} in tensor memory.", named("a_scale"), named("b_scale")));
            }
            out.push(format!("Writes {} in tensor memory, and reads it unless `useD` is false.", named("d")));
            out.push(issued(Issuer::TensorCore).to_owned());
            out.push(match operand("barriers") {
                Some(_) => "What it did is visible to whoever waits for a phase of its barriers.".to_owned(),
                None => "Without a barrier, a later `ttng.tc_gen5_commit` says when it is done.".to_owned(),
            });
        }
        other => out.push(sentence(other, &named)),
    }
    if let Some(barrier) = decl.barrier
        && let Some(name) = operand(barrier.group)
    {
        out.push(on_barrier(barrier.verb, barrier.when, &name));
    }
    out
}

fn on_barrier(verb: BarrierVerb, when: &str, name: &str) -> String {
    match verb {
        BarrierVerb::Init => format!("Sets how many arrivals complete a phase of {name}."),
        BarrierVerb::Invalidate => format!("Ends the use of {name}."),
        BarrierVerb::Wait => format!("Waits on {name}."),
        BarrierVerb::Expect => format!("Arrives on {name} once and announces bytes."),
        BarrierVerb::Arrive if when.is_empty() => format!("Arrives on {name} at once."),
        BarrierVerb::Arrive => format!("Arrives on {name} {when}."),
    }
}

fn accessed(access: &OperandAccess, name: &str) -> String {
    let verb = match access.mode {
        Mode::Read => "Reads",
        Mode::Write => "Writes",
    };
    match access.proxy {
        Proxy::Generic => format!("{verb} {name} through the generic proxy, as ordinary loads and stores do."),
        Proxy::Async => format!("{verb} {name} through the async proxy."),
        Proxy::Tensor => format!("{verb} {name} in tensor memory."),
    }
}

fn issued(issuer: Issuer) -> &'static str {
    match issuer {
        Issuer::Base => "The partition's own threads do it.",
        Issuer::Tma => "The TMA engine does it, beside the thread.",
        Issuer::Clc => "Cluster launch control does it, beside the thread.",
        Issuer::TensorCore => "The tensor core does it, beside the thread, in the order of its issue.",
    }
}

fn completed(completion: OpCompletion, issuer: Issuer, named: &dyn Fn(&str) -> String) -> String {
    match completion {
        OpCompletion::InOrder if issuer == Issuer::TensorCore => {
            "Complete when a later commit of the tensor core is.".to_owned()
        }
        OpCompletion::InOrder => "Complete in program order.".to_owned(),
        OpCompletion::Transaction { barrier, .. } => {
            format!("Complete when {} has counted its bytes: whoever waits for that phase sees it.", named(barrier))
        }
        OpCompletion::Group { kind, implicit, when } => {
            let group = if implicit { "a group of its own" } else { "part of the next committed group" };
            let otherwise = when.map_or_else(String::new, |attribute| {
                format!(" Without `{attribute}` it is complete in program order.")
            });
            format!("Complete after a wait for {}; it is {group}.{otherwise}", groups(kind))
        }
        OpCompletion::InTurn { barrier } => format!(
            "Complete in the order in which the data mover gets its work; each warp arrives on {} where it is given.",
            named(barrier)
        ),
    }
}

fn groups(kind: CommitKind) -> &'static str {
    match kind {
        CommitKind::AsyncCopy => "`cp.async` groups",
        CommitKind::Wgmma => "wgmma groups",
        CommitKind::TmaStore => "TMA store groups",
        CommitKind::Tdm => "the tensor data mover's operations",
        CommitKind::RelaxedRead => "relaxed reads",
        CommitKind::Stage => "stages of the warp pipeline",
    }
}

/// The effects that one sentence says.
fn sentence(effect: OpEffect, named: &dyn Fn(&str) -> String) -> String {
    match effect {
        OpEffect::Allocate => "Makes a buffer; writes it where it is given a tensor.".to_owned(),
        OpEffect::View(kind) => {
            let view = match kind {
                ViewKind::Index => "one slot of",
                ViewKind::Subslice | ViewKind::Subview => "a part of",
                ViewKind::Columns => "some columns of",
                ViewKind::Trans => "the dimensions in another order of",
                ViewKind::Reshape => "other dimensions of",
                ViewKind::Reinterpret => "another type for",
            };
            format!("A view: {view} the same memory. Nothing is read or written.")
        }
        OpEffect::WaitGroup { kind, pending } => {
            format!("Waits until at most `{pending}` {} of this partition are open.", groups(kind))
        }
        OpEffect::LoweredWaitGroup { kind, groups: left, .. } => {
            format!("Waits until at most `{left}` {} of this partition are open, counted in instructions.", groups(kind))
        }
        OpEffect::InitBarrier | OpEffect::InvalidateBarrier => "Writes the barrier's own word.".to_owned(),
        OpEffect::ExpectBytes => "The phase completes when all arrivals and all announced bytes have come.".to_owned(),
        OpEffect::ArriveBarrier => {
            "Publishes what this partition has done so far to whoever waits for the phase.".to_owned()
        }
        OpEffect::ArriveByThreads => "Every thread arrives, and is told the phase that it arrives for.".to_owned(),
        OpEffect::ReadPhase => "Reads the phase without waiting.".to_owned(),
        OpEffect::WaitBarrier => {
            "Goes on once the phase with this parity is over, and sees what was published with it. A fresh barrier counts as \
             if the phase with parity 1 were over."
                .to_owned()
        }
        OpEffect::TensorCoreCommit => "Publishes all that the tensor core has been given so far, when it is done.".to_owned(),
        OpEffect::AsyncCopyArrive { increments } => {
            let counted = if increments { " It counts as a further arrival unless `noIncrement` is there." } else { "" };
            format!("Publishes this thread's `cp.async` copies so far, when they have landed.{counted}")
        }
        OpEffect::Commit(kind) => format!("Closes a group of {}.", groups(kind)),
        OpEffect::StoreTokenWait => "Waits for one TMA store.".to_owned(),
        OpEffect::ProxyFence => {
            "Orders this thread's earlier accesses through the generic proxy before later ones through the async proxy."
                .to_owned()
        }
        OpEffect::ClusterBarrier => "All CTAs of the cluster meet.".to_owned(),
        OpEffect::ClusterArrive => "The first half of a meeting of the cluster's CTAs.".to_owned(),
        OpEffect::ClusterWait => "The second half of a meeting of the cluster's CTAs.".to_owned(),
        OpEffect::NamedArrive => "Arrives at a hardware barrier by its number, and goes on.".to_owned(),
        OpEffect::NamedWait => "Arrives at a hardware barrier by its number, and waits for the others.".to_owned(),
        OpEffect::ClcRequest { result, barrier } => format!(
            "Cluster launch control writes {} through the async proxy and arrives on {} when the answer has landed.",
            named(result),
            named(barrier)
        ),
        OpEffect::ClcLoad | OpEffect::ClcQuery => "Reads the answer in shared memory.".to_owned(),
        OpEffect::MapToRemote => "The same buffer in another CTA's shared memory.".to_owned(),
        OpEffect::RemoteStore(kind) => match kind {
            RemoteStoreKind::Store => "Writes another CTA's shared memory, in program order.".to_owned(),
            RemoteStoreKind::AsyncStore | RemoteStoreKind::AsyncCopy => format!(
                "Writes another CTA's shared memory; complete when {} there has counted the bytes.",
                named("barrier")
            ),
        },
        OpEffect::StorageAliasSpec | OpEffect::StorageAliasAlloc => "Storage that several buffers share.".to_owned(),
        OpEffect::RequireLayout => "The same value or memory with another layout.".to_owned(),
        OpEffect::ArefCreate => "Buffers with a barrier for full and one for empty, which come with their lowering.".to_owned(),
        OpEffect::ArefEnter { put: true } => "Waits until a slot is empty.".to_owned(),
        OpEffect::ArefEnter { put: false } => "Waits until a slot is full.".to_owned(),
        OpEffect::ArefExit { put: true } => "Says that a slot is full.".to_owned(),
        OpEffect::ArefExit { put: false } => "Says that a slot is empty.".to_owned(),
        OpEffect::ArefBuffer | OpEffect::SemaphoreBuffer => "The buffers of a slot.".to_owned(),
        OpEffect::SemaphoreCreate => "Buffers with a count of free slots, which becomes barriers.".to_owned(),
        OpEffect::SemaphoreAcquire => "Waits for a slot.".to_owned(),
        OpEffect::SemaphoreRelease => "Gives a slot back.".to_owned(),
        OpEffect::DescriptorLoad => "Loads a block into a buffer; the slot's barrier counts its bytes.".to_owned(),
        OpEffect::CreateToken => "Slots with a barrier for full and one for empty, which come with their lowering.".to_owned(),
        OpEffect::Token(op) => match op {
            TokenOp::Acquire => "Waits until the slot is empty.".to_owned(),
            TokenOp::Commit => "Says that the slot is full.".to_owned(),
            TokenOp::Wait => "Waits until the slot is full.".to_owned(),
            TokenOp::Release => "Says that the slot is empty.".to_owned(),
        },
        OpEffect::ClcGranted | OpEffect::ClcAsk | OpEffect::ClcAnswer | OpEffect::ClusterSize => {
            "Touches no shared or tensor memory and no barrier.".to_owned()
        }
        // Said elsewhere.
        OpEffect::Pure
        | OpEffect::Nothing
        | OpEffect::Unknown
        | OpEffect::Unmodelled(_)
        | OpEffect::Structure
        | OpEffect::Memory { .. }
        | OpEffect::Mma { .. } => String::new(),
    }
}

/// What the operands of a group of an op are called: `%k[%i % 2]`.
pub(crate) fn operand(tree: &Tree, op: OpId, group: &str) -> Option<String> {
    let result = || tree.results(op).first().copied().filter(|_| group == "result");
    let values: Vec<ValueId> = match tree.group(op, group) {
        [] => result().into_iter().collect(),
        values => values.to_vec(),
    };
    let names: Vec<String> = values.into_iter().map(|value| format!("`{}`", place(tree, value))).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// A view as its allocation and indices; of other values the name.
pub(crate) fn place(tree: &Tree, value: ValueId) -> String {
    if !is_memory(tree, value) {
        return known_name(tree, value);
    }
    format!("{}{}", known_name(tree, root_of(tree, value)), path(tree, value))
}

/// What a use does to memory: whether it reads and writes; `None` where it does neither.
pub(crate) fn access(tree: &Tree, used: &Use) -> Option<(bool, bool)> {
    let inside = |group: &str| {
        tree.group_span(used.op, group).is_some_and(|(first, len)| (first..first + len).contains(&used.operand))
    };
    let (mut reads, mut writes) = (false, false);
    match tree.effect(used.op) {
        OpEffect::Memory { accesses, .. } => {
            for access in accesses.iter().filter(|access| inside(access.group)) {
                reads |= access.mode == Mode::Read;
                writes |= access.mode == Mode::Write;
            }
        }
        OpEffect::Mma { .. } => {
            writes = inside("d");
            reads = writes || ["a", "b", "a_scale", "b_scale"].into_iter().any(inside);
        }
        OpEffect::RemoteStore(_) => (reads, writes) = (inside("src"), inside("dst")),
        OpEffect::ClcRequest { result, .. } => writes = inside(result),
        OpEffect::DescriptorLoad => writes = inside("result"),
        OpEffect::ClcLoad | OpEffect::ClcQuery => reads = true,
        _ => {}
    }
    (reads || writes).then_some((reads, writes))
}
