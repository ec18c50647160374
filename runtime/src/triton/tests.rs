//! With shell scripts in the place of Python: no Triton and no GPU are needed.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base::{Cancel, Limits};
use engine::Engine;
use findings::Kind;

use super::Triton;
use crate::launch::{ArgumentValue, ArraySpec, Fill, LaunchArgument, LaunchOrigin, LaunchSpec};
use crate::process::RunFolder;
use crate::run::{Instrument, KernelChecker, RunBackend, RunEnd, RunError, RunEvent, RunLimits, RunReport, RunRequest};
use tensors::array::ElemType;

const KERNEL: &str = r#"#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!bar = !ttg.memdesc<1xi64, #shared, #smem, mutable>
#loc = loc("k.py":1:1)
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
  tt.func public @twice(%x: !tt.ptr<f32> loc("x"(#loc)), %n: i32 loc("n"(#loc))) {
    %bar = ttg.local_alloc : () -> !bar loc(#loc2)
    ttng.init_barrier %bar, 1 : !bar loc(#loc3)
    ttng.init_barrier %bar, 1 : !bar loc(#loc3)
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc2 = loc("k.py":2:11)
#loc3 = loc("k.py":3:5)
"#;

/// Says hello and finds a card.
const GREETING: &str = r#"
F=$(dirname "$3")
tell() { echo "$1"; }
tell '{"event":"hello","python":"3.12.0","triton":"3.9.0","torch":null,"why":null}'
tell '{"event":"gpu","name":"NVIDIA H200","kind":"cuda","arch":"90","driver":"13.0"}'
"#;

/// The analysis with its default limits.
fn checker() -> KernelChecker {
    let mut engine = Engine::new(Limits::default());
    Box::new(move |lowered, cancel| engine.check_kernel(lowered, cancel))
}

fn run(script: &str, change: impl Fn(&mut RunRequest)) -> Result<RunReport, RunError> {
    let folder = RunFolder::new().expect("a folder");
    let python = folder.path().join("python");
    fs::write(&python, format!("#!/bin/sh\n{script}")).expect("a script");
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).expect("it may be run");
    run_with(&python, change)
}

fn run_with(python: &Path, change: impl Fn(&mut RunRequest)) -> Result<RunReport, RunError> {
    let spec = ArraySpec { dtype: ElemType::F32, unsigned: false, shape: vec![4], strides: None, fill: Fill::Arange };
    let x = LaunchArgument { name: "x".to_owned(), given: ArgumentValue::Array(spec) };
    let launch = LaunchSpec {
        kernel: None,
        grid: [2, 1, 1],
        arguments: vec![x],
        entry: None,
        origin: LaunchOrigin::CommandLine,
    };
    let mut request = RunRequest {
        path: PathBuf::from("/tmp/twice.ttgir"),
        text: KERNEL.into(),
        compiled: None,
        launch,
        instrument: Instrument::ConSan,
        bounds: RunLimits { time: Duration::from_secs(20), ..RunLimits::default() },
        inputs: 0,
        seed: 0,
    };
    change(&mut request);
    let mut stages = Vec::new();
    let mut progress = |event: RunEvent| stages.push(event);
    Triton::new(python, checker()).run(&request, &mut progress, &Cancel::never())
}

#[test]
fn an_assert_comes_home_to_its_op() {
    let script = format!(
        "{GREETING}
grep -q 'loc(' \"$F/twice.ttgir\" && exit 9
grep -q '\"type\":\"\\*fp32\"' \"$F/job.json\" || exit 8
tell '{{\"event\":\"kernel\",\"name\":\"twice\",\"instrumented\":true}}'
for i in 1 2 3; do
echo \"$F/twice.ttgir:9: unknown: block: [$i,0,0], thread: [0,0,0] Assertion \\`Barrier re-initialized without prior invalidation\\` failed.\" >&2
done
tell '{{\"event\":\"failed\",\"kind\":\"RuntimeError\",\"text\":\"device-side assert triggered\",\"trace\":\"\"}}'
exit 1"
    );
    let report = run(&script, |_| {}).expect("it runs");
    assert_eq!(report.end, RunEnd::Asserted);
    assert!(report.on.contains(&("GPU".to_owned(), "NVIDIA H200 (sm_90)".to_owned())));
    assert!(report.notes.iter().any(|note| note.contains("`n`")), "{:?}", report.notes);
    let [kernel] = report.kernels.as_slice() else { panic!("{report:?}") };
    let [finding] = kernel.findings.as_slice() else { panic!("{kernel:?}") };
    assert_eq!((kernel.name.as_str(), finding.kind), ("twice", Kind::BarrierReinit));
    let second = KERNEL.rfind("ttng.init_barrier").expect("it is there") as u32;
    assert_eq!(finding.range.start, second);
    assert!(finding.message.contains("3") && finding.message.contains("%bar"), "{}", finding.message);
    assert!(!finding.run.is_empty(), "the static finding's run");
}

#[test]
fn what_is_read_back_is_an_output() {
    let script = format!(
        "{GREETING}
printf '\\000\\000\\200\\077\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000' > \"$F/x.bin\"
tell '{{\"event\":\"output\",\"name\":\"x\"}}'
tell '{{\"event\":\"done\"}}'"
    );
    let report = run(&script, |request| request.instrument = Instrument::Plain).expect("it runs");
    assert_eq!(report.end, RunEnd::Passed);
    let [(name, array)] = report.outputs.as_slice() else { panic!("{report:?}") };
    assert_eq!((name.as_str(), &array.bytes[..4]), ("x", 1f32.to_le_bytes().as_slice()));
}

#[test]
fn a_hang_is_ended_and_says_what_is_stuck() {
    let stuck = KERNEL.replacen(
        "    ttng.init_barrier %bar, 1 : !bar loc(#loc3)\n    tt.return",
        "    %c0 = arith.constant 0 : i32 loc(#loc)\n    ttng.wait_barrier %bar, %c0 : !bar loc(#loc3)\n    tt.return",
        1,
    );
    let report = run(&format!("{GREETING}\nsleep 300"), |request| {
        request.text = stuck.as_str().into();
        request.bounds.time = Duration::from_millis(400);
    })
    .expect("it runs");
    let RunEnd::Hung(waits) = &report.end else { panic!("{report:?}") };
    assert!(waits.iter().any(|wait| wait.contains("waits for phase 0 of `%bar`")), "{waits:?}");
}

#[test]
fn what_cannot_be_run_says_what_to_do() {
    let error = |result: Result<RunReport, RunError>| result.expect_err("it cannot be run").0;
    let none = error(run_with(Path::new("/nowhere/python"), |_| {}));
    assert!(none.contains("/nowhere/python") && none.contains("--python"), "{none}");
    let hello =
        r#"echo '{"event":"hello","python":"3.12.0","triton":null,"torch":null,"why":"No module named triton"}'"#;
    let triton = error(run(hello, |_| {}));
    assert!(triton.contains("No module named triton") && triton.contains("--python"), "{triton}");
    let refused = format!("{GREETING}\ntell '{{\"event\":\"refused\",\"why\":\"no NVIDIA driver\"}}'; exit 3");
    let gpu = error(run(&refused, |_| {}));
    assert!(gpu.contains("no NVIDIA driver") && gpu.contains("--backend cpu"), "{gpu}");
    let broken = error(run("echo 'SyntaxError: x' >&2; exit 1", |_| {}));
    assert!(broken.contains("SyntaxError: x"), "{broken}");
    let kernel = error(run(GREETING, |request| request.launch.kernel = Some("other".to_owned())));
    assert!(kernel.contains("no kernel `other`"), "{kernel}");
}

#[test]
fn a_sanitizer_that_did_not_take_effect_is_said() {
    let script = format!(
        "{GREETING}
tell '{{\"event\":\"kernel\",\"name\":\"twice\",\"instrumented\":false}}'
tell '{{\"event\":\"done\"}}'"
    );
    let report = run(&script, |_| {}).expect("it runs");
    assert_eq!(report.end, RunEnd::Passed);
    assert!(report.notes.iter().any(|note| note.contains("did not take effect")), "{:?}", report.notes);
}

#[test]
fn pythons_own_error_is_the_end() {
    let script = format!(
        "{GREETING}\ntell '{{\"event\":\"failed\",\"kind\":\"ValueError\",\"text\":\"no\",\"trace\":\"\"}}'; exit 1"
    );
    assert_eq!(run(&script, |_| {}).expect("it runs").end, RunEnd::Failed("ValueError: no".to_owned()));
}
