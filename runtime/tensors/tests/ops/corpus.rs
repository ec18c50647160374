//! Every operation of the corpus that computes values is followed.

use std::collections::BTreeSet;
use std::path::Path;

use ttgir::{OpId, Tree};

use tensors::{OpSite, is_followed, tile};

/// What is control flow, memory or a barrier: the machine's and the driver's.
fn is_ours(name: &str) -> bool {
    let control = ["scf.", "cf.", "tt.func", "tt.return", "tt.reduce.return", "builtin.", "tt.call"];
    let values = ["arith.", "math.", "tt.", "ttg.convert_layout", "amdg.update_tensor_descriptor", "ttg.fp4_to_fp"];
    !control.iter().any(|prefix| name.starts_with(prefix)) && values.iter().any(|prefix| name.starts_with(prefix))
}

fn walk(tree: &Tree, op: OpId, misses: &mut BTreeSet<String>, count: &mut usize) {
    let name = tree.op_name(op);
    if is_ours(name) {
        *count += 1;
        for cta in [0, 1, tile::WHOLE] {
            if let Err(trap) = is_followed(&OpSite { tree, op, cta }) {
                misses.insert(format!("{name}: {trap}"));
            }
        }
    }
    if matches!(name, "tt.reduce" | "tt.scan") {
        return;
    }
    for &region in tree.regions(op) {
        for &block in tree.blocks(region) {
            for &inner in tree.block_ops(block) {
                walk(tree, inner, misses, count);
            }
        }
    }
}

#[test]
fn every_value_of_the_corpus_is_followed() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/ttgir");
    let (mut misses, mut count) = (BTreeSet::new(), 0);
    for target in std::fs::read_dir(corpus).unwrap().flatten() {
        for file in std::fs::read_dir(target.path()).unwrap().flatten() {
            let tree = Tree::parse(&std::fs::read_to_string(file.path()).unwrap());
            for &op in tree.top() {
                walk(&tree, op, &mut misses, &mut count);
            }
        }
    }
    assert!(misses.is_empty(), "{misses:#?}");
    assert!(count > 10_000, "only {count} operations");
}
