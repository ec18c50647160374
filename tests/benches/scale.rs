//! How the cost of a check grows: time against partitions, CTAs, ring depth and loop nesting, one
//! at a time, on generated rings that are right for all trip counts. Prints a table with the ratio
//! to the smallest size and the slope of a line through the logarithms (1 is linear); with
//! `--out FOLDER` also writes `scaling.csv` and the plot `scaling.svg`. Asserts nothing.
//!
//! `cargo bench -p fencepost-tests --bench scale [-- --out docs]`

use base::{Cancel, Limits};
use fencepost_tests::ring::{ONE, Ring};
use std::fmt::Write;
use std::time::Instant;
use verify::{Outcome, Reach, decide};

const RUNS: usize = 25;

/// One line of a plot.
struct Series {
    name: &'static str,
    /// Size, milliseconds, steps, verdict.
    points: Vec<(u32, f64, u64, &'static str)>,
}

impl Series {
    fn measure(name: &'static str, sizes: &[u32], ring: impl Fn(u32) -> Ring) -> Series {
        let point = |&size: &u32| {
            let kernel = ring(size).kernel();
            let check = || match decide(&kernel, &Limits::default(), &Cancel::never()) {
                Ok(outcome) => outcome,
                Err(_) => unreachable!("nobody cancels"),
            };
            let outcome = check();
            // Whatever else the machine does can only slow a run down.
            let fastest = (0..RUNS).map(|_| {
                let start = Instant::now();
                check();
                start.elapsed()
            });
            let fastest = fastest.min().unwrap_or_default();
            (size, fastest.as_secs_f64() * 1e3, outcome.steps, verdict(&outcome))
        };
        Series { name, points: sizes.iter().map(point).collect() }
    }

    /// Slope of the line through the logarithms of size and time.
    fn slope(&self) -> f64 {
        let logs: Vec<(f64, f64)> = self.points.iter().map(|(size, ms, ..)| (f64::from(*size).ln(), ms.ln())).collect();
        let count = logs.len() as f64;
        let (x, y) = logs.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 / count, y + point.1 / count));
        let over: f64 = logs.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
        over / logs.iter().map(|point| (point.0 - x).powi(2)).sum::<f64>()
    }

    fn print(&self) {
        println!("\n{:<12} {:>10} {:>9} {:>8}  verdict", self.name, "ms", "ratio", "steps");
        let first = self.points.first().map_or(1.0, |point| point.1);
        for (size, ms, steps, verdict) in &self.points {
            println!("{size:<12} {ms:>10.3} {:>8.1}× {steps:>8}  {verdict}", ms / first);
        }
        println!("slope of the logarithms: {:.2}", self.slope());
    }
}

fn verdict(outcome: &Outcome) -> &'static str {
    match (outcome.found.is_empty(), outcome.gaps.is_empty(), &outcome.reach) {
        (false, ..) => "found",
        (_, false, _) => "undecided",
        (_, _, Reach::Runs(_)) => "clean",
        _ => "proved",
    }
}

fn main() {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--out");
    let folder = arguments.nth(1);
    let base = Ring { depth: 3, ..ONE };
    let all = [
        Series::measure("partitions", &[1, 2, 4, 8, 14], |consumers| Ring { consumers, ..base }),
        Series::measure("CTAs", &[1, 2, 4, 8, 16], |ctas| Ring { ctas, ..base }),
        Series::measure("depth", &[1, 2, 3, 4, 6, 8, 16], |depth| Ring { depth, ..base }),
        Series::measure("nesting", &[1, 2, 3], |nesting| Ring { nesting, ..base }),
    ];
    all.iter().for_each(Series::print);
    if let Some(folder) = folder {
        let path = |name: &str| format!("{}/../{folder}/{name}", env!("CARGO_MANIFEST_DIR"));
        for (name, text) in [("scaling.csv", csv(&all)), ("scaling.svg", svg(&all))] {
            match std::fs::write(path(name), text) {
                Ok(()) => println!("wrote {folder}/{name}"),
                Err(error) => println!("cannot write {folder}/{name}: {error}"),
            }
        }
    }
}

fn csv(all: &[Series]) -> String {
    let mut out = "series,size,milliseconds,steps,verdict\n".to_owned();
    for series in all {
        for (size, ms, steps, verdict) in &series.points {
            let _ = writeln!(out, "{},{size},{ms:.4},{steps},{verdict}", series.name);
        }
    }
    out
}

/// Four panels side by side, both axes logarithmic, with the line that linear growth would take.
fn svg(all: &[Series]) -> String {
    const WIDTH: f64 = 220.0;
    const HEIGHT: f64 = 220.0;
    let points = || all.iter().flat_map(|series| &series.points);
    let low = points().map(|point| point.1).fold(f64::MAX, f64::min).log10().floor();
    let high = points().map(|point| point.1).fold(0.0, f64::max).log10().ceil().max(low + 1.0);
    let y = |ms: f64| 30.0 + (HEIGHT - 60.0) * (high - ms.log10()) / (high - low);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"11\" role=\"img\"><title>Time of a check against the size of a ring</title>\n<style>text {{ fill: \
         #222 }} .axis {{ stroke: #999; fill: none }} .line {{ stroke: #0b62a4; stroke-width: 2; fill: none }} .dot \
         {{ fill: #0b62a4 }} .linear {{ stroke: #888; stroke-dasharray: 4 3; fill: none }} @media \
         (prefers-color-scheme: dark) {{ text {{ fill: #ddd }} .line {{ stroke: #6cb4ee }} .dot {{ fill: #6cb4ee }} \
         }}</style>\n",
        WIDTH * all.len() as f64
    );
    for (panel, series) in all.iter().enumerate() {
        let last = series.points.last().map_or(2, |point| point.0).max(2);
        let x = |size: f64| WIDTH * panel as f64 + 40.0 + (WIDTH - 60.0) * size.ln() / f64::from(last).ln();
        let _ = writeln!(
            out,
            "<path class=\"axis\" d=\"M{:.1} 30V{:.1}H{:.1}\"/><text x=\"{:.1}\" y=\"18\">{} (slope {:.2})</text>",
            x(1.0),
            HEIGHT - 30.0,
            x(f64::from(last)),
            x(1.0),
            series.name,
            series.slope()
        );
        for power in low as i32..=high as i32 {
            let ms = 10f64.powi(power);
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{ms}</text>",
                x(1.0) - 5.0,
                y(ms) + 4.0
            );
        }
        let first = series.points.first().map_or((1, 1.0), |point| (point.0, point.1));
        let mut line = String::new();
        for (size, ms, _, verdict) in &series.points {
            let (px, py) = (x(f64::from(*size)), y(*ms));
            let _ = write!(line, "{}{px:.1} {py:.1}", if line.is_empty() { "M" } else { "L" });
            let _ = writeln!(
                out,
                "<circle class=\"dot\" cx=\"{px:.1}\" cy=\"{py:.1}\" r=\"3\"><title>{size}: {ms:.3} ms, \
                 {verdict}</title></circle><text x=\"{px:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{size}</text>",
                HEIGHT - 15.0
            );
        }
        let end = first.1 * f64::from(last) / f64::from(first.0);
        let _ = writeln!(
            out,
            "<path class=\"line\" d=\"{line}\"/><path class=\"linear\" d=\"M{:.1} {:.1}L{:.1} {:.1}\"/>",
            x(f64::from(first.0)),
            y(first.1),
            x(f64::from(last)),
            y(end)
        );
    }
    out.push_str("</svg>\n");
    out
}
