//! A few random edits of real files; `cargo run --release -p fencepost-tests --bin chaos -- 100000` makes many.

use fencepost_tests::chaos::{Pace, edit, files};

#[test]
fn what_is_kept_between_texts_never_shows() {
    for (stream, (path, text)) in files().iter().enumerate() {
        if let Err(found) = edit(path, text, (17, stream as u64), 40, Pace(0)) {
            panic!("{path}: {found}");
        }
    }
}

#[test]
fn nor_in_what_is_found() {
    let small = ["ring.ttgir", "ring_not_waited.ttgir", "sum_rows.py", "lds_barrier_copy"];
    let files = files();
    let files = files.iter().filter(|(path, _)| small.iter().any(|name| path.contains(name)));
    for (stream, (path, text)) in files.enumerate() {
        if let Err(found) = edit(path, text, (18, stream as u64), 60, Pace(6)) {
            panic!("{path}: {found}");
        }
    }
}
