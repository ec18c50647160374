//! Processor time, of this process and of those that it starts, from `/proc`; the machine's name.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Clock ticks a second in `/proc`, on every Linux that this has been run on.
const TICKS: f64 = 100.0;

/// How much time is spent on one figure at least, in seconds: ticks are coarse.
const LEAST: f64 = 1.0;

/// How often something is done for one figure at most.
const MOST: u32 = 20_000;

/// Processor time of this process so far, and of those that it has waited for, in seconds.
fn spent() -> Option<(f64, f64)> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<f64> =
        stat.rsplit_once(')')?.1.split_whitespace().map(|field| field.parse().unwrap_or(0.0)).collect();
    let (own, children) = (fields.get(11)? + fields.get(12)?, fields.get(13)? + fields.get(14)?);
    Some((own / TICKS, children / TICKS))
}

/// Milliseconds of processor time that something takes here.
pub(super) fn own(mut work: impl FnMut()) -> Option<f64> {
    work();
    let (before, begun) = (spent()?.0, Instant::now());
    let mut times = 0;
    while times < MOST && (begun.elapsed().as_secs_f64() < LEAST || spent()?.0 - before < LEAST) {
        work();
        times += 1;
    }
    Some((spent()?.0 - before) * 1e3 / f64::from(times))
}

/// Milliseconds of processor time of a command; `None` where it does not start or is killed.
pub(super) fn command(program: &Path, arguments: &[&str]) -> Option<f64> {
    let run = || {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().ok()?.code()
    };
    run()?;
    let before = spent()?.1;
    let mut times = 0;
    while times < 200 && spent()?.1 - before < LEAST {
        run()?;
        times += 1;
    }
    Some((spent()?.1 - before) * 1e3 / f64::from(times))
}

/// The processor, and how busy the machine is.
pub(super) fn name() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let info = read("/proc/cpuinfo");
    let model = info.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("an unknown processor");
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let load = read("/proc/loadavg");
    let load = load.split_whitespace().next().unwrap_or("?");
    format!("{cores} cores of {}, load {load}", model.trim_start_matches(['\t', ' ', ':']))
}
