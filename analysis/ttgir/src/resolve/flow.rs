//! What leaves a region against what the operation around it says: returns, yields, captures.

use super::super::error::SyntaxError;
use super::super::ids::{OpId, TypeId};
use super::super::store::{Op, Store};
use base::TextRange;
use dialects::{Func, OpCode, Scf, Tt, Ttg, table};

/// Reports values that leave a region in another number or type than their operation takes.
pub(super) fn check(store: &Store, errors: &mut Vec<SyntaxError>) {
    for region in &store.regions {
        let Some(around) = region.op.some() else { continue };
        let around = &store.ops[around.index()];
        for block in region.blocks.of(&store.block_ids) {
            let ops = store.blocks[block.index()].ops.of(&store.op_ids);
            if let Some(&last) = ops.last() {
                leave(store, around, last, errors);
            }
        }
    }
    for (at, op) in store.ops.iter().enumerate() {
        if code(op) == Some(Ttg::WarpSpecialize.into()) && op.regions.len > 1 {
            captures(store, OpId(at as u32), errors);
        }
    }
}

fn code(op: &Op) -> Option<OpCode> {
    op.name.get().ok().map(|row| table().row(row).code)
}

/// Checks the operands of a region's last operation.
fn leave(store: &Store, around: &Op, last: OpId, errors: &mut Vec<SyntaxError>) {
    let op = &store.ops[last.index()];
    if op.broken || around.broken {
        return;
    }
    let results = || around.results.of(&store.values).iter().map(|value| value.ty).collect::<Vec<_>>();
    let (Some(end), Some(outer)) = (code(op), code(around)) else { return };
    let (what, takes) = match (end, outer) {
        (OpCode::Tt(Tt::Return), OpCode::Tt(Tt::Func)) | (OpCode::Func(Func::Return), OpCode::Func(Func::Func)) => {
            // The generic form has the signature in an attribute.
            let generic = around.attrs.of(&store.attrs).iter();
            if generic.into_iter().any(|named| store.names.get(named.name) == "function_type") {
                return;
            }
            ("the function returns", around.signature.of(&store.signatures).to_vec())
        }
        (OpCode::Scf(Scf::Yield), OpCode::Scf(Scf::For | Scf::If | Scf::ExecuteRegion | Scf::IndexSwitch))
        | (OpCode::Ttg(Ttg::WarpYield), OpCode::Ttg(Ttg::WarpSpecialize)) => ("the operation around has", results()),
        _ => return,
    };
    let given = op.uses.of(&store.uses);
    if given.len() != takes.len() {
        let message = format!("{what} {} values, not {}", takes.len(), given.len());
        errors.push(SyntaxError::new(TextRange::new(op.name_start, op.name_end), "operand-count", message));
        return;
    }
    for (used, ty) in given.iter().zip(takes) {
        if differ(store, used.ty, ty) {
            let (takes, given) = (store.types.text(ty), store.types.text(used.ty));
            let message = format!("{what} `{takes}` here, not `{given}`");
            errors.push(SyntaxError::new(TextRange::new(used.start, used.end), "type-mismatch", message));
        }
    }
}

/// Checks the arguments of the partitions against what is captured.
fn captures(store: &Store, op: OpId, errors: &mut Vec<SyntaxError>) {
    let op = &store.ops[op.index()];
    if op.broken || op.attrs.of(&store.attrs).is_empty() {
        return;
    }
    let captured = op.uses.of(&store.uses);
    for region in op.regions.of(&store.region_ids).iter().skip(1) {
        let region = &store.regions[region.index()];
        let Some(block) = region.blocks.of(&store.block_ids).first() else { continue };
        if !region.isolated || region.op.some().is_none() {
            continue;
        }
        let args = store.blocks[block.index()].args.of(&store.values);
        if args.len() != captured.len() {
            let range = TextRange::new(region.start, region.start + 1);
            let message =
                format!("{} values are captured, but the partition has {} arguments", captured.len(), args.len());
            errors.push(SyntaxError::new(range, "operand-count", message));
            continue;
        }
        for (arg, used) in args.iter().zip(captured) {
            if differ(store, arg.ty, used.ty) {
                let (here, there) = (store.types.text(arg.ty), store.types.text(used.ty));
                let message = format!("the captured value is `{there}`, not `{here}`");
                let error = SyntaxError::new(TextRange::new(arg.start, arg.end), "type-mismatch", message);
                errors.push(error.relate(TextRange::new(used.start, used.end), "captured here"));
            }
        }
    }
}

/// Whether two known types are not the same.
fn differ(store: &Store, a: TypeId, b: TypeId) -> bool {
    match (a.some(), b.some()) {
        (Some(a), Some(b)) => store.types.canon(a) != store.types.canon(b),
        _ => false,
    }
}
