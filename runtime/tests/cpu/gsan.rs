//! The sanitizer of global memory: its settings, its words, what it costs.

use std::path::{Path, PathBuf};

use base::Cancel;

use runtime::cpu::Cpu;
use runtime::launch::{LaunchOrigin, LaunchSpec, recipe};
use runtime::run::{GsanOptions, Instrument, RunBackend, RunEnd, RunLimits, RunReport, RunRequest};

fn run(text: &str, recipe: &str, gsan: GsanOptions, instrument: Instrument, seed: u64) -> RunReport {
    let (launch, errors) = recipe::parse(recipe, false, Path::new("."));
    assert!(errors.is_empty(), "{errors:?}");
    let request = RunRequest {
        path: PathBuf::from("kernel.ttir"),
        text: format!("module {{\n{text}\n}}\n").into(),
        compiled: None,
        launch: LaunchSpec { origin: LaunchOrigin::CommandLine, ..launch },
        instrument,
        bounds: RunLimits { steps: 1_000_000, gsan, ..RunLimits::default() },
        inputs: 0,
        seed,
    };
    Cpu::default().run(&request, &mut |_| {}, &Cancel::never()).expect("it runs")
}

fn messages(report: &RunReport) -> Vec<String> {
    report.kernels.iter().flat_map(|kernel| &kernel.findings).map(|finding| finding.message.clone()).collect()
}

/// Program 0 releases at `%a`, then often at `%b`; program 1 sees the last of these without an acquire and takes `%a`.
const RING: &str = r"
  tt.func public @ring(%a: !tt.ptr<i32>, %b: !tt.ptr<i32>, %x: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c5 = arith.constant 5 : i32
    %true = arith.constant true
    %pid = tt.get_program_id x : i32
    %first = arith.cmpi eq, %pid, %c0 : i32
    scf.if %first {
      tt.store %x, %c5 : !tt.ptr<i32>
      %0 = tt.atomic_rmw exch, release, gpu, %a, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32
      scf.for %i = %c0 to %c5 step %c1 : i32 {
        %1 = tt.atomic_rmw add, release, gpu, %b, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32
      }
    } else {
      scf.while : () -> () {
        %seen = tt.atomic_rmw add, relaxed, gpu, %b, %c0, %true : (!tt.ptr<i32>, i32, i1) -> i32
        %again = arith.cmpi ne, %seen, %c5 : i32
        scf.condition(%again)
      } do {
        scf.yield
      }
      %2 = tt.atomic_rmw add, acquire, gpu, %a, %c0, %true : (!tt.ptr<i32>, i32, i1) -> i32
      %3 = tt.load %x : !tt.ptr<i32>
    }
    tt.return
  }";

#[test]
fn a_release_that_left_its_ring_is_said() {
    let recipe = "grid=(2) a=i32[1]:zeros b=i32[1]:zeros x=i32[1]:zeros";
    let of = |clock_ring| run(RING, recipe, GsanOptions { clock_ring, ..GsanOptions::default() }, Instrument::GSan, 3);
    assert_eq!(of(None).end, RunEnd::Passed);
    assert_eq!(of(Some(6)).end, RunEnd::Passed);
    let short = messages(&of(Some(2)));
    assert!(short.iter().any(|said| said.starts_with("GSan clock buffer token overwritten")), "{short:?}");
}

/// Programs read one element, and the last one writes it after all of them have counted themselves, relaxed.
const READERS: &str = r"
  tt.func public @readers(%x: !tt.ptr<f32>, %count: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %one = arith.constant 1.0 : f32
    %true = arith.constant true
    %pid = tt.get_program_id x : i32
    %n = tt.get_num_programs x : i32
    %last = arith.subi %n, %c1 : i32
    %writes = arith.cmpi eq, %pid, %last : i32
    scf.if %writes {
      scf.while : () -> () {
        %seen = tt.atomic_rmw add, relaxed, gpu, %count, %c0, %true : (!tt.ptr<i32>, i32, i1) -> i32
        %again = arith.cmpi ne, %seen, %last : i32
        scf.condition(%again)
      } do {
        scf.yield
      }
      tt.store %x, %one : !tt.ptr<f32>
    } else {
      %v = tt.load %x : !tt.ptr<f32>
      %0 = tt.atomic_rmw add, relaxed, gpu, %count, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32
    }
    tt.return
  }";

#[test]
fn reads_are_kept_all_or_as_many_as_is_asked_for() {
    let recipe = "grid=(40) x=f32[1] count=i32[1]:zeros";
    for read_slots in [None, Some(1), Some(4)] {
        let options = GsanOptions { read_slots, ..GsanOptions::default() };
        let report = run(READERS, recipe, options, Instrument::Both, 1);
        let said = messages(&report);
        assert_eq!(said.len(), 1, "{said:?}");
        let races = said[0].starts_with("Write after read race detected: `tt.store` of program 39 writes `x[0]`");
        assert!(races, "{said:?}");
        // Each read that is kept meets the write.
        let more = 4 * read_slots.map_or(39, u64::from) - 4;
        assert_eq!(said[0].contains(&format!("({more} more bytes)")), more > 0, "{said:?}");
        assert_eq!(report.kernels[0].findings[0].sites.len(), 2);
    }
}

#[test]
fn what_is_not_watched_says_and_costs_nothing() {
    let recipe = "grid=(40) x=f32[1] count=i32[1]:zeros";
    let plain = run(READERS, recipe, GsanOptions::default(), Instrument::ConSan, 1);
    assert_eq!((plain.end, plain.cost.gsan), (RunEnd::Passed, None));
    let watched = run(READERS, recipe, GsanOptions::default(), Instrument::GSan, 1);
    let cost = watched.cost.gsan.expect("it is watched");
    assert!(cost.covered > 0 && cost.shadow <= 8 * cost.covered, "{cost:?}");
}

/// Every program stores its number to all of eight elements: one finding, however many meet.
const ALL_STORE: &str = r"
  tt.func public @all(%x: !tt.ptr<i32>) {
    %pid = tt.get_program_id x : i32
    %at = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %base = tt.splat %x : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
    %to = tt.addptr %base, %at : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
    %v = tt.splat %pid : i32 -> tensor<8xi32>
    tt.store %to, %v : tensor<8x!tt.ptr<i32>>
    tt.return
  }";

#[test]
fn a_pair_of_ops_is_told_once() {
    for seed in 0..4 {
        let said = messages(&run(ALL_STORE, "grid=(9,3) x=i32[8]", GsanOptions::default(), Instrument::Both, seed));
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].contains("program (") && said[0].contains("`x[0]`"), "{said:?}");
        assert!(said[0].contains(&format!("({} more bytes)", 26 * 32 - 4)), "{said:?}");
    }
}

#[test]
fn a_read_of_what_nobody_has_written_is_said() {
    let text = r"
  tt.func public @copy(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
    %v = tt.load %x : !tt.ptr<f32>
    tt.store %y, %v : !tt.ptr<f32>
    %w = tt.load %y : !tt.ptr<f32>
    tt.return
  }";
    let said = |recipe| messages(&run(text, recipe, GsanOptions::default(), Instrument::Both, 0));
    assert_eq!(said("grid=(1) x=f32[4] y=f32[4]:empty"), [""; 0]);
    assert_eq!(
        said("grid=(1) x=f32[4]:empty y=f32[4]:empty"),
        ["Buffer being read before any write: program 0 reads `x[0]` (4 bytes)"]
    );
}
