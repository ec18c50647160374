//! Scopes: which definition a name means.

use rustc_hash::FxHashMap;

use super::super::error::SyntaxError;
use super::super::ids::{BlockId, OpId, RegionId, Slice, Sym, TypeId, ValueId};
use super::super::store::{Owner, Store, Value};
use super::super::suggest::nearest;
use crate::limits::names::GUESSES as MAX_GUESSES;
use base::TextRange;

/// Binds every use; names that nothing defines become values without a definition.
pub(super) fn bind(store: &mut Store, errors: &mut Vec<SyntaxError>) {
    store.used.clear();
    store.used.resize(store.uses.len(), ValueId::NONE);
    let keep = store.values.iter().rposition(|value| value.owner != Owner::Nobody).map_or(0, |at| at + 1);
    store.values.truncate(keep);
    store.value_ids.truncate(keep);
    let names = store.names.len();
    let mut scopes = Scopes {
        store,
        errors,
        bound: vec![(ValueId::NONE, 0); names],
        waiting: FxHashMap::default(),
        awaited: vec![false; names],
        undo: Vec::new(),
        pending: Vec::new(),
        isolation: 1,
        last_isolation: 1,
    };
    let top = scopes.store.top.clone();
    for op in top {
        scopes.op(op);
    }
    scopes.give_up(0);
}

struct Scopes<'s> {
    store: &'s mut Store,
    errors: &'s mut Vec<SyntaxError>,
    /// Per name, what it means now and in which isolated region it was bound.
    bound: Vec<(ValueId, u32)>,
    /// Per name, the uses that wait for it and the isolated region each is in.
    waiting: FxHashMap<Sym, Vec<(u32, u32)>>,
    /// Whether a name was ever waited for: most are not, and need no look-up.
    awaited: Vec<bool>,
    undo: Vec<(Sym, (ValueId, u32))>,
    /// Uses whose name was not bound when they were met.
    pending: Vec<u32>,
    isolation: u32,
    last_isolation: u32,
}

