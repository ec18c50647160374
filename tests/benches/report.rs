//! How long a barrier report takes beside reading and checking the same text. Prints medians and
//! ratios, asserts nothing.
//!
//! `cargo bench -p fencepost-tests --bench report`
//!
//! Compiled attention kernels have 200 kB, most of it arithmetic; the kernels here are as long with
//! arithmetic added to each of their partitions.

use base::{Cancel, Limits};
use engine::Engine;
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};
use ttgir::Document;

const RUNS: usize = 15;

/// Bytes of a long kernel.
const LONG: usize = 200_000;

fn main() {
    println!(
        "{:<34} {:>9} {:>9} {:>9} {:>10} {:>10} {:>9} {:>9}",
        "kernel", "bytes", "parse ms", "check ms", "report ms", "known ms", "x parse", "x check"
    );
    for kernel in [
        "kernels/attention",
        "kernels/packed/final_fixed",
        "kernels/packed/final_broken",
        "kernels/packed/token_fixed",
        "kernels/packed/tagged_fixed",
        "corpus/ttgir/sm_100/tc05_attention",
        "corpus/ttgir/sm_90/attention_ws",
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("{kernel}.ttgir"));
        let Ok(source) = std::fs::read_to_string(&path) else {
            println!("{kernel:<34} cannot be read");
            continue;
        };
        row(kernel, &source);
        row("  as long as compiled ones", &long(&source));
    }
}

fn row(name: &str, source: &str) {
    let never = Cancel::never();
    let fresh = || Engine::new(Limits::default());
    let parse = median(|| {
        let document = Document::new(source);
        document.sections().iter().map(|section| section.tree().errors().len()).sum::<usize>()
    });
    let check = median(|| fresh().analyse(&Document::new(source), &never).map(|analysis| analysis.kernels.len()));
    let report = median(|| fresh().reports(&Document::new(source), &never).map(|reports| reports.len()));
    let document = Document::new(source);
    let mut engine = fresh();
    let _ = engine.reports(&document, &never);
    let known = median(|| engine.reports(&document, &never).map(|reports| reports.len()));
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    println!(
        "{name:<34} {:>9} {:>9.3} {:>9.3} {:>10.3} {:>10.3} {:>9.1} {:>9.2}",
        source.len(),
        ms(parse),
        ms(check),
        ms(report),
        ms(known),
        ms(report) / ms(parse),
        ms(report) / ms(check),
    );
}

fn median<T>(mut work: impl FnMut() -> T) -> Duration {
    let _ = work();
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            let _ = work();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[RUNS / 2]
}

/// The kernel with arithmetic in each partition, or in the function where it has none.
fn long(source: &str) -> String {
    let opens = |line: &str| {
        let line = line.trim_start();
        line.ends_with('{') && (line.starts_with("default") || line.starts_with("partition"))
    };
    let function = |line: &str| line.trim_start().starts_with("tt.func") && line.ends_with('{');
    let regions = source.lines().filter(|line| opens(line)).count();
    let places = regions.max(source.lines().filter(|line| function(line)).count()).max(1);
    let each = LONG.saturating_sub(source.len()) / places;
    let mut text = String::with_capacity(LONG + places * 80);
    for (number, line) in source.lines().enumerate() {
        text.push_str(line);
        text.push('\n');
        if !(if regions > 0 { opens(line) } else { function(line) }) {
            continue;
        }
        let end = text.len() + each;
        let _ = writeln!(text, "      %pad{number}_0 = arith.constant 1 : i32");
        for at in 1.. {
            if text.len() >= end {
                break;
            }
            let last = at - 1;
            let _ =
                writeln!(text, "      %pad{number}_{at} = arith.addi %pad{number}_{last}, %pad{number}_{last} : i32");
        }
    }
    text
}
