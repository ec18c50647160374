//! Kernels whose tasks nothing orders yet: the channels that code partitioning will put between them.
//!
//! After the memory planner of automatic warp specialisation, ops name their tasks (`async_task_id`) in
//! one region that all tasks share, and buffers are allocated (`buffer.id`, `buffer.offset`,
//! `buffer.copy`). Which barriers follow from that is a rule, so the machine can already say what
//! they order and what they do not.
//!
//! The rule: each buffer is looked at by itself ([`access`]). Its accesses in the order of the text, in
//! the innermost block that holds them all ([`nest`]), make a ring of phases; every step from a phase to
//! the next one by another task is an [`Edge`] ([`order`]): forward where the next reads what was
//! written, backward where it overwrites what was read, also round the loop. An edge has barriers of its
//! own, one a copy of the buffer; the first rounds of one that leads round the loop are free. An access in
//! a loop inside the level of its edge is waited for before, and told after, that loop.
//!
//! Buffers of shared memory with one `buffer.id` take turns: those that are used alike in one block have
//! one ring of barriers, and each the next slot; others follow each other in one slot. In tensor
//! memory an id is columns side by side: each buffer has its own ring ([`ChannelGrouping::Own`]), so that
//! overwriting the owner of the columns is not ordered after what only its neighbours do; with
//! [`ChannelGrouping::Groups`] those that overlap are ordered as one, which code partitioning promises for the
//! shapes it knows.
//!
//! What one task computes in registers and another uses goes through a buffer that the plan has yet to get
//! ([`registers`]), and has a ring like the others.
//!
//! Deviations: code partitioning lets channels with one consumer share a barrier, and has a task wait for
//! an accumulator before a loop where the loop's own steps do.

mod access;
mod channel;
mod fill;
mod nest;
mod order;
mod place;
mod placed;
mod registers;

use std::collections::BTreeSet;

use access::{Access, Allocation, Engine, allocations};
use channel::{By, Channel, Edge, Implied, Member, Planned, Who};
use nest::Nest;
pub(crate) use placed::Plan;

use fill::fills;
use order::{Item, Run, Step, anchor, common};
use registers::registers;

use crate::options::ChannelGrouping;
use dialects::Ttng;
use kernel::Half;
use ttgir::{BlockId, OpId, Tree};

/// Why a buffer has no channel.
const LOOSE: &str = "what it does with a buffer is not followed, so no channel is implied for it";

/// The channels that the buffers of a function ask for.
///
/// `who` are the tasks that do an op, and `named` those that it names itself.
/// With `later` an MMA is over later than the op that issues it.
pub(crate) fn channels(
    tree: &Tree,
    function: OpId,
    who: Who<'_>,
    named: Who<'_>,
    mode: ChannelGrouping,
    later: bool,
) -> Implied {
    let mma = if later { Engine::TensorCore } else { Engine::Warps };
    let mut found = allocations(tree, function, who, named, mma);
    let registers = registers(tree, function, named);
    let mut implied = Implied { loose: registers.loose, ..Implied::default() };
    found.extend(registers.buffers);
    implied.buffers = found.iter().map(Allocation::planned).collect();
    let mut done: BTreeSet<usize> = BTreeSet::new();
    for (at, first) in found.iter().enumerate() {
        if done.contains(&at) {
            continue;
        }
        let together = first.id.is_some() && (!first.tensor || mode == ChannelGrouping::Groups);
        let alike = |other: &Allocation| other.id == first.id && other.tensor == first.tensor;
        let members: Vec<usize> =
            (at..found.len()).filter(|other| *other == at || together && alike(&found[*other])).collect();
        done.extend(&members);
        let members: Vec<&Allocation> = members.into_iter().map(|member| &found[member]).collect();
        if let Some(op) = members.iter().find_map(|member| member.loose) {
            implied.loose.push((op, LOOSE));
            continue;
        }
        match turns(tree, &members) {
            Some(channel) => implied.channels.push(channel),
            None => match channel(tree, &members) {
                Ok(channel) => implied.channels.extend(channel),
                Err(op) => {
                    implied.loose.push((op, LOOSE));
                    continue;
                }
            },
        }
        if first.registers {
            let places = first.accesses.iter().map(|access| (access.op, access.task)).collect();
            implied.registers.push((first.value, places));
        }
    }
    let followed = |buffer: &Planned| implied.registers.iter().any(|(value, _)| *value == buffer.value);
    implied.buffers.retain(|buffer| !buffer.registers || followed(buffer));
    implied
}

/// The channel of buffers of shared memory that take turns: used alike, in one block.
fn turns(tree: &Tree, members: &[&Allocation]) -> Option<Channel> {
    if members.len() < 2 || members.iter().any(|member| member.tensor || member.accesses.is_empty()) {
        return None;
    }
    let mut members = members.to_vec();
    members.sort_by_key(|member| member.accesses.first().map(|access| place(tree, access)));
    let copies = members.iter().map(|member| member.copies).min().unwrap_or(1);
    let alike = |edge: &Edge| (edge.from, edge.to, edge.around, edge.half);
    let mut all: Option<Channel> = None;
    for (at, member) in members.iter().enumerate() {
        let mut one = channel(tree, &[member]).ok()??;
        if one.edges.iter().any(|edge| edge.late || edge.level != one.level) {
            return None;
        }
        one.edges.sort_by_key(alike);
        for (barriers, edge) in one.edges.iter_mut().enumerate() {
            *edge = Edge { member: at, slots: copies, barriers, ..*edge };
        }
        match &mut all {
            None => all = Some(Channel { copies, turns: members.len() as u64, ..one }),
            Some(all) => {
                let first = all.edges.iter().take(one.edges.len()).map(alike);
                if one.level != all.level
                    || all.edges.len() != at * one.edges.len()
                    || !one.edges.iter().map(alike).eq(first)
                {
                    return None;
                }
                all.members.extend(one.members);
                all.edges.extend(one.edges);
            }
        }
    }
    all
}

