//! Whether a definition comes before its use: by order inside a block, by dominance between the
//! blocks of a region.

use rustc_hash::FxHashMap;

use super::super::error::SyntaxError;
use super::super::ids::{BlockId, OpId, RegionId, ValueId};
use super::super::store::{Owner, Store, Use};
use super::blocks::Labels;
use base::TextRange;
use dialects::table;

/// Reports uses that their definition does not reach.
pub(super) fn check(store: &Store, labels: &Labels, errors: &mut Vec<SyntaxError>) {
    let mut dominance = Dominance { store, labels, trees: FxHashMap::default() };
    let mut lost: Vec<(&Use, ValueId)> = Vec::new();
    for (used, &value) in store.uses.iter().zip(&store.used) {
        let Some(value) = value.some() else { continue };
        if !dominance.reaches(value, used) {
            lost.push((used, value));
        }
    }
    // The arrays hold an op's uses behind those of its regions.
    lost.sort_by_key(|(used, _)| used.start);
    let mut said: FxHashMap<ValueId, ()> = FxHashMap::default();
    for (used, value) in lost {
        if said.insert(value, ()).is_some() {
            continue;
        }
        let def = &store.values[value.index()];
        let name = store.names.get(used.sym);
        let message = if def.start > used.start {
            format!("`{name}` is used before it is defined")
        } else {
            format!("the definition of `{name}` does not reach this use")
        };
        let error = SyntaxError::new(TextRange::new(used.start, used.end), "dominance", message);
        errors.push(error.relate(TextRange::new(def.start, def.end), "defined here"));
    }
}

struct Dominance<'s> {
    store: &'s Store,
    labels: &'s Labels,
    /// Per region of many blocks, each block's immediate dominator; a block that no path reaches
    /// has none.
    trees: FxHashMap<RegionId, FxHashMap<BlockId, BlockId>>,
}

impl Dominance<'_> {
    fn reaches(&mut self, value: ValueId, used: &Use) -> bool {
        let (home, definer) = match self.store.values[value.index()].owner {
            Owner::Op(op) => (self.store.ops[op.index()].block, Some(op)),
            Owner::Block(block) => (block, None),
            Owner::Nobody => return true,
        };
        let Some(home) = home.some() else {
            // The top level: any later place sees it.
            return definer.is_none_or(|op| self.before(op, used.op));
        };
        let region = self.store.blocks[home.index()].region;
        let Some((at, block)) = self.ancestor_in(used.op, region) else { return false };
        if block == home {
            return self.is_graph(region) || definer.is_none_or(|op| self.before(op, at));
        }
        self.dominates(region, home, block)
    }

    /// Whether an operation stands above another. Numbers do not say: edits add at the end.
    fn before(&self, a: OpId, b: OpId) -> bool {
        self.store.ops[a.index()].start < self.store.ops[b.index()].start
    }

    /// The operation of `region` that holds `op` or is it, and its block.
    fn ancestor_in(&self, mut op: OpId, region: RegionId) -> Option<(OpId, BlockId)> {
        loop {
            let block = self.store.ops[op.index()].block.some()?;
            let around = self.store.blocks[block.index()].region;
            if around == region {
                return Some((op, block));
            }
            op = self.store.regions[around.index()].op.some()?;
        }
    }

    fn is_graph(&self, region: RegionId) -> bool {
        let op = self.store.regions[region.index()].op;
        match self.store.ops[op.index()].name.get() {
            Ok(row) => table().row(row).graph,
            Err(_) => true,
        }
    }

    fn dominates(&mut self, region: RegionId, above: BlockId, below: BlockId) -> bool {
        let (store, labels) = (self.store, self.labels);
        let tree = self.trees.entry(region).or_insert_with(|| dominators(store, labels, region));
        let mut at = below;
        loop {
            // A block that is never reached is dominated by all.
            let Some(&next) = tree.get(&at) else { return true };
            if next == above {
                return true;
            }
            if next == at {
                return false;
            }
            at = next;
        }
    }
}

/// Immediate dominators by the iteration of Cooper, Harvey and Kennedy; the entry has itself.
fn dominators(store: &Store, labels: &Labels, region: RegionId) -> FxHashMap<BlockId, BlockId> {
    let blocks = store.regions[region.index()].blocks.of(&store.block_ids);
    let number: FxHashMap<BlockId, usize> = blocks.iter().enumerate().map(|(at, block)| (*block, at)).collect();
    let mut successors: Vec<Vec<usize>> = vec![Vec::new(); blocks.len()];
    let mut predecessors: Vec<Vec<usize>> = vec![Vec::new(); blocks.len()];
    for (at, block) in blocks.iter().enumerate() {
        let Some(last) = store.blocks[block.index()].ops.of(&store.op_ids).last() else { continue };
        for succ in store.ops[last.index()].succs.of(&store.succs) {
            if let Some(&to) = labels.get(&(region, succ.label)).and_then(|block| number.get(block)) {
                successors[at].push(to);
                predecessors[to].push(at);
            }
        }
    }
    let mut order = Vec::new();
    let mut seen = vec![false; blocks.len()];
    let mut stack = vec![(0usize, 0usize)];
    if let Some(first) = seen.first_mut() {
        *first = true;
    } else {
        return FxHashMap::default();
    }
    while let Some((block, next)) = stack.pop() {
        match successors[block].get(next) {
            Some(&to) => {
                stack.push((block, next + 1));
                if !seen[to] {
                    seen[to] = true;
                    stack.push((to, 0));
                }
            }
            None => order.push(block),
        }
    }
    let mut rank = vec![0; blocks.len()];
    order.iter().enumerate().for_each(|(at, &block)| rank[block] = at);
    let mut idom: Vec<Option<usize>> = vec![None; blocks.len()];
    idom[0] = Some(0);
    let mut changed = true;
    while changed {
        changed = false;
        for &block in order.iter().rev().filter(|&&block| block != 0) {
            let mut new: Option<usize> = None;
            for &from in predecessors[block].iter().filter(|&&from| idom[from].is_some()) {
                new = Some(new.map_or(from, |other| meet(&idom, &rank, other, from)));
            }
            if new.is_some() && idom[block] != new {
                idom[block] = new;
                changed = true;
            }
        }
    }
    let pairs = idom.iter().enumerate().filter_map(|(block, above)| Some((blocks[block], blocks[(*above)?])));
    pairs.collect()
}

fn meet(idom: &[Option<usize>], rank: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        let lower = if rank[a] < rank[b] { &mut a } else { &mut b };
        match idom[*lower] {
            Some(above) if above != *lower => *lower = above,
            _ => return 0,
        }
    }
    a
}
