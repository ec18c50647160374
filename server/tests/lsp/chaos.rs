//! A few random edits of real files over the wire, with requests and cancellations in between; `cargo run --release -p
//! fencepost-tests --bin chaos -- --lsp target/release/fencepost --edits 100000` makes many.

use crate::random::{Session, Tally};
use crate::support::{binary, root};

/// Files below `tests`, of both languages.
const FILES: &[&str] = &[
    "kernels/ring.ttgir",
    "kernels/gluon/sum_rows.py",
    "kernels/ring_not_waited.ttgir",
    "kernels/attention.ttgir",
    "corpus/gluon/lds_barrier_copy.py",
    "corpus/ttgir/sm_90/cp_async_ws.ttgir",
    "corpus/gluon/gemm_ring3.py",
    "corpus/ttgir/gfx1250/lds_barrier_copy.ttgir",
    "corpus/gluon/cluster_scale_rows.py",
];

#[test]
fn edited_documents_are_what_they_are_when_opened() {
    let mut all = Tally::default();
    for (stream, name) in (0..).zip(FILES) {
        let unit = [8, 16, 32][(stream % 3) as usize];
        let (program, path) = (binary().into(), root().join("tests").join(name));
        all = all.and(Session { program, path, edits: 30, pace: 30, seed: (5, stream), unit }.hold());
    }
    assert_eq!((all.edits, all.compared), (30 * FILES.len(), FILES.len()));
    assert!(all.requests > FILES.len() && all.cancelled > 0, "{all:?}");
}
