//! `ttg.warp_specialize` and `tt.call`.

use super::exit::Exit;
use super::lowerer::Lowerer;
use super::value::Val;
pub(super) use crate::limits::partitions::PARTITIONS;
use base::{TextRange, message};
use dialects::Ttg;
use kernel::{Fork, JumpTarget, Partition, Pure, Terminator, Var};
use ttgir::{OpId, RegionId, Tree, ValueId};

/// The regions of the partitions beside the default one, and the op that they hang below: in the generic form they have
/// one of their own.
pub(super) fn partition_regions(tree: &Tree, op: OpId) -> (OpId, &[RegionId]) {
    let own = tree.regions(op).get(1..).unwrap_or_default();
    let first = own.first().and_then(|region| tree.blocks(*region).first());
    let holder = first.and_then(|block| tree.block_ops(*block).first()).copied();
    match holder.filter(|holder| tree.is(*holder, Ttg::WarpSpecializePartitions)) {
        Some(holder) => (holder, tree.regions(holder)),
        None => (op, own),
    }
}

impl Lowerer<'_> {
    pub(super) fn warp_specialize(&mut self, op: OpId) {
        let tree = self.tree;
        let Some(&default) = tree.regions(op).first() else {
            return self.unmodelled(op, "the default region is missing");
        };
        let (holder, partitions) = partition_regions(tree, op);
        let mut captures = tree.operands(op);
        if captures.is_empty() {
            captures = tree.operands(holder);
        }
        if self.exits.iter().any(|exit| matches!(exit, Exit::Partition | Exit::Join(..))) {
            return self.unmodelled(op, message!("a `{ttg.warp_specialize}` inside another is not followed"));
        }
        if partitions.len() >= PARTITIONS {
            let reason = format!("{} partitions; at most {} are followed", partitions.len(), PARTITIONS - 1);
            return self.unmodelled(op, reason);
        }
        self.partitions(op, default, partitions);

        let site = self.site(op);
        let after = self.exit_block(tree.results(op));
        let start = self.build.block(Vec::new());
        let fork_block = self.build.here();
        let mut targets = Vec::new();
        let mut bodies = Vec::new();
        for (at, &region) in partitions.iter().enumerate() {
            let (mut args, mut params, known) = self.captures(region, captures);
            let hidden = self.pass_hidden(&mut args, &mut params);
            let entry = self.build.block(params);
            targets.push((at as u32 + 1, JumpTarget { block: entry, args }));
            bodies.push((region, entry, known, hidden));
        }
        let default_target = JumpTarget { block: start, args: Vec::new() };
        self.build.enter(fork_block);
        self.build.end(Terminator::Fork(Fork { site, default: default_target, partitions: targets }));

        self.build.enter(start);
        self.exits.push(Exit::Join(op, after.clone()));
        self.region(default, None);
        self.exits.pop();
        let here = self.hidden.clone();
        for (at, (region, entry, known, hidden)) in bodies.into_iter().enumerate() {
            self.partition = at + 1;
            self.build.enter(entry);
            self.take_hidden(hidden);
            for (arg, value) in known {
                let name = tree.value_name(arg);
                let var = self.build.compute(Pure::Const(value), name);
                self.bind(arg, Val::Scalar(var));
            }
            self.exits.push(Exit::Partition);
            self.region(region, None);
            self.exits.pop();
        }
        self.partition = 0;
        self.hidden = here;
        self.leave_to(&after);
    }

    /// Makes sure that the kernel has these partitions beside the default.
    fn partitions(&mut self, op: OpId, default: RegionId, partitions: &[RegionId]) {
        let tree = self.tree;
        let warps = tree.attr(op, "partitionNumWarps").map(|attr| tree.attr_ints(attr)).unwrap_or_default();
        let mut before = default;
        for (at, &region) in partitions.iter().enumerate() {
            let label = format!("partition{at}");
            let place = self.keyword(before, region, &label).unwrap_or_else(|| tree.op_name_range(op));
            before = region;
            if self.build.kernel.partitions.len() > at + 1 {
                continue;
            }
            let warps = warps.get(at).and_then(|warps| u32::try_from(*warps).ok()).unwrap_or(4);
            self.build.kernel.partitions.push(Partition { warps: Some(warps) });
            self.build.map.partitions.push((label, place));
        }
    }

    /// Where `word` stands between two regions.
    fn keyword(&self, before: RegionId, after: RegionId, word: &str) -> Option<TextRange> {
        let (start, end) = (self.tree.region_range(before).end, self.tree.region_range(after).start);
        let at = start + self.tree.text().get(start as usize..end as usize)?.find(word)? as u32;
        Some(TextRange::new(at, at + word.len() as u32))
    }

    /// Arguments of the fork, parameters of the partition's first block, and captures that are
    /// constants, which the partition computes itself.
    fn captures(&mut self, region: RegionId, captures: &[ValueId]) -> (Vec<Var>, Vec<Var>, Vec<(ValueId, i64)>) {
        let tree = self.tree;
        let (mut args, mut params, mut known) = (Vec::new(), Vec::new(), Vec::new());
        let Some(&entry) = tree.blocks(region).first() else { return (args, params, known) };
        for (&arg, &capture) in tree.block_args(entry).iter().zip(captures) {
            let incoming = self.values.get(&capture).copied();
            if let Some(Val::Scalar(var)) = incoming
                && let Some(value) = self.build.constant(var)
            {
                known.push((arg, value));
            } else if let Some(param) = self.param(arg, incoming) {
                params.push(param);
                args.push(match incoming {
                    Some(Val::View(var) | Val::Scalar(var) | Val::Stage(var)) => var,
                    _ => self.scalar(capture),
                });
            }
        }
        (args, params, known)
    }

    /// Inlines a call of a function of the same module.
    pub(super) fn call(&mut self, op: OpId) {
        let tree = self.tree;
        let callee = tree.attr(op, "callee").map_or("", |attr| match tree.attr_str(attr) {
            Some(name) => name,
            None => tree.attr_text(attr),
        });
        let name = callee.trim().trim_start_matches('@').trim_matches('"');
        let known = self.functions.get(name).copied();
        let region = known.and_then(|function| tree.regions(function).first().copied());
        let reason = match known {
            None => format!("`@{name}` has no body here"),
            Some(function) if self.calls.contains(&function) => format!("`@{name}` calls itself"),
            Some(_) => String::new(),
        };
        let (Some(function), Some(region), true) = (known, region, reason.is_empty()) else {
            // Helpers without memory of their own, such as the device library's, are not followed.
            self.forget(op);
            return self.unmodelled(op, if reason.is_empty() { "the function has no body".to_owned() } else { reason });
        };
        if self.depth >= super::options::DEPTH || self.inlined >= super::options::CALLS {
            self.forget(op);
            return self.unmodelled(op, "too many calls to inline them all");
        }
        self.inlined += 1;
        self.users.clear();
        self.token_users.clear();
        self.depth += 1;
        self.calls.push(function);
        self.find_results();
        let after = self.exit_block(tree.results(op));
        self.exits.push(Exit::Jump(after.clone()));
        self.region(region, Some(tree.operands(op)));
        self.exits.pop();
        self.calls.pop();
        self.depth -= 1;
        self.leave_to(&after);
    }
}
