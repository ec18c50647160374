//! `nvws.warp_group`: partitions without captures, which see the values around them.
//!
//! Triton makes a `ttg.warp_specialize` of it: the first partition becomes the default region where
//! it has as many warps as the module, else the default region is empty (source: the pass that
//! lowers warp groups, facebookexperimental fork). Values from outside are handed to the partitions
//! with the fork; tensors that go through shared memory then are not followed, as no op says so.

use rustc_hash::FxHashSet;

use super::hidden::Passed;
use crate::exit::Exit;
use crate::lowerer::Lowerer;
use crate::specialize::PARTITIONS;
use crate::value::Val;
use base::{TextRange, message};
use kernel::{BlockId, Fork, JumpTarget, Partition, Pure, Terminator, Var};
use ttgir::{OpId, RegionId, ValueId};

/// A partition that is still to be lowered.
struct Body {
    region: RegionId,
    entry: BlockId,
    /// Values from outside as the partition has them.
    seen: Vec<(ValueId, Val)>,
    /// Those that are constants, which it computes itself.
    known: Vec<(ValueId, i64)>,
    hidden: Passed,
}

impl Lowerer<'_> {
    pub(crate) fn warp_group(&mut self, op: OpId) {
        let tree = self.tree;
        let regions = tree.regions(op);
        if regions.is_empty() {
            return;
        }
        let warps = tree.attr(op, "numWarps").map(|attr| tree.attr_ints(attr)).unwrap_or_default();
        let own = self.build.kernel.partitions.first().and_then(|partition| partition.warps).map(i64::from);
        let (default, rest) = match regions.split_first() {
            Some((first, rest)) if warps.first().copied() == own => (Some(*first), rest),
            _ => (None, regions),
        };
        if self.exits.iter().any(|exit| matches!(exit, Exit::Partition | Exit::Join(..))) {
            return self.unmodelled(op, message!("a `{nvws.warp_group}` inside another is not followed"));
        }
        if rest.len() >= PARTITIONS {
            let reason = format!("{} partitions; at most {} are followed", rest.len(), PARTITIONS - 1);
            return self.unmodelled(op, reason);
        }
        if default.is_none() && !tree.results(op).is_empty() {
            self.forget(op);
            return self.unmodelled(op, "no partition has the warps of the module, so none gives its results");
        }
        let first = regions.len() - rest.len();
        for (at, &region) in rest.iter().enumerate() {
            if self.build.kernel.partitions.len() > at + 1 {
                continue;
            }
            let label = format!("partition{}", first + at);
            let place = self.label_before(region, &label).unwrap_or_else(|| tree.op_name_range(op));
            let warps = warps.get(first + at).and_then(|warps| u32::try_from(*warps).ok()).unwrap_or(4);
            self.build.kernel.partitions.push(Partition { warps: Some(warps) });
            self.build.map.partitions.push((label, place));
        }

        let site = self.site(op);
        let after = self.exit_block(tree.results(op));
        let start = self.build.block(Vec::new());
        let fork_block = self.build.here();
        let mut targets = Vec::new();
        let mut bodies = Vec::new();
        for (at, &region) in rest.iter().enumerate() {
            let (mut args, mut params) = (Vec::new(), Vec::new());
            let (seen, known) = self.seen_from_outside(region, &mut args, &mut params);
            let hidden = self.pass_hidden(&mut args, &mut params);
            let entry = self.build.block(params);
            targets.push((at as u32 + 1, JumpTarget { block: entry, args }));
            bodies.push(Body { region, entry, seen, known, hidden });
        }
        self.build.enter(fork_block);
        let default_target = JumpTarget { block: start, args: Vec::new() };
        self.build.end(Terminator::Fork(Fork { site, default: default_target, partitions: targets }));

        self.build.enter(start);
        match default {
            Some(region) => {
                self.exits.push(Exit::Join(op, after.clone()));
                self.region(region, None);
                self.exits.pop();
            }
            None => self.join_threads(op, &after, &[]),
        }
        let here = self.hidden.clone();
        for (at, body) in bodies.into_iter().enumerate() {
            self.partition = at + 1;
            self.build.enter(body.entry);
            self.take_hidden(body.hidden);
            let outside: Vec<(ValueId, Option<Val>)> = body
                .seen
                .iter()
                .map(|(value, _)| *value)
                .chain(body.known.iter().map(|(value, _)| *value))
                .map(|value| (value, self.values.get(&value).copied()))
                .collect();
            for (value, val) in body.seen {
                self.bind(value, val);
            }
            for (value, number) in body.known {
                let name = tree.value_name(value);
                let var = self.build.compute(Pure::Const(number), name);
                self.bind(value, Val::Scalar(var));
            }
            self.exits.push(Exit::Partition);
            self.region(body.region, None);
            self.exits.pop();
            for (value, val) in outside {
                if let Some(val) = val {
                    self.bind(value, val);
                }
            }
        }
        self.partition = 0;
        self.hidden = here;
        self.leave_to(&after);
    }

    /// The values that a region takes from outside: parameters and arguments for those that are
    /// computed, and those that are constants.
    #[allow(clippy::type_complexity)]
    fn seen_from_outside(
        &mut self,
        region: RegionId,
        args: &mut Vec<Var>,
        params: &mut Vec<Var>,
    ) -> (Vec<(ValueId, Val)>, Vec<(ValueId, i64)>) {
        let tree = self.tree;
        let (mut seen, mut known) = (Vec::new(), Vec::new());
        // What is made inside is no capture, even where an earlier inlining of the same text bound it.
        let mut met: FxHashSet<ValueId> = FxHashSet::default();
        let mut open = vec![region];
        while let Some(region) = open.pop() {
            for &block in tree.blocks(region) {
                met.extend(tree.block_args(block));
                for &op in tree.block_ops(block) {
                    met.extend(tree.results(op));
                    open.extend(tree.regions(op));
                }
            }
        }
        open.push(region);
        while let Some(region) = open.pop() {
            for &op in tree.blocks(region).iter().flat_map(|block| tree.block_ops(*block)) {
                open.extend(tree.regions(op));
                let passed = tree.successors(op).into_iter().flat_map(|successor| successor.args);
                for value in tree.operands(op).iter().copied().chain(passed) {
                    let Some(val) = self.values.get(&value).copied() else { continue };
                    if !met.insert(value) {
                        continue;
                    }
                    let name = tree.value_name(value);
                    let (var, param) = match val {
                        Val::Scalar(var) => match self.build.constant(var) {
                            Some(number) => {
                                known.push((value, number));
                                continue;
                            }
                            None => {
                                let param = self.build.scalar_param(name);
                                seen.push((value, Val::Scalar(param)));
                                (var, param)
                            }
                        },
                        Val::Stage(var) => {
                            let param = self.build.scalar_param(name);
                            seen.push((value, Val::Stage(param)));
                            (var, param)
                        }
                        Val::View(var) => {
                            let param = self.build.view_param(var, name);
                            seen.push((value, Val::View(param)));
                            (var, param)
                        }
                        Val::Opaque | Val::Channel(_) => continue,
                    };
                    args.push(var);
                    params.push(param);
                }
            }
        }
        (seen, known)
    }

    /// Where `label` stands before a region.
    fn label_before(&self, region: RegionId, label: &str) -> Option<TextRange> {
        let end = self.tree.region_range(region).start;
        let at = self.tree.text().get(..end as usize)?.rfind(label)? as u32;
        Some(TextRange::new(at, at + label.len() as u32))
    }
}
