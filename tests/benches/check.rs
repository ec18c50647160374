//! How long a check takes: kernels of the corpus, and how the cost grows with ring depth,
//! partitions and loop nesting on generated rings. Prints medians and ratios, asserts nothing.
//!
//! `cargo bench -p fencepost-tests --bench check`

use analysis::Engine;
use analysis::base::{Cancel, Limits};
use analysis::decide::decide;
use analysis::sync::{Kernel, text};
use analysis::syntax::ttgir::Document;
use std::fmt::Write;
use std::time::{Duration, Instant};

const RUNS: usize = 15;

fn main() {
    corpus();
    rings();
}

fn median(mut work: impl FnMut()) -> Duration {
    work();
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[RUNS / 2]
}

/// Text to report, nothing remembered.
fn corpus() {
    println!("{:<34} {:>9} {:>10} {:>10} {:>9}", "kernel", "bytes", "parse ms", "check ms", "verdict");
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/ttgir");
    for kernel in [
        "sm_90/gemm_ring3",
        "sm_90/ws_gemm",
        "sm_90/ws_two_consumers",
        "sm_90/attention_ws",
        "sm_90/persistent_ws_gemm",
        "sm_100/tc05_ws_gemm",
        "sm_100/tc05_attention",
        "sm_100/tc05_persistent",
    ] {
        let path = format!("{folder}/{kernel}.ttgir");
        let Ok(source) = std::fs::read_to_string(&path) else {
            println!("{kernel:<34} cannot be read");
            continue;
        };
        let parse = median(|| {
            let document = Document::new(source.as_str());
            let errors: usize = document.sections().iter().map(|section| section.tree().errors().len()).sum();
            assert_eq!(errors, 0, "{kernel} parses");
        });
        let mut verdict = "";
        let check = median(|| {
            let document = Document::new(source.as_str());
            let mut engine = Engine::new(Limits::default());
            if let Ok(analysis) = engine.analyse(&document, &Cancel::never()) {
                verdict = analysis.kernels.first().map_or("none", |kernel| kernel.verdict.name());
            }
        });
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        println!("{kernel:<34} {:>9} {:>10.3} {:>10.3} {verdict:>9}", source.len(), ms(parse), ms(check));
    }
}

/// Exploration only, of rings whose trip count is an input: closed over all trip counts.
fn rings() {
    println!("\n{:<10} {:>8} {:>10} {:>8} {:>14}", "consumers", "depth", "ms", "steps", "µs per slot");
    let mut first = None;
    for (consumers, depth) in [(1, 1), (1, 2), (1, 4), (1, 8), (1, 16), (2, 4), (4, 4), (8, 4), (14, 4)] {
        let kernel = ring(consumers, depth);
        let mut steps = 0;
        let time = median(|| {
            if let Ok(outcome) = decide(&kernel, &Limits::default(), &Cancel::never()) {
                assert!(outcome.found.is_empty(), "the ring is correct");
                steps = outcome.steps;
            }
        });
        let each = time.as_secs_f64() * 1e6 / f64::from(depth * (consumers + 1));
        let base = *first.get_or_insert(each);
        println!(
            "{consumers:<10} {depth:>8} {:>10.3} {steps:>8} {each:>9.1} ×{:.1}",
            time.as_secs_f64() * 1e3,
            each / base
        );
    }
}

/// A TMA producer and `consumers` readers of every slot of a ring.
fn ring(consumers: u32, depth: u32) -> Kernel {
    let slot = 4096 * 8;
    let mut out = String::new();
    let _ = writeln!(out, "kernel ctas=1 entry=b0");
    for _ in 0..=consumers + 1 {
        let _ = writeln!(out, "partition warps=4");
    }
    let _ = write!(
        out,
        "buffer $data shared bits={} slot={slot}
buffer $full shared bits={bars} slot=64 barriers
buffer $empty shared bits={bars} slot=64 barriers
shape sall element=16 dims={depth}:{slot},2048:16
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
  %n = input i0
",
        depth * slot,
        bars = depth * 64,
    );
    for at in 0..depth {
        let _ = write!(
            out,
            "  %s{at} = const {at}
  %f{at}:sbar = index %full at=%s{at} stride=64 count={depth}
  %e{at}:sbar = index %empty at=%s{at} stride=64 count={depth}
  init %f{at} count=1
  init %e{at} count={consumers}
"
        );
    }
    let forks: String = (0..=consumers).map(|thread| format!(" {}:bp{thread}(%zero)", thread + 1)).collect();
    let _ = write!(out, "  @100 fork bmain(){forks}\nblock bmain()\n  @100 join bend()\nblock bend()\n  @101 return\n");
    for thread in 0..=consumers {
        let body = if thread == 0 {
            format!(
                "  %pround1_{thread} = add w32 %round{thread} %one
  %phase{thread} = and w32 %pround1_{thread} %one
  wait %bempty{thread} phase=%phase{thread}
  expect %bfull{thread} bytes=4096
  op tma -=write:async:%bdata{thread} transaction [%bfull{thread} count=0 bytes=4096]
"
            )
        } else {
            format!(
                "  %phase{thread} = and w32 %round{thread} %one
  wait %bfull{thread} phase=%phase{thread}
  op base -=read:generic:%bdata{thread} in_order
  proxy_fence
  arrive %bempty{thread} count=1
"
            )
        };
        let _ = write!(
            out,
            "block bp{thread}(%i{thread})
  %more{thread} = cmp slt w32 %i{thread} %n
  branch %more{thread} bb{thread}() be{thread}()
block bb{thread}()
  %slot{thread} = rem_s w32 %i{thread} %depth
  %round{thread} = div_s w32 %i{thread} %depth
  %bfull{thread}:sbar = index %full at=%slot{thread} stride=64 count={depth}
  %bempty{thread}:sbar = index %empty at=%slot{thread} stride=64 count={depth}
  %bdata{thread}:sone = index %data at=%slot{thread} stride={slot} count={depth}
{body}  %next{thread} = add w32 %i{thread} %one
  jump bp{thread}(%next{thread})
block be{thread}()
  exit
"
        );
    }
    for thread in 0..=consumers {
        let _ = writeln!(out, "loop l{thread} @{} head=bp{thread} counted=%i{thread},%zero,%n,%one", 200 + thread);
    }
    match text::parse(&out) {
        Ok(lowered) => lowered.kernel,
        Err(error) => panic!("{error}\n{out}"),
    }
}
