//! Logs of other machines.

use std::fs;
use std::path::PathBuf;

use asserts::PathMap;
use base::{Cancel, Limits};
use engine::Engine;
use findings::Kind;

use super::Replay;
use crate::launch::{LaunchOrigin, LaunchSpec};
use crate::process::RunFolder;
use crate::run::{Instrument, KernelChecker, RunBackend, RunEnd, RunLimits, RunReport, RunRequest};

const IR: &str = r#"#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!bar = !ttg.memdesc<1xi64, #shared, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
  tt.func public @twice() {
    %bar = ttg.local_alloc : () -> !bar loc(#loc2)
    ttng.init_barrier %bar, 1 : !bar loc(callsite(#loc3 at #loc4))
    ttng.init_barrier %bar, 1 : !bar loc(callsite(#loc3 at #loc5))
    tt.return loc(#loc1)
  } loc(#loc1)
} loc(#loc1)
#loc1 = loc("/srv/k.py":4:1)
#loc2 = loc("/srv/k.py":6:11)
#loc3 = loc("/srv/helper.py":9:5)
#loc4 = loc("/srv/k.py":7:5)
#loc5 = loc("/srv/k.py":8:5)
"#;

const PYTHON: &str =
    "import x\n\n@gluon.jit\ndef twice():\n    # one\n    bar = f()\n    helper(bar)\n    helper(bar)\n";

/// The analysis with its default limits.
fn checker() -> KernelChecker {
    let mut engine = Engine::new(Limits::default());
    Box::new(move |lowered, cancel| engine.check_kernel(lowered, cancel))
}

fn replay(log: &str, path: &str, text: &str, compiled: Option<&str>) -> RunReport {
    let folder = RunFolder::new().expect("a folder");
    let file = folder.path().join("log.txt");
    fs::write(&file, log).expect("a log");
    let request = RunRequest {
        path: PathBuf::from(path),
        text: text.into(),
        compiled: compiled.map(Into::into),
        launch: LaunchSpec {
            kernel: None,
            grid: [1, 1, 1],
            arguments: Vec::new(),
            entry: None,
            origin: LaunchOrigin::CommandLine,
        },
        instrument: Instrument::ConSan,
        bounds: RunLimits::default(),
        inputs: 0,
        seed: 0,
    };
    let paths = PathMap::new([("/srv".to_owned(), "/home/me".to_owned())]);
    Replay { log: file, paths, check: checker() }.run(&request, &mut |_| {}, &Cancel::never()).expect("it is read")
}

fn line(file: &str, line: u32) -> String {
    format!(
        "{file}:{line}: unknown: block: [0,0,0], thread: [0,0,0] Assertion `Barrier re-initialized without prior \
         invalidation` failed.\n"
    )
}

#[test]
fn an_op_in_a_helper_is_drawn_at_its_calls() {
    let log = line("/srv/helper.py", 9).repeat(7);
    let report = replay(&log, "/home/me/k.py", PYTHON, Some(IR));
    assert_eq!(report.end, RunEnd::Asserted);
    let finding = &report.kernels[0].findings[0];
    assert_eq!(finding.kind, Kind::BarrierReinit);
    assert_eq!(finding.range.of(PYTHON), "helper(bar)");
    // Both calls end in this line, and the device names neither.
    assert!(finding.sites.iter().any(|site| site.text.starts_with("or here")), "{finding:?}");
    assert!(finding.message.contains("the first of 7"), "{}", finding.message);
    assert!(finding.context.iter().any(|note| note.text.contains("helper.py, line 9")), "{finding:?}");
    assert_eq!(report.kernels[0].range.of(PYTHON), "twice");
}

#[test]
fn lines_of_the_ir_itself_name_one_op() {
    let report = replay(&line("/tmp/fencepost-1-0/k.ttgir", 8), "/elsewhere/k.ttgir", IR, None);
    let finding = &report.kernels[0].findings[0];
    let second = IR.rfind("ttng.init_barrier").expect("it is there") as u32;
    assert_eq!(finding.range.start, second);
    assert!(!finding.run.is_empty());
}

#[test]
fn without_the_ir_the_line_is_the_place() {
    let report = replay(&line("/srv/k.py", 7), "/home/me/k.py", PYTHON, None);
    assert_eq!(report.kernels[0].findings[0].range.of(PYTHON), "helper(bar)");
    assert!(report.notes.iter().any(|note| note.contains("TTGIR")), "{:?}", report.notes);
    let other = replay(&line("/srv/other.py", 7), "/home/me/k.py", PYTHON, None);
    assert!(other.kernels.is_empty());
    assert!(other.elsewhere[0].starts_with("/srv/other.py:7: ConSan asserts"), "{:?}", other.elsewhere);
}

#[test]
fn a_log_without_asserts_passes_or_fails() {
    assert_eq!(replay("hello\n", "/home/me/k.py", PYTHON, None).end, RunEnd::Passed);
    let failed = replay("CUDA error: device-side assert triggered\n", "/home/me/k.py", PYTHON, None);
    assert!(matches!(failed.end, RunEnd::Failed(_)));
}
