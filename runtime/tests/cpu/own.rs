//! Own small kernels: what they compute, how they end, what is said.

use std::path::PathBuf;

use base::Cancel;
use findings::Kind;

use runtime::cpu::Cpu;
use runtime::element::numbers;
use runtime::launch::{ArgumentValue, ArraySpec, Fill, LaunchArgument, LaunchOrigin, LaunchSpec};
use runtime::run::{Instrument, RunBackend, RunEnd, RunLimits, RunReport, RunRequest};
use tensors::array::ElemType;

const HEAD: &str = r##"
#r = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!bar = !ttg.memdesc<1xi64, #b, #smem, mutable>
!line = !ttg.memdesc<128xf32, #b, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
"##;

fn request(body: &str, grid: u32, arguments: &[(&str, ArgumentValue)]) -> RunRequest {
    let arguments = arguments
        .iter()
        .map(|(name, given)| LaunchArgument { name: (*name).to_owned(), given: given.clone() })
        .collect();
    RunRequest {
        path: PathBuf::from("kernel.ttgir"),
        text: format!("{HEAD}{body}\n}}\n").into(),
        compiled: None,
        launch: LaunchSpec {
            kernel: None,
            grid: [grid, 1, 1],
            arguments,
            entry: None,
            origin: LaunchOrigin::CommandLine,
        },
        instrument: Instrument::ConSan,
        bounds: RunLimits { steps: 200_000, ..RunLimits::default() },
        inputs: 0,
        seed: 0,
    }
}

fn execute(request: &RunRequest) -> RunReport {
    Cpu::default().run(request, &mut |_| {}, &Cancel::never()).expect("it runs")
}

fn floats(size: u64, fill: Fill) -> ArgumentValue {
    ArgumentValue::Array(ArraySpec { dtype: ElemType::F32, unsigned: false, shape: vec![size], strides: None, fill })
}

fn ints(size: u64) -> ArgumentValue {
    ArgumentValue::Array(ArraySpec {
        dtype: ElemType::I32,
        unsigned: false,
        shape: vec![size],
        strides: None,
        fill: Fill::Value(0.0),
    })
}

