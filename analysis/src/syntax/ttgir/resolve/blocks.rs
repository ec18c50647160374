//! Labels, terminators, and what branches pass on.

use super::super::error::SyntaxError;
use super::super::ids::{BlockId, OpId, Sym};
use super::super::ops::{Form, Spec, table};
use super::super::store::{Block, Region, Store};
use super::super::suggest::nearest;
use crate::base::TextRange;

/// Reports labels that do not exist or exist twice, blocks without an end, and branches that do
/// not fit their target.
pub(super) fn check(store: &Store, errors: &mut Vec<SyntaxError>) {
    for region in &store.regions {
        if region.op.some().is_none() {
            continue;
        }
        let blocks = region.blocks.of(&store.block_ids);
        labels(store, blocks, errors);
        for &block in blocks {
            end(store, region, &store.blocks[block.index()], errors);
        }
    }
    for (at, op) in store.ops.iter().enumerate() {
        if op.succs.len > 0 {
            branches(store, OpId(at as u32), errors);
        }
    }
}

fn labels(store: &Store, blocks: &[BlockId], errors: &mut Vec<SyntaxError>) {
    for (at, block) in blocks.iter().enumerate() {
        let (label, start) = (store.blocks[block.index()].label, store.blocks[block.index()].start);
        let same = |other: &&BlockId| label != Sym::NONE && store.blocks[other.index()].label == label;
        if let Some(first) = blocks[..at].iter().find(same) {
            let name = store.names.get(label);
            let first = store.blocks[first.index()].start;
            let len = name.len() as u32;
            let error = SyntaxError::new(
                TextRange::new(start, start + len),
                "redefinition",
                format!("the label `{name}` is defined twice"),
            );
            errors.push(error.relate(TextRange::new(first, first + len), "first defined here"));
        }
    }
}

fn spec(store: &Store, op: OpId) -> Option<&'static Spec> {
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
    if needless || matches!(around.form, Form::Skimmed) {
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

fn branches(store: &Store, op: OpId, errors: &mut Vec<SyntaxError>) {
    let Some(block) = store.ops[op.index()].block.some() else { return };
    let region = &store.regions[store.blocks[block.index()].region.index()];
    let blocks = region.blocks.of(&store.block_ids);
    let known = spec(store, op).is_some_and(|spec| spec.name.starts_with("cf."));
    for succ in store.ops[op.index()].succs.of(&store.succs) {
        let range = TextRange::new(succ.start, succ.end);
        let name = store.names.get(succ.label);
        let Some(target) = blocks.iter().find(|b| store.blocks[b.index()].label == succ.label) else {
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
