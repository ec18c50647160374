//! Labels, terminators, and what branches pass on.

use rustc_hash::FxHashMap;

use super::super::error::SyntaxError;
use super::super::ids::{BlockId, OpId, RegionId, Sym};
use super::super::store::{Block, Region, Store};
use super::super::suggest::nearest;
use base::TextRange;
use dialects::{OpCode, OpForm, OpSyntax, table};

/// The blocks of a tree by region and label.
pub(super) type Labels = FxHashMap<(RegionId, Sym), BlockId>;

/// Finds the labels; the first of two equal ones counts, the second is reported.
pub(super) fn labels(store: &Store, errors: &mut Vec<SyntaxError>) -> Labels {
    let mut labels = Labels::default();
    for region in &store.regions {
        if region.op.some().is_none() {
            continue;
        }
        for &id in region.blocks.of(&store.block_ids) {
            let block = &store.blocks[id.index()];
            if block.label == Sym::NONE {
                continue;
            }
            let first = *labels.entry((block.region, block.label)).or_insert(id);
            if first == id {
                continue;
            }
            let name = store.names.get(block.label);
            let at = |start: u32| TextRange::new(start, start + name.len() as u32);
            let message = format!("the label `{name}` is defined twice");
            let error = SyntaxError::new(at(block.start), "redefinition", message);
            errors.push(error.relate(at(store.blocks[first.index()].start), "first defined here"));
        }
    }
    labels
}

/// Reports labels that do not exist, blocks without an end, and branches that do not fit their
/// target.
pub(super) fn check(store: &Store, labels: &Labels, errors: &mut Vec<SyntaxError>) {
    for region in &store.regions {
        if region.op.some().is_none() {
            continue;
        }
        for block in region.blocks.of(&store.block_ids) {
            end(store, region, &store.blocks[block.index()], errors);
        }
    }
    for (at, op) in store.ops.iter().enumerate() {
        if op.succs.len > 0 {
            branches(store, labels, OpId(at as u32), errors);
        }
    }
}

fn spec(store: &Store, op: OpId) -> Option<&'static OpSyntax> {
    store.ops[op.index()].name.get().ok().map(|row| table().row(row))
}

/// Checks that a block ends in a terminator and has none before.
fn end(store: &Store, region: &Region, block: &Block, errors: &mut Vec<SyntaxError>) {
    let Some(around) = spec(store, region.op) else { return };
    let ops = block.ops.of(&store.op_ids);
    for &op in ops.iter().rev().skip(1) {
        if spec(store, op).is_some_and(|spec| spec.terminator) && !around.graph {
            let (start, end) = (store.ops[op.index()].name_start, store.ops[op.index()].name_end);
            let message = "this ends a block, but operations follow it";
            errors.push(SyntaxError::new(TextRange::new(start, end), "terminator", message));
        }
    }
    let carries = store.ops[region.op.index()].results.len > 0;
    let needless = around.graph || (around.bare && !carries);
    if needless || matches!(around.form, OpForm::Skimmed) {
        return;
    }
    let Some(&last) = ops.last() else {
        if store.ops[region.op.index()].broken {
            return;
        }
        let op = &store.ops[region.op.index()];
        let message = format!("a block of `{}` is empty; it needs a terminator", around.name);
        errors.push(SyntaxError::new(TextRange::new(op.name_start, op.name_end), "terminator", message));
        return;
    };
    let ended = match spec(store, last) {
        Some(spec) => spec.terminator,
        // An op that nothing is known of may be one.
        None => true,
    };
    if !ended && !store.ops[last.index()].broken {
        let op = &store.ops[last.index()];
        if around.bare {
            // Without results MLIR adds the terminator itself, so it blames the op around.
            let blamed = &store.ops[region.op.index()];
            let message = format!("`{}` has results, but a block of it yields none", around.name);
            let error = SyntaxError::new(TextRange::new(blamed.name_start, blamed.name_end), "terminator", message);
            errors
                .push(error.relate(TextRange::new(op.name_start, op.name_end), "a `scf.yield` is missing behind this"));
            return;
        }
        let message = "the block ends here, without a terminator";
        errors.push(SyntaxError::new(TextRange::new(op.name_start, op.name_end), "terminator", message));
    }
}

fn branches(store: &Store, labels: &Labels, op: OpId, errors: &mut Vec<SyntaxError>) {
    let Some(block) = store.ops[op.index()].block.some() else { return };
    let region = store.blocks[block.index()].region;
    let blocks = store.regions[region.index()].blocks.of(&store.block_ids);
    let known = spec(store, op).is_some_and(|spec| matches!(spec.code, OpCode::Cf(_)));
    for succ in store.ops[op.index()].succs.of(&store.succs) {
        let range = TextRange::new(succ.start, succ.end);
        let name = store.names.get(succ.label);
        let Some(target) = labels.get(&(region, succ.label)) else {
            let labels = blocks.iter().filter_map(|b| store.blocks[b.index()].label.some());
            let guess = nearest(name, labels.map(|label| store.names.get(label)));
            let message = format!("there is no block `{name}` in this region");
            errors.push(SyntaxError::new(range, "unknown-block", message).suggest(guess));
            continue;
        };
        let args = store.blocks[target.index()].args.of(&store.values);
        if !known {
            continue;
        }
        if args.len() != succ.uses.len as usize {
            let message = format!("`{name}` takes {} values, not {}", args.len(), succ.uses.len);
            errors.push(SyntaxError::new(range, "operand-count", message));
            continue;
        }
        for (arg, used) in args.iter().zip(succ.uses.of(&store.uses)) {
            let both = used.ty.some().is_some() && arg.ty.some().is_some();
            if both && store.types.canon(used.ty) != store.types.canon(arg.ty) {
                let (takes, given) = (store.types.text(arg.ty), store.types.text(used.ty));
                let message = format!("`{name}` takes `{takes}` here, not `{given}`");
                errors.push(SyntaxError::new(TextRange::new(used.start, used.end), "type-mismatch", message));
            }
        }
    }
}
