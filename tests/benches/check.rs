//! How long a check of a kernel of the corpus takes. Prints medians, asserts nothing.
//!
//! `cargo bench -p fencepost-tests --bench check`

use base::{Cancel, Limits};
use engine::Engine;
use std::time::{Duration, Instant};
use ttgir::Document;

const RUNS: usize = 15;

fn main() {
    corpus();
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
