//! What it costs to execute kernels on the CPU, with ConSan's tables and without: seconds, memory, and the ratio of
//! the two, the runs of both taken in turn.
//!
//! `cargo bench -p fencepost-tests --bench run [-- KERNEL …]`

use std::time::Instant;

use fencepost_tests::runs::{self, Runnable};
use runtime::run::{Instrument, RunEnd, RunReport};

/// Runs of each kind; the fastest counts.
const TIMES: usize = 5;

/// Grids of 16 programs, each with a tile of 128 × 128 and steps of 64.
const TILES: &[(&str, &str)] = &[
    ("sm_90/gemm_double_buffer", "grid=(4,4) a_desc=f16[512,512] b_desc=f16[512,512] c_desc=f16[512,512] K=512"),
    ("sm_90/ws_gemm", "grid=(4,4) a_desc=f16[512,512] b_desc=f16[512,512] c_desc=f16[512,512] K=512"),
    ("sm_100/tc05_gemm", "grid=(4,4) a_desc=f16[512,512] b_desc=f16[512,512] c_desc=f16[512,512] K=512"),
];

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let wants = |stem: &str| wanted.is_empty() || wanted.iter().any(|word| stem.contains(word.as_str()));
    println!(
        "{:<34} {:>10} {:>10} {:>7} {:>10} {:>10}",
        "kernel", "tables, s", "plain, s", "ratio", "steps", "memory, MB"
    );
    for (stem, recipe) in TILES {
        if wants(stem) {
            let launch = runs::read(stem, recipe);
            measure(&format!("{stem}, 16 programs"), &runs::runnable(stem, runs::corpus_file(stem), launch));
        }
    }
    for kernel in runs::corpus().into_iter().chain(runs::plain()) {
        if wants(&kernel.stem) {
            measure(&kernel.stem.clone(), &kernel);
        }
    }
}

fn measure(label: &str, kernel: &Runnable) {
    let (mut with, mut without) = (f64::INFINITY, f64::INFINITY);
    let mut last = None;
    for _ in 0..TIMES {
        let (seconds, report) = timed(kernel, Instrument::ConSan);
        with = with.min(seconds);
        without = without.min(timed(kernel, Instrument::Plain).0);
        last = Some(report);
    }
    let Some(report) = last else { return };
    let end = if report.end == RunEnd::Passed { String::new() } else { format!("  {:?}", report.end) };
    let (ratio, megabytes) = (with / without, report.cost.memory as f64 / 1e6);
    println!("{label:<34} {with:>10.4} {without:>10.4} {ratio:>7.2} {:>10} {megabytes:>10.1}{end}", report.cost.steps);
}

fn timed(kernel: &Runnable, instrument: Instrument) -> (f64, RunReport) {
    let start = Instant::now();
    let report = runs::run(kernel, instrument, 0);
    (start.elapsed().as_secs_f64(), report)
}
