//! Edits: the operations around the change are read again, everything behind it is moved.
//!
//! The innermost block whose operations, or the gaps between them, hold the change is found; the
//! operations that touch it, and the one before, are read again from the new text. If they end
//! where the next one starts, they take the place of the old ones, else the same is tried one
//! block further out, and at last the whole text is read. Names are resolved again over the
//! whole tree, which is cheap. What is replaced stays in the arrays as garbage, until there is
//! so much of it that the whole text is read.

use std::sync::Arc;

use super::error::SyntaxError;
use super::ids::{BlockId, OpId, RegionId, Slice, Sym, TypeId};
use super::parse::Parser;
use super::store::{Owner, Store};
use super::tree::Tree;
use crate::limits::edit::GARBAGE as MAX_GARBAGE;
use base::TextRange;

/// A change of the text.
#[derive(Clone, Copy, Debug)]
struct Change {
    /// The old bytes.
    start: u32,
    end: u32,
    /// Where the new bytes end.
    new_end: u32,
}

impl Change {
    /// Where an offset of the old text is in the new one.
    fn shift(self, at: u32) -> u32 {
        if at >= self.end { at - self.end + self.new_end } else { at }
    }
}

/// A run of operations of a block that has to be read again.
struct Run {
    block: BlockId,
    /// The operations, by position in the block.
    first: usize,
    count: usize,
    /// Where reading starts, and where the next token after it stands, in the old text.
    from: u32,
    to: u32,
    depth: u32,
}

impl Tree {
    /// The tree of `text`, which is this tree's with `range` replaced by something that ends at
    /// `new_end`. None if it has to be made from nothing.
    pub(super) fn edited(&self, text: &Arc<str>, range: TextRange, new_end: u32) -> Option<Tree> {
        let change = Change { start: range.start, end: range.end, new_end };
        if self.store.garbage > MAX_GARBAGE || self.unbalanced {
            return None;
        }
        if self
            .store
            .unclosed
            .iter()
            .any(|&(start, end)| start < change.end.max(change.start + 1) && change.start <= end)
        {
            // It may close a bracket that was open for nothing.
            return None;
        }
        if let Some(tree) = self.reread_location(text, change) {
            return Some(tree);
        }
        // Reading most of the text again costs as much as reading all of it.
        let short = |run: &Run| ((run.to - run.from) as usize) < self.text.len() / 3;
        self.runs(change).into_iter().rev().filter(short).take(2).find_map(|run| self.reread(text, change, &run))
    }

    /// Reads one location alias again: a quarter of a file is locations, and nothing but errors
    /// depends on them.
    fn reread_location(&self, text: &Arc<str>, change: Change) -> Option<Tree> {
        let aliases = &self.store.aliases;
        let after = aliases.partition_point(|alias| alias.start < change.start);
        let value = aliases.get(after.checked_sub(1)?)?.value;
        let inside = value.start + "loc(".len() as u32 <= change.start && change.end < value.end;
        if !inside || !self.attr_source(value).starts_with("loc(") {
            return None;
        }
        let within = |start: u32, end: u32| value.start <= start && end <= value.end;
        if self.parse_errors.iter().any(|error| within(error.range.start, error.range.end)) {
            return None;
        }
        let mut store = self.store.clone();
        store.loc_refs.retain(|&(_, start, end)| !within(start, end));
        shift(&mut store, change);
        let mut parser = Parser::new(text, store);
        if !parser.reread_attr(value.start, change.shift(value.end)) {
            return None;
        }
        let errors = self.parse_errors.iter().map(|error| moved(error, change)).collect();
        Some(Tree::resolved(text.clone(), parser.done().0, errors))
    }