const ADD: &str = r"
  tt.func public @add(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {
    %c128 = arith.constant 128 : i32
    %pid = tt.get_program_id x : i32
    %first = arith.muli %pid, %c128 : i32
    %lane = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #r>
    %start = tt.splat %first : i32 -> tensor<128xi32, #r>
    %at = arith.addi %start, %lane : tensor<128xi32, #r>
    %end = tt.splat %n : i32 -> tensor<128xi32, #r>
    %mask = arith.cmpi slt, %at, %end : tensor<128xi32, #r>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #r>
    %xp = tt.addptr %xs, %at : tensor<128x!tt.ptr<f32>, #r>, tensor<128xi32, #r>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #r>
    %yp = tt.addptr %ys, %at : tensor<128x!tt.ptr<f32>, #r>, tensor<128xi32, #r>
    %v = tt.load %xp, %mask : tensor<128x!tt.ptr<f32>, #r>
    %w = arith.addf %v, %v : tensor<128xf32, #r>
    tt.store %yp, %w, %mask : tensor<128x!tt.ptr<f32>, #r>
    tt.return
  }";

#[test]
fn programs_add_their_parts() {
    let arguments =
        [("x", floats(300, Fill::Arange)), ("y", floats(300, Fill::Value(-1.0))), ("n", ArgumentValue::Int(290))];
    let report = execute(&request(ADD, 3, &arguments));
    assert_eq!(report.end, RunEnd::Passed);
    let y: Vec<f64> = numbers(&report.outputs[1].1).collect();
    assert!(y.iter().enumerate().all(|(at, y)| *y == if at < 290 { 2.0 * at as f64 } else { -1.0 }));
}

#[test]
fn an_access_outside_is_said() {
    let arguments =
        [("x", floats(300, Fill::Arange)), ("y", floats(200, Fill::Value(0.0))), ("n", ArgumentValue::Int(290))];
    let report = execute(&request(ADD, 3, &arguments));
    assert_eq!(report.end, RunEnd::Asserted);
    assert!(report.kernels[0].findings[0].message.contains("`y`"), "{:?}", report.kernels[0].findings);
    assert_eq!(report.kernels[0].findings[0].kind, Kind::OutOfBounds);
}

#[test]
fn what_is_not_given_is_chosen_and_said() {
    let report = execute(&request(ADD, 1, &[]));
    assert_eq!(report.end, RunEnd::Passed);
    assert!(report.notes[0].contains("n=256"), "{:?}", report.notes);
}

const SPIN: &str = r"
  tt.func public @spin(%lock: !tt.ptr<i32>, %out: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %pid = tt.get_program_id x : i32
    %n = tt.get_num_programs x : i32
    %last = arith.subi %n, %c1 : i32
    %turn = arith.subi %last, %pid : i32
    scf.while : () -> () {
      %seen = tt.atomic_rmw add, acq_rel, gpu, %lock, %c0, %true : (!tt.ptr<i32>, i32, i1) -> i32
      %again = arith.cmpi ne, %seen, %turn : i32
      scf.condition(%again)
    } do {
      scf.yield
    }
    %place = tt.addptr %out, %turn : !tt.ptr<i32>, i32
    tt.store %place, %pid : !tt.ptr<i32>
    %old = tt.atomic_rmw add, acq_rel, gpu, %lock, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32
    tt.return
  }";

#[test]
fn programs_wait_for_later_ones() {
    let report = execute(&request(SPIN, 12, &[("lock", ints(1)), ("out", ints(12))]));
    assert_eq!(report.end, RunEnd::Passed, "{:?}", report.cost);
    let out: Vec<f64> = numbers(&report.outputs[1].1).collect();
    assert!(out.iter().enumerate().all(|(at, pid)| *pid == 11.0 - at as f64), "{out:?}");
}

#[test]
fn a_kernel_that_never_ends_is_ended() {
    let endless = SPIN.replace("cmpi ne", "cmpi sge");
    let report = execute(&request(&endless, 1, &[("lock", ints(1)), ("out", ints(1))]));
    assert!(matches!(&report.end, RunEnd::Hung(why) if why[0].contains("no program can go on")), "{:?}", report.end);
    // A word that changes each time may yet be another one.
    let counting = endless.replacen("%lock, %c0, %true", "%lock, %c1, %true", 1);
    let report = execute(&request(&counting, 1, &[("lock", ints(1)), ("out", ints(1))]));
    assert!(matches!(&report.end, RunEnd::Hung(why) if why[0].contains("200000 steps")), "{:?}", report.end);
}

fn handed(wait: &str, arrive: &str) -> String {
    format!(
        r#"
  tt.func public @handed(%y: !tt.ptr<f32>) {{
    %c0 = arith.constant 0 : i32
    %lane = tt.make_range {{end = 128 : i32, start = 0 : i32}} : tensor<128xi32, #r>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #r>
    %yp = tt.addptr %ys, %lane : tensor<128x!tt.ptr<f32>, #r>, tensor<128xi32, #r>
    %buf = ttg.local_alloc : () -> !line
    %bar = ttg.local_alloc : () -> !bar
    ttng.init_barrier %bar, 1 : !bar
    ttg.warp_specialize(%buf, %bar, %c0)
    default {{
      {wait}
      %v = ttg.local_load %buf : !line -> tensor<128xf32, #r>
      tt.store %yp, %v : tensor<128x!tt.ptr<f32>, #r>
      ttg.warp_yield
    }}
    partition0(%b: !line, %a: !bar, %z: i32) num_warps(4) {{
      %one = arith.constant dense<1.000000e+00> : tensor<128xf32, #r>
      ttg.local_store %one, %b : tensor<128xf32, #r> -> !line
      {arrive}
      ttg.warp_return
    }} : (!line, !bar, i32) -> ()
    tt.return
  }}"#
    )
}

const WAIT: &str = "ttng.wait_barrier %bar, %c0 : !bar";
const ARRIVE: &str = "ttng.arrive_barrier %a, 1 : !bar";

#[test]
fn what_is_handed_on_arrives() {
    for seed in 0..8 {
        let report =
            execute(&RunRequest { seed, ..request(&handed(WAIT, ARRIVE), 2, &[("y", floats(128, Fill::Arange))]) });
        assert_eq!(report.end, RunEnd::Passed);
        assert!(numbers(&report.outputs[0].1).all(|y| y == 1.0));
    }
}

#[test]
fn what_is_not_handed_on_races() {
    let runs: Vec<RunReport> = (0..8)
        .map(|seed| RunRequest { seed, ..request(&handed("", ARRIVE), 1, &[("y", floats(128, Fill::Arange))]) })
        .map(|request| execute(&request))
        .collect();
    for report in &runs {
        assert_eq!(report.end, RunEnd::Asserted);
        assert!(report.kernels[0].findings[0].message.starts_with("Buffer being accessed has outstanding"));
    }
    assert!(runs.iter().any(|report| report.outputs[0].1.bytes != runs[0].outputs[0].1.bytes));
}

#[test]
fn a_wait_for_nobody_is_a_deadlock() {
    let report = execute(&request(&handed(WAIT, ""), 2, &[("y", floats(128, Fill::Arange))]));
    assert_eq!(report.end, RunEnd::Asserted);
    let finding = &report.kernels[0].findings[0];
    // Whether the wait begins before or after the other partition ends is up to the schedule.
    let words = ["while waiting on an mbarrier", "after a warp-specialized thread exited"];
    let findings =
        |words: &&str| finding.message.starts_with(&format!("Deadlock detected {words}: default waits for phase 0"));
    assert!(words.iter().any(findings), "{}", finding.message);
    assert!(finding.message.ends_with("(2 times)"), "{}", finding.message);
}

#[test]
fn unwatched_runs_say_nothing() {
    let request = request(&handed("", ARRIVE), 1, &[("y", floats(128, Fill::Arange))]);
    assert_eq!(execute(&RunRequest { instrument: Instrument::Plain, ..request }).end, RunEnd::Passed);
}

#[test]
fn a_run_can_be_cancelled() {
    let request = request(&SPIN.replace("cmpi ne", "cmpi sge"), 1, &[("lock", ints(1)), ("out", ints(1))]);
    let report = Cpu::default().run(&request, &mut |_| {}, &Cancel::when(&|| true)).expect("it runs");
    assert_eq!(report.end, RunEnd::Cancelled);
}

#[test]
fn what_is_not_followed_is_said() {
    let body = r#"
  tt.func public @strange(%x: !tt.ptr<f32>) {
    %v = "tt.no_such_op"(%x) : (!tt.ptr<f32>) -> tensor<128xf32, #r>
    tt.return
  }"#;
    let mut cpu = Cpu::default();
    let report = cpu.run(&request(body, 1, &[]), &mut |_| {}, &Cancel::never());
    let told = match report {
        Ok(report) => matches!(&report.end, RunEnd::Undecided(why) if why[0].contains("tt.no_such_op")),
        Err(error) => error.0.contains("no_such_op"),
    };
    assert!(told);
}
