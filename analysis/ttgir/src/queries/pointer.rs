//! Which pointers an address of global memory is computed from, and through which of them a kernel writes.

use dialects::{Amdg, Arith, OpCode, Tt, Ttg};
use rustc_hash::FxHashSet;

use super::memory::{Roots, sources};
use super::spot::walk;
use crate::limits::queries::ROOTS as STEPS;
use crate::{Def, OpId, Tree, ValueId};

/// The arguments, or other values that are computed from no pointer, that an address may be computed from.
pub fn pointers(tree: &Tree, address: ValueId) -> Roots {
    let mut seen: Vec<ValueId> = vec![address];
    let mut roots = Roots::new();
    let mut at = 0;
    while let Some(&value) = seen.get(at) {
        at += 1;
        let from = match moved(tree, value) {
            Some(source) => Roots::from_slice(&[source]),
            None => sources(tree, value),
        };
        if from.is_empty() && !roots.contains(&value) {
            roots.push(value);
        }
        for source in from {
            if seen.len() < STEPS && !seen.contains(&source) {
                seen.push(source);
            }
        }
    }
    roots
}

/// The pointers through which ops below `within` store to global memory, or change it atomically.
pub fn written_pointers(tree: &Tree, within: OpId) -> FxHashSet<ValueId> {
    let mut written = FxHashSet::default();
    walk(tree, &[within], &mut |op| {
        let writes = matches!(
            tree.code(op),
            Some(
                OpCode::Tt(Tt::Store | Tt::AtomicRmw | Tt::AtomicCas | Tt::AtomicStore)
                    | OpCode::Amdg(
                        Amdg::BufferStore | Amdg::BufferAtomicRmw | Amdg::BufferAtomicCas | Amdg::MaskedStore
                    )
            )
        );
        if writes && let Some(pointer) = tree.group(op, "ptr").first() {
            written.extend(pointers(tree, *pointer));
        }
    });
    written
}

/// The value whose elements, or one of them, a value is or is some way behind.
fn moved(tree: &Tree, value: ValueId) -> Option<ValueId> {
    let Def::Result(op, _) = tree.value_def(value) else { return None };
    let moves = matches!(
        tree.code(op)?,
        OpCode::Tt(
            Tt::Addptr
                | Tt::Splat
                | Tt::Unsplat
                | Tt::Broadcast
                | Tt::ExpandDims
                | Tt::Reshape
                | Tt::Trans
                | Tt::Bitcast
                | Tt::IntToPtr
                | Tt::PtrToInt
        ) | OpCode::Ttg(Ttg::ConvertLayout)
            | OpCode::Arith(Arith::Bitcast)
    );
    tree.operands(op).first().copied().filter(|_| moves)
}