    /// The runs that hold the change, the outermost block's first.
    fn runs(&self, change: Change) -> Vec<Run> {
        let mut runs = Vec::new();
        let mut ops = &self.store.top[..];
        let mut depth = 0;
        'down: loop {
            let after = ops.partition_point(|op| self.op_range(*op).start < change.start);
            let Some(&op) = after.checked_sub(1).and_then(|at| ops.get(at)) else { return runs };
            if self.is_broken(op) {
                // What is no operation as it should be was read by its brackets and lines, those in its regions too.
                return runs;
            }
            for &region in self.regions(op) {
                let inside = self.region_range(region);
                if !(inside.start < change.start && change.end < inside.end) {
                    continue;
                }
                depth += 1;
                for &block in self.blocks(region) {
                    if let Some(run) = self.run(region, block, change, depth) {
                        runs.push(run);
                        ops = self.block_ops(block);
                        continue 'down;
                    }
                }
            }
            return runs;
        }
    }

    /// The run of a block that holds the change, if the block does.
    fn run(&self, region: RegionId, block: BlockId, change: Change, depth: u32) -> Option<Run> {
        let ops = self.block_ops(block);
        let first_start = self.op_range(*ops.first()?).start;
        let end = self.store.blocks[block.index()].end;
        if change.start <= first_start || change.end >= end {
            return None;
        }
        let touched = |op: &OpId| self.op_range(*op).start < change.start;
        // The last operation that starts before the change and the one before it, as far as it
        // might go on into what the change makes of the other's first token.
        let last = ops.partition_point(touched).checked_sub(1)?;
        let first = last.saturating_sub(1);
        let end_at = ops.partition_point(|op| self.op_range(*op).start <= change.end);
        let from = match last {
            // Text that is no operation may stand before the first one.
            0 if self.store.blocks[block.index()].label.some().is_some() => return None,
            0 => self.region_range(region).start + 1,
            _ => self.op_range(*ops.get(first)?).start,
        };
        let to = match ops.get(end_at) {
            Some(next) => self.op_range(*next).start,
            None => self.closing(region, block)?,
        };
        (change.end < to).then_some(Run { block, first, count: end_at - first, from, to, depth })
    }

    /// The token behind a block: the next label or the region's brace.
    fn closing(&self, region: RegionId, block: BlockId) -> Option<u32> {
        let blocks = self.blocks(region);
        let at = blocks.iter().position(|b| *b == block)?;
        match blocks.get(at + 1) {
            Some(next) => Some(self.store.blocks[next.index()].start),
            None => self.region_range(region).end.checked_sub(1),
        }
    }

    fn reread(&self, text: &Arc<str>, change: Change, run: &Run) -> Option<Tree> {
        // What is missing at the end of an operation is said of the token behind it: whose mistake that is nobody knows.
        let at_border =
            |range: TextRange| [run.from, run.to].iter().any(|border| range.start <= *border && *border <= range.end);
        if self.parse_errors.iter().any(|error| at_border(error.range)) {
            return None;
        }
        let mut store = self.store.clone();
        while store.values.last().is_some_and(|value| value.owner == Owner::Nobody) {
            store.values.pop();
            store.value_ids.pop();
        }
        let old = self.block_ops(run.block);
        for &op in old.get(run.first..run.first + run.count)? {
            discard(&mut store, op);
        }
        let replaced = TextRange::new(run.from, run.to);
        let inside = |start: u32, end: u32| replaced.start <= start && end <= replaced.end;
        store.loc_refs.retain(|&(_, start, end)| !inside(start, end));
        store.alias_refs.retain(|&(_, start, end)| !inside(start, end));
        store.unclosed.retain(|&(start, _)| !(replaced.start <= start && start < replaced.end));
        shift(&mut store, change);
        let mut parser = Parser::new(text, store);
        let (from, to) = (change.shift(run.from), change.shift(run.to));
        let (new, end) = parser.reread(run.block, run.depth, from, to)?;
        let (mut store, mut errors) = parser.done();
        let mut ops = old[..run.first].to_vec();
        ops.extend(new);
        ops.extend_from_slice(&old[run.first + run.count..]);
        let start = store.op_ids.len();
        store.op_ids.extend_from_slice(&ops);
        store.garbage += old.len();
        let block = &mut store.blocks[run.block.index()];
        block.ops = Slice::since(start, start + ops.len());
        if run.first + run.count == old.len() {
            block.end = end;
        }
        let kept = self.parse_errors.iter().filter(|error| !inside(error.range.start, error.range.end));
        errors.extend(kept.map(|error| moved(error, change)));
        Some(Tree::resolved(text.clone(), store, errors))
    }
}

/// An error at its place in the new text.
fn moved(error: &SyntaxError, change: Change) -> SyntaxError {
    let range = |range: TextRange| TextRange::new(change.shift(range.start), change.shift(range.end));
    let mut error = error.clone();
    error.range = range(error.range);
    error.related.iter_mut().for_each(|(at, _)| *at = range(*at));
    error
}

/// Makes an operation and all below it unreachable.
fn discard(store: &mut Store, op: OpId) {
    let (results, regions, uses) = {
        let op = &store.ops[op.index()];
        (op.results, op.regions, op.uses)
    };
    store.garbage += 1 + (results.len + uses.len) as usize;
    drop_values(store, results);
    store.ops[op.index()].succs = Slice::default();
    for at in regions.range() {
        let region = store.region_ids[at];
        let blocks = store.regions[region.index()].blocks;
        store.regions[region.index()].op = OpId::NONE;
        for at in blocks.range() {
            let block = store.blocks[store.block_ids[at].index()];
            drop_values(store, block.args);
            for at in block.ops.range() {
                let op = store.op_ids[at];
                discard(store, op);
            }
        }
    }
}

fn drop_values(store: &mut Store, values: Slice) {
    for value in &mut store.values[values.range()] {
        value.sym = Sym::NONE;
        value.ty = TypeId::NONE;
        (value.start, value.end) = (0, 0);
    }
}

/// Moves all places behind a change.
fn shift(store: &mut Store, change: Change) {
    let by = |at: &mut u32| *at = change.shift(*at);
    let attr = |attr: &mut super::ids::AttrId| {
        if attr.start < super::ids::AttrId::MADE {
            by(&mut attr.start);
            by(&mut attr.end);
        }
    };
    for op in &mut store.ops {
        for at in [&mut op.start, &mut op.header_end, &mut op.end, &mut op.name_start, &mut op.name_end] {
            by(at);
        }
        attr(&mut op.loc);
    }
    for used in &mut store.uses {
        by(&mut used.start);
        by(&mut used.end);
    }
    for value in &mut store.values {
        by(&mut value.start);
        by(&mut value.end);
    }
    for region in &mut store.regions {
        by(&mut region.start);
        by(&mut region.end);
    }
    for block in &mut store.blocks {
        by(&mut block.start);
        by(&mut block.end);
    }
    for succ in &mut store.succs {
        by(&mut succ.start);
        by(&mut succ.end);
    }
    for alias in &mut store.aliases {
        by(&mut alias.start);
        attr(&mut alias.value);
    }
    store.attrs.iter_mut().for_each(|named| attr(&mut named.attr));
    store.arg_attrs.iter_mut().for_each(attr);
    for (start, end) in &mut store.unclosed {
        by(start);
        by(end);
    }
    for (_, start, end) in store.loc_refs.iter_mut().chain(&mut store.alias_refs) {
        by(start);
        by(end);
    }
}
