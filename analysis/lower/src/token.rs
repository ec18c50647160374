//! `async_tma_store_token_wait`: waits for one TMA store, then hands its source back.
//!
//! A TMA store is a commit group of its own, so waiting for one is waiting until only the stores
//! issued after it are open. How many those are is counted in the text: on the way from the store to
//! the wait, through loops that carry the token and regions that hand it out. Where ways differ, the
//! fewest count, which waits for more than was asked on the others; where the token comes from
//! nowhere that is followed, all stores are waited for. Both are what the pass does that lowers the op
//! (facebookexperimental fork). It passes over the value that a loop starts with; here it counts.
//!
//! Missed: a token of another partition, which is said at the op.

use super::apply::Predicate;
use super::autows::{Place, Source, origins, source};
use super::lowerer::Lowerer;
use dialects::{Nvws, OpCode, Scf, Ttg, Ttng, ttng};
use kernel::{CommitKind, EffectKind, Recipients};
use ttgir::{BlockId, OpId, RegionId, Tree, ValueId};

impl Lowerer<'_> {
    pub(super) fn store_token_wait(&mut self, op: OpId) {
        let tree = self.tree;
        let Some(wait) = ttng::AsyncTmaStoreTokenWait::cast(tree, op) else { return };
        let Some(token) = wait.token() else {
            return self.unmodelled(op, "its token is missing");
        };
        if self.of_another_partition(op, token) {
            return self.unmodelled(op, "the store of this token is another partition's");
        }
        let pending = Stores { tree, conditions: conditions(tree, op) }.since(token, op, &mut Vec::new());
        let site = self.site(op);
        let pending = pending.unwrap_or(0);
        self.build.effect(site, None, EffectKind::WaitGroup { kind: CommitKind::TmaStore, pending });
        for at in 0..wait.barriers().len() {
            let predicate = match wait.barrier_preds().get(at) {
                Some(&value) => {
                    let var = self.scalar(value);
                    self.known(var)
                }
                None => Predicate::Always,
            };
            let Some(barrier) = self.barrier(op, site, "barriers", at) else { return };
            if !matches!(predicate, Predicate::Never) {
                self.build.effect(
                    site,
                    predicate.var(),
                    EffectKind::Arrive { barrier, count: 1, to: Recipients::own() },
                );
            }
        }
        self.release_tokens(op);
    }

    /// Whether the token is made outside the partition that waits for it.
    fn of_another_partition(&self, op: OpId, token: ValueId) -> bool {
        let tree = self.tree;
        let made = origins(tree, token).unwrap_or_default();
        let around = partition_around(tree, op);
        made.iter().any(|store| is_store(tree, *store) && partition_around(tree, *store) != around)
    }
}

fn is_store(tree: &Tree, op: OpId) -> bool {
    matches!(
        tree.code(op),
        Some(OpCode::Ttng(Ttng::AsyncTmaCopyLocalToGlobal | Ttng::AsyncTmaReduce | Ttng::AsyncTmaScatter))
    )
}

fn region_of(tree: &Tree, op: OpId) -> Option<RegionId> {
    Some(tree.parent_region(tree.parent_block(op)?))
}

/// The region of a partition that holds an op.
fn partition_around(tree: &Tree, op: OpId) -> Option<RegionId> {
    let mut region = region_of(tree, op)?;
    loop {
        let around = tree.parent_op(region)?;
        if matches!(
            tree.code(around),
            Some(OpCode::Ttg(Ttg::WarpSpecialize | Ttg::WarpSpecializePartitions) | OpCode::Nvws(Nvws::WarpGroup))
        ) {
            return Some(region);
        }
        region = region_of(tree, around)?;
    }
}

/// The conditions under which an op is executed, with the region taken.
fn conditions(tree: &Tree, op: OpId) -> Vec<(ValueId, usize)> {
    let mut found = Vec::new();
    let mut region = region_of(tree, op);
    while let Some(inner) = region
        && let Some(around) = tree.parent_op(inner)
    {
        if tree.is(around, Scf::If)
            && let Some(&condition) = tree.operands(around).first()
            && let Some(taken) = tree.regions(around).iter().position(|other| *other == inner)
        {
            found.push((condition, taken));
        }
        region = region_of(tree, around);
    }
    found
}

/// Counts stores on ways through the text.
struct Stores<'t> {
    tree: &'t Tree,
    /// What holds where the wait is.
    conditions: Vec<(ValueId, usize)>,
}

impl Stores<'_> {
    /// The fewest stores issued after the one whose token `value` is, before `at`.
    fn since(&self, value: ValueId, at: OpId, seen: &mut Vec<ValueId>) -> Option<u32> {
        if seen.contains(&value) || seen.len() > 32 {
            return None;
        }
        seen.push(value);
        let fewest = match source(self.tree, value)? {
            Source::Made(op) if is_store(self.tree, op) => self.until(op, at),
            Source::Made(_) => None,
            Source::Handed(ways) => {
                let ways = ways.into_iter().filter_map(|way| {
                    let before = self.since(way.value, way.by, seen)?;
                    let after = match way.to {
                        Place::Start(block) => self.from(block, 0, at),
                        Place::After(op) => self.until(op, at),
                    };
                    Some(before + after?)
                });
                ways.min()
            }
        };
        seen.pop();
        fewest
    }

    /// Stores after `op` and before `at`, which is in its block or in a region below it.
    fn until(&self, op: OpId, at: OpId) -> Option<u32> {
        let block = self.tree.parent_block(op)?;
        let place = self.tree.block_ops(block).iter().position(|other| *other == op)?;
        self.from(block, place + 1, at)
    }

    fn from(&self, block: BlockId, start: usize, at: OpId) -> Option<u32> {
        // The ops around `at`, up to the one in this block.
        let mut inner = at;
        let mut regions = Vec::new();
        while self.tree.parent_block(inner)? != block {
            let region = region_of(self.tree, inner)?;
            regions.push(region);
            inner = self.tree.parent_op(region)?;
        }
        let ops = self.tree.block_ops(block);
        let end = ops.iter().position(|other| *other == inner)?;
        let here = self.count(ops.get(start..end)?);
        match regions.last() {
            Some(region) => {
                let first = *self.tree.blocks(*region).first()?;
                Some(here + self.from(first, 0, at)?)
            }
            None => Some(here),
        }
    }

    /// The fewest stores that these ops issue; a loop may run no time.
    fn count(&self, ops: &[OpId]) -> u32 {
        ops.iter().map(|op| self.fewest(*op)).sum()
    }

    fn fewest(&self, op: OpId) -> u32 {
        let tree = self.tree;
        let regions = tree.regions(op);
        let inside = |region: Option<&RegionId>| {
            let block = region.and_then(|region| tree.blocks(*region).first());
            block.map_or(0, |block| self.count(tree.block_ops(*block)))
        };
        match tree.code(op) {
            _ if is_store(tree, op) => 1,
            Some(OpCode::Scf(Scf::If)) => {
                let condition = tree.operands(op).first();
                match self.conditions.iter().find(|(known, _)| Some(known) == condition) {
                    Some((_, taken)) => inside(regions.get(*taken)),
                    None => inside(regions.first()).min(inside(regions.get(1))),
                }
            }
            Some(OpCode::Scf(Scf::ExecuteRegion)) => inside(regions.first()),
            _ => 0,
        }
    }
}