impl Scopes<'_> {
    fn op(&mut self, op: OpId) {
        let (uses, regions, results) = {
            let op = &self.store.ops[op.index()];
            (op.uses, op.regions, op.results)
        };
        for at in uses.range() {
            let (sym, sub) = (self.store.uses[at].sym, self.store.uses[at].sub);
            let (value, isolation) = self.bound[sym.index()];
            if isolation == self.isolation && value != ValueId::NONE {
                self.attach(at, value, sub);
            } else {
                self.pending.push(at as u32);
                self.awaited[sym.index()] = true;
                self.waiting.entry(sym).or_default().push((at as u32, self.isolation));
            }
        }
        for at in regions.range() {
            let region = self.store.region_ids[at];
            self.region(region);
        }
        self.define(results);
    }

    /// Points a use at the value, or at its sibling with number `sub`.
    fn attach(&mut self, at: usize, value: ValueId, sub: u32) {
        let of = self.store.values[value.index()].of;
        if sub < of {
            self.store.used[at] = ValueId(value.0 + sub);
            return;
        }
        self.store.used[at] = value;
        let used = self.store.uses[at];
        let range = TextRange::new(used.start, used.end);
        let name = self.store.names.get(used.sym);
        let plural = if of == 1 { "" } else { "s" };
        let message = format!("`{name}` has {of} value{plural}, there is no number {sub}");
        self.errors.push(SyntaxError::new(range, "undefined-value", message));
    }

    fn region(&mut self, region: RegionId) {
        let (blocks, isolated) = {
            let region = &self.store.regions[region.index()];
            (region.blocks, region.isolated)
        };
        let (mark, outer, waiting) = (self.undo.len(), self.isolation, self.pending.len());
        if isolated {
            self.last_isolation += 1;
            self.isolation = self.last_isolation;
        }
        for at in blocks.range() {
            let block = self.store.block_ids[at];
            self.block(block);
        }
        if isolated {
            self.give_up(waiting);
            self.isolation = outer;
        }
        while self.undo.len() > mark {
            if let Some((sym, before)) = self.undo.pop() {
                self.bound[sym.index()] = before;
            }
        }
    }

    fn block(&mut self, block: BlockId) {
        let (args, ops) = {
            let block = &self.store.blocks[block.index()];
            (block.args, block.ops)
        };
        self.define(args);
        for at in ops.range() {
            let op = self.store.op_ids[at];
            self.op(op);
        }
    }

    /// Binds the names of a run of values.
    fn define(&mut self, values: Slice) {
        for at in values.range() {
            let value = self.store.values[at];
            if value.sub != 0 || value.sym == Sym::NONE {
                continue;
            }
            let slot = value.sym.index();
            let (before, isolation) = self.bound[slot];
            if isolation == self.isolation && before != ValueId::NONE {
                self.redefined(&value, before);
                continue;
            }
            self.undo.push((value.sym, self.bound[slot]));
            self.bound[slot] = (ValueId(at as u32), self.isolation);
            if self.awaited[slot] {
                self.wake(value.sym, ValueId(at as u32));
            }
        }
    }

    fn redefined(&mut self, value: &Value, before: ValueId) {
        let first = self.store.values[before.index()];
        let name = self.store.names.get(value.sym);
        let error = SyntaxError::new(
            TextRange::new(value.start, value.end),
            "redefinition",
            format!("`{name}` is defined twice"),
        );
        self.errors.push(error.relate(TextRange::new(first.start, first.end), "first defined here"));
    }

    /// Binds the uses that waited for a name, in the isolated region that is open.
    fn wake(&mut self, sym: Sym, value: ValueId) {
        let Some(list) = self.waiting.get_mut(&sym) else { return };
        let list = std::mem::take(list);
        let (here, outside): (Vec<_>, Vec<_>) = list.into_iter().partition(|(_, region)| *region == self.isolation);
        self.waiting.insert(sym, outside);
        for (at, _) in here {
            let sub = self.store.uses[at as usize].sub;
            self.attach(at as usize, value, sub);
        }
    }

    /// Whether an operation around this one could not be read, so that its names may be lost.
    fn below_broken(&self, mut op: OpId) -> bool {
        loop {
            let Some(block) = self.store.ops[op.index()].block.some() else { return false };
            let region = self.store.blocks[block.index()].region;
            let Some(around) = self.store.regions[region.index()].op.some() else { return false };
            if self.store.ops[around.index()].broken {
                return true;
            }
            op = around;
        }
    }

    /// Reports the uses that wait in vain, from `first` on.
    fn give_up(&mut self, first: usize) {
        let lost = self.pending.split_off(first.min(self.pending.len()));
        let mut made: FxHashMap<Sym, ValueId> = FxHashMap::default();
        for at in lost {
            if self.store.used[at as usize] != ValueId::NONE {
                continue;
            }
            let used = self.store.uses[at as usize];
            if let Some(value) = made.get(&used.sym) {
                self.store.used[at as usize] = *value;
                continue;
            }
            let (start, end) = (used.start, used.end);
            let value = self.store.value(Value {
                sym: used.sym,
                owner: Owner::Nobody,
                index: 0,
                sub: 0,
                of: u32::MAX,
                start,
                end,
                ty: TypeId::NONE,
            });
            self.store.used[at as usize] = value;
            made.insert(used.sym, value);
            if self.below_broken(used.op) {
                continue;
            }
            let name = self.store.names.get(used.sym);
            let values =
                self.store.values.iter().filter(|v| v.owner != Owner::Nobody && v.sym != Sym::NONE && v.start < start);
            let few = self.errors.len() < MAX_GUESSES;
            let guess = few.then(|| nearest(name, values.map(|v| self.store.names.get(v.sym)))).flatten();
            let message = format!("nothing defines `{name}` here");
            self.errors.push(SyntaxError::new(TextRange::new(start, end), "undefined-value", message).suggest(guess));
        }
    }
}
