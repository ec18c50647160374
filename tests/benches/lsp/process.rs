//! What the system knows of a server: its time and its memory. Empty where there is no `/proc`.

use std::time::Duration;

/// Clock ticks a second in `/proc`, on every Linux that this has been run on.
const TICKS: u64 = 100;

/// Memory that a process holds, in MiB.
pub(crate) fn resident(pid: u32) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: f64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib / 1024.0)
}

/// Time that the processors have spent on a process.
pub(crate) fn processor_time(pid: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 1000 / TICKS))
}

/// The machine, and how busy it is.
pub(crate) fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let info = read("/proc/cpuinfo");
    let model = info.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("an unknown processor");
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let load = read("/proc/loadavg");
    let load = load.split_whitespace().next().unwrap_or("?");
    format!("{cores} cores of {}, load {load}", model.trim_start_matches(['\t', ' ', ':']))
}