/// The channel of buffers that are ordered as one; the op that is not followed where there is one.
fn channel(tree: &Tree, members: &[&Allocation]) -> Result<Option<Channel>, OpId> {
    let mut accesses: Vec<Access> = Vec::new();
    for (at, member) in members.iter().enumerate() {
        accesses.extend(member.accesses.iter().map(|access| Access { member: at, ..access.clone() }));
    }
    accesses.sort_by_key(|access| (place(tree, access), access.task, access.member));
    let Some(nest) = Nest::new(tree, &accesses)? else { return Ok(None) };
    let extents: Vec<(u64, u64)> = members.iter().map(|member| member.extent).collect();
    let copies = members.iter().map(|member| member.copies).min().unwrap_or(1);
    let steps = Run::steps(&accesses, &extents, &nest.items, nest.repeats.then_some(nest.block));
    let mut edges: BTreeSet<Edge> = BTreeSet::new();
    for step in steps {
        edges.insert(edge(&accesses, &nest, copies, step).ok_or(accesses[step.to].op)?);
    }
    close(tree, &nest, &mut edges);
    let mut edges: Vec<Edge> = edges.into_iter().collect();
    let start = |(op, tile): (OpId, usize)| (tree.op_range(op).start, tile);
    edges.sort_by_key(|edge| (start(edge.before), start(edge.after), *edge));
    edges.iter_mut().enumerate().for_each(|(at, edge)| edge.barriers = at);
    let members = members.iter().map(|member| Member { value: member.value, views: member.views.clone() }).collect();
    Ok(Some(Channel { members, level: nest.block, copies, turns: 1, edges }))
}

/// Where an access stands in the sequence of the text, tile by tile.
fn place(tree: &Tree, access: &Access) -> (u32, usize, u32) {
    let start = tree.op_range(access.op).start;
    let around = tree.parent_block(access.op).and_then(|block| tree.parent_op(tree.parent_region(block)));
    match around.filter(|op| tree.is(*op, Ttng::SubtiledRegion)) {
        Some(region) => (tree.op_range(region).start, access.tile, start),
        None => (start, 0, 0),
    }
}

fn edge(accesses: &[Access], nest: &Nest, copies: u64, step: Step) -> Option<Edge> {
    let (from, to) = (&accesses[step.from], &accesses[step.to]);
    let level = match step.around {
        Some(body) => body,
        None => common(&from.path, &to.path)?,
    };
    let (after, before) = (anchor(&from.over, level)?, anchor(&to.path, level)?);
    // A loop around it is no part of a tile.
    let tile = |access: &Access, path: &[(BlockId, OpId)], op: OpId| {
        if path.last().is_some_and(|(_, last)| *last == op) { access.tile } else { 0 }
    };
    let by = match from.engine {
        Engine::Warps => By::Task,
        Engine::TensorCore if after == from.op => By::Operation,
        Engine::TensorCore => By::Commit,
    };
    Some(Edge {
        level,
        after: (after, tile(from, &from.over, after)),
        before: (before, tile(to, &to.path, before)),
        from: from.task,
        to: to.task,
        around: step.around.is_some(),
        by,
        half: if from.writes && to.reads { Half::Full } else { Half::Empty },
        member: from.member,
        slots: if level == nest.block { copies } else { 1 },
        barriers: 0,
        late: false,
    })
}

/// Keeps a task from arriving twice before the other has looked, where only a loop that may not run at
/// all would.
fn close(tree: &Tree, nest: &Nest, edges: &mut BTreeSet<Edge>) {
    let mut idle = BTreeSet::new();
    idle_loops(nest.block, &nest.items, &mut idle);
    let known: Vec<Edge> = edges.iter().copied().collect();
    for edge in &known {
        let repeats = edge.level != nest.block || nest.repeats;
        if edge.from == edge.to || !repeats || !idle.contains(&edge.level) || answered(&known, edge) {
            continue;
        }
        edges.insert(Edge {
            after: edge.before,
            before: edge.after,
            from: edge.to,
            to: edge.from,
            around: !edge.around,
            by: By::Task,
            half: Half::Empty,
            late: !tree.regions(edge.after.0).is_empty(),
            ..*edge
        });
    }
}

/// Whether edges of the same level lead back from who waits to who arrives.
fn answered(edges: &[Edge], edge: &Edge) -> bool {
    let mut reached = BTreeSet::from([edge.to]);
    loop {
        let more: Vec<usize> = edges
            .iter()
            .filter(|other| other.level == edge.level && reached.contains(&other.from))
            .map(|other| other.to)
            .filter(|task| !reached.contains(task))
            .collect();
        if more.is_empty() {
            return reached.contains(&edge.from);
        }
        reached.extend(more);
    }
}

/// The blocks that hold a loop which may not run at all.
fn idle_loops(block: BlockId, items: &[Item], found: &mut BTreeSet<BlockId>) {
    for item in items {
        match item {
            Item::Access(_) => {}
            Item::Loop { body, items, runs } => {
                if !runs {
                    found.insert(block);
                }
                idle_loops(*body, items, found);
            }
            Item::Branch { ways, all } => {
                if !all {
                    found.insert(block);
                }
                for (way, items) in ways {
                    idle_loops(*way, items, found);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
