//! A few random edits of real files; `cargo run --release -p fencepost-tests --bin chaos -- 100000` makes many.

use base::{Cancel, Limits, TextRange};
use engine::Engine;
use fencepost_tests::chaos::{Pace, edit, files};
use ttgir::Document;

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

/// What is said of `now` after `before` and with nothing before it.
fn said(before: &str, now: &str) -> (Vec<String>, Vec<String>) {
    let fixes = |engine: &mut Engine, text: &str| -> Vec<String> {
        let analysis = engine.analyse(&Document::new(text), &Cancel::never()).expect("nobody cancels");
        let findings = analysis.kernels.iter().flat_map(|kernel| &kernel.findings);
        findings.map(|finding| format!("{} {:?}", finding.kind.name(), finding.fix)).collect()
    };
    let mut engine = Engine::new(Limits::default());
    fixes(&mut engine, before);
    (fixes(&mut engine, now), fixes(&mut Engine::new(Limits::default()), now))
}

#[test]
fn a_slip_behind_a_kernel_does_not_take_its_fixes() {
    let files = files();
    let (_, text) = files.iter().find(|(path, _)| path.ends_with("ring_not_waited.ttgir")).expect("it is there");
    let (after, fresh) = said(&format!("{text})\n"), text);
    assert!(fresh.iter().any(|finding| finding.contains("Some")), "{fresh:?}");
    assert_eq!(after, fresh);
}

#[test]
fn what_stands_below_a_broken_op_is_read_with_it() {
    let text = "module {\n  tt.func @f(%out: i32) {\n    %0 = tt.splat %ou    partition0(%a: i32, %b: !ttg.x<1#sha\tred, m>, %c: i32) num_warps(1) {\nttng.init_barrier@ : !tt.ptr<f16> -> tensor<64x1x!ttif x:.ptr<f16>, #mma1>\n      }\n  }\n}\n} {\n";
    let trees = |document: &Document| {
        format!("{:?}", document.sections().iter().map(|it| it.tree().errors().to_vec()).collect::<Vec<_>>())
    };
    let start = text.find("64x1x!ttif").expect("it is there") as u32;
    for at in start..start + 20 {
        let edited = Document::new(text);
        trees(&edited);
        let edited = edited.edit(TextRange::new(at, at + 1), "");
        assert_eq!(trees(&edited), trees(&Document::new(edited.text())), "{at}");
    }
}
