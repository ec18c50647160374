//! How a host op moves data between memories, by its declaration or by its operands.

use dialects::DataMovement;
use lower::HostOp;
use ttgir::{Tree, Ty};

/// The movement that is declared, or what operands, results and effects say of it.
pub(super) fn data_movement(tree: &Tree, host: &HostOp) -> DataMovement {
    if let Some(declared) = tree.code(host.op).and_then(|code| code.decl().movement) {
        return declared;
    }
    let token = |value| matches!(tree.value_type(value).map(|ty| tree.ty(ty)), Some(Ty::AsyncToken));
    let results = tree.results(host.op);
    if host.effects.0 != host.effects.1 {
        // A wait, an arrival, a commit: the machine has done it. What gives values in some other way is not followed.
        let given = results.iter().zip(&host.results).all(|(result, var)| var.is_none() || token(*result));
        return if given { DataMovement::Nothing } else { DataMovement::Unknown };
    }
    let view = |value| matches!(tree.value_type(value).map(|ty| tree.ty(ty)), Some(Ty::MemDesc { .. }));
    if tree.operands(host.op).iter().any(|value| view(*value)) {
        // A predicate that is always false leaves nothing of an op.
        return if results.is_empty() { DataMovement::Nothing } else { DataMovement::Unknown };
    }
    if !results.is_empty() && results.iter().all(|result| token(*result)) {
        return DataMovement::Nothing;
    }
    DataMovement::Evaluate
}
