//! Rings in the text form of a kernel: a producer partition fills slots by TMA, the default
//! partition reads them, `n` times.

use base::{Cancel, Limits};
use explore::naive;
use kernel::Kernel;
use kernel::text::parse;
use machine::{Machine, Rule};
use verify::{Outcome, Reach, decide};

/// What to leave out or change.
#[derive(Clone, Copy, Default)]
struct Slip {
    no_empty_wait: bool,
    no_full_wait: bool,
    no_release: bool,
    /// Added to the producer's first phase.
    phase: i64,
    extra_bytes: i64,
    constant_trips: Option<i64>,
}

fn ring(depth: u64, slip: Slip) -> Kernel {
    let upper = match slip.constant_trips {
        Some(trips) => format!("const {trips}"),
        None => "input i0".to_owned(),
    };
    let data = 4096 * 8;
    let full = if slip.no_full_wait { "" } else { "  wait %cfull phase=%cphase\n" };
    let empty = if slip.no_empty_wait { "" } else { "  wait %pempty phase=%pphase\n" };
    let release = if slip.no_release { "" } else { "  proxy_fence\n  arrive %cempty count=1\n" };
    let text = format!(
        "kernel ctas=1 entry=b0
partition warps=4
partition warps=1
buffer $data shared bits={total} slot={data}
buffer $full shared bits={bars} slot=64 barriers
buffer $empty shared bits={bars} slot=64 barriers
shape sall element=16 dims={depth}:{data},2048:16
shape sone element=16 dims=2048:16
shape sbars element=64 dims={depth}:64
shape sbar element=64 dims=1:64
input i0 argument 0 width=32 divisor=1
block b0()
  %data:sall = base $data
  %full:sbars = base $full
  %empty:sbars = base $empty
  %zero = const 0
  %one = const 1
  %depth = const {depth}
  %n = {upper}
  %first = const {first}
{inits}  @100 fork bc(%zero) 1:bp(%zero)
block bc(%i)
  %more = cmp slt w32 %i %n
  branch %more bcb() bce()
block bcb()
  %cslot = rem_s w32 %i %depth
  %cround = div_s w32 %i %depth
  %cphase = and w32 %cround %one
  %cfull:sbar = index %full at=%cslot stride=64 count={depth}
  %cempty:sbar = index %empty at=%cslot stride=64 count={depth}
  %cdata:sone = index %data at=%cslot stride={data} count={depth}
{full}  op base -=read:generic:%cdata in_order
{release}  %i1 = add w32 %i %one
  jump bc(%i1)
block bce()
  @100 join bend()
block bend()
  @101 return
block bp(%j)
  %pmore = cmp slt w32 %j %n
  branch %pmore bpb() bpe()
block bpb()
  %pslot = rem_s w32 %j %depth
  %pround = div_s w32 %j %depth
  %pround1 = add w32 %pround %first
  %pphase = and w32 %pround1 %one
  %pfull:sbar = index %full at=%pslot stride=64 count={depth}
  %pempty:sbar = index %empty at=%pslot stride=64 count={depth}
  %pdata:sone = index %data at=%pslot stride={data} count={depth}
{empty}  expect %pfull bytes={expect}
  op tma -=write:async:%pdata transaction [%pfull count=0 bytes=4096]
  %j1 = add w32 %j %one
  jump bp(%j1)
block bpe()
  @102 exit
loop l0 @103 head=bc counted=%i,%zero,%n,%one
loop l1 @104 head=bp counted=%j,%zero,%n,%one
",
        total = depth * data,
        bars = depth * 64,
        first = 1 + slip.phase,
        expect = 4096 + slip.extra_bytes,
        inits = (0..depth)
            .map(|slot| format!(
                "  %s{slot} = const {slot}
  %f{slot}:sbar = index %full at=%s{slot} stride=64 count={depth}
  %e{slot}:sbar = index %empty at=%s{slot} stride=64 count={depth}
  init %f{slot} count=1
  init %e{slot} count=1
"
            ))
            .collect::<String>(),
    );
    parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}")).kernel
}

fn outcome(kernel: &Kernel) -> Outcome {
    decide(kernel, &Limits::default(), &Cancel::never()).unwrap_or_else(|_| panic!("nobody cancels"))
}

fn rules(kernel: &Kernel) -> Vec<&'static str> {
    let outcome = outcome(kernel);
    assert_eq!(outcome.gaps, []);
    let mut rules: Vec<&str> = outcome
        .found
        .iter()
        .map(|found| match found.violation.rule {
            Rule::Race { .. } => "race",
            Rule::Uninitialised { .. } => "uninitialised",
            Rule::Deadlock(_) => "deadlock",
            Rule::Unfinished { .. } => "unfinished",
            Rule::Overflow(_) => "overflow",
            _ => "other",
        })
        .collect();
    rules.extend(outcome.lapped.iter().map(|_| "lapped"));
    rules.sort_unstable();
    rules.dedup();
    rules
}

#[test]
fn a_correct_ring_is_clean_at_every_depth() {
    for depth in 1..=4 {
        assert_eq!(rules(&ring(depth, Slip::default())), Vec::<&str>::new(), "depth {depth}");
    }
}

#[test]
fn each_slip_is_found() {
    let slip = Slip::default();
    assert!(rules(&ring(2, Slip { no_empty_wait: true, ..slip })).contains(&"race"));
    assert_eq!(rules(&ring(2, Slip { no_full_wait: true, ..slip })), ["race"]);
    assert_eq!(rules(&ring(2, Slip { no_release: true, ..slip })), ["deadlock"]);
    assert_eq!(rules(&ring(2, Slip { phase: 1, ..slip })), ["deadlock"]);
    assert_eq!(rules(&ring(2, Slip { extra_bytes: 16, ..slip })), ["deadlock"]);
}

#[test]
fn the_naive_explorer_agrees() {
    let slip = Slip { constant_trips: Some(3), ..Slip::default() };
    for slip in [
        slip,
        Slip { no_empty_wait: true, ..slip },
        Slip { no_full_wait: true, ..slip },
        Slip { no_release: true, ..slip },
        Slip { phase: 1, ..slip },
    ] {
        let kernel = ring(2, slip);
        let decided = !outcome(&kernel).found.is_empty();
        let valuation = Default::default();
        let limits = Limits::default();
        let machine = Machine::new(&kernel, &valuation, &limits);
        let mut broken = false;
        let explored = naive(&machine, &limits, &Cancel::never(), |state, _| broken |= !state.violations().is_empty());
        let explored = explored.unwrap_or_else(|_| panic!("nobody cancels"));
        assert!(explored.complete);
        assert_eq!(broken, decided);
    }
}

#[test]
fn one_run_covers_a_kernel_without_inputs() {
    let kernel = ring(2, Slip { constant_trips: Some(5), ..Slip::default() });
    let outcome = outcome(&kernel);
    assert_eq!((outcome.runs, outcome.reach), (1, Reach::NoInputs));
}

#[test]
fn a_ring_is_proved_for_all_trip_counts() {
    for depth in 1..=4 {
        let outcome = outcome(&ring(depth, Slip::default()));
        let Reach::Closed(closures) = outcome.reach else { panic!("depth {depth}: {:?}", outcome.reach) };
        assert_eq!(closures.len(), 1);
        assert!(closures[0].period <= 2 * depth, "{closures:?}");
    }
}
